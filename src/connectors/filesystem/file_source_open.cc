// The part of FileSource that opens files: readers come and go, positions stay.
#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "connectors/filesystem/file_source.h"
#include "data/utf8.h"

namespace weir::connectors {
namespace {

using State = FilePartition::State;

// A header record may be long; one that does not end within this is damage.
constexpr size_t kHeaderBytesMax = 4 << 20;

}  // namespace

// True: partition.reader stands at the boundary. False: not now, or parked (the state says which).
Result<bool> FileSource::EnsureReader(FilePartition& partition) {
  partition.last_use = ++uses_;
  if (partition.reopen) CloseReader(partition);
  partition.reopen = false;
  if (partition.reader != nullptr && partition.reader->begun) return true;
  if (partition.reader == nullptr) {
    MakeRoom();
    Status refusal;
    io::FileStat stat;
    WEIR_ASSIGN_OR_RETURN(auto content, OpenContent(partition, &stat, &refusal));
    if (content == nullptr) return Refuse(partition, refusal);
    WEIR_ASSIGN_OR_RETURN(auto decoder, TakeDecoder());
    partition.reader = std::make_unique<FileReader>(std::move(content), std::move(decoder));
    partition.reader->stat = stat;
    open_.push_back(&partition);
  }
  const Status begun = Begin(partition);
  if (begun.ok()) {
    partition.reader->begun = true;
    partition.verified = true;
    return true;
  }
  if (begun.code() == Code::kUnknownOutcome) return Fail(begun);
  return Refuse(partition, begun);
}

bool FileSource::Refuse(FilePartition& partition, const Status& why) {
  CloseReader(partition);
  if (why.code() == Code::kUnavailable) {
    partition.state = State::kAtEnd;  // the catalog says when to look again
  } else {
    const bool named = why.message().find(partition.path) != std::string::npos;
    Park(partition, named ? why.message() : partition.path + ": " + why.message());
  }
  return false;
}

// Null: *refusal says why not.
Result<std::unique_ptr<Content>> FileSource::OpenContent(FilePartition& partition,
                                                         io::FileStat* stat, Status* refusal) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto content = Content::Open(files_, partition.path, partition.limit, options_.heartbeat);
    if (!content.has_value() && content.error().code() == Code::kUnknownOutcome)
      return Fail(content.error());
    Result<io::FileStat> found = Fail(Code::kInternal, "");
    if (content.has_value()) {
      found = (*content)->Stat();
    } else {
      found = Fail(content.error());
    }
    *refusal = catalog_->CheckOpened(partition, found);
    if (refusal->ok()) {
      *stat = *found;
      return std::move(*content);
    }
    if (refusal->code() != Code::kExists) break;  // kExists: found under another name
  }
  return std::unique_ptr<Content>();
}

// Brings a new reader to the boundary: header, identity, window. kUnavailable: not now (the header
// is not complete, or the catalog has to look).
Status FileSource::Begin(FilePartition& partition) {
  FileReader& reader = *partition.reader;
  const Mark mark = partition.boundary();
  reader.line = mark.line;
  WEIR_ASSIGN_OR_RETURN(const size_t header, BeginDecoder(reader));
  if (mark.offset == 0) {
    WEIR_RETURN_IF_ERROR(reader.Seek(header));
    if (header == 0) return Status::Ok();
    Mark after{header, mark.line, reader.TailDigest(header)};
    if (wants_line_)
      ++after.line;  // a header with line breaks inside quotes counts as one line: lines of rows
                     // stay monotone
    partition.marks.push_back(after);
    reader.line = after.line;
    if (header >= kIdentityBytes) partition.head = reader.Head();
    return Status::Ok();
  }
  std::string window(static_cast<size_t>(std::min(mark.offset, kIdentityBytes)), '\0');
  WEIR_ASSIGN_OR_RETURN(const size_t n, reader.content().ReadAt(0, window));
  bool same = n == window.size() && DigestBytes(window) == partition.HeadAt(mark);
  if (same) {
    const Status seek = reader.Seek(mark.offset);
    if (!seek.ok() && seek.code() != Code::kNotFound) return seek;
    same = seek.ok() && reader.TailDigest(mark.offset) == mark.tail;
  }
  if (same) return Status::Ok();
  partition.verified = false;
  partition.end.reset();
  if (!catalog_->bounded()) return Status(Code::kUnavailable, "changed");
  return Status(Code::kRefused, partition.path + " is not the file of which " +
                                    std::to_string(mark.offset) + " bytes were read");
}

