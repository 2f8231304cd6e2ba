// Digests. XXH3 for anything per byte or per row, CRC-32C for blocks on disk, SHA-256 only over
// digests (it costs more than a row's whole budget).
#ifndef WEIR_BASE_HASH_H_
#define WEIR_BASE_HASH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace weir {

uint64_t HashBytes(std::string_view bytes);  // XXH3-64, seed 0: stable across builds and machines
Digest128 DigestBytes(std::string_view bytes);  // XXH3-128
uint32_t Crc32c(std::string_view bytes,
                uint32_t seed = 0);  // Castagnoli; seed = a previous result, to continue
Digest256 Sha256(std::string_view bytes);
std::string Md5Hex(std::string_view bytes);  // the SQL function MD5, nothing else

// XXH3-128 over a stream: an extent's digest grows with each write.
class StreamDigest {
 public:
  StreamDigest();
  ~StreamDigest();
  StreamDigest(StreamDigest&&) noexcept;
  StreamDigest& operator=(StreamDigest&&) noexcept;
  void Update(std::string_view bytes);
  Digest128 Value() const;  // of all bytes so far; the stream may go on
  void Reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_BASE_HASH_H_
