// SELECT and what stands in FROM.
#include <utility>

#include "sql/keywords.h"
#include "sql/parser.h"

namespace weir::sql {

std::unique_ptr<SelectAst> Parser::ParseQuery() {
  if (PeekWord("WITH")) {
    failed_ = true;
    Refuse(Peek().at, "WITH", "write CREATE VIEW name AS SELECT ...");
    return nullptr;
  }
  if (++nesting_ > kDepthMax) {
    Fail("less nesting");
    return nullptr;
  }
  std::unique_ptr<SelectAst> select;
  if (TakeSymbol("(")) {
    select = ParseQuery();
    if (select != nullptr && !ExpectSymbol(")")) return nullptr;
  } else {
    select = ParseSelect();
  }
  --nesting_;
  if (select == nullptr || !ParseQueryTail()) return nullptr;
  return select;
}

// What may follow a SELECT in Flink and not here.
bool Parser::ParseQueryTail() {
  static constexpr struct {
    std::string_view word;
    std::string_view hint;
  } kTails[] = {
      {"UNION", "two INSERTs into one table do what UNION ALL does"},
      {"INTERSECT", ""},
      {"EXCEPT", ""},
      {"MINUS", ""},
      {"ORDER", "rows of windows leave in the order of window_end"},
      {"LIMIT", ""},
      {"OFFSET", ""},
      {"FETCH", ""},
      {"WINDOW", ""},
      {"QUALIFY", ""},
  };
  for (const auto& tail : kTails) {
    if (!PeekWord(tail.word)) continue;
    failed_ = true;
    Refuse(Peek().at, tail.word == "ORDER" ? "ORDER BY" : tail.word, std::string(tail.hint));
    return false;
  }
  return true;
}

std::unique_ptr<SelectAst> Parser::ParseSelect() {
  auto select = std::make_unique<SelectAst>();
  select->at = Peek().at;
  if (!ExpectWord("SELECT")) return nullptr;
  if (PeekWord("DISTINCT")) Refuse(Take().at, "SELECT DISTINCT", "GROUP BY in a window does it");
  TakeWord("ALL");
  do {
    if (!ParseSelectItem(*select)) return nullptr;
  } while (TakeSymbol(","));
  if (!PeekWord("FROM")) {
    Fail(PeekSymbol(")") || PeekSymbol(";") || Peek().kind == Token::Kind::kEnd
             ? "FROM (a SELECT reads a table)"
             : "',' or FROM",
         DidYouMean(Peek().upper, {"FROM"}));
    return nullptr;
  }
  Take();
  if (!ParseFrom(*select)) return nullptr;
  if (TakeWord("WHERE")) {
    select->where = ParseExpr();
    if (select->where == nullptr) return nullptr;
  }
  if (PeekWord("GROUP") && !ParseGroupBy(*select)) return nullptr;
  if (TakeWord("HAVING")) {
    select->having = ParseExpr();
    if (select->having == nullptr) return nullptr;
  }
  return select;
}

bool Parser::ParseSelectItem(SelectAst& select) {
  SelectItem item;
  const Position at = Peek().at;
  item.at = at;
  if (PeekSymbol("*")) {
    Take();
    item.expr = NewExpr(ExprAst::Kind::kStar, at);
    select.items.push_back(std::move(item));
    return true;
  }
  const bool name = Peek().kind == Token::Kind::kWord || Peek().kind == Token::Kind::kQuoted;
  if (name && PeekSymbol(".", 1) && PeekSymbol("*", 2)) {
    item.expr = NewExpr(ExprAst::Kind::kStar, at);
    Name table;
    if (!ParseName("a table name", &table)) return false;
    item.expr->parts.push_back(std::move(table));
    Take();
    Take();
    select.items.push_back(std::move(item));
    return true;
  }
  item.expr = ParseExpr();
  if (item.expr == nullptr) return false;
  if (TakeWord("AS")) {
    Name alias;
    if (!ParseName("an alias", &alias)) return false;
    item.alias = std::move(alias);
  } else if (PeekName()) {
    Name alias;
    if (!ParseName("an alias", &alias)) return false;
    item.alias = std::move(alias);
  }
  select.items.push_back(std::move(item));
  return true;
}

bool Parser::ParseFrom(SelectAst& select) {
  TableRef first;
  if (!ParseTableRef(&first)) return false;
  select.from.push_back(std::move(first));
  return ParseJoins(select);
}

// Joins are refused, but read and resolved: the other mistakes of the statement are worth knowing
// in the same run.
bool Parser::ParseJoins(SelectAst& select) {
  while (true) {
    const Position at = Peek().at;
    if (TakeSymbol(",")) {
      Refuse(at, "a join by comma");
    } else {
      TakeWord("NATURAL");
      if (!TakeWord("INNER") && !TakeWord("CROSS")) {
        if (TakeWord("LEFT") || TakeWord("RIGHT") || TakeWord("FULL")) TakeWord("OUTER");
      }
      if (!TakeWord("JOIN")) {
        const bool took = Peek().at.line != at.line || Peek().at.column != at.column;
        return !took || Fail("JOIN");
      }
      Refuse(at, "JOIN");
    }
    TableRef next;
    if (!ParseTableRef(&next)) return false;
    select.from.push_back(std::move(next));
    if (TakeWord("ON")) {
      ExprAstPtr on = ParseExpr();
      if (on == nullptr) return false;
      select.on.push_back(std::move(on));
    } else if (TakeWord("USING")) {
      std::vector<Name> ignored;  // the join is refused
      if (!ParseNameList(&ignored)) return false;
    }
  }
}

bool Parser::ParseTableRef(TableRef* out) {
  out->at = Peek().at;
  if (!ParseTablePrimary(out)) return false;
  if (PeekWord("FOR") && PeekWord("SYSTEM_TIME", 1)) {
    failed_ = true;
    Refuse(Peek().at, "FOR SYSTEM_TIME AS OF");
    return false;
  }
  static constexpr std::string_view kAfter[] = {"TABLESAMPLE", "MATCH_RECOGNIZE", "PIVOT",
                                                "UNPIVOT"};
  for (const std::string_view word : kAfter) {
    if (!PeekWord(word)) continue;
    failed_ = true;
    Refuse(Peek().at, word);
    return false;
  }
  static constexpr std::string_view kClauses[] = {"OFFSET", "FETCH", "MINUS", "WINDOW", "QUALIFY"};
  bool clause = false;
  for (const std::string_view word : kClauses) clause = clause || PeekWord(word);
  const bool as = TakeWord("AS");
  if (!as && (!PeekName() || clause)) return true;
  Name alias;
  if (!ParseName("an alias", &alias)) return false;
  out->alias = std::move(alias);
  return !PeekSymbol("(") || ParseNameList(&out->alias_columns);
}

bool Parser::ParseTablePrimary(TableRef* out) {
  if (TakeSymbol("(")) {
    out->kind = TableRef::Kind::kQuery;
    out->query = ParseQuery();
    return out->query != nullptr && ExpectSymbol(")");
  }
  if (PeekWord("LATERAL") || PeekWord("UNNEST") || PeekWord("VALUES")) {
    failed_ = true;
    Refuse(Peek().at, Peek().upper + " in FROM");
    return false;
  }
  if (PeekWord("TABLE") && PeekSymbol("(", 1)) {  // the older TABLE(TUMBLE(...))
    Take();
    Take();
    return ParseWindowFunction(out) && ExpectSymbol(")");
  }
  if (PeekSymbol("(", 1) && Peek().kind == Token::Kind::kWord) {
    if (PeekWord("LATE") || PeekWord("DEAD_LETTERS")) {
      out->kind = PeekWord("LATE") ? TableRef::Kind::kLate : TableRef::Kind::kDeadLetters;
      Take();
      Take();
      TakeWord("TABLE");
      return ParseObjectName("a table or view name", &out->name) && ExpectSymbol(")");
    }
    return ParseWindowFunction(out);
  }
  return ParseObjectName("a table name", &out->name);
}

bool Parser::ParseWindowFunction(TableRef* out) {
  static constexpr std::string_view kWindows[] = {"TUMBLE", "SESSION", "HOP", "CUMULATE"};
  bool known = false;
  for (const std::string_view word : kWindows) known = known || PeekWord(word);
  if (!known) {
    if (failed_) return false;
    failed_ = true;
    diagnostics_.Error(Peek().at, "unknown table function " + Peek().text,
                       "there are TUMBLE, SESSION, LATE and DEAD_LETTERS");
    return false;
  }
  out->kind = TableRef::Kind::kWindow;
  out->at = Peek().at;
  out->function = Take().upper;
  if (!ExpectSymbol("(")) return false;
  size_t position = 0;
  do {
    if (!ParseWindowArgument(out, position++)) return false;
  } while (TakeSymbol(","));
  return ExpectSymbol(")");
}

// By position (table, DESCRIPTOR, interval..) or by name (DATA => .., TIMECOL => .., SIZE => ..).
bool Parser::ParseWindowArgument(TableRef* out, size_t position) {
  size_t role = position < 2 ? position : 2;
  if (Peek().kind == Token::Kind::kWord && PeekSymbol("=>", 1)) {
    const Token word = Take();
    Take();
    if (word.upper == "DATA") {
      role = 0;
    } else if (word.upper == "TIMECOL") {
      role = 1;
    } else if (word.upper == "SIZE" || word.upper == "GAP" || word.upper == "OFFSET" ||
               word.upper == "SLIDE" || word.upper == "STEP") {
      role = 2;
    } else {
      diagnostics_.Error(word.at, "unknown argument " + word.text + " of " + out->function);
    }
  }
  if (role == 0) {
    if (PeekSymbol("(")) {
      failed_ = true;
      Refuse(Peek().at, "a query inside " + out->function, "make it a view");
      return false;
    }
    if (!ExpectWord("TABLE") || !ParseObjectName("a table or view name", &out->name)) return false;
    if (!TakeWords({"PARTITION", "BY"})) return true;
    const bool parenthesis = TakeSymbol("(");
    do {
      // In a bare list a comma is also what separates arguments: DESCRIPTOR ends it.
      if (!parenthesis && PeekWord("DESCRIPTOR")) return Fail("a column name");
      Name key;
      if (!ParseName("a column name", &key)) return false;
      out->partition_by.push_back(std::move(key));
      if (!parenthesis && PeekSymbol(",") && (PeekWord("DESCRIPTOR", 1) || PeekSymbol("=>", 2))) {
        return true;
      }
    } while (TakeSymbol(","));
    return !parenthesis || ExpectSymbol(")");
  }
  if (role == 1) {
    if (!ExpectWord("DESCRIPTOR") || !ExpectSymbol("(")) return false;
    if (!ParseName("a time column", &out->time)) return false;
    return ExpectSymbol(")");
  }
  ExprAstPtr size = ParseExpr();
  if (size == nullptr) return false;
  out->sizes.push_back(std::move(size));
  return true;
}

bool Parser::ParseGroupBy(SelectAst& select) {
  select.group_by_at = Take().at;
  if (!ExpectWord("BY")) return false;
  static constexpr std::string_view kSets[] = {"GROUPING", "CUBE", "ROLLUP"};
  do {
    for (const std::string_view word : kSets) {
      if (!PeekWord(word) || !(PeekSymbol("(", 1) || PeekWord("SETS", 1))) continue;
      failed_ = true;
      Refuse(Peek().at, word == "GROUPING" ? "GROUPING SETS" : word);
      return false;
    }
    ExprAstPtr key = ParseExpr();
    if (key == nullptr) return false;
    select.group_by.push_back(std::move(key));
  } while (TakeSymbol(","));
  return true;
}

}  // namespace weir::sql