// Hands the decoder the first bytes of the file. Returns the length of the header record.
Result<size_t> FileSource::BeginDecoder(FileReader& reader) {
  std::string first;
  const bool has_header =
      options_.format.kind == FormatSpec::Kind::kCsv && options_.format.csv.header;
  bool at_end = false;
  for (size_t want = has_header ? kPeekBytes : 0;; want *= 4) {
    first.resize(want);
    WEIR_ASSIGN_OR_RETURN(const size_t n, reader.content().ReadAt(0, first));
    first.resize(n);
    at_end = n < want;
    const auto header = reader.decoder().BeginPartition(
        first, (at_end && catalog_->bounded()) || want > kHeaderBytesMax);
    if (header.has_value()) return header;
    if (header.error().code() != Code::kUnavailable) {
      return Fail(header.error().code(), header.error().message() + OtherUnicodeHint(first));
    }
    if (at_end) return Fail(Code::kUnavailable, "the header is not complete yet");
  }
}

Result<std::unique_ptr<RowDecoder>> FileSource::TakeDecoder() {
  if (idle_decoders_.empty()) return NewRowDecoder(options_.format, options_.fields);
  auto decoder = std::move(idle_decoders_.back());
  idle_decoders_.pop_back();
  return decoder;
}

Status FileSource::Peek(flow::PartitionIndex index, Batch& out) {
  FilePartition& partition = *set_.announced[static_cast<size_t>(index)];
  out.partition = index;
  out.source = options_.table;
  WEIR_RETURN_IF_ERROR(io::Beat(options_.heartbeat, "looking into", partition.path));
  auto content = Content::Open(files_, partition.path, partition.limit, options_.heartbeat);
  // Whatever is wrong with the file is said when it is read.
  if (!content.has_value()) return Status::Ok();
  WEIR_ASSIGN_OR_RETURN(auto decoder, TakeDecoder());
  FileReader reader(std::move(*content), std::move(decoder));
  const auto header = BeginDecoder(reader);
  std::string first(kPeekBytes + kDecodePadding, '\0');
  const auto n = reader.content().ReadAt(0, std::span<char>(first).first(kPeekBytes));
  if (header.has_value() && n.has_value() && *header <= *n) {
    const bool final = *n < kPeekBytes && catalog_->bounded();
    std::fill(first.begin() + static_cast<std::ptrdiff_t>(*n), first.end(), '\0');
    const std::string_view block = std::string_view(first).substr(*header, *n - *header);
    reader.decoder().Decode(block, static_cast<int64_t>(*header), final, kPeekBytes, out);
    if (const auto stat = reader.content().Stat(); stat.has_value()) reader.stat = *stat;
    FillMetadata(partition.path, reader, *header, block, 0, out);
  }
  idle_decoders_.push_back(reader.TakeDecoder());
  return Status::Ok();
}

void FileSource::Park(FilePartition& partition, std::string trouble) {
  CloseReader(partition);
  LogWarning("source_parked",
             {{"source", options_.table}, {"path", partition.path}, {"why", trouble}});
  partition.state = State::kParked;
  partition.trouble = std::make_unique<std::string>(std::move(trouble));
  any_parked_ = true;
}

void FileSource::CloseReader(FilePartition& partition) {
  if (partition.reader == nullptr) return;
  idle_decoders_.push_back(partition.reader->TakeDecoder());
  partition.reader.reset();
  open_.erase(std::find(open_.begin(), open_.end(), &partition));
}

// Closes the reader used longest ago. One of a file that is gone from its path goes last: it cannot
// be opened again.
void FileSource::MakeRoom() {
  if (open_.size() < kOpenFilesMax) return;
  const auto oldest = std::min_element(
      open_.begin(), open_.end(), [](const FilePartition* a, const FilePartition* b) {
        return a->missing != b->missing ? !a->missing : a->last_use < b->last_use;
      });
  CloseReader(**oldest);
}

}  // namespace weir::connectors
