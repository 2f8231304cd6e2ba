#include "app/json_text.h"

namespace weir::app {

namespace {

class Printer {
 public:
  explicit Printer(std::string_view in) : in_(in) {}
  std::string Run() {
    Value("", 0);
    return std::move(out_);
  }

 private:
  char Peek() const { return at_ < in_.size() ? in_[at_] : '\0'; }

  // A string's text, escapes undone as far as they matter on a terminal.
  std::string String() {
    std::string text;
    ++at_;
    while (at_ < in_.size() && in_[at_] != '"') {
      if (in_[at_] == '\\' && at_ + 1 < in_.size()) {
        const char c = in_[++at_];
        text += c == 'n' || c == 't' || c == 'r' ? ' ' : c == 'u' ? '?' : c;
        if (c == 'u') at_ += 4;
      } else {
        text += in_[at_];
      }
      ++at_;
    }
    ++at_;
    return text;
  }

  void Line(const std::string& label, const std::string& text, int depth) {
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    out_ += label.empty() ? "- " : label + ": ";
    out_ += text + "\n";
  }

  void Open(const std::string& label, int depth) {
    if (depth < 0) return;
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    out_ += label.empty() ? "-\n" : label + ":\n";
  }

  void Value(const std::string& label, int depth) {
    const char c = Peek();
    if (c == '{' || c == '[') return Container(label, depth);
    if (c == '"') return Line(label, String(), depth);
    const size_t begin = at_;
    while (at_ < in_.size() && in_[at_] != ',' && in_[at_] != '}' && in_[at_] != ']') ++at_;
    const std::string_view word = in_.substr(begin, at_ - begin);
    if (word != "null") Line(label, std::string(word), depth);
  }

  void Container(const std::string& label, int depth) {
    const char end = Peek() == '{' ? '}' : ']';
    const bool top = at_ == 0;
    ++at_;
    if (Peek() == end) {
      ++at_;
      return;
    }
    if (!top) Open(label, depth);
    while (at_ < in_.size()) {
      std::string key;
      if (end == '}') {
        key = String();
        ++at_;  // the colon
      }
      Value(key, top ? depth : depth + 1);
      if (Peek() == ',')
        ++at_;
      else
        break;
    }
    ++at_;
  }

  std::string_view in_;
  std::string out_;
  size_t at_ = 0;
};

}  // namespace

std::string JsonToText(std::string_view json) { return Printer(json).Run(); }

}  // namespace weir::app
