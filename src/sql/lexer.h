// Lexer: SQL text -> tokens with 1-based line and column (columns count code points).
#ifndef WEIR_SQL_LEXER_H_
#define WEIR_SQL_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

#include "plan/expr.h"
#include "sql/diagnostics.h"

namespace weir::sql {

struct Token {
  enum class Kind {
    kWord,    // unquoted name or keyword: `text` as written, `upper` in capitals
    kQuoted,  // `name` in backticks, or a "name" that was reported and goes on as a name
    kString,  // 'text' with '' undone
    kNumber,  // as written
    kSymbol,  // ( ) , ; . * / + - % = <> != < <= > >= || [ ] => : ?
    kEnd,
  } kind = Kind::kEnd;
  std::string text;
  std::string upper;
  plan::Position at;
  bool reported =
      false;  // a mistake in it was reported: that the name is not known is not worth saying
};

// Always ends with a kEnd token. What is no token is reported and left out.
std::vector<Token> Lex(std::string_view text, Diagnostics& diagnostics);

}  // namespace weir::sql

#endif  // WEIR_SQL_LEXER_H_
