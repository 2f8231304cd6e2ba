#include "connectors/filesystem/dead_letter_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace weir::connectors {
namespace {

constexpr uint8_t kVersion = 1;
constexpr std::string_view kExtension = ".jsonl";
// So that the bound can be kept by whole files.
constexpr uint64_t kFilesAtLeast = 4;

std::string FileNameOf(std::string_view subject) {
  std::string out;
  for (const char c : subject) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (plain) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

std::string EncodeDeadFiles(const DeadFiles& files) {
  ByteWriter out;
  out.U8(kVersion);
  out.Varint(files.first);
  out.Varint(files.files.size());
  for (const DeadFiles::File& file : files.files) {
    out.Varint(file.length);
    out.Varint(file.rows);
  }
  return out.Take();
}

std::optional<DeadFiles> DecodeDeadFiles(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kVersion) return std::nullopt;
  DeadFiles files;
  files.first = in.Varint();
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t length = in.Varint();
    files.files.push_back({length, in.Varint()});
  }
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return files;
}

DeadLetterStage::DeadLetterStage(io::Files& files, std::string directory, std::string subject,
                                 uint64_t max_bytes, std::unique_ptr<RowStager> rows)
    : files_(files),
      directory_(std::move(directory)),
      base_name_(FileNameOf(subject)),
      max_bytes_(max_bytes),
      file_bytes_(std::min(kDeadFileBytes, std::max<uint64_t>(max_bytes / kFilesAtLeast, 1))),
      rows_(std::move(rows)) {}

std::string DeadLetterStage::PathOf(uint64_t number) const {
  return io::JoinPath(directory_, number == 0
                                      ? base_name_ + std::string(kExtension)
                                      : fmt::format("{}.{}{}", base_name_, number, kExtension));
}

std::optional<uint64_t> DeadLetterStage::NumberOf(std::string_view name) const {
  if (!name.starts_with(base_name_) || !name.ends_with(kExtension) ||
      name.size() < base_name_.size() + kExtension.size())
    return std::nullopt;
  name.remove_prefix(base_name_.size());
  name.remove_suffix(kExtension.size());
  if (name.empty()) return 0;
  const auto number = name[0] == '.' ? ParseInt64(name.substr(1)) : std::nullopt;
  if (!number || *number <= 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

Status DeadLetterStage::Recover(const flow::TakeoverContext& context) {
  const Status made = files_.MakeDirectory(directory_);
  if (made.ok()) WEIR_RETURN_IF_ERROR(files_.SyncDirectory(io::DirectoryOf(directory_)));
  if (!made.ok() && made.code() != Code::kExists) return made;
  kept_ = {};
  if (!context.fresh && !context.blob.empty()) {
    auto kept = DecodeDeadFiles(context.blob);
    if (!kept)
      return Status(Code::kCorruption,
                    "the sealed extent of the dead letters " + base_name_ + " cannot be read");
    kept_ = std::move(*kept);
  }
  // What no sealed epoch knows: deletions that a death came before, and files that a death came
  // after.
  WEIR_ASSIGN_OR_RETURN(const auto names, files_.List(directory_));
  for (const std::string& name : names) {
    const auto number = NumberOf(name);
    const bool known =
        number && *number >= kept_.first && *number - kept_.first < kept_.files.size();
    if (number && !known) WEIR_RETURN_IF_ERROR(files_.Remove(io::JoinPath(directory_, name)));
  }
  file_.reset();
  begins_file_ = true;
  epoch_rows_ = 0;
  if (kept_.files.empty() || kept_.files.back().length >= file_bytes_) return Status::Ok();
  const std::string path = PathOf(kept_.first + kept_.files.size() - 1);
  const auto stat = files_.Stat(path);
  if (!stat.has_value() && stat.error().code() != Code::kNotFound) return stat.error();
  if (!stat.has_value() || stat->size < kept_.files.back().length)
    return Status::Ok();  // somebody tidied up: the next number
  WEIR_ASSIGN_OR_RETURN(file_, OutputFile::Open(files_, path, kept_.files.back().length));
  file_->AllowRemoval();
  begins_file_ = false;
  return Status::Ok();
}

Status DeadLetterStage::Stage(const Batch& batch, flow::Outputs& out) {
  if (file_ == nullptr) {
    file_ = OutputFile::New(files_, PathOf(kept_.first + kept_.files.size()));
    file_->AllowRemoval();
    begins_file_ = true;
  }
  return rows_->Stage(batch, *file_, out, books_, &epoch_rows_);
}

std::optional<flow::Extent> DeadLetterStage::Freeze(EpochId, bool) {
  if (epoch_rows_ == 0) return std::nullopt;
  flow::Extent extent;
  extent.rows = epoch_rows_;
  extent.digest = file_->EpochDigest();
  if (begins_file_) kept_.files.push_back({});
  begins_file_ = false;
  kept_.files.back().length = file_->length();
  kept_.files.back().rows += epoch_rows_;
  epoch_rows_ = 0;
  file_->Freeze();
  frozen_ = file_.get();
  if (file_->length() >= file_bytes_) full_ = std::move(file_);

  uint64_t total = 0;
  for (const DeadFiles::File& file : kept_.files) total += file.length;
  while (total > max_bytes_ && kept_.files.size() > 1) {
    total -= kept_.files.front().length;
    books_[flow::Count::kDeadDropped] += kept_.files.front().rows;
    to_delete_.push_back(kept_.first++);
    kept_.files.erase(kept_.files.begin());
  }
  extent.blob = EncodeDeadFiles(kept_);
  books_[flow::Count::kSealed] += extent.rows;
  books_[flow::Count::kAcked] += extent.rows;
  return extent;
}

std::function<Status()> DeadLetterStage::Sealed(EpochId) {
  if (frozen_ == nullptr) return nullptr;
  frozen_->FrozenIsDurable();
  // Somebody has deleted the file: rows staged since go on in the next one.
  if (frozen_->removed() && frozen_ == file_.get()) {
    auto next = OutputFile::New(files_, PathOf(kept_.first + kept_.files.size()));
    next->AllowRemoval();
    next->buffer().swap(file_->buffer());
    file_ = std::move(next);
    begins_file_ = true;
  }
  frozen_ = nullptr;
  full_.reset();
  if (to_delete_.empty()) return nullptr;
  std::vector<std::string> paths;
  for (const uint64_t number : to_delete_) paths.push_back(PathOf(number));
  to_delete_.clear();
  return [&files = files_, paths = std::move(paths)]() -> Status {
    for (const std::string& path : paths) {
      const Status removed = files.Remove(path);
      if (!removed.ok() && removed.code() != Code::kNotFound) return removed;
    }
    return Status::Ok();
  };
}

}  // namespace weir::connectors
