#include "connectors/filesystem/append_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "connectors/filesystem/takeover_facts.h"

namespace weir::connectors {
namespace {

constexpr uint8_t kExtentVersion = 1;

using protocol::LocalFileAction;

}  // namespace

std::string EncodeAppendExtent(const AppendExtent& extent) {
  ByteWriter out;
  out.U8(kExtentVersion);
  out.Varint(extent.base);
  out.Varint(extent.length);
  out.U64(extent.digest.low);
  out.U64(extent.digest.high);
  return out.Take();
}

std::optional<AppendExtent> DecodeAppendExtent(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kExtentVersion) return std::nullopt;
  AppendExtent extent;
  extent.base = in.Varint();
  extent.length = in.Varint();
  extent.digest.low = in.U64();
  extent.digest.high = in.U64();
  if (!in.ok() || !in.AtEnd() || extent.base > extent.length) return std::nullopt;
  return extent;
}

Result<protocol::LocalFileDecision> AppendStage::Decide(const flow::TakeoverContext& context) {
  protocol::LocalFileFacts facts;
  facts.fresh = context.fresh;
  facts.if_exists = options_.if_exists;
  facts.newest_sealed = context.sealed;
  facts.claimed =
      std::binary_search(context.claimed_paths.begin(), context.claimed_paths.end(), options_.path);
  facts.accept_missing = HasWord(context, protocol::Verb::kAcceptMissing);
  facts.rewind_file = HasWord(context, protocol::Verb::kRewindFile);
  facts.adopt = HasWord(context, protocol::Verb::kAdopt);
  sealed_ = {};
  if (!context.blob.empty()) {
    const auto extent = DecodeAppendExtent(context.blob);
    if (!extent)
      return Fail(Code::kCorruption,
                  "the sealed extent of sink " + options_.sink + " cannot be read");
    sealed_ = *extent;
  }
  facts.sealed_length = sealed_.length;
  found_length_ = 0;
  const auto stat = files_.Stat(options_.path);
  if (stat.has_value()) {
    if (!stat->is_regular)
      return Fail(Code::kCannotCreate, options_.path + " is not a regular file");
    facts.exists = true;
    facts.length = found_length_ = stat->size;
  } else if (stat.error().code() != Code::kNotFound) {
    return Fail(Code::kCannotCreate, stat.error().message());
  }
  WEIR_ASSIGN_OR_RETURN(found_, ReadFileReceipt(files_, options_.path));
  facts.has_receipt = found_.exists;
  facts.receipt_damaged = found_.exists && !found_.receipt;
  if (found_.receipt) {
    facts.receipt_lineage_known = IsKnownLineage(context, found_.receipt->lineage);
    facts.receipt_is_current_lineage = found_.receipt->lineage == context.lineage;
    facts.receipt_epoch = found_.receipt->epoch;
    if (facts.receipt_lineage_known) highest_seen_ = found_.receipt->epoch;
    facts.newest_sealed = NewestSealedOf(context, found_.receipt->lineage);
  }
  return protocol::DecideLocalFile(facts);
}

Status AppendStage::Inspect(const flow::TakeoverContext& context) {
  lineage_ = context.lineage;
  park_.reset();
  WEIR_ASSIGN_OR_RETURN(const protocol::LocalFileDecision decision, Decide(context));
  switch (decision.action) {
    case LocalFileAction::kRefuseExists:
      return Status(Code::kExists, options_.path +
                                       " exists and was not written by this pipeline: " +
                                       protocol::LocalFileAdvice(decision.action));
    case LocalFileAction::kParkUnknownReceipt:
    case LocalFileAction::kParkReceiptAbove:
    case LocalFileAction::kParkShorter:
    case LocalFileAction::kParkMissing: {
      std::string facts = fmt::format("{}: length {}, sealed length {}, sealed epoch {}",
                                      options_.path, found_length_, sealed_.length, context.sealed);
      if (found_.receipt) {
        facts += fmt::format(", receipt of lineage {} epoch {} length {}",
                             found_.receipt->lineage.ShortHex(), found_.receipt->epoch,
                             found_.receipt->length);
      } else if (found_.exists) {
        facts += ", its receipt file is damaged";
      }
      park_ = protocol::Park{options_.sink, protocol::LocalFileRule(decision.action),
                             facts + "; " + protocol::LocalFileAdvice(decision.action),
                             protocol::LocalFileVerbs(decision.action)};
      return Status::Ok();
    }
    case LocalFileAction::kCreate:
      return CheckParent(files_, options_.path);
    case LocalFileAction::kReplace:
    case LocalFileAction::kAppendAfter:
    case LocalFileAction::kTruncateToSealed:
    case LocalFileAction::kAcceptAsIs: {
      const auto file = files_.Open(options_.path, io::OpenMode::kReadWrite);
      return file.has_value() ? Status::Ok() : file.error();
    }
  }
  return Status::Ok();
}

