// Tokens, scripts and statements; CREATE TABLE's inside is in parse_table.cc.
#include <utility>

#include "sql/keywords.h"
#include "sql/parser.h"

namespace weir::sql {

const Token& Parser::Peek(size_t ahead) const {
  const size_t last = tokens_.size() - 1;  // kEnd
  return tokens_[i_ + ahead < last ? i_ + ahead : last];
}

Token Parser::Take() {
  const Token& token = Peek();
  if (i_ + 1 < tokens_.size()) ++i_;
  return token;
}

bool Parser::PeekWord(std::string_view upper, size_t ahead) const {
  const Token& token = Peek(ahead);
  return token.kind == Token::Kind::kWord && token.upper == upper;
}

bool Parser::PeekSymbol(std::string_view symbol, size_t ahead) const {
  const Token& token = Peek(ahead);
  return token.kind == Token::Kind::kSymbol && token.text == symbol;
}

bool Parser::TakeWord(std::string_view upper) {
  if (!PeekWord(upper)) return false;
  Take();
  return true;
}

bool Parser::TakeSymbol(std::string_view symbol) {
  if (!PeekSymbol(symbol)) return false;
  Take();
  return true;
}

bool Parser::TakeWords(std::initializer_list<std::string_view> words) {
  size_t ahead = 0;
  for (const std::string_view word : words) {
    if (!PeekWord(word, ahead++)) return false;
  }
  for (size_t i = 0; i < words.size(); ++i) Take();
  return true;
}

bool Parser::ExpectWord(std::string_view upper) { return TakeWord(upper) || Fail(upper); }

bool Parser::ExpectSymbol(std::string_view symbol) {
  return TakeSymbol(symbol) || Fail("'" + std::string(symbol) + "'");
}

bool Parser::Fail(std::string_view expected, std::string hint) {
  if (failed_) return false;
  failed_ = true;
  const Token& token = Peek();
  std::string found;
  switch (token.kind) {
    case Token::Kind::kEnd:
      found = "the end of the file";
      break;
    case Token::Kind::kString:
      found = "the text '" + token.text + "'";
      break;
    case Token::Kind::kQuoted:
      found = "`" + token.text + "`";
      break;
    case Token::Kind::kSymbol:
      found = "'" + token.text + "'";
      break;
    case Token::Kind::kWord:
    case Token::Kind::kNumber:
      found = token.text;
      break;
  }
  diagnostics_.Error(token.at, "expected " + std::string(expected) + ", found " + found,
                     std::move(hint));
  return false;
}

void Parser::Refuse(Position at, std::string_view feature, std::string hint) {
  diagnostics_.Error(at, NotInThisVersion(feature), std::move(hint));
}

void Parser::ReportReserved(const Token& token) {
  diagnostics_.Error(token.at, "\"" + token.text + "\" is a reserved word",
                     "write `" + token.text + "` (with backticks)");
}

bool Parser::PeekName() const {
  const Token& token = Peek();
  return token.kind == Token::Kind::kQuoted ||
         (token.kind == Token::Kind::kWord && !IsReserved(token.upper));
}

bool Parser::ParseName(std::string_view what, Name* out) {
  const Token& token = Peek();
  if (token.kind != Token::Kind::kQuoted && token.kind != Token::Kind::kWord) return Fail(what);
  const bool reserved = token.kind == Token::Kind::kWord && IsReserved(token.upper);
  if (reserved) ReportReserved(token);
  *out = Name{token.text, token.at, token.kind == Token::Kind::kQuoted, token.reported || reserved};
  Take();
  return true;
}

bool Parser::ParseNameList(std::vector<Name>* out) {
  if (!ExpectSymbol("(")) return false;
  do {
    Name name;
    if (!ParseName("a column name", &name)) return false;
    out->push_back(std::move(name));
  } while (TakeSymbol(","));
  return ExpectSymbol(")");
}

bool Parser::ParseObjectName(std::string_view what, Name* out) {
  if (!ParseName(what, out)) return false;
  while (PeekSymbol(".")) {
    const Position at = Take().at;
    diagnostics_.Error(at, "there are no catalogs or databases here",
                       "write the table's name alone");
    if (!ParseName(what, out)) return false;
  }
  return true;
}

bool Parser::ParseStringText(std::string_view what, std::string* out, Position* at) {
  if (Peek().kind != Token::Kind::kString) return Fail(what);
  Token token = Take();
  *out = std::move(token.text);
  if (at != nullptr) *at = token.at;
  return true;
}

void Parser::SkipStatement() {
  while (Peek().kind != Token::Kind::kEnd && !PeekSymbol(";")) Take();
}

void Parser::SkipBalanced(std::string_view open, std::string_view close) {
  if (!TakeSymbol(open)) return;
  int depth = 1;
  while (depth > 0 && Peek().kind != Token::Kind::kEnd && !PeekSymbol(";")) {
    if (PeekSymbol(open)) ++depth;
    if (PeekSymbol(close)) --depth;
    Take();
  }
}

std::vector<StatementAst> Parser::ParseScript() {
  std::vector<StatementAst> out;
  while (Peek().kind != Token::Kind::kEnd) {
    if (TakeSymbol(";")) continue;
    failed_ = false;
    nesting_ = 0;
    ParseOne(out);
  }
  if (in_statement_set_) {
    diagnostics_.Error(statement_set_at_, "this statement set is never closed", "end it with END;");
  }
  return out;
}

void Parser::ParseOne(std::vector<StatementAst>& out) {
  bool was_marker = false;
  if (!ParseSetMarkers(&was_marker)) return SkipStatement();
  if (was_marker) return;
  StatementAst statement;
  statement.at = Peek().at;
  bool ok = ParseStatement(statement);
  if (ok && !PeekSymbol(";") && Peek().kind != Token::Kind::kEnd) ok = Fail("';'");
  statement.broken = !ok;
  if (!ok) SkipStatement();
  if (in_statement_set_ && ok && statement.kind != StatementAst::Kind::kInsert) {
    diagnostics_.Error(statement.at, "a statement set holds INSERT statements only");
  }
  // Of a broken statement only a name that it defines is of use: later statements may know it.
  const bool defines = statement.kind == StatementAst::Kind::kCreateTable ||
                       statement.kind == StatementAst::Kind::kCreateView;
  if (ok || (defines && !statement.name.text.empty())) out.push_back(std::move(statement));
}

// EXECUTE STATEMENT SET BEGIN, BEGIN STATEMENT SET; and END; only bracket INSERTs: all INSERTs of a
// file are one job anyway.
bool Parser::ParseSetMarkers(bool* was_marker) {
  const Position at = Peek().at;
  bool begins = false;
  if (TakeWords({"EXECUTE", "STATEMENT", "SET"})) {
    begins = true;
    if (!ExpectWord("BEGIN")) return false;
  } else if (TakeWords({"BEGIN", "STATEMENT", "SET"})) {
    begins = true;
    if (!PeekSymbol(";")) return Fail("';'");
  }
  if (begins) {
    if (in_statement_set_) diagnostics_.Error(at, "a statement set within a statement set");
    in_statement_set_ = true;
    statement_set_at_ = at;
    *was_marker = true;
    return true;
  }
  if (!PeekWord("END")) return true;
  Take();
  if (!in_statement_set_) diagnostics_.Error(at, "END without a statement set before it");
  in_statement_set_ = false;
  *was_marker = true;
  if (!PeekSymbol(";") && Peek().kind != Token::Kind::kEnd) return Fail("';'");
  return true;
}

bool Parser::ParseStatement(StatementAst& out) {
  if (PeekWord("SET")) return ParseSet(out);
  if (PeekWord("CREATE")) return ParseCreate(out);
  if (PeekWord("INSERT")) return ParseInsert(out);
  if (PeekWord("SELECT") || PeekWord("WITH") || PeekSymbol("(")) {
    out.kind = StatementAst::Kind::kSelect;
    out.select = ParseQuery();
    return out.select != nullptr;
  }
  return RefuseStatement();
}

bool Parser::RefuseStatement() {
  static constexpr struct {
    std::string_view word;
    std::string_view hint;
  } kOthers[] = {
      {"ALTER", "a table is what its CREATE TABLE says"},
      {"DROP", "a table that no INSERT reads or writes is not part of the pipeline"},
      {"DELETE", ""},
      {"UPDATE", ""},
      {"USE", ""},
      {"SHOW", ""},
      {"DESCRIBE", "weir check and weir explain show the plan"},
      {"DESC", "weir check and weir explain show the plan"},
      {"EXPLAIN", "run weir explain on the file"},
      {"EXECUTE", "write the INSERT alone: all INSERTs of a file are one job"},
      {"RESET", "leave the SET out"},
      {"ADD", ""},
      {"REMOVE", ""},
      {"LOAD", ""},
      {"UNLOAD", ""},
      {"CALL", ""},
      {"ANALYZE", ""},
      {"TRUNCATE", ""},
      {"VALUES", ""},
      {"MERGE", ""},
  };
  const Token& token = Peek();
  for (const auto& other : kOthers) {
    if (!PeekWord(other.word)) continue;
    failed_ = true;
    Refuse(token.at, std::string("the statement ") + token.upper, std::string(other.hint));
    return false;
  }
  return Fail("a statement (SET, CREATE TABLE, CREATE VIEW, INSERT INTO or SELECT)",
              DidYouMean(token.upper, {"SET", "CREATE", "INSERT", "SELECT", "EXECUTE", "BEGIN"}));
}

bool Parser::ParseSet(StatementAst& out) {
  out.kind = StatementAst::Kind::kSet;
  Take();
  if (Peek().kind == Token::Kind::kWord || Peek().kind == Token::Kind::kQuoted) {
    failed_ = true;
    diagnostics_.Error(Peek().at, "the key of SET is written in single quotes",
                       "SET 'execution.checkpointing.interval' = '1 s';");
    return false;
  }
  return ParseStringText("a key in single quotes", &out.set.key, &out.set.key_at) &&
         ExpectSymbol("=") &&
         ParseStringText("a value in single quotes", &out.set.value, &out.set.value_at);
}

bool Parser::ParseCreate(StatementAst& out) {
  const Position at = Take().at;
  if (TakeWords({"OR", "REPLACE"})) {
    Refuse(at, "CREATE OR REPLACE");
  }
  TakeWord("TEMPORARY");
  if (TakeWord("TABLE")) return ParseCreateTable(out);
  if (TakeWord("VIEW")) return ParseCreateView(out);
  static constexpr std::string_view kOthers[] = {"FUNCTION", "SYSTEM", "CATALOG",
                                                 "DATABASE", "MODEL",  "MATERIALIZED"};
  for (const std::string_view other : kOthers) {
    if (!PeekWord(other)) continue;
    failed_ = true;
    Refuse(Peek().at, "CREATE " + std::string(other));
    return false;
  }
  return Fail("TABLE or VIEW");
}

bool Parser::ParseCreateView(StatementAst& out) {
  out.kind = StatementAst::Kind::kCreateView;
  out.if_not_exists = TakeWords({"IF", "NOT", "EXISTS"});
  if (!ParseObjectName("a view name", &out.name)) return false;
  if (PeekSymbol("(") && !ParseNameList(&out.column_names)) return false;
  if (!ParseComment() || !ExpectWord("AS")) return false;
  out.select = ParseQuery();
  return out.select != nullptr;
}

bool Parser::ParseInsert(StatementAst& out) {
  out.kind = StatementAst::Kind::kInsert;
  Take();
  if (PeekWord("OVERWRITE")) {
    Refuse(Take().at, "INSERT OVERWRITE", "delivered output is never replaced");
  } else if (!ExpectWord("INTO")) {
    return false;
  }
  TakeWord("TABLE");
  if (!ParseObjectName("a table name", &out.name)) return false;
  if (PeekWord("PARTITION")) {
    Refuse(Take().at, "INSERT INTO .. PARTITION");
    SkipBalanced("(", ")");
  }
  if (PeekSymbol("(") && !PeekWord("SELECT", 1) && !PeekWord("WITH", 1)) {
    if (!ParseNameList(&out.column_names)) return false;
  }
  if (PeekWord("VALUES")) {
    failed_ = true;
    Refuse(Peek().at, "INSERT INTO .. VALUES", "select from a table");
    return false;
  }
  out.select = ParseQuery();
  return out.select != nullptr;
}

}  // namespace weir::sql
