// JSONTestSuite as values of a field: each file becomes the row {"v":FILE}, all rows stand in one
// block with a good row behind each, so that a bad one must not harm its neighbours. Once nobody
// reads v, once it is read as STRING. Files with line feeds inside are single values (Kafka).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "data/json_decoder.h"

namespace weir {
namespace {

struct File {
  std::string name;
  std::string text;  // without a line feed at its very end
  bool lines() const { return text.find('\n') != std::string::npos; }
};

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<File> Suite() {
  std::vector<File> files;
  const std::filesystem::path folder =
      std::filesystem::path(WEIR_JSON_TESTS) / "json-test-suite/test_parsing";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    File file{entry.path().filename(), ReadAll(entry.path())};
    if (file.text.ends_with('\n')) file.text.pop_back();
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

const std::string kGood = "{\"v\":\"good\",\"k\":1}\n";
const Schema kSchema{{{"v", Type::Of(TypeKind::kString)}, {"k", Type::Of(TypeKind::kBigInt)}}};

std::unique_ptr<RowDecoder> Decoder(bool read_v) {
  std::vector<DecodeField> fields = {{"k", Type::Of(TypeKind::kBigInt), 1, 1}};
  if (read_v) fields.push_back({"v", Type::Of(TypeKind::kString), 0, 0});
  return NewJsonDecoder({}, fields);
}

// "accepted", or the code of the dead letter. In the order of the files.
std::vector<std::string> Verdicts(const std::vector<File>& files, bool read_v) {
  const std::unique_ptr<RowDecoder> decoder = Decoder(read_v);
  std::string block = kGood;
  std::vector<size_t> begins;
  for (const File& file : files) {
    begins.push_back(block.size());
    if (!file.lines()) block += "{\"v\":" + file.text + "}\n" + kGood;
  }
  const size_t size = block.size();
  block.append(kDecodePadding, '\0');
  Batch rows;
  rows.Reset(kSchema);
  const DecodeResult result = decoder->Decode({block.data(), size}, 0, true, 10000, rows);
  CHECK(result.consumed == size);

  std::vector<std::string> verdicts;
  size_t row = 1, non_row = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    Batch one;
    if (files[i].lines()) {
      one.Reset(kSchema);
      decoder->DecodeValue("{\"v\":" + files[i].text + "}", 0, one);
      REQUIRE(one.rows() + one.non_rows.size() == 1);
      verdicts.push_back(one.rows() == 1 ? "accepted" : one.non_rows[0].code);
      if (one.rows() == 0) CHECK_FALSE(one.non_rows[0].message.empty());
      continue;
    }
    CAPTURE(files[i].name);
    const int64_t begin = static_cast<int64_t>(begins[i]);
    if (row < rows.rows() && rows.positions[row] == begin) {
      verdicts.push_back("accepted");
      ++row;
    } else {
      REQUIRE(non_row < rows.non_rows.size());
      const NonRow& dead = rows.non_rows[non_row++];
      CHECK_FALSE(dead.skipped);
      CHECK(dead.pos == begin);
      CHECK(dead.before_row == row);
      CHECK(dead.raw == "{\"v\":" + files[i].text + "}");
      CHECK_FALSE(dead.message.empty());
      verdicts.push_back(dead.code);
    }
    REQUIRE(row < rows.rows());
    CHECK(rows.column(1).ints[row] == 1);
    if (read_v) CHECK(rows.column(0).strings[row] == "good");
    ++row;
  }
  CHECK(row == rows.rows());
  CHECK(non_row == rows.non_rows.size());
  return verdicts;
}

TEST_CASE(
    "JSONTestSuite: y_ is accepted, n_ refused with a reason, whether the value is read or not") {
  const std::vector<File> files = Suite();
  REQUIRE(files.size() == 318);
  CHECK(std::count_if(files.begin(), files.end(), [](const File& f) { return f.lines(); }) == 5);
  for (const bool read_v : {false, true}) {
    const std::vector<std::string> verdicts = Verdicts(files, read_v);
    for (size_t i = 0; i < files.size(); ++i) {
      CAPTURE(files[i].name);
      CAPTURE(read_v);
      if (files[i].name.starts_with("y_")) CHECK(verdicts[i] == "accepted");
      if (files[i].name.starts_with("n_")) CHECK(verdicts[i].starts_with("json."));
    }
  }
}

TEST_CASE("JSONTestSuite: i_ is decided as implementation-defined.golden says") {
  std::vector<File> files = Suite();
  std::erase_if(files, [](const File& f) { return !f.name.starts_with("i_"); });
  const std::vector<std::string> unread = Verdicts(files, false), read = Verdicts(files, true);
  std::string verdicts;
  for (size_t i = 0; i < files.size(); ++i) {
    CHECK(unread[i] == read[i]);
    verdicts += files[i].name + " " + read[i] + "\n";
  }
  CHECK(verdicts ==
        ReadAll(std::filesystem::path(WEIR_JSON_TESTS) / "implementation-defined.golden"));
}

}  // namespace
}  // namespace weir
