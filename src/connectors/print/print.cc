#include "connectors/print/print.h"

#include <cerrno>
#include <cstdio>

namespace weir::connectors {
namespace {

constexpr size_t kBufferBytes = 64 << 10;

constexpr std::string_view kFormats[] = {"csv", "json", "raw"};
constexpr plan::OptionSpec kOptions[] = {
    {.name = "print-identifier",
     .doc = "Written with \"> \" in front of each row.",
     .source = false},
};

}  // namespace

const plan::ConnectorSpec kPrintSpec = {
    .name = "print",
    .doc = "Rows on standard output, as JSON lines unless another format is given.",
    .sink = true,
    .formats = kFormats,
    .options = kOptions,
    .sink_accepts_updates = true,
    .sink_guarantee = plan::Guarantee::kAtLeastOnce,
    .sink_guarantee_reason =
        "a terminal keeps no receipt: rows of an epoch that was not sealed are printed again",
};

Status WriteStandardOutput(std::string_view bytes) {
  const size_t written = std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  if (written == bytes.size() && std::fflush(stdout) == 0) return Status::Ok();
  if (errno == EPIPE) return Status(Code::kEndOfStream, "the reader of standard output has gone");
  if (errno == ENOSPC) return Status(Code::kNoSpace, "no space behind standard output");
  return Status(Code::kUnknownOutcome, "cannot write to standard output");
}

PrintSink::PrintSink(std::unique_ptr<RowEncoder> encoder, Schema schema, std::string prefix,
                     std::function<Status(std::string_view)> write)
    : encoder_(std::move(encoder)),
      schema_(std::move(schema)),
      prefix_(std::move(prefix)),
      write_(std::move(write)),
      buffer_(encoder_->Header()) {}

Status PrintSink::Write(const Batch& batch, flow::Outputs& out) {
  dead_.Clear();
  batch.ForEachSelected([&](uint32_t row) {
    const std::string_view reason = encoder_->Check(batch, row);
    if (!reason.empty())
      return dead_.AddRow(flow::DeadStage::kSink, "sink.cannot-write", reason, batch, row, schema_);
    buffer_ += prefix_;
    encoder_->Append(batch, row, buffer_);
  });
  const uint64_t dead = dead_.batch().rows();
  using enum flow::Count;
  books_[kIn] += batch.selected_count();
  books_[kDead] += dead;
  for (const flow::Count count : {kStaged, kSealed, kAcked})
    books_[count] += batch.selected_count() - dead;
  if (!dead_.empty()) out.Dead(dead_.batch());
  return buffer_.size() >= kBufferBytes ? Flush() : Status::Ok();
}

Status PrintSink::Flush() {
  if (buffer_.empty()) return Status::Ok();
  const Status status = write_(buffer_);
  buffer_.clear();
  return status;
}

}  // namespace weir::connectors
