#include "qualify/generator.h"

#include <algorithm>

namespace weir::qualify {
namespace {

constexpr size_t kBufferBytes = 1 << 20;  // of a file, before it is written

class FileTarget : public RecordTarget {
 public:
  Status Open(io::Files& files, const std::string& directory, uint32_t partitions) {
    Status made = files.MakeDirectory(directory);
    if (!made.ok() && made.code() != Code::kExists) return made;
    for (uint32_t i = 0; i < partitions; ++i) {
      Part part;
      WEIR_ASSIGN_OR_RETURN(
          part.file, files.Open(io::JoinPath(directory, "part-" + std::to_string(i) + ".jsonl"),
                                io::OpenMode::kCreateNew));
      parts_.push_back(std::move(part));
    }
    return Status::Ok();
  }

  Status Add(const Record& record, std::string_view bytes) override {
    Part& part = parts_[record.event.part];
    part.buffer.append(bytes);
    part.buffer += '\n';
    return part.buffer.size() < kBufferBytes ? Status::Ok() : Write(part);
  }

  Status Flush() override {
    for (Part& part : parts_) WEIR_RETURN_IF_ERROR(Write(part));
    return Status::Ok();
  }

  Status Finish() override {
    WEIR_RETURN_IF_ERROR(Flush());
    for (Part& part : parts_) WEIR_RETURN_IF_ERROR(part.file->Sync());
    return Status::Ok();
  }

 private:
  struct Part {
    std::unique_ptr<io::File> file;
    uint64_t size = 0;
    std::string buffer;
  };

  static Status Write(Part& part) {
    if (part.buffer.empty()) return Status::Ok();
    WEIR_RETURN_IF_ERROR(part.file->WriteAt(part.size, part.buffer));
    part.size += part.buffer.size();
    part.buffer.clear();
    return Status::Ok();
  }

  std::vector<Part> parts_;
};

}  // namespace

Result<std::unique_ptr<RecordTarget>> NewFileTarget(io::Files& files, const std::string& directory,
                                                    uint32_t partitions) {
  auto target = std::make_unique<FileTarget>();
  WEIR_RETURN_IF_ERROR(target->Open(files, directory, partitions));
  return std::unique_ptr<RecordTarget>(std::move(target));
}

Status Generator::ProduceUntil(uint64_t total) {
  if (parameters_.records > 0) total = std::min(total, parameters_.records);
  if (total <= written_) return Status::Ok();
  std::vector<uint64_t> ahead(parameters_.partitions);
  for (uint32_t p = 0; p < parameters_.partitions; ++p)
    ahead[p] = total / parameters_.partitions + (p < total % parameters_.partitions ? 1 : 0);
  // Before the first byte: a death in the middle must not leave records that no ledger allows.
  WEIR_RETURN_IF_ERROR(ledger_.Sent(ahead));
  for (; written_ < total; ++written_) {
    const auto partition = static_cast<uint32_t>(written_ % parameters_.partitions);
    const Record record = MakeRecord(parameters_, partition, records_[partition]);
    bytes_.clear();
    AppendRecord(parameters_, record, bytes_);
    WEIR_RETURN_IF_ERROR(target_.Add(record, bytes_));
    ++records_[partition];
    ++counts_.kinds[static_cast<size_t>(record.kind)];
    if (record.kind == RecordKind::kPoison) ++counts_.poison[static_cast<size_t>(record.poison)];
  }
  WEIR_RETURN_IF_ERROR(target_.Flush());
  return ledger_.Produced(records_);
}

Status Generator::Finish() {
  WEIR_RETURN_IF_ERROR(target_.Finish());
  return ledger_.End();
}

int64_t Generator::nominal_ms() const {
  const uint64_t partitions = parameters_.partitions;
  return NominalMs(parameters_, static_cast<uint32_t>(written_ % partitions),
                   written_ / partitions);
}

uint64_t DueRecords(const GenParameters& parameters, int64_t elapsed_ms) {
  const auto due = static_cast<unsigned __int128>(elapsed_ms) * parameters.rate / 1000 + 1;
  return static_cast<uint64_t>(due);
}

}  // namespace weir::qualify
