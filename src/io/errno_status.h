// From errno to Status: one place that knows which errors are "wait for space" and which are
// "outcome unknown".
#ifndef WEIR_IO_ERRNO_STATUS_H_
#define WEIR_IO_ERRNO_STATUS_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace weir::io {

// What kind of call failed; the same errno means different things to the caller.
enum class CallKind {
  kOpenForRead,
  kOpenForWrite,  // and everything else that changes a directory: rename, mkdir, unlink
  kRead,
  kWrite,  // on an open file; what is not "no space" leaves its content unknown
  kSync,   // always an unknown outcome: the kernel may have dropped the pages whatever errno says
};

// `action` as in "cannot open": "open".
Status ErrnoStatus(int error, CallKind kind, std::string_view action, std::string_view path);
// "Permission denied"; never translated.
std::string ErrnoText(int error);

}  // namespace weir::io

#endif  // WEIR_IO_ERRNO_STATUS_H_
