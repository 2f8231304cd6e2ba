// print: rows as text on standard output, at once and at least once. Also where a bare SELECT goes.
#ifndef WEIR_CONNECTORS_PRINT_PRINT_H_
#define WEIR_CONNECTORS_PRINT_PRINT_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "data/format.h"
#include "flow/dead_letters.h"
#include "flow/direct_sink.h"
#include "plan/connector_spec.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kPrintSpec;

// Writes all of it to standard output. kEndOfStream: the reader has gone (EPIPE; SIGPIPE is ignored
// by main).
Status WriteStandardOutput(std::string_view bytes);

class PrintSink : public flow::DirectSink {
 public:
  PrintSink(std::unique_ptr<RowEncoder> encoder, Schema schema, std::string prefix,
            std::function<Status(std::string_view)> write);
  Status Write(const Batch& batch, flow::Outputs& out) override;
  Status Flush() override;
  flow::NodeBooks& books() override { return books_; }

 private:
  std::unique_ptr<RowEncoder> encoder_;
  const Schema schema_;
  const std::string prefix_;
  std::function<Status(std::string_view)> write_;
  std::string buffer_;
  flow::DeadLetterBuilder dead_;
  flow::NodeBooks books_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_PRINT_PRINT_H_
