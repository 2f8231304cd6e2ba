// State blobs from a disk that lies: validating, merging and restoring never crash, and agree on
// what is damaged.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "state/blob.h"
#include "state/byte_map.h"
#include "state/keyed_table.h"

namespace {

// The first byte says in how many pieces the rest is to be taken.
std::vector<std::string_view> Pieces(std::string_view input) {
  std::vector<std::string_view> pieces;
  if (input.empty()) return pieces;
  const size_t count = 1 + static_cast<unsigned char>(input[0]) % 4;
  input.remove_prefix(1);
  const size_t size = input.size() / count + 1;
  for (size_t at = 0; at < input.size(); at += size) pieces.push_back(input.substr(at, size));
  return pieces;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

void Restore(const std::vector<std::string_view>& blobs, const weir::SlotLayout& layout) {
  weir::KeyedTable table(&layout);
  std::string meta;
  for (std::string_view blob : blobs) {
    if (!table.ApplyBlob(blob, &meta).ok()) return;
  }
  table.FinishRestore();
  // What was restored can be used, and frozen and restored again.
  size_t live = 0;
  table.ForEach([&](uint32_t slot) {
    ++live;
    Require(table.Find(weir::KeyedTable::HashKey(table.Key(slot)), table.Key(slot)) !=
            weir::KeyedTable::kNone);
    table.MarkDirty(slot);
  });
  Require(live == table.size());
  table.Insert(weir::KeyedTable::HashKey("new"), "new");
  uint64_t entries = 0;
  const std::string blob = table.Freeze(meta, &entries);
  Require(weir::ValidateBlob(blob).ok());
  weir::KeyedTable again(&layout);
  Require(again.ApplyBlob(blob, &meta).ok());
  again.FinishRestore();
  Require(again.size() == table.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> blobs = Pieces(input);
  bool valid = true;
  for (std::string_view blob : blobs) valid = weir::ValidateBlob(blob).ok() && valid;
  const weir::Result<std::string> merged = weir::MergeBlobs(blobs);
  Require(merged.has_value() == valid);
  if (merged) Require(weir::ValidateBlob(*merged).ok());
  weir::SlotLayout count;
  count.fixed_bytes = 8;
  Restore(blobs, count);
  weir::SlotLayout texts;
  texts.fixed_bytes = 40;
  texts.variable = {0, 16};
  Restore(blobs, texts);
  weir::SlotLayout none;
  Restore(blobs, none);
  weir::ByteMap map;
  for (std::string_view blob : blobs) {
    if (!map.ApplyBlob(std::string_view("\x05", 1), blob).ok()) return 0;
  }
  map.FinishRestore();
  return 0;
}
