#include "app/trace_file.h"

#include "base/log.h"

namespace weir::app {

Result<std::unique_ptr<TraceFile>> TraceFile::Open(io::Files& files, const std::string& path) {
  auto trace = std::make_unique<TraceFile>();
  WEIR_ASSIGN_OR_RETURN(trace->file_, files.Open(path, io::OpenMode::kCreate));
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, trace->file_->Stat());
  trace->size_ = stat.size;
  if (stat.size > 0) {
    char last = 0;
    WEIR_ASSIGN_OR_RETURN(const size_t n, trace->file_->ReadAt(stat.size - 1, {&last, 1}));
    if (n == 1 && last != '\n') {
      WEIR_RETURN_IF_ERROR(trace->file_->WriteAt(trace->size_, "\n"));
      ++trace->size_;
    }
  }
  return trace;
}

void TraceFile::Write(const protocol::TraceEvent& event) {
  if (failed_) return;
  const std::string line = event.ToJson() + "\n";
  if (Status status = file_->WriteAt(size_, line); !status.ok()) {
    failed_ = true;
    LogWarning("trace_stopped", {{"reason", status.message()}});
    return;
  }
  size_ += line.size();
}

}  // namespace weir::app
