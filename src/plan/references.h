// References: ${NAME}, ${cred:name} and ${file:/path} in option values, and reading them again
// while a pipeline runs (SIGHUP). What they stand for may be a secret: it is kept where it is used,
// and shown nowhere.
#ifndef WEIR_PLAN_REFERENCES_H_
#define WEIR_PLAN_REFERENCES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace weir::plan {

// kind: "env", "cred" or "file".
using ReadReference =
    std::function<Result<std::string>(std::string_view kind, std::string_view name)>;

struct Expansion {
  std::string text;
  bool secret = false;      // a ${cred:} or ${file:} was in it
  std::string error, hint;  // error "": all was found. Names references, never what they stand for
};
// Every ${} replaced; $${ is a literal ${. A value is never expanded again. `read` may be null:
// every reference is an error then.
Expansion ExpandReferences(std::string_view written, const ReadReference& read);

// Where option values are expanded anew. Whoever holds values compares their generation with this
// one: Renew makes all of them old. Any thread.
class References {
 public:
  static constexpr uint64_t kFirst = 1;  // of what was expanded before any Renew
  explicit References(ReadReference read) : read_(std::move(read)) {}
  Expansion Expand(std::string_view written) const { return ExpandReferences(written, read_); }
  void Renew() { ++generation_; }
  uint64_t generation() const { return generation_; }

 private:
  const ReadReference read_;
  std::atomic<uint64_t> generation_{kFirst};
};

}  // namespace weir::plan

#endif  // WEIR_PLAN_REFERENCES_H_
