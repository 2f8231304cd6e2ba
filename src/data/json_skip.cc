#include "data/json_skip.h"

namespace weir::json {
namespace {

// Which kind each open container is: one bit a level, so that 1024 levels cost 128 bytes and no
// recursion.
class LevelStack {
 public:
  bool Push(bool object) {
    if (depth_ == kDepthMax) return false;
    const uint64_t bit = uint64_t{1} << (depth_ % 64);
    uint64_t& word = bits_[depth_ / 64];
    word = object ? word | bit : word & ~bit;
    ++depth_;
    return true;
  }
  void Pop() { --depth_; }
  bool InObject() const { return bits_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1; }
  bool AtRow() const { return depth_ == 1; }

 private:
  uint64_t bits_[kDepthMax / 64] = {1};  // level 1 is the row's object
  int depth_ = 1;
};

inline const char* SkipBlanksIfAny(const char* p) { return MayBeBlank(*p) ? SkipBlanks(p) : p; }

// A key and its colon; returns the value's first byte.
inline const char* SkipKey(const char* p, Failure& failure) {
  if (*p != '"') return failure.Set(JsonError::kExpectedKey, p);
  p = SkipString(p + 1, failure);
  if (p == nullptr) return nullptr;
  p = SkipBlanksIfAny(p);
  if (*p != ':') return failure.Set(JsonError::kExpectedColon, p);
  return SkipBlanksIfAny(p + 1);
}

// Behind a value: closes what ends here. Returns the next key or value of the container still open,
// or the byte behind the outermost one with levels.AtRow().
const char* AfterValue(const char* p, LevelStack& levels, Failure& failure) {
  while (!levels.AtRow()) {
    p = SkipBlanksIfAny(p);
    const bool object = levels.InObject();
    if (*p == ',') return SkipBlanksIfAny(p + 1);
    if (*p != (object ? '}' : ']')) {
      return failure.Set(
          object ? JsonError::kExpectedCommaOrBrace : JsonError::kExpectedCommaOrBracket, p);
    }
    levels.Pop();
    ++p;
  }
  return p;
}

}  // namespace

const char* SkipContainer(const char* p, Failure& failure) {
  LevelStack levels;
  for (;;) {
    // p: at a value.
    if (*p == '{' || *p == '[') {
      const bool object = *p == '{';
      if (!levels.Push(object)) return failure.Set(JsonError::kDepth, p);
      p = SkipBlanksIfAny(p + 1);
      if (*p != (object ? '}' : ']')) {
        if (object && (p = SkipKey(p, failure)) == nullptr) return nullptr;
        continue;
      }
      levels.Pop();
      ++p;
    } else {
      p = SkipScalar(p, failure);
      if (p == nullptr) return nullptr;
    }
    p = AfterValue(p, levels, failure);
    if (p == nullptr || levels.AtRow()) return p;
    if (levels.InObject() && (p = SkipKey(p, failure)) == nullptr) return nullptr;
  }
}

}  // namespace weir::json
