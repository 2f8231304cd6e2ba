#include "state/keyed_table.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

namespace weir {
namespace {

// A counter and a string per key.
SlotLayout CounterAndText() {
  SlotLayout layout;
  layout.fixed_bytes = 24;
  layout.variable = {8};
  return layout;
}
int64_t& CountAt(KeyedTable& t, uint32_t slot) {
  return *reinterpret_cast<int64_t*>(t.Fixed(slot));
}
VarRef* TextAt(KeyedTable& t, uint32_t slot) {
  return reinterpret_cast<VarRef*>(t.Fixed(slot) + 8);
}

struct Entry {
  int64_t count = 0;
  std::string text;
  bool operator==(const Entry&) const = default;
};
using Listing = std::vector<std::pair<std::string, Entry>>;

Listing List(KeyedTable& table) {
  Listing out;
  table.ForEach([&](uint32_t s) {
    out.emplace_back(std::string(table.Key(s)),
                     Entry{CountAt(table, s), std::string(TextAt(table, s)->view())});
  });
  return out;
}

uint32_t FindOrInsert(KeyedTable& table, std::string_view key) {
  const uint32_t hash = KeyedTable::HashKey(key);
  const uint32_t slot = table.Find(hash, key);
  return slot == KeyedTable::kNone ? table.Insert(hash, key) : slot;
}

std::string KeyOf(uint64_t n) {
  // Inline and long keys, and the empty one.
  if (n == 0) return "";
  return n % 3 == 0 ? "a-long-key-that-does-not-fit-" + std::to_string(n) : std::to_string(n);
}

KeyedTable Restored(const SlotLayout& layout, const std::vector<std::string>& blobs) {
  KeyedTable table(&layout);
  std::string meta;
  for (const std::string& blob : blobs) {
    const Status status = table.ApplyBlob(blob, &meta);
    REQUIRE(status.ok());
  }
  table.FinishRestore();
  return table;
}

TEST_CASE("slots keep the order in which keys were first seen, through growth and a restore") {
  const SlotLayout layout = CounterAndText();
  KeyedTable table(&layout);
  std::vector<std::string> keys;
  for (int i = 5000; i >= 0; --i) keys.push_back(KeyOf(static_cast<uint64_t>(i)));
  for (const std::string& key : keys) ++CountAt(table, FindOrInsert(table, key));
  for (const std::string& key : keys) ++CountAt(table, FindOrInsert(table, key));
  CHECK(table.size() == keys.size());
  uint64_t entries = 0;
  const std::string blob = table.Freeze("m", &entries);
  CHECK(entries == keys.size());
  KeyedTable restored = Restored(layout, {blob});
  const Listing listing = List(restored);
  REQUIRE(listing.size() == keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    CHECK(listing[i].first == keys[i]);
    CHECK(listing[i].second.count == 2);
  }
}

TEST_CASE(
    "a table equals a map under random inserts, changes and deletions, restored from deltas and "
    "from their merger") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const SlotLayout layout = CounterAndText();
    KeyedTable table(&layout);
    std::map<std::string, Entry> model;
    std::vector<std::string> blobs;
    for (int step = 0; step < 3000; ++step) {
      const std::string key = KeyOf(random() % 200);
      const uint32_t hash = KeyedTable::HashKey(key);
      const uint32_t slot = table.Find(hash, key);
      CHECK((slot == KeyedTable::kNone) == !model.contains(key));
      if (slot != KeyedTable::kNone && random() % 3 == 0) {
        table.Erase(slot);
        model.erase(key);
      } else {
        const uint32_t at = slot == KeyedTable::kNone ? table.Insert(hash, key) : slot;
        const std::string text(random() % 60, static_cast<char>('a' + random() % 26));
        table.MarkDirty(at);
        ++CountAt(table, at);
        table.SetVariable(TextAt(table, at), text);
        Entry& entry = model[key];
        ++entry.count;
        entry.text = text;
      }
      if (random() % 100 == 0) table.MaybeCompact();
      if (random() % 300 == 0) {
        uint64_t entries = 0;
        blobs.push_back(table.Freeze("", &entries));
        CHECK(!table.dirty());
      }
    }
    uint64_t entries = 0;
    blobs.push_back(table.Freeze("", &entries));
    const Listing now = List(table);
    CHECK(std::map<std::string, Entry>(now.begin(), now.end()) == model);
    KeyedTable restored = Restored(layout, blobs);
    CHECK(List(restored) == now);
    std::vector<std::string_view> views(blobs.begin(), blobs.end());
    const Result<std::string> merged = MergeBlobs(views);
    REQUIRE(merged.has_value());
    KeyedTable from_base = Restored(layout, {*merged});
    CHECK(List(from_base) == now);
    // And goes on as the first would: the same next slot numbers, so later deltas fit both.
    CHECK(FindOrInsert(restored, "new") == FindOrInsert(from_base, "new"));
  }
}

