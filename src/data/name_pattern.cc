#include "data/name_pattern.h"

#include <re2/re2.h>

#include <utility>

namespace weir {
namespace {

class Re2Pattern : public NamePattern {
 public:
  explicit Re2Pattern(std::string_view pattern)
      : re_({pattern.data(), pattern.size()}, RE2::Quiet) {}
  bool Matches(std::string_view name) const override {
    return RE2::FullMatch({name.data(), name.size()}, re_);
  }
  const RE2& re() const { return re_; }

 private:
  RE2 re_;
};

}  // namespace

Result<std::unique_ptr<NamePattern>> NamePattern::Parse(std::string_view pattern) {
  auto parsed = std::make_unique<Re2Pattern>(pattern);
  if (!parsed->re().ok()) return Fail(Code::kInvalid, parsed->re().error());
  return parsed;
}

}  // namespace weir
