// The receipt file beside an append file: what the file itself says about how far it has got, so
// that a state directory that was restored from a backup, or belongs to another pipeline, does not
// cut it. It is evidence, not the truth: the sealed epoch row is.
//
// Format: one line of ASCII in `.NAME.weir-receipt`,
//   weir-receipt 1 lineage=<32 hex> epoch=<n> base=<bytes> length=<bytes> digest=<32 hex> crc=<8
//   hex>
// base: bytes that stood in the file before its first one of ours (weir.sink.if-exists = append);
// length: sealed length after `epoch`; digest: of the bytes of that epoch; crc: CRC-32C of the line
// up to the blank before "crc".
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILE_RECEIPT_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILE_RECEIPT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/status.h"
#include "io/files.h"

namespace weir::connectors {

struct FileReceipt {
  Lineage lineage;
  EpochId epoch = 0;
  uint64_t base = 0;
  uint64_t length = 0;
  Digest128 digest;
  bool operator==(const FileReceipt&) const = default;
};

std::string ReceiptPath(std::string_view output_path);
std::string EncodeFileReceipt(const FileReceipt& receipt);
std::optional<FileReceipt> DecodeFileReceipt(std::string_view text);  // nullopt: damaged

struct FoundReceipt {
  bool exists = false;
  std::optional<FileReceipt> receipt;  // nullopt while `exists`: damaged
};
Result<FoundReceipt> ReadFileReceipt(io::Files& files, const std::string& output_path);
// Temporary name, sync, rename, sync of the directory. Fault point file.before_receipt.
Status WriteFileReceipt(io::Files& files, const std::string& output_path,
                        const FileReceipt& receipt);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILE_RECEIPT_H_
