#include "sql/diagnostics.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace weir::sql {

using plan::Diagnostic;
using plan::Position;

void Diagnostics::Add(Diagnostic diagnostic) {
  if (diagnostic.severity == Diagnostic::Severity::kError) ++errors_;
  if (quiet_ > 0) return;
  // One place, one message: a second reading of the same text finds the same error again.
  for (const Diagnostic& known : all_) {
    if (known.position.line == diagnostic.position.line &&
        known.position.column == diagnostic.position.column &&
        known.message == diagnostic.message) {
      return;
    }
  }
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::Error(Position at, std::string message, std::string hint) {
  Add({Diagnostic::Severity::kError, at, std::move(message), std::move(hint)});
}

void Diagnostics::Warning(Position at, std::string message, std::string hint) {
  Add({Diagnostic::Severity::kWarning, at, std::move(message), std::move(hint)});
}

void Diagnostics::Note(Position at, std::string message, std::string hint) {
  Add({Diagnostic::Severity::kNote, at, std::move(message), std::move(hint)});
}

std::vector<Diagnostic> Diagnostics::TakeSorted() {
  std::stable_sort(all_.begin(), all_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.position.line, a.position.column) <
           std::pair(b.position.line, b.position.column);
  });
  return std::move(all_);
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : "did you mean " + std::string(nearest) + "?";
}

namespace {

std::string_view LineOf(std::string_view text, int line) {
  size_t start = 0;
  for (int i = 1; i < line; ++i) {
    const size_t end = text.find('\n', start);
    if (end == std::string_view::npos) return {};
    start = end + 1;
  }
  std::string_view found = text.substr(start, text.find('\n', start) - start);
  if (found.ends_with('\r')) found.remove_suffix(1);
  if (line == 1 && found.starts_with("\xef\xbb\xbf")) found.remove_prefix(3);
  return found;
}

// Blanks up to the column; tabs stay tabs, so that the caret stands below its word on any terminal.
std::string Indent(std::string_view line, int column) {
  std::string out;
  int at = 1;
  for (const char c : line) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (continuation) continue;
    if (at++ >= column) break;
    out += c == '\t' ? '\t' : ' ';
  }
  for (; at < column; ++at) out += ' ';
  return out;
}

// Control characters of a hostile file do not reach the terminal.
std::string Printable(std::string_view line) {
  std::string out;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    out += (byte < 0x20 && c != '\t') || byte == 0x7F ? '?' : c;
  }
  return out;
}

const char* SeverityName(Diagnostic::Severity severity) {
  switch (severity) {
    case Diagnostic::Severity::kError:
      return "error";
    case Diagnostic::Severity::kWarning:
      return "warning";
    case Diagnostic::Severity::kNote:
      return "note";
  }
  return "";
}

}  // namespace

std::string FormatText(std::string_view file_name, std::string_view text,
                       const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (d.position.line > 0) {
      out += std::string(file_name) + ":" + std::to_string(d.position.line) + ":" +
             std::to_string(d.position.column) + ": ";
    }
    if (d.severity != Diagnostic::Severity::kError)
      out += std::string(SeverityName(d.severity)) + ": ";
    out += Printable(d.message) + "\n";
    if (d.position.line > 0) {
      const std::string_view line = LineOf(text, d.position.line);
      // A line of a megabyte is no help.
      if (line.size() <= 400) {
        out += "  " + Printable(line) + "\n  " + Indent(line, d.position.column) + "^\n";
      }
    }
    if (!d.hint.empty()) out += "  hint: " + Printable(d.hint) + "\n";
  }
  return out;
}

std::string FormatJson(std::string_view file_name, const std::vector<Diagnostic>& diagnostics) {
  std::string out = "[";
  for (size_t i = 0; i < diagnostics.size(); ++i) {
    const Diagnostic& d = diagnostics[i];
    if (i > 0) out += ",";
    out += "{\"severity\":" + JsonQuote(SeverityName(d.severity)) +
           ",\"file\":" + JsonQuote(file_name) + ",\"line\":" + std::to_string(d.position.line) +
           ",\"column\":" + std::to_string(d.position.column) +
           ",\"message\":" + JsonQuote(d.message) + ",\"hint\":" + JsonQuote(d.hint) + "}";
  }
  return out + "]";
}

}  // namespace weir::sql
