#include "data/inflate.h"

#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>

namespace weir {
namespace {

std::string Gzip(std::string_view text) {
  z_stream s{};
  REQUIRE(deflateInit2(&s, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&s, text.size()) + 32, '\0');
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  s.avail_in = static_cast<uInt>(text.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&s, Z_FINISH) == Z_STREAM_END);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

std::string Zstd(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  if (window_log != 0) ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log);
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer from{text.data(), text.size(), 0};
  // Two calls, so that the frame does not know its size and must name its window.
  REQUIRE(ZSTD_compressStream2(c, &to, &from, ZSTD_e_continue) < (1u << 30));
  REQUIRE(ZSTD_compressStream2(c, &to, &from, ZSTD_e_end) == 0);
  ZSTD_freeCCtx(c);
  out.resize(to.pos);
  return out;
}

// The whole text, read in pieces of `in_step` into buffers of `out_step`; or the error.
std::string Inflate(std::string_view bytes, size_t in_step, size_t out_step) {
  auto inflater = Inflater::ForMagic(bytes.substr(0, Inflater::kMagicBytes));
  if (inflater == nullptr) return "no inflater";
  std::string text, buffer(out_step, '\0');
  size_t at = 0;
  bool full = false;
  while (at < bytes.size() || full) {
    const auto p =
        inflater->Inflate(bytes.substr(at, std::min(in_step, bytes.size() - at)), buffer);
    if (!p.has_value()) return p.error().message();
    text.append(buffer, 0, p->produced);
    at += p->consumed;
    full = p->produced == buffer.size();
    if (p->consumed == 0 && p->produced == 0 && at < bytes.size()) return "stuck";
  }
  const Status end = inflater->Finish();
  return end.ok() ? text : end.message();
}

std::string Lines(int n) {
  std::string s;
  for (int i = 0; i < n; ++i) s += "{\"id\":" + std::to_string(i * 7919) + "}\n";
  return s;
}

TEST_CASE("the content tells the compression, not the name") {
  CHECK(Inflater::ForMagic("") == nullptr);
  CHECK(Inflater::ForMagic("{\"a\"") == nullptr);
  CHECK(Inflater::ForMagic("\x1f") == nullptr);
  CHECK(Inflater::ForMagic("\x1f\x8b\x07\x00") == nullptr);
  CHECK(Inflater::ForMagic(Gzip("x"))->Name() == "gzip");
  CHECK(Inflater::ForMagic(Zstd("x"))->Name() == "zstd");
  CHECK(Inflater::ForMagic(std::string_view("\x50\x2a\x4d\x18\x00", 5))->Name() == "zstd");
}

TEST_CASE("any split of input and output gives the text, members and frames joined") {
  const std::string text = Lines(3000);
  const std::string a = text.substr(0, 20000), b = text.substr(20000);
  const std::string empty_frame(
      "\x50\x2a\x4d\x18\x03\x00\x00\x00"
      "abc",
      11);
  for (const std::string& bytes :
       {Gzip(text), Gzip(a) + Gzip("") + Gzip(b), Gzip(text) + std::string(1000, '\0'), Zstd(text),
        Zstd(a) + Zstd("") + Zstd(b), empty_frame + Zstd(text) + empty_frame}) {
    for (const size_t in_step : {size_t{1}, size_t{7}, size_t{4096}, size_t{1} << 20}) {
      for (const size_t out_step : {size_t{13}, size_t{4096}, text.size(), size_t{1} << 20}) {
        if (Inflate(bytes, in_step, out_step) != text) FAIL("in ", in_step, " out ", out_step);
      }
    }
  }
  CHECK(Inflate(Gzip(""), 1, 1).empty());
  CHECK(Inflate(Zstd(""), 1, 1).empty());
}

TEST_CASE("cut and damaged input is an error that says what") {
  const std::string text = Lines(500);
  const std::string g = Gzip(text), z = Zstd(text);
  for (size_t cut = 4; cut < g.size(); cut += 11) {
    CHECK(Inflate(g.substr(0, cut), 100, 4096) == "gzip: unexpected end");
  }
  for (size_t cut = 4; cut < z.size(); cut += 11) {
    CHECK(Inflate(z.substr(0, cut), 100, 4096) == "zstd: unexpected end");
  }
  std::string bad = g;
  bad[bad.size() - 6] ^= 1;
  CHECK(Inflate(bad, 100, 4096) == "gzip: incorrect data check");
  bad = g;
  bad[3] = '\x20';  // a reserved flag
  CHECK(Inflate(bad, 100, 4096) == "gzip: unknown header flags set");
  bad = z;
  bad[bad.size() - 1] ^= 1;
  CHECK(Inflate(bad, 100, 4096).find("zstd: ") == 0);
  CHECK(Inflate(bad, 100, 4096).find("checksum") != std::string::npos);
  CHECK(Inflate(g + "tail", 100, 4096) == "gzip: bytes behind the last member that are no member");
  CHECK(Inflate(g + std::string("\0\0x", 3), 1, 4096) ==
        "gzip: bytes behind the last member that are no member");
  CHECK(Inflate(z + "tail", 100, 4096) == "zstd: bytes behind the last frame that are no frame");
}

TEST_CASE("a zstd window beyond 128 MiB is refused before memory is taken") {
  const std::string text = Lines(500);
  CHECK(Inflate(Zstd(text, 27), 1000, 4096) == text);
  CHECK(Inflate(Zstd(text, 28), 1000, 4096) ==
        "zstd: needs a window of more than 128 MiB; compress with --long=27 or less");
}

}  // namespace
}  // namespace weir
