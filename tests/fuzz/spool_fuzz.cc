// Any bytes as a spool segment: a start and a delivery either take it or name what is wrong with
// it.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "io/sim_files.h"
#include "store/segment.h"
#include "store/spool_reader.h"
#include "store/spool_scan.h"

namespace {

using weir::store::SegmentName;

weir::Schema FuzzSchema() {
  weir::Schema schema;
  schema.fields = {{"id", weir::Type::Of(weir::TypeKind::kBigInt)},
                   {"text", weir::Type::Of(weir::TypeKind::kString)},
                   {"amount", weir::Type::Decimal(12, 2)},
                   {"flag", weir::Type::Of(weir::TypeKind::kBoolean)}};
  return schema;
}

// What is there is read through: rows are decoded, whatever they hold.
void Deliver(weir::io::Files& files, const weir::store::SpoolFindings& findings) {
  const weir::Schema schema = FuzzSchema();
  weir::store::SpoolRange range;
  range.spans = findings.spans;
  range.last_rows = UINT64_MAX;
  const auto reader = weir::store::NewSpoolReader(files, "/spool", schema, range, 0);
  weir::Batch batch;
  weir::flow::RowsAt at;
  for (;;) {
    const auto more = reader->Next(&at, batch);
    if (!more || !*more) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  weir::io::SimFiles files;
  files.PutDirectory("/spool");
  // The first byte chooses whether the bytes bring their own header; with one of ours the fuzzer
  // reaches the blocks.
  std::string segment;
  if (size > 0 && data[0] % 2 == 0) {
    segment = weir::store::EncodeSegmentHeader({weir::Lineage{}, 1, 0, 0, "out"});
  }
  const uint64_t header = segment.size();
  segment.append(bytes.substr(size > 0 ? 1 : 0));
  // ... and every other time with the CRCs of whole blocks made right.
  if (size > 1 && data[0] % 4 == 0) {
    const std::string payload(bytes.substr(1));
    segment.resize(header);
    segment += weir::store::EncodeBlock(weir::store::BlockKind::kRows, data[1], 0, payload);
    weir::StreamDigest digest;
    digest.Update(payload);
    segment +=
        weir::store::EncodeBlock(weir::store::BlockKind::kEnd, 0, 1,
                                 weir::store::EncodeEpochEnd({data[1], data[1], digest.Value()}));
  }
  files.PutFile("/spool/" + SegmentName(1), segment);
  for (const uint64_t end : {static_cast<uint64_t>(segment.size()), header}) {
    weir::store::SpoolQuestion question;
    question.directory = "/spool";
    question.sealed = weir::store::SpoolExtent{1, end, 1, size > 1 ? data[1] : 0u};
    const auto findings = weir::store::ScanSpool(files, question);
    if (findings) Deliver(files, *findings);
    question.acked = 1;
    (void)weir::store::ScanSpool(files, question).has_value();
  }
  (void)weir::store::CheckSegmentFormats(files, "/spool");
  return 0;
}
