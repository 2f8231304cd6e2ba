#include "state/blob.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace weir {
namespace {

std::string Blob(std::string_view meta, std::initializer_list<BlobEntry> entries) {
  BlobWriter writer(meta);
  for (const BlobEntry& e : entries) {
    if (e.put) {
      writer.Put(e.slot, e.key, e.fixed, e.variable);
    } else {
      writer.Delete(e.slot);
    }
  }
  return writer.Take();
}

// "meta|slot:key,fixed,variable;..."
std::string Show(std::string_view blob) {
  BlobReader reader(blob);
  if (!reader.Open().ok()) return "damaged";
  std::string text(reader.meta());
  text += "|";
  BlobEntry e;
  while (reader.Next(&e)) {
    text += std::to_string(e.slot) + ":";
    text += e.put ? std::string(e.key) + "," + std::string(e.fixed) + "," + std::string(e.variable)
                  : "-";
    text += ";";
  }
  return reader.status().ok() ? text : "damaged";
}

TEST_CASE("a blob gives back what was written") {
  const std::string blob = Blob("m", {{3, true, "key", "fixed!!!", "var"},
                                      {0, false, "", "", ""},
                                      {kSlotLimit - 1, true, "", "", ""}});
  CHECK(Show(blob) == "m|3:key,fixed!!!,var;0:-;" + std::to_string(kSlotLimit - 1) + ":,,;");
  CHECK(ValidateBlob(blob).ok());
}

TEST_CASE("a blob cut anywhere is damaged or a shorter list of whole entries, never more") {
  const std::string blob =
      Blob("meta", {{1, true, "abc", "12345678", "xyz"}, {2, false, "", "", ""}});
  const std::string all = Show(blob);
  for (size_t n = 0; n < blob.size(); ++n) {
    const std::string shown = Show(std::string_view(blob).substr(0, n));
    CAPTURE(n);
    CHECK((shown == "damaged" || all.starts_with(shown)));
  }
}

TEST_CASE("what no writer writes is refused") {
  struct Case {
    const char* name;
    std::string blob;
  };
  const Case cases[] = {
      {"empty", ""},
      {"a newer format", std::string("\x02\x00", 2)},
      {"meta longer than the blob", std::string("\x01\x05"
                                                "ab",
                                                4)},
      {"a slot beyond the limit", std::string("\x01\x00\xff\xff\xff\xff\x7f", 7)},
      {"a number that never ends", std::string("\x01\x00", 2) + std::string(12, '\xff')},
      {"a key longer than the blob", std::string("\x01\x00\x03\x7f", 4)},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Status status = ValidateBlob(c.blob);
    CHECK(status.code() == Code::kCorruption);
    const std::string_view blob = c.blob;
    CHECK(!MergeBlobs(std::span(&blob, 1)).has_value());
  }
}

TEST_CASE("merging keeps the newest entry of each slot, in slot order, and the newest meta") {
  const std::string a = Blob("1", {{2, true, "b", "", "old"}, {0, true, "a", "", ""}});
  const std::string b = Blob("2", {{2, true, "b", "", "new"}, {1, true, "c", "", ""}});
  const std::string c =
      Blob("3", {{0, false, "", "", ""}, {1, false, "", "", ""}, {1, true, "d", "", ""}});
  const std::string_view blobs[] = {a, b, c};
  const Result<std::string> merged = MergeBlobs(blobs);
  REQUIRE(merged.has_value());
  CHECK(Show(*merged) == "3|1:d,,;2:b,,new;");
  CHECK(Show(*MergeBlobs({})) == "|");
}

}  // namespace
}  // namespace weir
