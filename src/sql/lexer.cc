#include "sql/lexer.h"

#include <utility>

#include "base/text.h"
#include "sql/keywords.h"

namespace weir::sql {
namespace {

using plan::Position;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c) || c == '$'; }

bool IsTextPrefix(std::string_view word) {
  return word.size() == 1 && std::string_view("EeXxNnBb").find(word[0]) != std::string_view::npos;
}

// What a word processor or a web page makes of quotes and blanks. They would be parts of names that
// nobody can tell from what was meant.
struct Foreign {
  std::string_view bytes, what, hint;
};
constexpr std::string_view kQuotesHint = "write ' for a text and ` for a name";
constexpr Foreign kForeign[] = {
    {"\xe2\x80\x98", "a typographic quote", kQuotesHint},
    {"\xe2\x80\x99", "a typographic quote", kQuotesHint},
    {"\xe2\x80\x9c", "a typographic quote", kQuotesHint},
    {"\xe2\x80\x9d", "a typographic quote", kQuotesHint},
    {"\xc2\xa0", "a no-break space", "write a plain blank"},
    {"\xe2\x80\x8b", "a zero-width space", "take it out"},
    {"\xef\xbb\xbf", "a byte order mark within the text", "take it out"},
};

const Foreign* ForeignAt(std::string_view text) {
  for (const Foreign& foreign : kForeign) {
    if (text.starts_with(foreign.bytes)) return &foreign;
  }
  return nullptr;
}

