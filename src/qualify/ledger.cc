#include "qualify/ledger.h"

#include <array>
#include <optional>

#include "base/text.h"

namespace weir::qualify {
namespace {

constexpr std::string_view kMagic = "weir-ledger";
constexpr uint64_t kLedgerBytesMax = uint64_t{1} << 30;

// The parameters by name. One list for writing and for reading: a new one cannot be forgotten in
// either.
struct Field {
  std::string_view name;
  int64_t (*get)(const GenParameters&);
  void (*set)(GenParameters&, int64_t);
};
#define WEIR_FIELD(name, member)                                                           \
  Field {                                                                                  \
    name, [](const GenParameters& p) { return static_cast<int64_t>(p.member); },           \
        [](GenParameters& p, int64_t v) { p.member = static_cast<decltype(p.member)>(v); } \
  }
constexpr std::array kFields = {
    WEIR_FIELD("seed", seed),
    WEIR_FIELD("partitions", partitions),
    WEIR_FIELD("records", records),
    WEIR_FIELD("rate", rate),
    WEIR_FIELD("items", items),
    WEIR_FIELD("start_ms", start_ms),
    WEIR_FIELD("jitter_ms", jitter_ms),
    WEIR_FIELD("bound_ms", bound_ms),
    WEIR_FIELD("late_by_ms", late_by_ms),
    WEIR_FIELD("out_of_order_ppm", out_of_order_ppm),
    WEIR_FIELD("late_ppm", late_ppm),
    WEIR_FIELD("duplicate_ppm", duplicate_ppm),
    WEIR_FIELD("poison_ppm", poison_ppm),
    WEIR_FIELD("pad_bytes", pad_bytes),
};
#undef WEIR_FIELD

Status Wrong(size_t line, std::string_view what) {
  return Status(Code::kCorruption, "line " + std::to_string(line) + ": " + std::string(what));
}

bool ReadParameters(std::string_view line, GenParameters* out) {
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words.size() != kFields.size() + 1 || words[0] != "gen") return false;
  for (size_t i = 0; i < kFields.size(); ++i) {
    const std::string_view word = words[i + 1];
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || word.substr(0, equals) != kFields[i].name) return false;
    const std::optional<int64_t> value = ParseInt64(word.substr(equals + 1));
    if (!value) return false;
    kFields[i].set(*out, *value);
    // Read back: a value beyond its member is no value of ours.
    if (kFields[i].get(*out) != *value) return false;
  }
  return true;
}

// "sent 1 2 3": never fewer than before.
bool ReadCounts(std::string_view line, std::vector<uint64_t>* counts) {
  const std::vector<std::string_view> words = Split(line, ' ');
  if (words.size() != counts->size() + 1) return false;
  for (size_t i = 0; i < counts->size(); ++i) {
    const std::optional<int64_t> value = ParseInt64(words[i + 1]);
    if (!value || *value < 0 || static_cast<uint64_t>(*value) < (*counts)[i]) return false;
    (*counts)[i] = static_cast<uint64_t>(*value);
  }
  return true;
}

}  // namespace

std::string LedgerHead(const GenParameters& parameters) {
  std::string head = std::string(kMagic) + " " + std::to_string(kEventsVersion) + "\ngen";
  for (const Field& field : kFields)
    head += " " + std::string(field.name) + "=" + std::to_string(field.get(parameters));
  return head + "\n";
}

Result<Ledger> ParseLedger(std::string_view text) {
  Ledger ledger;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // still being written
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ++number;
    if (number == 1) {
      if (!line.starts_with(std::string(kMagic) + " "))
        return Fail(Wrong(1, "not a ledger of weir gen"));
      if (line.substr(kMagic.size() + 1) != std::to_string(kEventsVersion))
        return Fail(Wrong(1, "a ledger of another version of the generator"));
    } else if (number == 2) {
      if (!ReadParameters(line, &ledger.parameters) || !CheckParameters(ledger.parameters).ok())
        return Fail(Wrong(2, "no parameters of weir gen"));
      ledger.produced.assign(ledger.parameters.partitions, 0);
      ledger.sent = ledger.produced;
    } else if (ledger.ended) {
      return Fail(Wrong(number, "after the end"));
    } else if (line.starts_with("sent ")) {
      if (!ReadCounts(line, &ledger.sent))
        return Fail(Wrong(number, "not a count per partition, or one that went back"));
    } else if (line.starts_with("produced ")) {
      if (!ReadCounts(line, &ledger.produced))
        return Fail(Wrong(number, "not a count per partition, or one that went back"));
    } else if (line == "end") {
      ledger.ended = true;
    } else {
      return Fail(Wrong(number, "neither sent, produced nor end"));
    }
  }
  if (number < 2) return Fail(Wrong(number + 1, "the ledger ends before the parameters"));
  for (size_t i = 0; i < ledger.sent.size(); ++i) {
    if (ledger.produced[i] > ledger.sent[i]) return Fail(Wrong(number, "more produced than sent"));
    if (ledger.sent[i] > RecordsOfPartition(ledger.parameters, static_cast<uint32_t>(i)))
      return Fail(Wrong(number, "more sent than there are records"));
    if (ledger.ended && ledger.produced[i] < ledger.sent[i])
      return Fail(Wrong(number, "an end, and records that were sent are not produced"));
  }
  return ledger;
}

Result<Ledger> ReadLedger(io::Files& files, const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const std::string text, io::ReadFile(files, path, kLedgerBytesMax));
  Result<Ledger> ledger = ParseLedger(text);
  if (!ledger) return Fail(ledger.error().WithContext(path));
  return ledger;
}

Result<std::unique_ptr<LedgerWriter>> LedgerWriter::Create(io::Files& files,
                                                           const std::string& path,
                                                           const GenParameters& parameters) {
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<io::File> file, files.Open(path, io::OpenMode::kCreateNew));
  std::unique_ptr<LedgerWriter> writer(new LedgerWriter(std::move(file)));
  WEIR_RETURN_IF_ERROR(writer->Append(LedgerHead(parameters)));
  return writer;
}

Status LedgerWriter::Counts(std::string_view word, const std::vector<uint64_t>& records) {
  std::string line(word);
  for (const uint64_t n : records) line += " " + std::to_string(n);
  return Append(line + "\n");
}

Status LedgerWriter::End() {
  WEIR_RETURN_IF_ERROR(Append("end\n"));
  return file_->Sync();
}

Status LedgerWriter::Append(std::string_view line) {
  WEIR_RETURN_IF_ERROR(file_->WriteAt(size_, line));
  size_ += line.size();
  return Status::Ok();
}

}  // namespace weir::qualify
