#include "base/hash.h"

// Inlined on purpose: librdkafka exports the XXH symbols itself, and a second definition would not
// link.
#define XXH_INLINE_ALL
#include <mbedtls/md5.h>
#include <mbedtls/sha256.h>
#include <xxhash.h>

#include "base/check.h"
#include "base/text.h"

namespace weir {
namespace {

Digest128 ToDigest(XXH128_hash_t h) {
  Digest128 out;
  out.low = h.low64;
  out.high = h.high64;
  return out;
}

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

uint64_t HashBytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Digest128 DigestBytes(std::string_view bytes) {
  return ToDigest(XXH3_128bits(bytes.data(), bytes.size()));
}

Digest256 Sha256(std::string_view bytes) {
  Digest256 out;
  CHECK(mbedtls_sha256(Unsigned(bytes), bytes.size(), out.bytes.data(), /*is224=*/0) == 0);
  return out;
}

std::string Md5Hex(std::string_view bytes) {
  unsigned char raw[16];
  CHECK(mbedtls_md5(Unsigned(bytes), bytes.size(), raw) == 0);
  return HexEncode({reinterpret_cast<const char*>(raw), sizeof(raw)});
}

// XXH3_state_t asks for 64-byte alignment, which `new` gives since C++17.
struct StreamDigest::State {
  XXH3_state_t xxh;
};

StreamDigest::StreamDigest() : state_(std::make_unique<State>()) { Reset(); }
StreamDigest::~StreamDigest() = default;
StreamDigest::StreamDigest(StreamDigest&&) noexcept = default;
StreamDigest& StreamDigest::operator=(StreamDigest&&) noexcept = default;

void StreamDigest::Update(std::string_view bytes) {
  CHECK(XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()) == XXH_OK);
}

Digest128 StreamDigest::Value() const { return ToDigest(XXH3_128bits_digest(&state_->xxh)); }

void StreamDigest::Reset() {
  XXH3_INITSTATE(&state_->xxh);
  CHECK(XXH3_128bits_reset(&state_->xxh) == XXH_OK);
}

}  // namespace weir
