// Reads one line of a trace: just the JSON that trace.cc writes, strictly. Not a JSON library:
// objects of strings, whole numbers, booleans, flat objects and lists of strings.
#ifndef WEIR_PROTOCOL_TRACE_JSON_H_
#define WEIR_PROTOCOL_TRACE_JSON_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/types.h"

namespace weir::protocol {

class TraceObject;
using TraceList = std::vector<std::string>;

struct TraceValue {
  std::variant<std::string, uint64_t, bool, TraceList, std::vector<TraceObject>>
      v;  // last: one object
};

class TraceObject {
 public:
  // nullopt: not exactly one object.
  static std::optional<TraceObject> Parse(std::string_view line);

  bool Has(std::string_view key) const { return members_.contains(std::string(key)); }
  // Of the named type, or nullopt: absent, or another type.
  std::optional<std::string> Text(std::string_view key) const;
  std::optional<uint64_t> Number(std::string_view key) const;
  std::optional<bool> Flag(std::string_view key) const;
  const TraceObject* Object(std::string_view key) const;
  const TraceList* List(std::string_view key) const;
  std::optional<TargetPosition> Position(std::string_view key) const;  // "42:918"
  const std::map<std::string, TraceValue>& members() const { return members_; }

 private:
  friend class TraceParser;
  const TraceValue* Find(std::string_view key) const;
  std::map<std::string, TraceValue> members_;
};

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_TRACE_JSON_H_