TEST_CASE("several slots of one key are all found, whatever is erased between them") {
  const SlotLayout layout = CounterAndText();
  KeyedTable table(&layout);
  const uint32_t hash = KeyedTable::HashKey("k");
  const uint32_t a = table.Insert(hash, "k");
  for (int i = 0; i < 40; ++i) FindOrInsert(table, KeyOf(static_cast<uint64_t>(i)));
  const uint32_t b = table.Insert(hash, "k");
  const uint32_t c = table.Insert(hash, "k");
  const auto all = [&] {
    std::vector<uint32_t> found;
    for (uint32_t s = table.Find(hash, "k"); s != KeyedTable::kNone;
         s = table.FindNext(hash, "k", s)) {
      found.push_back(s);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  CHECK(all() == std::vector<uint32_t>{a, b, c});
  table.Erase(b);
  CHECK(all() == std::vector<uint32_t>{a, c});
  table.Erase(a);
  table.Erase(c);
  CHECK(all().empty());
}

TEST_CASE("a slot that came and went between two freezes leaves no entry") {
  const SlotLayout layout = CounterAndText();
  KeyedTable table(&layout);
  table.Erase(FindOrInsert(table, "x"));
  uint64_t entries = 9;
  CHECK(ValidateBlob(table.Freeze("", &entries)).ok());
  CHECK(entries == 0);
}

TEST_CASE("an unchanged table freezes to nothing, a changed slot to one entry") {
  const SlotLayout layout = CounterAndText();
  KeyedTable table(&layout);
  for (uint64_t i = 0; i < 1000; ++i) FindOrInsert(table, KeyOf(i));
  uint64_t entries = 0;
  (void)table.Freeze("", &entries);
  CHECK(entries == 1000);
  (void)table.Freeze("", &entries);
  CHECK(entries == 0);
  table.MarkDirty(FindOrInsert(table, KeyOf(7)));
  (void)table.Freeze("", &entries);
  CHECK(entries == 1);
}

TEST_CASE("a blob of another layout is refused") {
  SlotLayout other;
  other.fixed_bytes = 8;
  KeyedTable table(&other);
  FindOrInsert(table, "x");
  uint64_t entries = 0;
  const std::string blob = table.Freeze("", &entries);
  const SlotLayout layout = CounterAndText();
  KeyedTable into(&layout);
  std::string meta;
  CHECK(into.ApplyBlob(blob, &meta).code() == Code::kCorruption);

  BlobWriter writer("");
  writer.Put(0, "k", std::string(24, '\0'), "\x09");  // a string longer than what is there
  KeyedTable third(&layout);
  CHECK(third.ApplyBlob(writer.Take(), &meta).code() == Code::kCorruption);
}

TEST_CASE("a restored table may have gaps: slot numbers far apart need no memory between them") {
  const SlotLayout layout = CounterAndText();
  BlobWriter writer("");
  std::string fixed(24, '\0');
  writer.Put(2000, "b", fixed, std::string(4, '\0'));
  writer.Put(5, "a", fixed, std::string(4, '\0'));
  writer.Put(kSlotLimit - 1, "c", fixed, std::string(4, '\0'));
  KeyedTable table = Restored(layout, {writer.Take()});
  CHECK(table.size() == 3);
  CHECK(table.Bytes() < (24u << 20));
  CHECK(table.Find(KeyedTable::HashKey("b"), "b") == 2000);
  CHECK(FindOrInsert(table, "new") < 2000);
}

TEST_CASE("strings that are replaced again and again do not grow the table") {
  const SlotLayout layout = CounterAndText();
  KeyedTable table(&layout);
  const uint32_t slot = FindOrInsert(table, "a-key-that-is-not-kept-inline");
  for (int i = 0; i < 20000; ++i) {
    table.SetVariable(TextAt(table, slot), std::string(static_cast<size_t>(i % 500), 'x'));
    if (i % 10 == 0) table.MaybeCompact();
    table.SetVariable(TextAt(table, slot), "");
  }
  CHECK(table.Bytes() < 64 << 10);
  CHECK(table.Key(slot) == "a-key-that-is-not-kept-inline");
}

TEST_CASE("a (window, key) with one BIGINT count takes at most 64 bytes and the key") {
  SlotLayout layout;
  layout.fixed_bytes = 8;
  for (uint64_t keys : {1000, 49152, 49153, 100000, 196609}) {
    KeyedTable table(&layout);
    for (uint64_t i = 0; i < keys; ++i) FindOrInsert(table, "k" + std::to_string(i));
    CAPTURE(keys);
    CHECK(table.Bytes() <= keys * 64);
  }
}

}  // namespace
}  // namespace weir