// Where our next byte goes. Sets base_.
Result<uint64_t> AppendStage::StartLength(LocalFileAction action) {
  switch (action) {
    case LocalFileAction::kCreate:
      base_ = 0;
      return 0;
    case LocalFileAction::kReplace:
      // What stood there before our first byte is not ours to cut, unless the user says so.
      base_ = found_.receipt && options_.if_exists != protocol::LocalFileFacts::IfExists::kOverwrite
                  ? std::min(found_.receipt->base, found_length_)
                  : 0;
      return base_;
    case LocalFileAction::kAppendAfter:
      base_ = found_length_;
      return base_;
    case LocalFileAction::kTruncateToSealed:
      base_ = sealed_.base;
      return sealed_.length;
    case LocalFileAction::kAcceptAsIs:
      base_ = std::min(sealed_.base, found_length_);
      return found_length_;
    case LocalFileAction::kRefuseExists:
    case LocalFileAction::kParkUnknownReceipt:
    case LocalFileAction::kParkReceiptAbove:
    case LocalFileAction::kParkShorter:
    case LocalFileAction::kParkMissing:
      break;
  }
  return Fail(Code::kInternal,
              "the file changed between the decision and the recovery: " + options_.path);
}

Status AppendStage::Recover(const flow::TakeoverContext& context) {
  if (park_) return Status::Ok();
  lineage_ = context.lineage;
  WEIR_ASSIGN_OR_RETURN(const protocol::LocalFileDecision decision, Decide(context));
  WEIR_ASSIGN_OR_RETURN(const uint64_t start, StartLength(decision.action));
  WEIR_ASSIGN_OR_RETURN(file_, OutputFile::Open(files_, options_.path, start));
  // Before the first byte of ours: a run that dies now leaves a receipt that says how much was
  // never ours.
  const FileReceipt receipt{context.lineage, context.fresh ? context.base : context.sealed, base_,
                            start, context.fresh ? Digest128{} : sealed_.digest};
  if (found_.receipt != receipt)
    WEIR_RETURN_IF_ERROR(WriteFileReceipt(files_, options_.path, receipt));
  WEIR_RETURN_IF_ERROR(StageProlog(start));
  frozen_length_ = start;
  unrecorded_ = base_ != sealed_.base || start != sealed_.length;
  epoch_rows_ = 0;
  return Status::Ok();
}

// What our part of the file begins with: a header when the file is empty, a line feed when
// somebody's last line has none.
Status AppendStage::StageProlog(uint64_t start) {
  if (start == 0) {
    file_->buffer() += rows_->Header();
    return Status::Ok();
  }
  if (start != base_) return Status::Ok();
  WEIR_ASSIGN_OR_RETURN(const auto file, files_.Open(options_.path, io::OpenMode::kRead));
  char last = '\n';
  WEIR_ASSIGN_OR_RETURN(const size_t n, file->ReadAt(start - 1, std::span<char>(&last, 1)));
  if (n == 1 && last != '\n') file_->buffer() += '\n';
  return Status::Ok();
}

Status AppendStage::Stage(const Batch& batch, flow::Outputs& out) {
  if (park_) return Status(Code::kRefused, "sink " + options_.sink + " is parked: " + park_->facts);
  CHECK(file_ != nullptr);
  return rows_->Stage(batch, *file_, out, books_, &epoch_rows_);
}

std::optional<flow::Extent> AppendStage::Freeze(EpochId, bool) {
  // Without rows, too, where no sealed extent says yet where we began: the next start would else
  // take all that stands there for a staged tail.
  if (file_ == nullptr || (file_->length() == frozen_length_ && !unrecorded_)) return std::nullopt;
  unrecorded_ = false;
  frozen_ = {base_, file_->length(), file_->EpochDigest()};
  file_->Freeze();
  frozen_length_ = frozen_.length;
  flow::Extent extent;
  extent.rows = epoch_rows_;
  extent.digest = frozen_.digest;
  extent.blob = EncodeAppendExtent(frozen_);
  epoch_rows_ = 0;
  // The books become part of the epoch that this extent is sealed with.
  books_[flow::Count::kSealed] += extent.rows;
  books_[flow::Count::kAcked] += extent.rows;
  return extent;
}

Status AppendStage::Sync() {
  return file_ != nullptr && file_->frozen() ? file_->Sync() : Status::Ok();
}

std::function<Status()> AppendStage::Sealed(EpochId epoch) {
  if (file_ == nullptr || !file_->frozen()) return nullptr;
  file_->FrozenIsDurable();
  const FileReceipt receipt{lineage_, epoch, frozen_.base, frozen_.length, frozen_.digest};
  return [&files = files_, path = options_.path, receipt] {
    return WriteFileReceipt(files, path, receipt);
  };
}

}  // namespace weir::connectors
