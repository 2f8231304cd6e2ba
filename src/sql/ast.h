// AST: what the parser has read, with the position of every part. No types and no meaning yet.
#ifndef WEIR_SQL_AST_H_
#define WEIR_SQL_AST_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/types.h"
#include "plan/expr.h"

namespace weir::sql {

using plan::Position;

struct Name {
  std::string text;
  Position at;
  bool quoted = false;
  bool reported = false;  // a mistake in it was reported already
};

struct ExprAst;
using ExprAstPtr = std::unique_ptr<ExprAst>;

struct ExprAst {
  enum class Kind {
    kColumn,  // parts: [table.]column
    kStar,    // *, or parts[0].*
    kNumber,  // text
    kString,  // text
    kNull,
    kBool,      // flag
    kTyped,     // DATE 'text', TIMESTAMP 'text', TIMESTAMP_LTZ: text, type.kind
    kInterval,  // INTERVAL 'text' unit [TO to_unit]; name = unit, text2 = to_unit
    kCall,      // name(args) [FILTER (WHERE filter)]; parts[0] = the name as written
    kUnary,     // name: NOT, -, +
    kBinary,    // name: + - * / % || = <> < <= > >= AND OR
    kCase,      // CASE [operand] WHEN .. THEN ..: args = operand?, (when, then)*, else?
    kCast,      // type; flag: TRY_CAST
    kIs,        // name: NULL TRUE FALSE UNKNOWN DISTINCT; flag: NOT; args: value [, other]
    kIn,        // args: value, items...; flag: NOT
    kBetween,   // args: value, low, high; flag: NOT
    kLike,      // args: value, pattern [, escape]; flag: NOT
  } kind = Kind::kNull;
  Position at;
  std::string name;  // upper case
  std::string text;
  std::string text2;
  std::vector<Name> parts;
  std::vector<ExprAstPtr> args;
  Type type;
  bool flag = false;
  bool has_operand = false;    // kCase
  bool has_else = false;       // kCase
  bool star_argument = false;  // kCall: COUNT(*)
  bool is_operator = false;    // kCall that was written with special syntax: TRIM(x FROM y)
  ExprAstPtr filter;           // kCall
  int depth = 1;               // of the tree: bounded by the parser, so that recursion over it is
};

struct SelectAst;

// One argument list of a window table function, in order of its meaning.
struct TableRef {
  enum class Kind { kName, kWindow, kLate, kDeadLetters, kQuery } kind = Kind::kName;
  Position at;
  Name name;                         // table or view; kWindow: what follows TABLE
  std::string function;              // kWindow: TUMBLE, SESSION, HOP, CUMULATE
  std::vector<Name> partition_by;    // SESSION
  Name time;                         // DESCRIPTOR(time)
  std::vector<ExprAstPtr> sizes;     // the intervals
  std::unique_ptr<SelectAst> query;  // kQuery
  std::optional<Name> alias;
  std::vector<Name> alias_columns;
};

struct SelectItem {
  Position at;
  ExprAstPtr expr;
  std::optional<Name> alias;
};

struct SelectAst {
  Position at;
  std::vector<SelectItem> items;
  std::vector<TableRef> from;  // more than one: a join, which is refused but resolved
  std::vector<ExprAstPtr> on;
  ExprAstPtr where;
  std::vector<ExprAstPtr> group_by;
  Position group_by_at;
  ExprAstPtr having;
};

struct ColumnAst {
  enum class Kind { kPhysical, kComputed, kMetadata } kind = Kind::kPhysical;
  Name name;
  Type type;
  ExprAstPtr computed;
  std::string metadata_key;  // "" = the column's name
  Position metadata_at;
  bool is_virtual = false;
  bool primary_key = false;
};

struct OptionAst {
  std::string key, value;
  Position key_at, value_at;
};

struct StatementAst {
  enum class Kind { kSet, kCreateTable, kCreateView, kInsert, kSelect } kind = Kind::kSelect;
  Position at;
  Name name;            // table or view
  bool broken = false;  // a syntax error was reported: only the name is to be relied on
  bool if_not_exists = false;
  OptionAst set;                   // kSet
  std::vector<ColumnAst> columns;  // kCreateTable
  std::optional<Name> watermark_column;
  ExprAstPtr watermark;
  Position watermark_at;
  std::vector<Name> primary_key;
  std::vector<OptionAst> options;
  Position options_at;
  std::vector<Name> column_names;  // kCreateView (cols), kInsert (cols)
  std::unique_ptr<SelectAst> select;
};

}  // namespace weir::sql

#endif  // WEIR_SQL_AST_H_
