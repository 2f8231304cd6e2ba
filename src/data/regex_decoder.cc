#include <re2/re2.h>

#include <map>

#include "base/text.h"
#include "data/line_decoder.h"

namespace weir {
namespace {

// (?<name>..) of other dialects is (?P<name>..) in this RE2: only the spelling differs.
std::string WithPythonGroups(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    out += c;
    if (c == '\\' && i + 1 < pattern.size()) {
      // \Q..\E is text up to its end.
      const size_t end = pattern[i + 1] == 'Q' ? pattern.find("\\E", i) : i + 1;
      while (i + 1 < pattern.size() && i < end) out += pattern[++i];
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A ']' that comes first is one of the class.
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') out += pattern[++i];
    } else if (c == '(' && pattern.substr(i).starts_with("(?<") && i + 3 < pattern.size() &&
               pattern[i + 3] != '=' && pattern[i + 3] != '!') {
      out += "?P<";
      i += 2;
    }
  }
  return out;
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
  auto re = std::make_unique<RE2>(WithPythonGroups(spec.regex.pattern), options);
  if (!re->ok()) return Fail(Code::kInvalid, "regex.pattern: " + re->error());
  const std::map<std::string, int>& named = re->NamedCapturingGroups();
  std::vector<int> groups;
  for (const DecodeField& f : fields) {
    const auto it = named.find(f.name);
    if (it == named.end()) return Fail(NoSuchGroup(f.name, named));
    groups.push_back(it->second);
  }
  return std::make_unique<RegexDecoder>(spec, fields, std::move(re), std::move(groups));
}

}  // namespace weir
