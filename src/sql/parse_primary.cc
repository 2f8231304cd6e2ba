// Operands: literals, names, calls, and the functions with a syntax of their own.
#include <utility>

#include "sql/keywords.h"
#include "sql/parser.h"

namespace weir::sql {

ExprAstPtr Parser::ParsePrimary() {
  const Token& token = Peek();
  switch (token.kind) {
    case Token::Kind::kNumber:
    case Token::Kind::kString: {
      ExprAstPtr e = NewExpr(
          token.kind == Token::Kind::kNumber ? ExprAst::Kind::kNumber : ExprAst::Kind::kString,
          token.at);
      e->text = Take().text;
      return e;
    }
    case Token::Kind::kQuoted:
      return ParseNameOrCall();
    case Token::Kind::kWord:
      return ParseWordPrimary();
    case Token::Kind::kSymbol:
      if (PeekSymbol("(")) {
        Take();
        if (PeekWord("SELECT") || PeekWord("WITH")) {
          failed_ = true;
          Refuse(Peek().at, "a query inside an expression");
          return nullptr;
        }
        ExprAstPtr e = ParseExpr();
        if (e == nullptr) return nullptr;
        if (PeekSymbol(",")) {
          failed_ = true;
          Refuse(Peek().at, "a row of several values");
          return nullptr;
        }
        if (!ExpectSymbol(")")) return nullptr;
        // In parentheses: not to be merged into a longer chain of AND or OR.
        if (e->kind == ExprAst::Kind::kBinary) e->flag = true;
        return e;
      }
      break;
    case Token::Kind::kEnd:
      break;
  }
  Fail("an expression");
  return nullptr;
}

ExprAstPtr Parser::ParseWordPrimary() {
  const Token token = Peek();
  const std::string& word = token.upper;
  const bool call = PeekSymbol("(", 1);
  if (word == "NULL") {
    Take();
    return NewExpr(ExprAst::Kind::kNull, token.at);
  }
  if (word == "TRUE" || word == "FALSE") {
    Take();
    ExprAstPtr e = NewExpr(ExprAst::Kind::kBool, token.at);
    e->flag = word == "TRUE";
    return e;
  }
  if (word == "CASE") return ParseCase();
  if (word == "INTERVAL") return ParseInterval();
  if ((word == "CAST" || word == "TRY_CAST") && call) return ParseCast(word == "TRY_CAST");
  if (word == "EXTRACT" && call) return ParseExtract();
  if (word == "TRIM" && call) return ParseTrim();
  if (word == "POSITION" && call) return ParsePosition();
  if ((word == "EXISTS" || word == "ROW") && call) {
    failed_ = true;
    Refuse(token.at, word + "(..)");
    return nullptr;
  }
  if ((word == "ARRAY" || word == "MAP") && PeekSymbol("[", 1)) {
    failed_ = true;
    Refuse(token.at, word + "[..]");
    return nullptr;
  }
  const bool text_follows = Peek(1).kind == Token::Kind::kString;
  if ((word == "DATE" || word == "TIMESTAMP" || word == "TIMESTAMP_LTZ") && text_follows) {
    Take();
    ExprAstPtr e = NewExpr(ExprAst::Kind::kTyped, token.at);
    e->type.kind = word == "DATE"        ? TypeKind::kDate
                   : word == "TIMESTAMP" ? TypeKind::kTimestamp
                                         : TypeKind::kTimestampLtz;
    e->text = Take().text;
    return e;
  }
  if (word == "TIME" && text_follows) {
    failed_ = true;
    Refuse(token.at, "the type TIME");
    return nullptr;
  }
  if (!IsReserved(word) || ((word == "LEFT" || word == "RIGHT") && call)) return ParseNameOrCall();
  // A reserved word where an operand is wanted: a column of that name when it is one that users
  // have as columns, else the operand is missing.
  static constexpr std::string_view kColumnLike[] = {"TIMESTAMP", "TIME", "DATE",   "VALUE",
                                                     "USER",      "ROW",  "VALUES", "END"};
  for (const std::string_view column : kColumnLike) {
    if (word != column || call) continue;
    ReportReserved(token);
    return ParseNameOrCall();
  }
  Fail("an expression");
  return nullptr;
}

ExprAstPtr Parser::ParseNameOrCall() {
  const Token token = Take();
  Name name{token.text, token.at, token.kind == Token::Kind::kQuoted,
            token.reported || (token.kind == Token::Kind::kWord && IsReserved(token.upper))};
  if (PeekSymbol("(")) return ParseCall(std::move(name));
  ExprAstPtr e = NewExpr(ExprAst::Kind::kColumn, name.at);
  e->name = token.upper;
  e->parts.push_back(std::move(name));
  while (TakeSymbol(".")) {
    const Token& next = Peek();
    if (next.kind != Token::Kind::kWord && next.kind != Token::Kind::kQuoted) {
      Fail("a column name");
      return nullptr;
    }
    Name part;
    if (!ParseName("a column name", &part)) return nullptr;
    e->parts.push_back(std::move(part));
  }
  if (PeekSymbol("[")) {
    failed_ = true;
    Refuse(Peek().at, "element access with [..]");
    return nullptr;
  }
  return e;
}

ExprAstPtr Parser::ParseCall(Name name) {
  ExprAstPtr call = NewCall("", name.at);
  call->is_operator = false;
  for (const char c : name.text) call->name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  if (call->name == "SUBSTRING" || call->name == "SUBSTR") return ParseSubstring(std::move(name));
  if (call->name == "FLOOR" || call->name == "CEIL" || call->name == "CEILING") {
    return ParseRounding(std::move(name));
  }
  call->parts[0] = std::move(name);
  Take();  // (
  return ParseCallArguments(std::move(call));
}

ExprAstPtr Parser::ParseCallArguments(ExprAstPtr call) {
  if (PeekSymbol("*")) {
    Take();
    call->star_argument = true;
    if (!ExpectSymbol(")")) return nullptr;
    return ParseCallTail(std::move(call));
  }
  if (PeekWord("DISTINCT")) {
    Refuse(Take().at, call->name + "(DISTINCT ..)");
  } else if (PeekWord("ALL")) {
    Take();
  }
  if (TakeSymbol(")")) return ParseCallTail(std::move(call));
  do {
    if (Peek().kind == Token::Kind::kWord && PeekSymbol("=>", 1)) {
      failed_ = true;
      Refuse(Peek().at, "an argument by name");
      return nullptr;
    }
    if (!AddArg(*call, ParseExpr())) return nullptr;
  } while (TakeSymbol(","));
  if (PeekWord("ORDER") || PeekWord("ON") || PeekWord("RETURNING")) {
    failed_ = true;
    Refuse(Peek().at, Peek().upper + " inside " + call->name + "(..)");
    return nullptr;
  }
  if (!ExpectSymbol(")")) return nullptr;
  return ParseCallTail(std::move(call));
}

ExprAstPtr Parser::ParseCallTail(ExprAstPtr call) {
  if (PeekWord("FILTER") && PeekSymbol("(", 1)) {
    Take();
    Take();
    if (!ExpectWord("WHERE")) return nullptr;
    call->filter = ParseExpr();
    if (call->filter == nullptr || !ExpectSymbol(")")) return nullptr;
    call->depth = std::max(call->depth, call->filter->depth + 1);
  }
  if (PeekWord("WITHIN") && PeekWord("GROUP", 1)) {
    failed_ = true;
    Refuse(Peek().at, "WITHIN GROUP");
    return nullptr;
  }
  if (PeekWord("OVER")) {
    Refuse(Take().at, call->name == "ROW_NUMBER" ? "ROW_NUMBER() OVER" : "OVER");
    if (PeekSymbol("(")) {
      SkipBalanced("(", ")");
    } else {
      Take();
    }
    call->name = "";  // refused once is enough
  }
  return call;
}

ExprAstPtr Parser::ParseCase() {
  ExprAstPtr e = NewExpr(ExprAst::Kind::kCase, Take().at);
  if (!PeekWord("WHEN")) {
    e->has_operand = true;
    if (!AddArg(*e, ParseExpr())) return nullptr;
  }
  if (!PeekWord("WHEN")) {
    Fail("WHEN");
    return nullptr;
  }
  while (TakeWord("WHEN")) {
    if (!AddArg(*e, ParseExpr()) || !ExpectWord("THEN") || !AddArg(*e, ParseExpr())) return nullptr;
  }
  if (TakeWord("ELSE")) {
    e->has_else = true;
    if (!AddArg(*e, ParseExpr())) return nullptr;
  }
  if (!ExpectWord("END")) return nullptr;
  return e;
}

ExprAstPtr Parser::ParseCast(bool try_cast) {
  ExprAstPtr e = NewExpr(ExprAst::Kind::kCast, Take().at);
  e->flag = try_cast;
  Take();  // (
  if (!AddArg(*e, ParseExpr()) || !ExpectWord("AS")) return nullptr;
  if (!ParseType(&e->type) || !ExpectSymbol(")")) return nullptr;
  return e;
}

ExprAstPtr Parser::ParseInterval() {
  ExprAstPtr e = NewExpr(ExprAst::Kind::kInterval, Take().at);
  const bool minus = TakeSymbol("-");
  std::string text;
  if (!ParseStringText("a number in single quotes, as in INTERVAL '10' SECOND", &text, nullptr)) {
    return nullptr;
  }
  e->text = (minus ? "-" : "") + text;
  if (Peek().kind != Token::Kind::kWord) {
    Fail("a unit (SECOND, MINUTE, HOUR, DAY)");
    return nullptr;
  }
  const auto unit = [&] {
    std::string word = Take().upper;
    if (word.size() > 1 && word.ends_with('S')) word.pop_back();  // SECONDS
    if (PeekSymbol("(")) SkipBalanced("(", ")");  // DAY(3): a precision that limits nothing
    return word;
  };
  e->name = unit();
  if (PeekWord("TO") && Peek(1).kind == Token::Kind::kWord) {
    Take();
    e->text2 = unit();
  }
  return e;
}

ExprAstPtr Parser::ParseExtract() {
  ExprAstPtr e = NewCall("EXTRACT", Take().at);
  Take();  // (
  if (Peek().kind != Token::Kind::kWord) {
    Fail("a unit (YEAR, MONTH, DAY, HOUR, ...)");
    return nullptr;
  }
  ExprAstPtr unit = NewExpr(ExprAst::Kind::kColumn, Peek().at);
  const Token word = Take();
  unit->name = word.upper;
  unit->parts.push_back(Name{word.text, word.at, false, false});
  if (!AddArg(*e, std::move(unit)) || !ExpectWord("FROM")) return nullptr;
  if (!AddArg(*e, ParseExpr()) || !ExpectSymbol(")")) return nullptr;
  return e;
}

// TRIM([BOTH|LEADING|TRAILING] [characters] FROM text), TRIM(text).
ExprAstPtr Parser::ParseTrim() {
  ExprAstPtr e = NewCall("TRIM_BOTH", Take().at);
  Take();  // (
  bool explicit_side = true;
  if (TakeWord("LEADING")) {
    e->name = "TRIM_LEADING";
  } else if (TakeWord("TRAILING")) {
    e->name = "TRIM_TRAILING";
  } else {
    explicit_side = TakeWord("BOTH");
  }
  ExprAstPtr first;
  if (!PeekWord("FROM")) {
    first = ParseExpr();
    if (first == nullptr) return nullptr;
  }
  if (TakeWord("FROM")) {
    ExprAstPtr text = ParseExpr();
    if (!AddArg(*e, std::move(text))) return nullptr;
    if (first != nullptr && !AddArg(*e, std::move(first))) return nullptr;
  } else {
    if (explicit_side) {
      Fail("FROM");
      return nullptr;
    }
    if (!AddArg(*e, std::move(first))) return nullptr;
  }
  if (!ExpectSymbol(")")) return nullptr;
  return e;
}

// SUBSTRING(text FROM start [FOR length]) or with commas.
ExprAstPtr Parser::ParseSubstring(Name name) {
  ExprAstPtr e = NewCall("SUBSTRING", name.at);
  Take();  // (
  if (!AddArg(*e, ParseExpr())) return nullptr;
  const bool from = TakeWord("FROM");
  if (!from && !ExpectSymbol(",")) return nullptr;
  if (!AddArg(*e, ParseExpr())) return nullptr;
  if (from ? TakeWord("FOR") : TakeSymbol(",")) {
    if (!AddArg(*e, ParseExpr())) return nullptr;
  }
  if (!ExpectSymbol(")")) return nullptr;
  return e;
}

// POSITION(needle IN text).
ExprAstPtr Parser::ParsePosition() {
  ExprAstPtr e = NewCall("POSITION", Take().at);
  Take();                              // (
  constexpr int kAboveComparison = 4;  // or IN would be read as a predicate
  if (!AddArg(*e, ParseExpr(kAboveComparison)) || !ExpectWord("IN")) return nullptr;
  if (!AddArg(*e, ParseExpr()) || !ExpectSymbol(")")) return nullptr;
  return e;
}

// FLOOR(x), FLOOR(ts TO unit).
ExprAstPtr Parser::ParseRounding(Name name) {
  const bool floor = name.text.size() == 5;
  ExprAstPtr e = NewCall(floor ? "FLOOR" : "CEIL", name.at);
  Take();  // (
  if (!AddArg(*e, ParseExpr())) return nullptr;
  if (TakeWord("TO")) {
    if (Peek().kind != Token::Kind::kWord) {
      Fail("a unit (YEAR, MONTH, DAY, HOUR, ...)");
      return nullptr;
    }
    e->name = floor ? "FLOOR_TO" : "CEIL_TO";
    ExprAstPtr unit = NewExpr(ExprAst::Kind::kColumn, Peek().at);
    const Token word = Take();
    unit->name = word.upper;
    unit->parts.push_back(Name{word.text, word.at, false, false});
    if (!AddArg(*e, std::move(unit))) return nullptr;
  }
  if (!ExpectSymbol(")")) return nullptr;
  return e;
}

}  // namespace weir::sql
