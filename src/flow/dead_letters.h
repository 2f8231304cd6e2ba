// Dead letters: rows and records that could not be read, computed or accepted, as rows of
// plan::DeadLetterSchema().
#ifndef WEIR_FLOW_DEAD_LETTERS_H_
#define WEIR_FLOW_DEAD_LETTERS_H_

#include <string_view>

#include "data/batch.h"

namespace weir::flow {

enum class DeadStage { kDecode, kEval, kResult, kSink };
std::string_view DeadStageName(DeadStage stage);

// The columns, in order: stage, code, message, raw, record, source, part, pos, ts.
const Schema& DeadLetterSchema();

// Builds batches of dead letters. `record` is the JSON of the failing row.
class DeadLetterBuilder {
 public:
  DeadLetterBuilder();
  void Clear();
  bool empty() const { return batch_.rows() == 0; }
  void AddRow(DeadStage stage, std::string_view code, std::string_view message, const Batch& from,
              uint32_t row, const Schema& schema);
  void AddRecord(std::string_view source, int32_t partition, const NonRow& record);  // stage decode
  Batch& batch() { return batch_; }

 private:
  Batch batch_;
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_DEAD_LETTERS_H_
