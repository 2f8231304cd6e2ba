// Any bytes as a trace: a verdict, never a crash; and the verdict does not depend on what follows
// the event that was refused.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "protocol/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const weir::protocol::TraceVerdict verdict = weir::protocol::VerifyTrace(text);
  if (verdict.ok) {
    if (verdict.line != 0 || !verdict.rule.empty()) std::abort();
    return 0;
  }
  if (verdict.line == 0 || verdict.rule.empty()) std::abort();
  const std::string longer = std::string(text) + "\n{\"event\":\"cut\",\"epoch\":1}\n";
  const weir::protocol::TraceVerdict again = weir::protocol::VerifyTrace(longer);
  if (again.ok || again.line != verdict.line || again.rule != verdict.rule) std::abort();
  return 0;
}
