// Operators by precedence climbing.
#include <algorithm>
#include <utility>

#include "sql/parser.h"

namespace weir::sql {
namespace {

// The higher, the tighter.
constexpr int kOrLevel = 1;
constexpr int kAndLevel = 2;
constexpr int kNotLevel = 3;
constexpr int kCompareLevel = 4;
constexpr int kAddLevel = 5;
constexpr int kMultiplyLevel = 6;

int LevelOf(const Token& token) {
  if (token.kind == Token::Kind::kWord) {
    if (token.upper == "OR") return kOrLevel;
    if (token.upper == "AND") return kAndLevel;
    return 0;
  }
  if (token.kind != Token::Kind::kSymbol) return 0;
  const std::string& s = token.text;
  if (s == "=" || s == "<>" || s == "!=" || s == "<" || s == "<=" || s == ">" || s == ">=") {
    return kCompareLevel;
  }
  if (s == "+" || s == "-") return kAddLevel;
  if (s == "*" || s == "/" || s == "%" || s == "||") return kMultiplyLevel;
  return 0;
}

bool BeginsPredicate(const Token& token, const Token& next) {
  if (token.kind != Token::Kind::kWord) return false;
  static constexpr std::string_view kWords[] = {"IS", "IN", "BETWEEN", "LIKE", "SIMILAR", "RLIKE"};
  const std::string& word = token.upper == "NOT" ? next.upper : token.upper;
  if (token.upper == "NOT" && (next.kind != Token::Kind::kWord || word == "IS")) return false;
  // Refused by name where they are operators; elsewhere they are names like any other.
  if (next.kind == Token::Kind::kString) {
    if (word == "ILIKE" || word == "GLOB" || word == "REGEXP") return true;
  }
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace

ExprAstPtr Parser::NewExpr(ExprAst::Kind kind, Position at) const {
  auto e = std::make_unique<ExprAst>();
  e->kind = kind;
  e->at = at;
  return e;
}

ExprAstPtr Parser::NewCall(std::string_view upper, Position at) const {
  ExprAstPtr e = NewExpr(ExprAst::Kind::kCall, at);
  e->name = upper;
  e->parts.push_back(Name{e->name, at, false, false});
  e->is_operator = true;
  return e;
}

bool Parser::AddArg(ExprAst& to, ExprAstPtr arg) {
  if (arg == nullptr) return false;
  to.depth = std::max(to.depth, arg->depth + 1);
  to.args.push_back(std::move(arg));
  if (to.depth <= kDepthMax) return true;
  return Fail("a simpler expression (this one is nested too deeply)");
}

ExprAstPtr Parser::ParseExpr(int precedence) {
  if (++nesting_ > kDepthMax) {
    Fail("a simpler expression (this one is nested too deeply)");
    return nullptr;
  }
  ExprAstPtr left = ParsePrefix();
  while (left != nullptr) {
    if (precedence < kCompareLevel && BeginsPredicate(Peek(), Peek(1))) {
      left = ParsePredicate(std::move(left));
      continue;
    }
    const int level = LevelOf(Peek());
    if (level == 0 || level <= precedence) break;
    const Token op = Take();
    const std::string name = op.kind == Token::Kind::kWord ? op.upper
                             : op.text == "!="             ? "<>"
                                                           : op.text;
    ExprAstPtr right = ParseExpr(level);
    // a AND b AND c is one node, so that long chains of conditions are not deep.
    const bool chain = (name == "AND" || name == "OR") && left->kind == ExprAst::Kind::kBinary &&
                       left->name == name && !left->flag;
    if (chain) {
      if (!AddArg(*left, std::move(right))) return nullptr;
      continue;
    }
    ExprAstPtr both = NewExpr(ExprAst::Kind::kBinary, op.at);
    both->name = name;
    if (!AddArg(*both, std::move(left)) || !AddArg(*both, std::move(right))) return nullptr;
    left = std::move(both);
  }
  --nesting_;
  return left;
}

ExprAstPtr Parser::ParsePrefix() {
  const Position at = Peek().at;
  const bool is_not = PeekWord("NOT");
  if (!is_not && !PeekSymbol("-") && !PeekSymbol("+")) return ParsePrimary();
  ExprAstPtr e = NewExpr(ExprAst::Kind::kUnary, at);
  const Token op = Take();
  e->name = is_not ? op.upper : op.text;
  if (!AddArg(*e, ParseExpr(is_not ? kNotLevel : kMultiplyLevel))) return nullptr;
  return e;
}

ExprAstPtr Parser::ParsePredicate(ExprAstPtr left) {
  const Position at = Peek().at;
  if (PeekWord("IS")) return ParseIs(std::move(left));
  const bool negated = TakeWord("NOT");
  for (const std::string_view other : {"SIMILAR", "RLIKE", "REGEXP", "ILIKE", "GLOB"}) {
    if (!PeekWord(other)) continue;
    failed_ = true;
    Refuse(Peek().at, other == "SIMILAR" ? "SIMILAR TO" : "the operator " + std::string(other),
           other == "ILIKE" ? "use LOWER(text) LIKE 'pattern'" : "use REGEXP(text, 'pattern')");
    return nullptr;
  }
  const Token word = Take();
  ExprAstPtr e = NewExpr(word.upper == "IN"     ? ExprAst::Kind::kIn
                         : word.upper == "LIKE" ? ExprAst::Kind::kLike
                                                : ExprAst::Kind::kBetween,
                         at);
  e->flag = negated;
  if (!AddArg(*e, std::move(left))) return nullptr;
  if (e->kind == ExprAst::Kind::kLike) {
    if (!AddArg(*e, ParseExpr(kCompareLevel))) return nullptr;
    if (TakeWord("ESCAPE") && !AddArg(*e, ParseExpr(kCompareLevel))) return nullptr;
    return e;
  }
  if (e->kind == ExprAst::Kind::kBetween) {
    if (PeekWord("SYMMETRIC") || PeekWord("ASYMMETRIC")) {
      failed_ = true;
      Refuse(Peek().at, "BETWEEN " + Peek().upper);
      return nullptr;
    }
    if (!AddArg(*e, ParseExpr(kCompareLevel)) || !ExpectWord("AND")) return nullptr;
    if (!AddArg(*e, ParseExpr(kCompareLevel))) return nullptr;
    return e;
  }
  if (!ExpectSymbol("(")) return nullptr;
  if (PeekWord("SELECT") || PeekWord("WITH")) {
    failed_ = true;
    Refuse(Peek().at, "IN (SELECT ..)");
    return nullptr;
  }
  do {
    if (!AddArg(*e, ParseExpr())) return nullptr;
  } while (TakeSymbol(","));
  if (!ExpectSymbol(")")) return nullptr;
  return e;
}

ExprAstPtr Parser::ParseIs(ExprAstPtr left) {
  ExprAstPtr e = NewExpr(ExprAst::Kind::kIs, Take().at);
  e->flag = TakeWord("NOT");
  if (!AddArg(*e, std::move(left))) return nullptr;
  if (TakeWords({"DISTINCT", "FROM"})) {
    e->name = "DISTINCT";
    if (!AddArg(*e, ParseExpr(kCompareLevel))) return nullptr;
    return e;
  }
  for (const std::string_view word : {"NULL", "TRUE", "FALSE", "UNKNOWN"}) {
    if (!TakeWord(word)) continue;
    e->name = word;
    return e;
  }
  if (PeekWord("JSON")) {
    failed_ = true;
    Refuse(Peek().at, "IS JSON");
    return nullptr;
  }
  Fail("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
  return nullptr;
}

}  // namespace weir::sql
