// TraceFile: --trace FILE. One JSON object a line, appended; a torn last line of a killed run gets
// its line feed first.
#ifndef WEIR_APP_TRACE_FILE_H_
#define WEIR_APP_TRACE_FILE_H_

#include <memory>
#include <string>

#include "io/files.h"
#include "protocol/trace.h"

namespace weir::app {

class TraceFile {
 public:
  static Result<std::unique_ptr<TraceFile>> Open(io::Files& files, const std::string& path);
  void Write(const protocol::TraceEvent&
                 event);  // loop thread; a failure stops the trace and is logged once

 private:
  std::unique_ptr<io::File> file_;
  uint64_t size_ = 0;
  bool failed_ = false;
};

}  // namespace weir::app

#endif  // WEIR_APP_TRACE_FILE_H_
