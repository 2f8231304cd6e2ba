#include "data/inflate.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <climits>

#include "base/check.h"

namespace weir {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

// Frames that hold no data; pzstd begins its files with one.
bool IsZstdSkippable(std::string_view s) {
  return s.size() >= 4 && (static_cast<unsigned char>(s[0]) & 0xF0) == 0x50 && s[1] == 0x2A &&
         s[2] == 0x4D && s[3] == 0x18;
}

class GzipInflater final : public Inflater {
 public:
  GzipInflater() {
    // 31: the largest window, and a gzip header. Fails only without memory.
    CHECK(inflateInit2(&stream_, 31) == Z_OK);
  }
  ~GzipInflater() override { inflateEnd(&stream_); }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;

  Result<Progress> Inflate(std::string_view in, std::span<char> out) override {
    Progress progress;
    while (progress.consumed < in.size() || (state_ == State::kInside && drain_)) {
      const std::string_view rest = in.substr(progress.consumed);
      if (state_ != State::kInside) {
        WEIR_ASSIGN_OR_RETURN(const size_t taken, Between(rest));
        progress.consumed += taken;
        if (state_ != State::kInside) continue;
      }
      const size_t room = out.size() - progress.produced;
      WEIR_ASSIGN_OR_RETURN(const Progress step,
                            Step(in.substr(progress.consumed), out.subspan(progress.produced)));
      progress.consumed += step.consumed;
      progress.produced += step.produced;
      if (step.produced == room || (step.consumed == 0 && step.produced == 0)) break;
    }
    return progress;
  }

  Status Finish() const override {
    if (state_ != State::kInside) return Status::Ok();
    return {Code::kCorruption, "gzip: unexpected end"};
  }
  std::string_view Name() const override { return "gzip"; }

 private:
  // kFirst: nothing read. kInside a member; kBetween members; kZeros: in the padding that tapes and
  // tar leave.
  enum class State { kFirst, kInside, kBetween, kZeros };

  // What may follow a member: another one, zeros, nothing.
  Result<size_t> Between(std::string_view rest) {
    if (state_ != State::kFirst && rest[0] == 0) {
      state_ = State::kZeros;
      const size_t end = rest.find_first_not_of('\0');
      return end == std::string_view::npos ? rest.size() : end;
    }
    if (state_ == State::kZeros || rest[0] != kGzipMagic[0]) {
      return Fail(Code::kCorruption, "gzip: bytes behind the last member that are no member");
    }
    state_ = State::kInside;
    return size_t{0};
  }

  Result<Progress> Step(std::string_view in, std::span<char> out) {
    const uInt in_size = static_cast<uInt>(std::min<size_t>(in.size(), UINT_MAX));
    const uInt out_size = static_cast<uInt>(std::min<size_t>(out.size(), UINT_MAX));
    // zlib's interface is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = out_size;
    const int rc = inflate(&stream_, Z_NO_FLUSH);
    const Progress step{in_size - stream_.avail_in, out_size - stream_.avail_out};
    // A full buffer may leave output inside zlib that no further input is needed for.
    drain_ = stream_.avail_out == 0;
    if (rc == Z_STREAM_END) {
      CHECK(inflateReset(&stream_) == Z_OK);
      state_ = State::kBetween;
      drain_ = false;
      return step;
    }
    if (rc == Z_OK || rc == Z_BUF_ERROR) return step;
    if (rc == Z_MEM_ERROR) return Fail(Code::kInternal, "gzip: out of memory");
    const char* const why = rc == Z_NEED_DICT ? "needs a dictionary" : stream_.msg;
    return Fail(Code::kCorruption, std::string("gzip: ") + (why == nullptr ? "damaged" : why));
  }

  z_stream stream_{};
  State state_ = State::kFirst;
  bool drain_ = false;
};

class ZstdInflater final : public Inflater {
 public:
  ZstdInflater() : context_(ZSTD_createDCtx()) {
    CHECK(context_ != nullptr);
    CHECK(!ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdWindowLogMax)));
  }
  ~ZstdInflater() override { ZSTD_freeDCtx(context_); }
  ZstdInflater(const ZstdInflater&) = delete;
  ZstdInflater& operator=(const ZstdInflater&) = delete;

  Result<Progress> Inflate(std::string_view in, std::span<char> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (from.pos < from.size || (inside_ && drain_)) {
      const size_t in_before = from.pos, out_before = to.pos;
      const size_t rc = ZSTD_decompressStream(context_, &to, &from);
      if (ZSTD_isError(rc)) return Fail(Explain(rc));
      inside_ = rc != 0;
      drain_ = to.pos == to.size;
      if (to.pos == to.size || (from.pos == in_before && to.pos == out_before)) break;
    }
    return Progress{from.pos, to.pos};
  }

  Status Finish() const override {
    if (!inside_) return Status::Ok();
    return {Code::kCorruption, "zstd: unexpected end"};
  }
  std::string_view Name() const override { return "zstd"; }

 private:
  static Status Explain(size_t rc) {
    switch (ZSTD_getErrorCode(rc)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return {Code::kInvalid,
                "zstd: needs a window of more than 128 MiB; compress with --long=27 or less"};
      case ZSTD_error_prefix_unknown:
        return {Code::kCorruption, "zstd: bytes behind the last frame that are no frame"};
      case ZSTD_error_memory_allocation:
        return {Code::kInternal, "zstd: out of memory"};
      default:
        return {Code::kCorruption, std::string("zstd: ") + ZSTD_getErrorName(rc)};
    }
  }

  ZSTD_DCtx* context_;
  bool inside_ = true;  // an empty file is no zstd file
  bool drain_ = false;
};

}  // namespace

std::unique_ptr<Inflater> Inflater::ForMagic(std::string_view first_bytes) {
  // A third byte other than 8 is no compression method that exists.
  if (first_bytes.starts_with(kGzipMagic) && (first_bytes.size() < 3 || first_bytes[2] == 8)) {
    return std::make_unique<GzipInflater>();
  }
  if (first_bytes.starts_with(kZstdMagic) || IsZstdSkippable(first_bytes)) {
    return std::make_unique<ZstdInflater>();
  }
  return nullptr;
}

}  // namespace weir