class Lexer {
 public:
  Lexer(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  std::vector<Token> Run() {
    if (!IsValidUtf8(text_)) {
      diagnostics_.Error(FirstInvalid(), "the file is not valid UTF-8");
      Emit(Token::Kind::kEnd, "", at_);
      return std::move(tokens_);
    }
    if (text_.starts_with("\xef\xbb\xbf")) i_ = 3;  // a byte order mark is no column
    while (SkipBlanks()) One();
    Emit(Token::Kind::kEnd, "", at_);
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0'; }
  bool AtEnd() const { return i_ >= text_.size(); }

  void Advance() {
    const char c = text_[i_++];
    if (c == '\n') {
      ++at_.line;
      at_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++at_.column;
    }
    // The column is that of the code point's first byte; its other bytes do not count.
  }
  void Advance(size_t n) {
    for (; n > 0; --n) Advance();
  }

  Position FirstInvalid() {
    // The position up to which the text is valid, found by halves of lines: the file is refused
    // anyway.
    Position at{1, 1};
    size_t start = 0;
    while (start < text_.size()) {
      const size_t end = std::min(text_.find('\n', start), text_.size());
      if (!IsValidUtf8(text_.substr(start, end - start))) return at;
      ++at.line;
      start = end + 1;
    }
    return at;
  }

  void Emit(Token::Kind kind, std::string text, Position at) {
    Token token;
    token.kind = kind;
    token.text = std::move(text);
    token.at = at;
    if (kind == Token::Kind::kWord) token.upper = ToUpperAscii(token.text);
    tokens_.push_back(std::move(token));
  }

  // Blanks and comments. False at the end of the text.
  bool SkipBlanks() {
    while (!AtEnd()) {
      const char c = Peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
        Advance();
      } else if (c == '-' && Peek(1) == '-') {
        while (!AtEnd() && Peek() != '\n') Advance();
      } else if (c == '/' && Peek(1) == '*') {
        SkipComment();
      } else {
        return true;
      }
    }
    return false;
  }

  void SkipComment() {
    const Position start = at_;
    Advance(2);
    while (!AtEnd()) {
      if (Peek() == '*' && Peek(1) == '/') {
        Advance(2);
        return;
      }
      Advance();
    }
    diagnostics_.Error(start, "this comment is never closed", "end it with */");
  }

  void One() {
    const Position at = at_;
    const char c = Peek();
    if (const Foreign* foreign = ForeignAt(text_.substr(i_))) {
      Advance(foreign->bytes.size());
      diagnostics_.Error(at, std::string(foreign->what) + " has no place in SQL",
                         std::string(foreign->hint));
      return;
    }
    if (c == '\'') return QuotedText('\'', at);
    if (c == '`') return QuotedText('`', at);
    if (c == '"') return QuotedText('"', at);
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number(at);
    if (IsWordStart(c)) return Word(at);
    Symbol(at);
  }

  void QuotedText(char quote, Position at) {
    Advance();
    std::string value;
    while (!AtEnd()) {
      if (Peek() == quote) {
        Advance();
        if (Peek() != quote || AtEnd()) return Close(quote, std::move(value), at);
      }
      value += Peek();
      Advance();
    }
    diagnostics_.Error(at, std::string("this ") + quote + " is never closed");
    Close(quote, std::move(value), at);
  }

  void Close(char quote, std::string value, Position at) {
    if (quote == '\'') return Emit(Token::Kind::kString, std::move(value), at);
    if (quote == '"') {
      diagnostics_.Error(at, "double quotes are not used in this dialect: \"" + value + "\"",
                         "write `" + value + "` (with backticks) for a name, '" + value +
                             "' (with single quotes) for a text");
    } else if (value.empty()) {
      diagnostics_.Error(at, "a name cannot be empty");
    }
    Emit(Token::Kind::kQuoted, std::move(value), at);
    tokens_.back().reported = quote == '"';
  }

  void Number(Position at) {
    const size_t start = i_;
    while (IsDigit(Peek())) Advance();
    if (Peek() == '.') {
      Advance();
      while (IsDigit(Peek())) Advance();
    }
    if (Peek() == 'e' || Peek() == 'E') {
      const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if (IsDigit(Peek(1 + sign))) {
        Advance(1 + sign);
        while (IsDigit(Peek())) Advance();
      }
    }
    if (IsWordStart(Peek())) {
      while (IsWordPart(Peek()) && !AtEnd()) Advance();
      const std::string word(text_.substr(start, i_ - start));
      diagnostics_.Error(at, "'" + word + "' is neither a number nor a name",
                         "a name that begins with a digit needs backticks: `" + word + "`");
      Emit(Token::Kind::kQuoted, word, at);
      tokens_.back().reported = true;
      return;
    }
    Emit(Token::Kind::kNumber, std::string(text_.substr(start, i_ - start)), at);
  }

  void Word(Position at) {
    const size_t start = i_;
    while (!AtEnd() && IsWordPart(Peek()) && ForeignAt(text_.substr(i_)) == nullptr) Advance();
    const std::string_view word = text_.substr(start, i_ - start);
    // E'..', X'..', N'..', B'..', U&'..': texts of other dialects.
    const bool unicode = (word == "U" || word == "u") && Peek() == '&' && Peek(1) == '\'';
    if (unicode) Advance();
    if (Peek() == '\'' && (unicode || IsTextPrefix(word))) {
      diagnostics_.Error(
          at,
          NotInThisVersion("the text literal " + ToUpperAscii(word) + (unicode ? "&'..'" : "'..'")),
          "write '..'; bytes are CAST('..' AS BYTES)");
      return;
    }
    Emit(Token::Kind::kWord, std::string(word), at);
  }

  void Symbol(Position at) {
    static constexpr std::string_view kTwo[] = {"<>", "!=", "<=", ">=", "||", "=>"};
    for (const std::string_view two : kTwo) {
      if (text_.substr(i_, 2) != two) continue;
      Advance(2);
      return Emit(Token::Kind::kSymbol, std::string(two), at);
    }
    static constexpr struct {
      std::string_view there, here;
    } kOther[] = {{"==", "="}, {"&&", "AND"}};
    for (const auto& other : kOther) {
      if (text_.substr(i_, 2) != other.there) continue;
      Advance(2);
      diagnostics_.Error(at, "there is no operator " + std::string(other.there),
                         "write " + std::string(other.here));
      return Emit(other.here == "=" ? Token::Kind::kSymbol : Token::Kind::kWord,
                  std::string(other.here), at);
    }
    const char c = Peek();
    Advance();
    if (std::string_view("(),;.*/+-%=<>[]:?").find(c) != std::string_view::npos && c != '\0') {
      return Emit(Token::Kind::kSymbol, std::string(1, c), at);
    }
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    diagnostics_.Error(at, control ? "a control character that has no place in SQL"
                                   : "unexpected character '" + std::string(1, c) + "'");
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  size_t i_ = 0;
  Position at_{1, 1};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Lex(std::string_view text, Diagnostics& diagnostics) {
  return Lexer(text, diagnostics).Run();
}

}  // namespace weir::sql
