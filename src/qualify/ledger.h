// Ledger: what the generator promises about its output, as lines of text. The reconciler takes the
// parameters and two bounds per partition from it, nothing else: events are made again.
//
//   weir-ledger 1
//   gen seed=7 partitions=4 records=1000000 ...      the parameters, in the order of kFields
//   sent 4096 4096 0 0                               before records are handed to the target: never
//                                                    more than these can be there
//   produced 4096 4096 0 0                           after the target has taken them: these are
//   there end                                              nothing will be added; the last bounds
//   are final
//
// Lines only get appended; a line without line feed is still being written and does not count. A
// ledger is made new and never continued: what a generator that died had sent is not known.
#ifndef WEIR_QUALIFY_LEDGER_H_
#define WEIR_QUALIFY_LEDGER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.h"
#include "qualify/events.h"

namespace weir::qualify {

struct Ledger {
  GenParameters parameters;
  std::vector<uint64_t> produced;  // records per partition that are there for certain
  std::vector<uint64_t> sent;      // and at most; >= produced
  bool ended = false;
};

std::string LedgerHead(const GenParameters& parameters);
// kCorruption names the line.
Result<Ledger> ParseLedger(std::string_view text);
Result<Ledger> ReadLedger(io::Files& files, const std::string& path);

class LedgerWriter {
 public:
  // kExists when there is one already.
  static Result<std::unique_ptr<LedgerWriter>> Create(io::Files& files, const std::string& path,
                                                      const GenParameters& parameters);
  Status Sent(const std::vector<uint64_t>& records) { return Counts("sent", records); }
  Status Produced(const std::vector<uint64_t>& records) { return Counts("produced", records); }
  Status End();  // durable afterwards

 private:
  explicit LedgerWriter(std::unique_ptr<io::File> file) : file_(std::move(file)) {}
  Status Counts(std::string_view word, const std::vector<uint64_t>& records);
  Status Append(std::string_view line);

  std::unique_ptr<io::File> file_;
  uint64_t size_ = 0;
};

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_LEDGER_H_
