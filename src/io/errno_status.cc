#include "io/errno_status.h"

#include <cerrno>
#include <cstring>

namespace weir::io {
namespace {

Code CodeFor(int error, CallKind kind) {
  if (kind == CallKind::kSync) return Code::kUnknownOutcome;
  if (error == ENOSPC || error == EDQUOT) return Code::kNoSpace;
  if (error == EIO || kind == CallKind::kWrite) return Code::kUnknownOutcome;
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case ENOTDIR:
    case ELOOP:  // links that lead nowhere
      return kind == CallKind::kOpenForWrite ? Code::kCannotCreate : Code::kNotFound;
    case EEXIST:
    case ENOTEMPTY:
      return Code::kExists;
    case EWOULDBLOCK:
      return Code::kBusy;
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENAMETOOLONG:
    case ETXTBSY:
      return kind == CallKind::kOpenForWrite ? Code::kCannotCreate : Code::kInvalid;
    default:
      return Code::kInternal;
  }
}

}  // namespace

std::string ErrnoText(int error) {
  const char* text = strerrordesc_np(error);
  return text != nullptr ? text : "error " + std::to_string(error);
}

Status ErrnoStatus(int error, CallKind kind, std::string_view action, std::string_view path) {
  std::string message = "cannot ";
  message.append(action).append(" ").append(path).append(": ").append(ErrnoText(error));
  return Status(CodeFor(error, kind), std::move(message));
}

}  // namespace weir::io
