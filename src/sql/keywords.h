// Words with a meaning of their own, and what this version does not have yet.
#ifndef WEIR_SQL_KEYWORDS_H_
#define WEIR_SQL_KEYWORDS_H_

#include <string>
#include <string_view>

namespace weir::sql {

// Words that are no names unless in backticks. `upper`: in capitals.
bool IsReserved(std::string_view upper);
int ReservedWordCount();  // docs/sql.md lists them all

// What is wrong with the name of a table, a view or a pipeline, "" when nothing is: it becomes part
// of file names (spool/NAME, dead/NAME.jsonl) and of log lines.
std::string NameMistake(std::string_view name);

// The message for a feature of docs/sql.md that is not built yet, or never will be: "X is not in
// this version".
std::string NotInThisVersion(std::string_view feature);

}  // namespace weir::sql

#endif  // WEIR_SQL_KEYWORDS_H_
