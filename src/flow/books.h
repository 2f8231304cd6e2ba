// The books: every node counts the rows of its input, each with exactly one outcome (time.md).
// Cumulative over the lineage; part of the sealed epoch; must balance to the row at every cut.
#ifndef WEIR_FLOW_BOOKS_H_
#define WEIR_FLOW_BOOKS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::flow {

enum class Count : uint8_t {
  kRead,      // scan: records that the reader passed
  kDecoded,   // scan: rows that went on
  kSkipped,   // scan: empty lines, tombstones, control records
  kIn,        // rows pushed into the node
  kOut,       // rows that left on the main edge
  kFiltered,  // rows that a WHERE or HAVING refused
  kDead,      // rows or records that became dead letters here
  kPlaced,    // window: rows put into at least one window
  kLate,      // window: rows refused
  kLateWoke,  // ... of them, those whose partition did not hold the watermark when the window
              // opened
  kAssigned,  // window: (row, window) assignments
  kFired,     // window: assignments in windows that have fired
  kOpen,      // window: assignments in open windows (a gauge)
  kResults,   // window: result rows (main edge); result dead letters are counted in kResultsDead
  kResultsDead,
  kFutureSkew,   // scan: rows that did not move the watermark
  kStaged,       // sink: rows taken by the stage
  kSealed,       // sink: rows in sealed epochs
  kAcked,        // sink: rows that the target has proven
  kDropped,      // sink: rows given up by an operator's word
  kDeadDropped,  // dead-letter file: rows deleted with an old file
  kCountOf,
};
std::string_view CountName(Count count);  // "late_woke": in JSON, metrics and the sealed epoch

struct NodeBooks {
  std::array<uint64_t, static_cast<size_t>(Count::kCountOf)> counts{};
  uint64_t& operator[](Count c) { return counts[static_cast<size_t>(c)]; }
  uint64_t operator[](Count c) const { return counts[static_cast<size_t>(c)]; }
  bool operator==(const NodeBooks&) const = default;
};

// The kinds of equation (time.md, "The books").
enum class BooksKind { kScan, kCalc, kWindow, kSink, kPassThrough };
// Empty when they balance, else the equation with its numbers: "window counts: in 10 != placed 7 +
// late 2 + dead 0".
std::string CheckBooks(std::string_view node, BooksKind kind, const NodeBooks& books);

}  // namespace weir::flow

#endif  // WEIR_FLOW_BOOKS_H_
