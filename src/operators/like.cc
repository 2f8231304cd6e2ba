#include "operators/like.h"

#include "data/utf8.h"
#include "operators/utf8.h"

namespace weir::operators {

Result<LikePattern> LikePattern::Compile(std::string_view pattern, std::string_view escape) {
  if (CountCodePoints(escape) > 1) {
    return Fail(Code::kInvalid, "LIKE: the escape is one character");
  }
  LikePattern like;
  like.segments_.emplace_back();
  for (size_t at = 0; at < pattern.size();) {
    std::string_view c = pattern.substr(at, Utf8Width(pattern, at));
    at += c.size();
    Segment& segment = like.segments_.back();
    if (!escape.empty() && c == escape) {
      c = at < pattern.size() ? pattern.substr(at, Utf8Width(pattern, at)) : std::string_view();
      if (c.empty() || (c != "%" && c != "_" && c != escape)) {
        return Fail(Code::kInvalid, "LIKE: the escape character stands before %, _ or itself only");
      }
      at += c.size();
    } else if (c == "%") {
      like.segments_.emplace_back();
      continue;
    } else if (c == "_") {
      segment.literals.emplace_back();
      ++segment.code_points;
      continue;
    }
    segment.literals.back() += c;
    ++segment.code_points;
  }
  return like;
}

size_t LikePattern::Segment::MatchAt(std::string_view text, size_t at) const {
  for (size_t i = 0; i < literals.size(); ++i) {
    if (i > 0) {
      if (at >= text.size()) return std::string_view::npos;
      at += Utf8Width(text, at);
    }
    if (text.compare(at, literals[i].size(), literals[i]) != 0) return std::string_view::npos;
    at += literals[i].size();
  }
  return at;
}

size_t LikePattern::Segment::Find(std::string_view text, size_t at) const {
  if (plain()) {
    const size_t found = text.find(literals[0], at);
    return found == std::string_view::npos ? found : found + literals[0].size();
  }
  for (; at <= text.size(); at += at < text.size() ? Utf8Width(text, at) : 1) {
    const size_t end = MatchAt(text, at);
    if (end != std::string_view::npos) return end;
  }
  return std::string_view::npos;
}

bool LikePattern::Matches(std::string_view text) const {
  const Segment& first = segments_.front();
  size_t at = first.MatchAt(text, 0);
  if (at == std::string_view::npos) return false;
  if (segments_.size() == 1) return at == text.size();
  // Each middle segment at its first place: a later one would leave less for those that follow.
  for (size_t i = 1; i + 1 < segments_.size(); ++i) {
    at = segments_[i].Find(text, at);
    if (at == std::string_view::npos) return false;
  }
  const Segment& last = segments_.back();
  if (last.plain()) {
    return text.size() - at >= last.literals[0].size() && text.ends_with(last.literals[0]);
  }
  size_t begin = text.size();
  for (size_t i = 0; i < last.code_points; ++i) {
    if (begin <= at) return false;
    --begin;
    while (begin > at && IsContinuation(text[begin])) --begin;
  }
  return last.MatchAt(text, begin) == text.size();
}

}  // namespace weir::operators
