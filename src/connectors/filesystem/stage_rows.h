// What every local file stage does with a batch: rows that can be written go into the file's
// buffer, the others leave as dead letters now, before the cut, so that no epoch is poisoned for
// ever.
#ifndef WEIR_CONNECTORS_FILESYSTEM_STAGE_ROWS_H_
#define WEIR_CONNECTORS_FILESYSTEM_STAGE_ROWS_H_

#include <cstdint>
#include <memory>

#include "connectors/filesystem/output_file.h"
#include "data/format.h"
#include "flow/dead_letters.h"
#include "flow/operator.h"

namespace weir::connectors {

class RowStager {
 public:
  RowStager(std::unique_ptr<RowEncoder> encoder, Schema schema)
      : encoder_(std::move(encoder)), schema_(std::move(schema)) {}
  // Adds the rows taken to *staged. kNoSpace from a write is not an error of staging: the bytes
  // stay in the file's buffer and file.paused() is true.
  Status Stage(const Batch& batch, OutputFile& file, flow::Outputs& out, flow::NodeBooks& books,
               uint64_t* staged);
  std::string Header() const { return encoder_->Header(); }

 private:
  std::unique_ptr<RowEncoder> encoder_;
  const Schema schema_;
  flow::DeadLetterBuilder dead_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_STAGE_ROWS_H_
