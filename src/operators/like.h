// LIKE, compiled: % is any text, _ any one character (a line feed and a 4-byte character included),
// the escape character makes the next %, _ or escape literal. Matching takes time in proportion to
// the text for patterns without _.
#ifndef WEIR_OPERATORS_LIKE_H_
#define WEIR_OPERATORS_LIKE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace weir::operators {

class LikePattern {
 public:
  // `escape`: one character, or empty for none. kInvalid: an escape at the end or before an
  // ordinary character.
  static Result<LikePattern> Compile(std::string_view pattern, std::string_view escape);
  bool Matches(std::string_view text) const;

 private:
  // What stands between two %: literal texts, each followed by one _ but the last.
  struct Segment {
    std::vector<std::string> literals{std::string()};
    size_t code_points = 0;
    bool plain() const { return literals.size() == 1; }
    // The end of a match that begins at `at`, or npos.
    size_t MatchAt(std::string_view text, size_t at) const;
    // The end of the first match at or behind `at`, or npos.
    size_t Find(std::string_view text, size_t at) const;
  };
  std::vector<Segment> segments_;  // n % make n + 1 segments; the first is anchored, and the last
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_LIKE_H_
