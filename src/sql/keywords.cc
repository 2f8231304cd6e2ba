#include "sql/keywords.h"

#include <algorithm>
#include <iterator>

namespace weir::sql {
namespace {

// What the grammar needs, and the few others that Flink reserves and that users have as columns: a
// pipeline that uses them bare would not run there. Sorted.
constexpr std::string_view kReserved[] = {
    "ALL",    "AND",       "AS",        "BETWEEN", "BY",    "CASE",   "CAST",   "CREATE",
    "CROSS",  "DATE",      "DISTINCT",  "ELSE",    "END",   "ESCAPE", "EXCEPT", "EXISTS",
    "FALSE",  "FOR",       "FROM",      "FULL",    "GROUP", "HAVING", "IN",     "INNER",
    "INSERT", "INTERSECT", "INTERVAL",  "INTO",    "IS",    "JOIN",   "LEFT",   "LIKE",
    "LIMIT",  "NATURAL",   "NOT",       "NULL",    "ON",    "OR",     "ORDER",  "OUTER",
    "OVER",   "PARTITION", "PRIMARY",   "RIGHT",   "ROW",   "SELECT", "SET",    "TABLE",
    "THEN",   "TIME",      "TIMESTAMP", "TRUE",    "UNION", "USER",   "USING",  "VALUE",
    "VALUES", "WHEN",      "WHERE",     "WITH",
};

}  // namespace

bool IsReserved(std::string_view upper) {
  return std::binary_search(std::begin(kReserved), std::end(kReserved), upper);
}

int ReservedWordCount() { return static_cast<int>(std::size(kReserved)); }

std::string NameMistake(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > 100) return "is longer than 100 bytes";
  if (name.starts_with('.')) return "begins with a dot";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '\\' || byte < 0x20 || byte == 0x7F) {
      return "holds a slash or a control character";
    }
  }
  return "";
}

std::string NotInThisVersion(std::string_view feature) {
  return std::string(feature) +
         (feature.ends_with('s') && !feature.ends_with("ss") ? " are" : " is") +
         " not in this version";
}

}  // namespace weir::sql
