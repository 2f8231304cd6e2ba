// Process: what a program may ask of its own process and terminal. Only app/ calls this; the engine
// never does.
#ifndef WEIR_IO_PROCESS_H_
#define WEIR_IO_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace weir::io {

// Once, first thing in main: no NSS plugins of the host, SIGPIPE ignored, umask left as it is.
void InitProcess();
std::optional<std::string> GetEnvironment(const char* name);
bool IsTerminal(int fd);  // 0, 1, 2
bool UnderJournald();     // JOURNAL_STREAM names our stderr
// Writes all bytes to a descriptor (1: stdout, 2: stderr). kEndOfStream on EPIPE.
Status WriteToDescriptor(int fd, std::string_view bytes);
std::optional<std::string> ReadLineFromStdin();  // nullopt at the end
std::string UserName();                          // of the real user; the number when it has no name
// For a run, before it takes over: SIGHUP is ignored until the loop hears it, and
// from now on SIGTERM and SIGINT are counted and make `wake_fd` (an eventfd) readable instead of
// ending the process; the second one ends it at once with `second_exit_code`, whatever it is doing.
// Once per process: what a signal handler may touch is the process's own.
void CatchStopSignals(int second_exit_code, int wake_fd);
int StopSignals();                    // how many have come
[[noreturn]] void ExitNow(int code);  // _exit: no destructors, no atexit; stdout must be flushed

}  // namespace weir::io

#endif  // WEIR_IO_PROCESS_H_
