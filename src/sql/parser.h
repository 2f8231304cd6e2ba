// Parser: tokens -> AST. Recursive descent; expressions by precedence climbing. A syntax error ends
// its statement only, so that one run finds the errors of all of them. What sql.md has and this
// version has not is refused by name, and parsing goes on where it can.
#ifndef WEIR_SQL_PARSER_H_
#define WEIR_SQL_PARSER_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sql/ast.h"
#include "sql/diagnostics.h"
#include "sql/lexer.h"

namespace weir::sql {

class Parser {
 public:
  // Both outlive the parser.
  Parser(const std::vector<Token>& tokens, Diagnostics& diagnostics)
      : tokens_(tokens), diagnostics_(diagnostics) {}

  std::vector<StatementAst> ParseScript();

 private:
  // Deeper nesting is refused: the binder and destructors recurse over the tree.
  static constexpr int kDepthMax = 200;

  // --- tokens (parse_statement.cc)
  const Token& Peek(size_t ahead = 0) const;
  Token Take();
  bool PeekWord(std::string_view upper, size_t ahead = 0) const;
  bool PeekSymbol(std::string_view symbol, size_t ahead = 0) const;
  bool TakeWord(std::string_view upper);
  bool TakeSymbol(std::string_view symbol);
  bool TakeWords(std::initializer_list<std::string_view> words);  // all or none
  bool ExpectWord(std::string_view upper);
  bool ExpectSymbol(std::string_view symbol);
  // Reports "expected X, found Y" once a statement; always false.
  bool Fail(std::string_view expected, std::string hint = "");
  void Refuse(Position at, std::string_view feature, std::string hint = "");
  // A name; a reserved word is reported with the backtick hint and taken as the name.
  bool ParseName(std::string_view what, Name* out);
  bool PeekName() const;  // a name that needs no report
  void ReportReserved(const Token& token);
  bool ParseNameList(std::vector<Name>* out);              // (a, b)
  bool ParseObjectName(std::string_view what, Name* out);  // a table or view; catalogs are refused
  bool ParseStringText(std::string_view what, std::string* out, Position* at);
  void SkipStatement();
  void SkipBalanced(std::string_view open, std::string_view close);

  // --- statements (parse_statement.cc, parse_table.cc)
  void ParseOne(std::vector<StatementAst>& out);
  bool ParseStatement(StatementAst& out);
  bool ParseSetMarkers(bool* was_marker);
  bool ParseSet(StatementAst& out);
  bool ParseCreate(StatementAst& out);
  bool ParseCreateTable(StatementAst& out);
  bool ParseCreateView(StatementAst& out);
  bool ParseInsert(StatementAst& out);
  bool RefuseStatement();
  bool ParseTableElement(StatementAst& out);
  bool ParseColumn(StatementAst& out);
  bool ParseColumnConstraints(ColumnAst& column);
  bool ParsePrimaryKeyTail();
  bool ParseOptions(StatementAst& out);
  bool RefuseTableAs();
  bool ParseComment();
  bool ParseType(Type* out);
  bool ParseTypeArgument(int low, int high, std::string_view what, int* out);
  bool ParseDecimalType(Type* out);
  bool ParseTimestampTail(Position at, Type* out);
  bool RefuseType(const Token& word);

  // --- queries (parse_query.cc)
  std::unique_ptr<SelectAst> ParseQuery();
  std::unique_ptr<SelectAst> ParseSelect();
  bool ParseSelectItem(SelectAst& select);
  bool ParseFrom(SelectAst& select);
  bool ParseJoins(SelectAst& select);
  bool ParseTableRef(TableRef* out);
  bool ParseTablePrimary(TableRef* out);
  bool ParseWindowFunction(TableRef* out);
  bool ParseWindowArgument(TableRef* out, size_t position);
  bool ParseGroupBy(SelectAst& select);
  bool ParseQueryTail();

  // --- expressions (parse_expr.cc, parse_primary.cc)
  ExprAstPtr ParseExpr(int precedence = 0);
  ExprAstPtr ParsePrefix();
  ExprAstPtr ParsePredicate(ExprAstPtr left);
  ExprAstPtr ParseIs(ExprAstPtr left);
  ExprAstPtr ParsePrimary();
  ExprAstPtr ParseWordPrimary();
  ExprAstPtr ParseNameOrCall();
  ExprAstPtr ParseCall(Name name);
  ExprAstPtr ParseCallArguments(ExprAstPtr call);
  ExprAstPtr ParseCallTail(ExprAstPtr call);
  ExprAstPtr ParseCase();
  ExprAstPtr ParseCast(bool try_cast);
  ExprAstPtr ParseInterval();
  ExprAstPtr ParseExtract();
  ExprAstPtr ParseTrim();
  ExprAstPtr ParseSubstring(Name name);
  ExprAstPtr ParsePosition();
  ExprAstPtr ParseRounding(Name name);
  ExprAstPtr NewExpr(ExprAst::Kind kind, Position at) const;
  ExprAstPtr NewCall(std::string_view upper, Position at) const;
  bool AddArg(ExprAst& to, ExprAstPtr arg);  // false: no argument, or the tree is too deep

  const std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  size_t i_ = 0;
  bool failed_ = false;  // in this statement
  bool in_statement_set_ = false;
  Position statement_set_at_;
  int nesting_ = 0;
};

}  // namespace weir::sql

#endif  // WEIR_SQL_PARSER_H_
