#include <re2/re2.h>

#include <map>

#include "base/text.h"
#include "data/line_decoder.h"

namespace weir {
namespace {

// Calls group(at), which may append to `out` and returns how many characters it replaced, for each
// '(' that opens a group; copies everything else: escapes, \Q..\E, classes.
template <class F>
std::string RewriteGroups(std::string_view pattern, F&& group) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '(' && !in_class) {
      const size_t replaced = group(pattern.substr(i), out);
      if (replaced > 0) {
        i += replaced - 1;
        continue;
      }
    }
    out += c;
    if (c == '\\' && i + 1 < pattern.size()) {
      const size_t end = pattern[i + 1] == 'Q' ? pattern.find("\\E", i) : i + 1;
      while (i + 1 < pattern.size() && i < end) out += pattern[++i];
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A ']' that comes first is one of the class.
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') out += pattern[++i];
    }
  }
  return out;
}

// (?<name>..) of other dialects is (?P<name>..) in this RE2: only the spelling differs.
std::string WithPythonGroups(std::string_view pattern) {
  return RewriteGroups(pattern, [](std::string_view at, std::string& out) -> size_t {
    if (!at.starts_with("(?<") || at.size() < 4 || at[3] == '=' || at[3] == '!') return 0;
    out += "(?P<";
    return 3;
  });
}

// Groups that no column reads capture nothing: with at most four left, RE2 can match in one pass,
// about twice as fast.
std::string WithoutUnread(std::string_view pattern, const std::vector<DecodeField>& fields) {
  return RewriteGroups(pattern, [&](std::string_view at, std::string& out) -> size_t {
    if (!at.starts_with("(?")) {
      out += "(?:";
      return 1;
    }
    const size_t end = at.find('>');
    if (!at.starts_with("(?P<") || end == std::string_view::npos) return 0;
    const std::string_view name = at.substr(4, end - 4);
    for (const DecodeField& f : fields) {
      if (f.name == name) return 0;
    }
    out += "(?:";
    return end + 1;
  });
}

class RegexDecoder final : public LineDecoder {
 public:
  RegexDecoder(const FormatSpec& spec, const std::vector<DecodeField>& fields,
               std::unique_ptr<RE2> re, std::vector<int> groups)
      : LineDecoder(spec, fields), re_(std::move(re)), groups_(std::move(groups)) {
    int most = 0;
    for (int g : groups_) most = g > most ? g : most;
    matched_.resize(static_cast<size_t>(most) + 1);
  }

 private:
  bool SkipsByteOrderMark() const override { return true; }

  Outcome ReadLine(std::string_view line, uint32_t row, Batch& out, DeadReason& dead) override {
    if (!CheckUtf8(line, "regex", dead)) return Outcome::kDead;
    const re2::StringPiece text(line.data(), line.size());
    if (!re_->Match(text, 0, text.size(), RE2::ANCHOR_BOTH, matched_.data(),
                    static_cast<int>(matched_.size()))) {
      if (line.empty()) return Outcome::kSkipped;
      dead = {"regex.no-match", "the line does not match regex.pattern"};
      return Outcome::kDead;
    }
    for (size_t i = 0; i < groups_.size(); ++i) {
      const re2::StringPiece& group = matched_[static_cast<size_t>(groups_[i])];
      const bool good = group.empty()
                            ? columns_.SetNull(i, row, dead)
                            : columns_.SetText(i, {group.data(), group.size()}, row, out, dead);
      if (!good) return Outcome::kDead;
    }
    return Outcome::kRow;
  }

  std::unique_ptr<RE2> re_;
  std::vector<int> groups_;  // by field
  std::vector<re2::StringPiece> matched_;
};

Status NoSuchGroup(const std::string& name, const std::map<std::string, int>& groups) {
  std::vector<std::string_view> names;
  for (const auto& [group, index] : groups) names.push_back(group);
  std::string message = "regex.pattern has no group '" + name + "' for the column of this name";
  const std::string_view near = Nearest(name, names);
  if (!near.empty()) message += "; did you mean '" + std::string(near) + "'?";
  return {Code::kInvalid, message};
}

}  // namespace

Result<std::unique_ptr<RowDecoder>> NewRegexDecoder(const FormatSpec& spec,
                                                    const std::vector<DecodeField>& fields) {
  RE2::Options options;
  options.set_log_errors(false);
  // Compiled as it was written first, so that an error quotes the user's own text.
  const std::string pattern = WithPythonGroups(spec.regex.pattern);
  const RE2 whole(pattern, options);
  if (!whole.ok()) return Fail(Code::kInvalid, "regex.pattern: " + whole.error());
  for (const DecodeField& f : fields) {
    const std::map<std::string, int>& named = whole.NamedCapturingGroups();
    if (named.find(f.name) == named.end()) return Fail(NoSuchGroup(f.name, named));
  }
  auto re = std::make_unique<RE2>(WithoutUnread(pattern, fields), options);
  if (!re->ok()) return Fail(Code::kInternal, "regex.pattern: " + re->error());
  std::vector<int> groups;
  for (const DecodeField& f : fields) groups.push_back(re->NamedCapturingGroups().at(f.name));
  return std::make_unique<RegexDecoder>(spec, fields, std::move(re), std::move(groups));
}

}  // namespace weir
