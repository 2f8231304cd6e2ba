#include <algorithm>

#include "qualify/rows.h"

namespace weir::qualify {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

class FileReader : public LayerReader {
 public:
  FileReader(io::Files& files, std::string path, std::vector<Wish> wishes)
      : files_(files), path_(std::move(path)), rows_(std::move(wishes)) {}

  Result<uint64_t> Mark() override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> paths, Paths());
    uint64_t bytes = 0;
    for (const std::string& path : paths) {
      WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, files_.Stat(path));
      bytes += stat.size + 1;  // an empty file more is a change too
    }
    return bytes;
  }

  Status Read(const RowHandler& handle) override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> paths, Paths());
    for (const std::string& path : paths) WEIR_RETURN_IF_ERROR(ReadOne(path, handle));
    return Status::Ok();
  }

 private:
  Result<std::vector<std::string>> Paths() {
    WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, files_.Stat(path_));
    if (!stat.is_directory) return std::vector<std::string>{path_};
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.List(path_));
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      if (!name.starts_with(".")) paths.push_back(io::JoinPath(path_, name));
    }
    return paths;
  }

  Status ReadOne(const std::string& path, const RowHandler& handle) {
    WEIR_ASSIGN_OR_RETURN(const std::unique_ptr<io::File> file,
                          files_.Open(path, io::OpenMode::kRead));
    WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, file->Stat());
    uint64_t offset = 0, line = 0;
    std::string text;  // a line's begin, then the block behind it
    while (offset < stat.size) {
      const size_t kept = text.size();
      text.resize(kept + std::min<uint64_t>(kBlockBytes, stat.size - offset));
      WEIR_ASSIGN_OR_RETURN(const size_t got,
                            file->ReadAt(offset, {text.data() + kept, text.size() - kept}));
      if (got == 0) return Status(Code::kInvalid, path + " became shorter while it was read");
      text.resize(kept + got);
      offset += got;
      size_t begin = 0;
      for (size_t end; (end = text.find('\n', std::max(begin, kept))) != std::string::npos;
           begin = end + 1) {
        rows_.Handle(std::string_view(text).substr(begin, end - begin), path, ++line, handle);
      }
      text.erase(0, begin);
    }
    return Status::Ok();
  }

  io::Files& files_;
  const std::string path_;
  JsonRows rows_;
};

}  // namespace

std::unique_ptr<LayerReader> NewFileReader(io::Files& files, std::string path,
                                           std::vector<Wish> wishes) {
  return std::make_unique<FileReader>(files, std::move(path), std::move(wishes));
}

}  // namespace weir::qualify
