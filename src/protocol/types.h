// The vocabulary of the protocol (docs/GLOSSARY.md) as plain data. Pure: no I/O, no clock.
#ifndef WEIR_PROTOCOL_TYPES_H_
#define WEIR_PROTOCOL_TYPES_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace weir::protocol {

// How far a target has got: all rows of the target up to and including epoch-1, and `rows` rows of
// `epoch`. Compared in that order. A complete epoch is written as (epoch, number of its rows for
// the target).
struct TargetPosition {
  EpochId epoch = 0;
  uint64_t rows = 0;
  auto operator<=>(const TargetPosition&) const = default;
  std::string ToString() const;  // "42:918"
};
// The inverse of ToString; nullopt for anything else.
std::optional<TargetPosition> ParseTargetPosition(std::string_view text);

// What a target keeps atomically with the data.
struct Receipt {
  Lineage lineage;
  TargetPosition position;
  Digest256 hash;  // h(N) of that epoch in the chain of `lineage`
  bool operator==(const Receipt&) const = default;
};

// A lineage that this directory ever had.
struct LineageRecord {
  Lineage lineage;
  EpochId base = 0;         // epochs of it are above this
  EpochId last_sealed = 0;  // 0: none
  Digest256 last_hash;      // of last_sealed
};

// Every way out that an operator can be asked to take (exactly-once.md "Parking and resolving").
enum class Verb {
  kTrustSink,
  kRedeliver,
  kAdopt,
  kAcceptMissing,
  kRewindFile,
  kAcceptTopic,
  kAcceptGap,
  kQuarantine
};
inline constexpr Verb kAllVerbs[] = {Verb::kTrustSink,     Verb::kRedeliver,  Verb::kAdopt,
                                     Verb::kAcceptMissing, Verb::kRewindFile, Verb::kAcceptTopic,
                                     Verb::kAcceptGap,     Verb::kQuarantine};
const char* VerbName(Verb verb);  // "--trust-sink"
std::optional<Verb> VerbFromName(std::string_view name);

// An operator's recorded decision, used up by the first run that has acted on it.
struct Resolution {
  uint64_t id = 0;
  Verb verb = Verb::kTrustSink;
  std::string subject;  // sink, source or source:partition
};

// A sink or source whose evidence cannot decide. The pipeline goes on without it; status, the log
// and the exit message show this.
struct Park {
  std::string subject;      // sink or source name
  std::string rule;         // stable word of the decision row: "file.receipt-above", "sql.row-5"
  std::string facts;        // one line
  std::vector<Verb> verbs;  // never empty: a test enumerates

  // "sink out is parked (file.missing): facts. Ways out: weir resolve --accept-missing out, ..."
  std::string ToString() const;
};

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_TYPES_H_
