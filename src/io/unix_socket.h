// The few socket calls behind the status socket (io/loop.h) and `weir status`.
#ifndef WEIR_IO_UNIX_SOCKET_H_
#define WEIR_IO_UNIX_SOCKET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace weir::io {

struct BoundSocket {
  int fd = -1;         // non-blocking, listening
  uint64_t inode = 0;  // of the name
};

// kInvalid: the path is longer than a socket address allows. A socket without a listener is
// replaced; kBusy when someone answers; anything else under that name is left alone (kExists).
Result<BoundSocket> ListenUnixSocket(const std::string& path);
// Removes the name if it is still the one that was bound.
void RemoveUnixSocket(const std::string& path, uint64_t inode);
int AcceptUnixSocket(int listener);  // non-blocking; -1: none

enum class ReadState { kMore, kDone, kFailed };
// Reads what there is. kDone: `line` is complete, without its line feed (the end of the input ends
// a line as well).
ReadState ReadLine(int fd, size_t bytes_max, std::string& line);
// Writes what fits. False: the other side has gone.
bool WriteSome(int fd, std::string_view bytes, size_t& written);

}  // namespace weir::io

#endif  // WEIR_IO_UNIX_SOCKET_H_
