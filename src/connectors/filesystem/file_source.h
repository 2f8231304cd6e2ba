// The filesystem source: reads the files of a FileCatalog as partitions, one asked for at a time.
//
// Invariants
//  1. A position is a record boundary in uncompressed bytes; batches never mix partitions.
//  2. Marks hold what a saved position needs, taken while the bytes were in memory: EncodePosition
//  does not read files that may have been
//     truncated since.
//  3. At most kOpenFilesMax readers exist; who was used longest ago is closed and is opened again
//  at its last boundary.
//  4. What cannot be decided about a file parks that partition; the rest goes on.
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILE_SOURCE_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILE_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "connectors/filesystem/file_catalog.h"
#include "data/format.h"
#include "flow/source.h"
#include "io/files.h"

namespace weir::connectors {

inline constexpr size_t kOpenFilesMax = 16;
inline constexpr size_t kPeekBytes = 64 << 10;

// A metadata column of the raw batch.
struct FileMetadata {
  enum class Key { kPath, kName, kSize, kModificationTime, kOffset, kLine } key = Key::kPath;
  int batch_column = 0;
};

struct FileSourceOptions {
  std::string table;
  FormatSpec format;
  std::vector<DecodeField> fields;
  std::vector<FileMetadata> metadata;
  io::Heartbeat* heartbeat = nullptr;
};

class FileSource : public flow::Source {
 public:
  // `table_name` outlives the source: batches name it.
  FileSource(io::Files& files, FileSourceOptions options, std::unique_ptr<FileCatalog> catalog);

  Status Open(const std::vector<flow::SavedPosition>& saved,
              std::string_view source_state) override;
  Status Discover(std::vector<flow::PartitionInfo>& found) override;
  bool Complete() const override { return true; }
  bool Woken() override { return false; }
  bool AtEnd(flow::PartitionIndex) const override { return true; }  // Read has just seen it
  Result<flow::ReadState> Read(flow::PartitionIndex partition, uint32_t max_rows,
                               Batch& out) override;
  bool MayRead(flow::PartitionIndex partition) const override;
  Status Peek(flow::PartitionIndex partition, Batch& out) override;
  Result<std::string> EncodePosition(flow::PartitionIndex partition, int64_t position) override;
  void Release(flow::PartitionIndex partition, int64_t position) override;
  std::optional<std::string> FreezeSourceState() override { return catalog_->FreezeState(set_); }
  void TakeForgotten(std::vector<std::string>& keys) override {
    catalog_->TakeForgotten(set_, keys);
  }
  std::vector<flow::SourcePark> parks() const override;
  std::string Trouble() const override { return ""; }
  void AppendStatus(std::string&) const override {}
  void Progress(uint64_t* read_bytes, uint64_t* total_bytes) const override;
  int64_t PollIntervalMs() const override { return catalog_->PollIntervalMs(); }

 private:
  Result<flow::ReadState> ReadRows(FilePartition& partition, uint32_t max_rows, Batch& out);
  void LookAtText(const FilePartition& partition, std::string_view first) const;
  bool DecodeOnce(FilePartition& partition, bool final, uint32_t max_rows, Batch& out);
  void FillMetadata(const std::string& path, const FileReader& reader, uint64_t block_begin,
                    std::string_view block, uint32_t from_row, Batch& out) const;
  bool CheckBoundedEnd(FilePartition& partition);
  Result<bool> StandAtEnd(FilePartition& partition);
  Result<std::string> EncodeBetweenMarks(const FilePartition& partition, const Mark& before,
                                         uint64_t offset);

  Result<SavedFile> MarkFromFile(const FilePartition& partition, const Mark& before,
                                 uint64_t offset);

  Result<bool> EnsureReader(FilePartition& partition);
  Result<std::unique_ptr<Content>> OpenContent(FilePartition& partition, io::FileStat* stat,
                                               Status* refusal);
  Status Begin(FilePartition& partition);
  Result<size_t> BeginDecoder(FileReader& reader);
  Result<std::unique_ptr<RowDecoder>> TakeDecoder();
  bool Refuse(FilePartition& partition, const Status& why);
  void Park(FilePartition& partition, std::string trouble);
  void CloseReader(FilePartition& partition);
  void MakeRoom();

  io::Files& files_;
  const FileSourceOptions options_;
  std::unique_ptr<FileCatalog> catalog_;
  FileSet set_;
  std::vector<FilePartition*> open_;  // those with a reader
  std::vector<std::unique_ptr<RowDecoder>>
      idle_decoders_;  // a regular expression is compiled a few times, not once per file
  uint64_t uses_ = 0;
  bool wants_line_ = false;
  bool any_parked_ = false;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILE_SOURCE_H_
