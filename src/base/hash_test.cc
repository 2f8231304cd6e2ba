#include "base/hash.h"

#include <doctest/doctest.h>

#include "base/crc32c.h"

namespace weir {
namespace {

TEST_CASE("CRC-32C equals the published vectors (RFC 3720, B.4)") {
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<char>(i));
  CHECK(Crc32c("") == 0);
  CHECK(Crc32c("123456789") == 0xe3069283);
  CHECK(Crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(Crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(Crc32c(ascending) == 0x46dd794e);
}

TEST_CASE("CRC-32C goes on from an earlier result") {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    CHECK(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))) == Crc32c(text));
  }
}

TEST_CASE("CRC-32C by table and by instruction are equal at every length and alignment") {
  if (!internal::Crc32cHardwareAvailable()) return;
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(i * 37 + 11));
  for (size_t start = 0; start < 9; ++start) {
    for (size_t n = 0; start + n <= bytes.size(); ++n) {
      const std::string_view part = std::string_view(bytes).substr(start, n);
      REQUIRE(internal::Crc32cPortable(0x12345678, part) ==
              internal::Crc32cHardware(0x12345678, part));
    }
  }
}

TEST_CASE("XXH3 is the published function, so digests on disk stay valid across builds") {
  CHECK(HashBytes("") == 0x2d06800538d394c2);
  CHECK(DigestBytes("").ToHex() == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("a stream's digest is that of its bytes at every moment, however they were cut") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text.push_back(static_cast<char>(i % 251));
  StreamDigest stream;
  size_t done = 0;
  for (size_t step = 1; done < text.size(); step = step * 2 + 1) {
    const std::string_view part = std::string_view(text).substr(done, step);
    stream.Update(part);
    done += part.size();
    CHECK(stream.Value() == DigestBytes(std::string_view(text).substr(0, done)));
  }
  stream.Reset();
  CHECK(stream.Value() == DigestBytes(""));
}

TEST_CASE("SHA-256 and MD5 equal the published vectors") {
  CHECK(Sha256("abc").ToHex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Md5Hex("") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(Md5Hex("abc") == "900150983cd24fb0d6963f7d28e17f72");
}

}  // namespace
}  // namespace weir
