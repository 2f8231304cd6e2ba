#include "base/status.h"

namespace weir {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalid:
      return "invalid";
    case Code::kUsage:
      return "usage";
    case Code::kNotFound:
      return "not found";
    case Code::kExists:
      return "exists";
    case Code::kCannotCreate:
      return "cannot create";
    case Code::kNoSpace:
      return "no space";
    case Code::kBusy:
      return "busy";
    case Code::kUnknownOutcome:
      return "unknown outcome";
    case Code::kCorruption:
      return "corruption";
    case Code::kRefused:
      return "refused";
    case Code::kBadRow:
      return "bad row";
    case Code::kTwin:
      return "twin";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kEndOfStream:
      return "end of stream";
    case Code::kInterrupted:
      return "interrupted";
    case Code::kInternal:
      return "internal";
  }
  return "internal";  // a value outside the enum: only a bug makes one, and this runs while
                      // reporting it
}

std::string Status::ToString() const {
  std::string out(CodeName(code_));
  if (!message_.empty()) out.append(": ").append(message_);
  return out;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  std::string message(context);
  if (!message_.empty()) message.append(": ").append(message_);
  return Status(code_, std::move(message));
}

}  // namespace weir
