#include "connectors/filesystem/file_receipt.h"

#include <fmt/format.h>

#include <charconv>

#include "base/hash.h"
#include "base/text.h"
#include "io/fault.h"

namespace weir::connectors {
namespace {

constexpr uint64_t kReceiptBytesMax = 4096;

std::optional<std::string_view> ValueOf(std::string_view word, std::string_view key) {
  if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=')
    return std::nullopt;
  return word.substr(key.size() + 1);
}

std::optional<uint64_t> NumberOf(std::string_view word, std::string_view key) {
  const auto text = ValueOf(word, key);
  uint64_t value = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

}  // namespace

std::string ReceiptPath(std::string_view output_path) {
  return io::JoinPath(io::DirectoryOf(output_path),
                      "." + io::BaseName(output_path) + ".weir-receipt");
}

std::string EncodeFileReceipt(const FileReceipt& receipt) {
  std::string line = fmt::format("weir-receipt 1 lineage={} epoch={} base={} length={} digest={}",
                                 receipt.lineage.ToHex(), receipt.epoch, receipt.base,
                                 receipt.length, receipt.digest.ToHex());
  return line + fmt::format(" crc={:08x}\n", Crc32c(line));
}

std::optional<FileReceipt> DecodeFileReceipt(std::string_view text) {
  if (text.empty() || text.back() != '\n') return std::nullopt;
  text.remove_suffix(1);
  const auto words = Split(text, ' ');
  if (words.size() != 8 || words[0] != "weir-receipt" || words[1] != "1") return std::nullopt;
  const auto lineage_text = ValueOf(words[2], "lineage");
  const auto lineage = lineage_text ? Lineage::FromHex(*lineage_text) : std::nullopt;
  const auto epoch = NumberOf(words[3], "epoch");
  const auto base = NumberOf(words[4], "base");
  const auto length = NumberOf(words[5], "length");
  const auto digest_text = ValueOf(words[6], "digest");
  const auto digest = digest_text ? Digest128::FromHex(*digest_text) : std::nullopt;
  if (!lineage || !epoch || !base || !length || !digest) return std::nullopt;
  const FileReceipt receipt{*lineage, *epoch, *base, *length, *digest};
  // The whole line must be what we would write: that compares the checksum too.
  if (EncodeFileReceipt(receipt) != std::string(text) + "\n") return std::nullopt;
  return receipt;
}

Result<FoundReceipt> ReadFileReceipt(io::Files& files, const std::string& output_path) {
  FoundReceipt found;
  const auto text = io::ReadFile(files, ReceiptPath(output_path), kReceiptBytesMax);
  if (!text.has_value()) {
    if (text.error().code() == Code::kNotFound) return found;
    if (text.error().code() != Code::kInvalid)
      return Fail(text.error());  // kInvalid: too large, so not ours
  }
  found.exists = true;
  if (text.has_value()) found.receipt = DecodeFileReceipt(*text);
  return found;
}

Status WriteFileReceipt(io::Files& files, const std::string& output_path,
                        const FileReceipt& receipt) {
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("file.before_receipt").ToStatus("file.before_receipt"));
  return io::WriteFileAtomically(files, ReceiptPath(output_path), EncodeFileReceipt(receipt));
}

}  // namespace weir::connectors
