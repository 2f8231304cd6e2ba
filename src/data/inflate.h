// gzip and zstd input, told by its first bytes and never by its name: rotated logs are renamed at
// will. Memory is bounded, damage and cut files are errors. Several gzip members or zstd frames
// behind each other are one stream, as the tools that write them in pieces (pigz, pzstd, cat) mean
// it.
#ifndef WEIR_DATA_INFLATE_H_
#define WEIR_DATA_INFLATE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"

namespace weir {

class Inflater {
 public:
  static constexpr size_t kMagicBytes = 4;  // what ForMagic wants to see, of a file that has them
  static constexpr int kZstdWindowLogMax = 27;  // 128 MiB

  virtual ~Inflater() = default;
  // Null: neither gzip nor zstd. `first_bytes`: the begin of the file, all of it if shorter than
  // kMagicBytes.
  static std::unique_ptr<Inflater> ForMagic(std::string_view first_bytes);

  struct Progress {
    size_t consumed = 0;  // of `in`
    size_t produced = 0;  // of `out`
  };
  // Inflates as much as fits. Call again with the rest of `in`, or a new `out`: when neither moves
  // and `in` is not empty, `out` had no room. After an error (kCorruption) the stream is over.
  virtual Result<Progress> Inflate(std::string_view in, std::span<char> out) = 0;
  // The compressed input has ended: OK between members, else "gzip: unexpected end".
  virtual Status Finish() const = 0;
  virtual std::string_view Name() const = 0;  // "gzip", "zstd"
};

}  // namespace weir

#endif  // WEIR_DATA_INFLATE_H_
