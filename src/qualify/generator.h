// Generator: writes records in the order of their nominal time, and keeps the ledger around each
// step. Where records go is behind RecordTarget; when they go is the caller's business.
#ifndef WEIR_QUALIFY_GENERATOR_H_
#define WEIR_QUALIFY_GENERATOR_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.h"
#include "qualify/events.h"
#include "qualify/ledger.h"

namespace weir::qualify {

// Where records go. After a failure nothing more is added: what is there is then between the two
// bounds of the ledger.
class RecordTarget {
 public:
  virtual ~RecordTarget() = default;
  // `bytes` without line feed; borrowed for the call.
  virtual Status Add(const Record& record, std::string_view bytes) = 0;
  // OK: every record that was added is there, once.
  virtual Status Flush() = 0;
  // The last call: what is there stays there.
  virtual Status Finish() = 0;
};

// DIRECTORY/part-N.jsonl, one per partition. The directory is made when there is none; a file that
// exists is kExists.
Result<std::unique_ptr<RecordTarget>> NewFileTarget(io::Files& files, const std::string& directory,
                                                    uint32_t partitions);

struct GenCounts {
  std::array<uint64_t, kRecordKinds> kinds{};
  std::array<uint64_t, kPoisonKinds> poison{};  // duplicates of poison not counted
};

class Generator {
 public:
  Generator(const GenParameters& parameters, RecordTarget& target, LedgerWriter& ledger)
      : parameters_(parameters),
        target_(target),
        ledger_(ledger),
        records_(parameters.partitions, 0) {}

  // Writes until `total` records are out, or all there are; then they are produced.
  Status ProduceUntil(uint64_t total);
  // Nothing will be added: also after a stop before the last record.
  Status Finish();
  bool AtEnd() const { return parameters_.records > 0 && written_ >= parameters_.records; }
  uint64_t written() const { return written_; }
  const GenCounts& counts() const { return counts_; }
  int64_t nominal_ms() const;  // of the next record

 private:
  const GenParameters parameters_;
  RecordTarget& target_;
  LedgerWriter& ledger_;
  std::vector<uint64_t> records_;  // of each partition
  uint64_t written_ = 0;
  GenCounts counts_;
  std::string bytes_;
};

// How many records are due `elapsed_ms` after the start, at the rate of the parameters.
uint64_t DueRecords(const GenParameters& parameters, int64_t elapsed_ms);

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_GENERATOR_H_
