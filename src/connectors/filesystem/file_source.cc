#include "connectors/filesystem/file_source.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "data/utf8.h"

namespace weir::connectors {

using State = FilePartition::State;

namespace {

int64_t FloorMs(int64_t ns) {
  const int64_t ms = ns / 1'000'000;
  return ns % 1'000'000 < 0 ? ms - 1 : ms;
}

uint64_t CountLines(std::string_view bytes) {
  return static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace

FileSource::FileSource(io::Files& files, FileSourceOptions options,
                       std::unique_ptr<FileCatalog> catalog)
    : files_(files), options_(std::move(options)), catalog_(std::move(catalog)) {
  for (const FileMetadata& column : options_.metadata)
    wants_line_ = wants_line_ || column.key == FileMetadata::Key::kLine;
}

Status FileSource::Open(const std::vector<flow::SavedPosition>& saved,
                        std::string_view source_state) {
  // A format that does not fit the columns is found before anything is read.
  WEIR_ASSIGN_OR_RETURN(auto decoder, NewRowDecoder(options_.format, options_.fields));
  idle_decoders_.push_back(std::move(decoder));
  return catalog_->Open(saved, source_state, set_);
}

Status FileSource::Discover(std::vector<flow::PartitionInfo>& found) {
  std::vector<FilePartition*> partitions;
  WEIR_RETURN_IF_ERROR(catalog_->Poll(set_, partitions));
  for (FilePartition* partition : partitions) {
    partition->index = static_cast<flow::PartitionIndex>(set_.announced.size());
    set_.announced.push_back(partition);
    found.push_back({partition->index, PartitionKey(partition->number), partition->path,
                     partition->restored, partition->state == State::kEnded,
                     static_cast<int64_t>(partition->base.offset), false});
  }
  return Status::Ok();
}

Result<flow::ReadState> FileSource::Read(flow::PartitionIndex index, uint32_t max_rows,
                                         Batch& out) {
  FilePartition& partition = *set_.announced[static_cast<size_t>(index)];
  out.partition = index;
  out.source = options_.table;
  out.end_position = static_cast<int64_t>(partition.boundary().offset);
  switch (partition.state) {
    case State::kParked:
    case State::kAtEnd:
      return flow::ReadState::kWait;
    case State::kLeaving:
      partition.state = State::kEnded;
      CloseReader(partition);
      return flow::ReadState::kEnd;
    case State::kEnded:
      return flow::ReadState::kEnd;
    case State::kReadable:
      break;
  }
  WEIR_ASSIGN_OR_RETURN(const bool ready, EnsureReader(partition));
  if (!ready) return flow::ReadState::kWait;
  return ReadRows(partition, max_rows, out);
}

bool FileSource::MayRead(flow::PartitionIndex index) const {
  const State state = set_.announced[static_cast<size_t>(index)]->state;
  return state != State::kParked && state != State::kAtEnd;
}

// Decodes until max_rows, or until the file has no more.
Result<flow::ReadState> FileSource::ReadRows(FilePartition& partition, uint32_t max_rows,
                                             Batch& out) {
  FileReader& reader = *partition.reader;
  // A cut inside the batch would inflate a compressed file again; of a plain one it reads 8 KiB.
  if (reader.content().compressed()) reader.KeepFrom(partition.boundary().offset);
  const size_t marks_before = partition.marks.size();
  for (bool final = false;;) {
    const bool need_more = DecodeOnce(partition, final, max_rows, out);
    // One mark per call is enough: positions are asked for between two batches.
    if (partition.marks.size() > marks_before + 1) partition.marks.erase(partition.marks.end() - 2);
    if (!need_more || (!final && out.rows() >= max_rows)) return flow::ReadState::kRows;
    if (final) {
      if (!reader.Pending().empty())
        return Fail(Code::kInternal, "the decoder left the end of " + partition.path);
      partition.state = State::kEnded;
      partition.disk_bytes =
          partition
              .limit;  // the reader stays until its bytes are sealed: a batch may be cut inside
      return flow::ReadState::kEnd;
    }
    const bool something = out.rows() > 0 || !out.non_rows.empty();
    const auto more = reader.Fill();
    partition.disk_bytes = reader.content().disk_bytes_read();
    if (!more.has_value()) {
      if (more.error().code() == Code::kUnknownOutcome) return Fail(more.error());
      Park(partition, more.error().message());
    } else if (*more) {
      continue;
    } else if (catalog_->bounded()) {
      final = CheckBoundedEnd(partition);
      if (final) continue;
    } else {
      WEIR_ASSIGN_OR_RETURN(const bool grew, StandAtEnd(partition));
      if (grew) continue;
    }
    return something ? flow::ReadState::kRows : flow::ReadState::kWait;
  }
}

// Text of another encoding makes rows too, where a column takes every byte but a line feed: nobody
// would hear of it from a dead letter.
void FileSource::LookAtText(const FilePartition& partition, std::string_view first) const {
  const bool bytes = options_.format.kind == FormatSpec::Kind::kRaw && !options_.fields.empty() &&
                     options_.fields[0].type.kind == TypeKind::kBytes;
  const std::string hint = bytes ? "" : OtherUnicodeHint(first);
  if (hint.empty()) return;
  LogWarning("source_encoding",
             {{"source", options_.table}, {"path", partition.path}, {"why", "not UTF-8" + hint}});
}

// Decodes what is pending. True: nothing more without more bytes.
bool FileSource::DecodeOnce(FilePartition& partition, bool final, uint32_t max_rows, Batch& out) {
  FileReader& reader = *partition.reader;
  const std::string_view block = reader.Pending();
  const uint64_t block_begin = reader.offset();
  const uint64_t line = reader.line;
  const uint32_t rows_before = out.rows();
  if (block_begin == 0 && !block.empty() && !reader.looked_at_text) {
    LookAtText(partition, block);
    reader.looked_at_text = true;
  }
  const DecodeResult result =
      reader.decoder().Decode(block, static_cast<int64_t>(block_begin), final, max_rows, out);
  reader.Consume(result.consumed);
  FillMetadata(partition.path, reader, block_begin, block, rows_before, out);
  const uint64_t end = static_cast<uint64_t>(out.end_position);
  if (end > partition.boundary().offset) {
    Mark mark{end, line, reader.TailDigest(end)};
    if (wants_line_)
      mark.line += CountLines(block.substr(0, static_cast<size_t>(end - block_begin)));
    partition.marks.push_back(mark);
    partition.end.reset();
    if (!partition.head && end >= kIdentityBytes) partition.head = reader.Head();
  } else {
    out.end_position = static_cast<int64_t>(partition.boundary().offset);
  }
  if (wants_line_) reader.line += CountLines(block.substr(0, result.consumed));
  return result.need_more;
}

void FileSource::FillMetadata(const std::string& file_path, const FileReader& reader,
                              uint64_t block_begin, std::string_view block, uint32_t from_row,
                              Batch& out) const {
  const uint32_t rows = out.rows();
  if (options_.metadata.empty() || rows == from_row) return;
  const std::string_view path = out.arena().Copy(file_path);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const FileMetadata& wanted : options_.metadata) {
    Column& column = out.mutable_column(static_cast<size_t>(wanted.batch_column));
    column.Resize(rows);
    std::fill(column.valid.begin() + from_row, column.valid.end(), 1);
    using Key = FileMetadata::Key;
    switch (wanted.key) {
      case Key::kPath:
        std::fill(column.strings.begin() + from_row, column.strings.end(), path);
        break;
      case Key::kName:
        std::fill(column.strings.begin() + from_row, column.strings.end(), name);
        break;
      case Key::kSize:
        std::fill(column.ints.begin() + from_row, column.ints.end(),
                  static_cast<int64_t>(reader.stat.size));
        break;
      case Key::kModificationTime:
        std::fill(column.ints.begin() + from_row, column.ints.end(),
                  FloorMs(reader.stat.mtime_ns) * TicksPerMs(column.type));
        break;
      case Key::kOffset:
        std::copy(out.positions.begin() + from_row, out.positions.begin() + rows,
                  column.ints.begin() + from_row);
        break;
      case Key::kLine: {
        uint64_t at = block_begin, line = reader.line;
        for (uint32_t row = from_row; row < rows; ++row) {
          const uint64_t begin = static_cast<uint64_t>(out.positions[row]);
          line += CountLines(
              block.substr(static_cast<size_t>(at - block_begin), static_cast<size_t>(begin - at)));
          at = begin;
          column.ints[row] = static_cast<int64_t>(line);
        }
        break;
      }
    }
  }
}

// A bounded file has no more bytes: may the rest be taken as its last record?
bool FileSource::CheckBoundedEnd(FilePartition& partition) {
  Content& content = partition.reader->content();
  if (content.disk_bytes_read() < partition.limit) {
    Park(partition, partition.path + " became shorter while it was read");
    return false;
  }
  if (content.truncated()) {
    Park(partition, partition.path + " ends in the middle of its compressed data");
    return false;
  }
  return true;
}

// A followed file has no more bytes. True: it has meanwhile.
Result<bool> FileSource::StandAtEnd(FilePartition& partition) {
  Content& content = partition.reader->content();
  const auto stat = content.Stat();
  if (!stat.has_value()) return Fail(stat.error());
  if (stat->size > content.disk_bytes_read()) return true;
  // What is pending has no line feed yet: it is read again after a restart, and is neither
  // delivered nor lost.
  partition.end = stat->size == content.disk_bytes_read() ? std::optional<EndMark>(MarkOf(*stat))
                                                          : std::nullopt;
  partition.state = State::kAtEnd;
  return false;
}

Result<std::string> FileSource::EncodePosition(flow::PartitionIndex index, int64_t position) {
  FilePartition& partition = *set_.announced[static_cast<size_t>(index)];
  const uint64_t offset = static_cast<uint64_t>(position);
  if (partition.base.offset == offset) return EncodeSavedFile(partition.Save(partition.base));
  Mark before = partition.base;
  for (const Mark& mark : partition.marks) {
    if (mark.offset == offset) return EncodeSavedFile(partition.Save(mark));
    if (mark.offset < offset) before = mark;
  }
  CHECK(offset <= partition.boundary().offset);
  return EncodeBetweenMarks(partition, before, offset);
}

// A boundary inside a batch. Its bytes are mostly still in memory; else the file is read again for
// it.
Result<std::string> FileSource::EncodeBetweenMarks(const FilePartition& partition,
                                                   const Mark& before, uint64_t offset) {
  const uint64_t window = std::min(offset, kIdentityBytes);
  const uint64_t from = wants_line_ ? std::min(before.offset, offset - window) : offset - window;
  if (partition.reader != nullptr && partition.reader->Holds(from, offset)) {
    const std::string_view passed =
        wants_line_ ? partition.reader->Bytes(before.offset, offset) : std::string_view();
    return EncodeSavedFile(partition.Save(
        {offset, before.line + CountLines(passed), partition.reader->TailDigest(offset)}));
  }
  const auto mark = MarkFromFile(partition, before, offset);
  if (mark.has_value()) return EncodeSavedFile(*mark);
  if (mark.error().code() == Code::kUnknownOutcome) return Fail(mark.error());
  // Truncated or gone since it was read. Digests that no content has say just that to the next
  // start: the file of this position is not there any more.
  LogWarning("source_file_cut_while_read", {{"source", options_.table}, {"path", partition.path}});
  return EncodeSavedFile(partition.Save({offset, before.line, Digest128{}}));
}

Result<SavedFile> FileSource::MarkFromFile(const FilePartition& partition, const Mark& before,
                                           uint64_t offset) {
  WEIR_ASSIGN_OR_RETURN(const auto content,
                        Content::Open(files_, partition.path, partition.limit, options_.heartbeat));
  WEIR_ASSIGN_OR_RETURN(const ContentDigests digests, DigestsAt(*content, offset));
  Mark mark{offset, before.line, digests.tail};
  std::string bytes;
  for (uint64_t at = before.offset; wants_line_ && at < offset; at += bytes.size()) {
    bytes.resize(static_cast<size_t>(std::min<uint64_t>(offset - at, kReadBlockBytes)));
    WEIR_ASSIGN_OR_RETURN(const size_t n, content->ReadAt(at, bytes));
    if (n < bytes.size())
      return Fail(Code::kNotFound, partition.path + " became shorter while it was read");
    mark.line += CountLines(bytes);
  }
  SavedFile saved = partition.Save(mark);
  saved.head = digests.head;
  return saved;
}

void FileSource::Release(flow::PartitionIndex index, int64_t position) {
  FilePartition& partition = *set_.announced[static_cast<size_t>(index)];
  size_t done = 0;
  while (done < partition.marks.size() &&
         partition.marks[done].offset <= static_cast<uint64_t>(position))
    ++done;
  if (done == 0) return;
  partition.base = partition.marks[done - 1];
  partition.marks.erase(partition.marks.begin(),
                        partition.marks.begin() + static_cast<std::ptrdiff_t>(done));
  if (partition.marks.empty() && partition.state == State::kEnded) CloseReader(partition);
}

std::vector<flow::SourcePark> FileSource::parks() const {
  std::vector<flow::SourcePark> out;
  if (!any_parked_) return out;
  for (const FilePartition* partition : set_.announced) {
    if (partition->state != State::kParked) continue;
    out.push_back({partition->index, *partition->trouble});
  }
  return out;
}

void FileSource::Progress(uint64_t* read_bytes, uint64_t* total_bytes) const {
  *read_bytes = 0;
  for (const FilePartition& partition : set_.files) *read_bytes += partition.disk_bytes;
  *total_bytes = catalog_->TotalBytes();
}

}  // namespace weir::connectors
