#include "base/bytes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace weir {
namespace {

TEST_CASE("every kind of field reads back as it was written") {
  ByteWriter w;
  w.U8(200);
  w.U32(0xdeadbeef);
  w.U64(std::numeric_limits<uint64_t>::max());
  w.I64(std::numeric_limits<int64_t>::min());
  w.I128(static_cast<__int128>(-5) << 90);
  w.F64(-0.0);
  w.Bytes("");
  w.Bytes(std::string_view("a\0b", 3));
  w.Append("tail");
  ByteReader r(w.str());
  CHECK(r.U8() == 200);
  CHECK(r.U32() == 0xdeadbeef);
  CHECK(r.U64() == std::numeric_limits<uint64_t>::max());
  CHECK(r.I64() == std::numeric_limits<int64_t>::min());
  CHECK((r.I128() == static_cast<__int128>(-5) << 90));
  CHECK(std::signbit(r.F64()));
  CHECK(r.Bytes() == "");
  CHECK(r.Bytes() == std::string_view("a\0b", 3));
  CHECK(r.Take(4) == "tail");
  CHECK(r.AtEnd());
  CHECK(r.ok());
}

TEST_CASE("integers are little-endian, whatever the machine") {
  ByteWriter w;
  w.U32(0x04030201);
  CHECK(w.str() == "\x01\x02\x03\x04");
}

TEST_CASE("a varint is as short as LEB128 allows and reads back") {
  struct Case {
    const char* name;
    uint64_t given;
    size_t size;
  };
  const Case cases[] = {
      {"zero", 0, 1},
      {"largest of one byte", 127, 1},
      {"smallest of two", 128, 2},
      {"bit 63", uint64_t{1} << 63, 10},
      {"all bits", std::numeric_limits<uint64_t>::max(), 10},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    ByteWriter w;
    w.Varint(c.given);
    CHECK(w.size() == c.size);
    ByteReader r(w.str());
    CHECK(r.Varint() == c.given);
    CHECK(r.ok());
    CHECK(r.AtEnd());
  }
}

TEST_CASE("a varint that no writer makes is refused") {
  struct Case {
    const char* name;
    std::string given;
  };
  const Case cases[] = {
      {"empty", ""},
      {"cut off", "\x80"},
      {"bit 64", std::string(9, '\xff') + "\x02"},
      {"eleven bytes", std::string(10, '\x80') + "\x01"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    ByteReader r(c.given);
    CHECK(r.Varint() == 0);
    CHECK_FALSE(r.ok());
  }
}

TEST_CASE("a read past the end is zero and sticks") {
  ByteReader r(std::string_view("\x01\x02\x03", 3));
  CHECK(r.U32() == 0);
  CHECK_FALSE(r.ok());
  CHECK(r.U8() == 0);  // although three bytes are left
  CHECK(r.Take(1).empty());
  CHECK_FALSE(r.ok());
}

TEST_CASE("a length beyond the input is refused before anything is taken") {
  ByteWriter w;
  w.Varint(std::numeric_limits<uint64_t>::max());
  w.Append("xyz");
  ByteReader r(w.str());
  CHECK(r.Bytes().empty());
  CHECK_FALSE(r.ok());
}

}  // namespace
}  // namespace weir
