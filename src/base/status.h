// Status and Result: how a call that can fail says so.
//
// Three kinds of trouble are never mixed (docs/CONTRIBUTING.md): a bug is a CHECK (base/check.h),
// an outcome is a Status or a Result<T>, a bad row is a value on the dead-letter edge and never
// comes through here.
#ifndef WEIR_BASE_STATUS_H_
#define WEIR_BASE_STATUS_H_

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace weir {

// What went wrong, as far as the caller's next step depends on it.
enum class Code {
  kOk,
  kInvalid,       // the user's configuration, SQL or saved state does not allow this   -> exit 78
  kUsage,         // the command line is wrong                                          -> exit 64
  kNotFound,      // a named thing is not there
  kExists,        // a thing is there that must not be replaced                         -> exit 73
  kCannotCreate,  // a directory or output cannot be created or opened for writing      -> exit 73
  kNoSpace,  // ENOSPC, EDQUOT, SQLITE_FULL: never an unknown outcome; wait and try again unchanged
  kBusy,     // held by another process: wait, or exit 75
  kUnknownOutcome,  // a failed fsync, EIO, or a COMMIT whose result is not known: stop using the
                    // files -> exit 74
  kCorruption,   // bytes on disk are not what was written                             -> exit 78,
                 // quarantine
  kRefused,      // a protocol decision says no; the message names the way out          -> exit 78
  kBadRow,       // a bad row under weir.on-error = fail                                -> exit 65
  kTwin,         // another process delivers under our name                             -> exit 69
  kUnavailable,  // a remote end does not answer: retried with back-off
  kEndOfStream,  // no more input (EPIPE on stdout included)
  kInterrupted,  // stopped on request
  kInternal,     // anything else                                                      -> exit 70
};

std::string_view CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status Ok() { return {}; }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // "CODE: message", for logs.
  std::string ToString() const;
  // The same status with "context: " in front of its message.
  Status WithContext(std::string_view context) const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

template <class T>
using Result = tl::expected<T, Status>;

inline tl::unexpected<Status> Fail(Code code, std::string message) {
  return tl::unexpected<Status>(Status(code, std::move(message)));
}
inline tl::unexpected<Status> Fail(Status status) {
  return tl::unexpected<Status>(std::move(status));
}

}  // namespace weir

// Returns from the enclosing function (which returns Status or Result<T>) when `expr` is not OK.
#define WEIR_RETURN_IF_ERROR(expr)                                                       \
  do {                                                                                   \
    ::weir::Status weir_status_ = (expr);                                                \
    if (!weir_status_.ok()) return ::weir::internal::Propagate(std::move(weir_status_)); \
  } while (false)

#define WEIR_CONCAT_INNER_(a, b) a##b
#define WEIR_CONCAT_(a, b) WEIR_CONCAT_INNER_(a, b)
// WEIR_ASSIGN_OR_RETURN(auto x, F()): x = the value of F(), or return its status.
#define WEIR_ASSIGN_OR_RETURN(lhs, expr) \
  WEIR_ASSIGN_OR_RETURN_IMPL_(WEIR_CONCAT_(weir_result_, __LINE__), lhs, expr)
#define WEIR_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr)                                 \
  auto tmp = (expr);                                                                \
  if (!tmp.has_value()) return ::weir::internal::Propagate(std::move(tmp.error())); \
  lhs = std::move(*tmp)

namespace weir::internal {
// Converts to Status and to Result<T> alike, so that the two macros work in both kinds of function.
struct Propagate {
  explicit Propagate(Status s) : status(std::move(s)) {}
  operator Status() && { return std::move(status); }  // NOLINT: implicit on purpose
  template <class T>
  operator Result<T>() && {
    return tl::unexpected<Status>(std::move(status));
  }  // NOLINT
  Status status;
};
}  // namespace weir::internal

#endif  // WEIR_BASE_STATUS_H_
