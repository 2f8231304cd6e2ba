// The runtime's part of an epoch row: watermarks, which partition is being read, and the books.
// Text, one fact a line, so that a person with sqlite3 can read it; docs/state-format.md lists the
// lines.
//
//   watermark NODE MS|none|end
//   current NODE PARTITION-KEY
//   books NODE read=10 decoded=9 ...         (counts that are 0 are left out)
//   ended NODE
#ifndef WEIR_RUNTIME_EPOCH_BODY_H_
#define WEIR_RUNTIME_EPOCH_BODY_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/status.h"
#include "flow/books.h"

namespace weir::runtime {

struct EpochBody {
  std::map<std::string, TimestampMs> watermarks;  // by scan
  std::map<std::string, std::string> current;     // by scan
  std::map<std::string, flow::NodeBooks> books;   // by node
  std::set<std::string> ended;  // scans that have seen the end of their bounded input

  std::string Encode() const;
  // kCorruption when a line cannot be read; unknown first words are refused too (the format version
  // guards them).
  static Result<EpochBody> Decode(std::string_view text);
};

// For status: {"read":10,"decoded":9}, without the counts that are 0.
std::string BooksJson(const flow::NodeBooks& books);
std::string TimeJson(TimestampMs t);  // null, "end" or ms

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_EPOCH_BODY_H_
