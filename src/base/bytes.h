// Little-endian, length-checked encoding of small binary formats (state blobs, positions, spool
// blocks, rows). Formats are documented once, beside the code that writes them; this is only how an
// integer or a string looks.
#ifndef WEIR_BASE_BYTES_H_
#define WEIR_BASE_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

class ByteWriter {
 public:
  void U8(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void U32(uint32_t v) { Raw(&v, 4); }
  void U64(uint64_t v) { Raw(&v, 8); }
  void I64(int64_t v) { Raw(&v, 8); }
  void I128(__int128 v) { Raw(&v, 16); }
  void F64(double v) { Raw(&v, 8); }
  void Varint(uint64_t v);         // LEB128
  void Bytes(std::string_view v);  // varint length, then the bytes
  void Append(std::string_view v) { out_.append(v); }
  const std::string& str() const { return out_; }
  std::string Take() { return std::move(out_); }
  size_t size() const { return out_.size(); }
  void clear() { out_.clear(); }

 private:
  void Raw(const void* p, size_t n) {
    out_.append(static_cast<const char*>(p), n);
  }  // x86-64 and arm64 are little-endian
  std::string out_;
};

// Reads what ByteWriter wrote. A read past the end, or a varint too long, makes ok() false for good
// and returns zeros: check ok() once after a record instead of after each field.
class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}
  uint8_t U8();
  uint32_t U32();
  uint64_t U64();
  int64_t I64();
  __int128 I128();
  double F64();
  uint64_t Varint();
  std::string_view Bytes();         // borrowed from the input
  std::string_view Take(size_t n);  // exactly n bytes, borrowed
  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == in_.size(); }
  size_t position() const { return at_; }
  size_t remaining() const { return in_.size() - at_; }

 private:
  bool Need(size_t n);
  std::string_view in_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace weir

#endif  // WEIR_BASE_BYTES_H_
