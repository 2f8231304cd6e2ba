#include "data/testing/decode.h"

#include <algorithm>
#include <memory>

#include "data/testing/rows.h"

namespace weir {

std::vector<DecodeField> FieldsOf(const Schema& schema) {
  std::vector<DecodeField> fields;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const int at = static_cast<int>(i);
    fields.push_back({schema.fields[i].name, schema.fields[i].type, at, at});
  }
  return fields;
}

std::string Describe(const Batch& batch) {
  std::string out;
  size_t next = 0;
  const auto non_rows_before = [&](uint32_t row) {
    for (; next < batch.non_rows.size() && batch.non_rows[next].before_row <= row; ++next) {
      const NonRow& n = batch.non_rows[next];
      out += std::to_string(n.pos) + ".." + std::to_string(n.next_pos);
      out += n.skipped ? " skipped\n" : " dead " + n.code + " [" + n.message + "] " + n.raw + "\n";
    }
  };
  CHECK(batch.positions.size() == batch.rows());
  for (uint32_t row = 0; row < batch.rows(); ++row) {
    non_rows_before(row);
    out += std::to_string(batch.positions[row]) + " " + RowText(batch, row) + "\n";
  }
  non_rows_before(batch.rows());
  CHECK(next == batch.non_rows.size());
  return out;
}

std::string DecodeInBlocks(const FormatSpec& spec, const Schema& schema, std::string_view input,
                           size_t block_bytes, uint32_t max_rows) {
  auto decoder = NewRowDecoder(spec, FieldsOf(schema));
  CHECK(decoder.has_value());
  size_t at = 0;
  for (size_t seen = std::min(block_bytes, input.size());; seen = input.size()) {
    const auto header = (*decoder)->BeginPartition(input.substr(0, seen), seen == input.size());
    if (header.has_value()) {
      at = *header;
      break;
    }
    if (header.error().code() != Code::kUnavailable) return header.error().message();
    CHECK(seen < input.size());
  }
  std::string out;
  Batch batch;
  size_t size = block_bytes;
  for (;;) {
    const size_t n = std::min(size, input.size() - at);
    const bool final = at + n == input.size();
    // A block of its own: reading beyond it shows under the sanitizer.
    std::unique_ptr<char[]> block(new char[n + kDecodePadding]());
    std::copy_n(input.data() + at, n, block.get());
    batch.Reset(schema);
    const DecodeResult r =
        (*decoder)->Decode({block.get(), n}, static_cast<int64_t>(at), final, max_rows, batch);
    CHECK(r.consumed <= n);
    CHECK(batch.rows() <= max_rows);
    CHECK(batch.end_position <= static_cast<int64_t>(at + r.consumed));
    out += Describe(batch);
    at += r.consumed;
    if (final && at == input.size()) return out;
    if (r.consumed > 0 || !batch.non_rows.empty() || batch.rows() > 0) {
      size = block_bytes;
      continue;
    }
    CHECK(r.need_more);
    CHECK(!final);
    size += block_bytes;
  }
}

std::string DecodeEveryWay(const FormatSpec& spec, const Schema& schema, std::string_view input) {
  const std::string whole = DecodeInBlocks(spec, schema, input, input.size() + 1, 1000);
  for (const size_t block : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{64}}) {
    for (const uint32_t rows : {1u, 2u, 1000u}) {
      const std::string other = DecodeInBlocks(spec, schema, input, block, rows);
      if (other != whole) {
        return "blocks of " + std::to_string(block) + ", " + std::to_string(rows) + " rows:\n" +
               other + "but as a whole:\n" + whole;
      }
    }
  }
  return whole;
}

}  // namespace weir
