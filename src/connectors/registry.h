// The connectors of this binary as one explicit table (no static registration), and the factories
// that app/ hands to runtime/. runtime/ names no connector: it asks here by TableDef.
//
// Which half-contracts a table of a connector has:
//   filesystem   Source, SinkStage (append or rolling; acked by the seal)
//   sqlite       the spool as its stage (NewStage: null), SinkDelivery per database (TargetOf)
//   kafka        Source; the spool as its stage, SinkDelivery per cluster
//   print, blackhole   DirectSink: no stage, rows are written at once (at least once)
//   datagen      Source
#ifndef WEIR_CONNECTORS_REGISTRY_H_
#define WEIR_CONNECTORS_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/topic_limits.h"
#include "data/batch.h"
#include "data/timestamp.h"
#include "flow/delivery.h"
#include "flow/direct_sink.h"
#include "flow/sink.h"
#include "flow/source.h"
#include "io/env.h"
#include "plan/plan.h"
#include "plan/references.h"
#include "protocol/types.h"

namespace weir::connectors {

struct ConnectorContext {
  const io::Env& env;           // outlives everything that is made from it
  std::string state_directory;  // dead letter files lie below it
  std::string pipeline;         // as recorded in the directory
  std::string instance;
  SessionZone zone;
  // Where `print` and a bare SELECT write. Null: standard output. kEndOfStream: the reader is gone
  // (EPIPE).
  std::function<Status(std::string_view)> write_output;
  // Operator's words that are not used up yet. A source acts on kAcceptGap with subject TABLE or
  // TABLE:PATH.
  std::vector<protocol::Resolution> resolutions;
  uint64_t memory_limit_bytes = 48 << 20;  // SET 'weir.memory.limit'
  // What deliveries learn of their topics, and row checks ask for.
  std::shared_ptr<TopicLimits> limits = std::make_shared<TopicLimits>();
  // Where secrets are read again when SIGHUP says so; null: they never are.
  std::shared_ptr<const plan::References> references = {};
};

// Sorted by name. The binder, `explain --connectors` and docs/options.md read it.
std::span<const plan::ConnectorSpec* const> AllConnectors();
const plan::ConnectorSpec* FindConnector(std::string_view name);  // null when there is none

// Whether a sink table has no stage and is written at once (print, blackhole).
bool IsDirectSink(const plan::TableDef& table);
// Whether the spool is the stage of this sink table, and its target a SinkDelivery (sqlite, kafka).
bool NeedsDelivery(const plan::TableDef& table);
// What a delivery of this sink is atomic over, as a stable name: "sqlite:/abs/path.db",
// "kafka:TABLE" (of `plan`, the first on the same cluster). "" when !NeedsDelivery.
std::string TargetOf(const ConnectorContext& context, const plan::Plan& plan,
                     const plan::TableDef& table);

// `raw_columns` are indexes into table.columns (physical and metadata ones) of what a batch must
// hold, in the order of `raw_schema`. `table` outlives the source.
Result<std::unique_ptr<flow::Source>> NewSource(const ConnectorContext& context,
                                                const plan::TableDef& table,
                                                const Schema& raw_schema,
                                                const std::vector<int>& raw_columns);

// The stage of a local file sink; null for connectors whose stage is the spool or that have none.
// `sink` is the sink's name in parks, claims and resolutions.
Result<std::unique_ptr<flow::SinkStage>> NewStage(const ConnectorContext& context,
                                                  const plan::TableDef& table,
                                                  const std::string& sink);

// dead/<subject>.jsonl of the state directory: dead letters that nobody selects. An append sink
// that is rolled at 16 MiB; at most `max_bytes` in all, then the oldest file is deleted and its
// rows are counted as kDeadDropped.
Result<std::unique_ptr<flow::SinkStage>> NewDeadLetterStage(const ConnectorContext& context,
                                                            const std::string& subject,
                                                            uint64_t max_bytes);

// The sink of a table that IsDirectSink. Rows that cannot be written leave on out.Dead.
// `table` may be null: a bare SELECT, whose columns are `schema`, printed as JSON lines.
Result<std::unique_ptr<flow::DirectSink>> NewDirectSink(const ConnectorContext& context,
                                                        const plan::TableDef* table,
                                                        const Schema& schema);

// One delivery for all sink tables of one target, in the order of the plan (RowReader's sink
// index). `tables` outlive it. Opens nothing.
Result<std::unique_ptr<flow::SinkDelivery>> NewDelivery(
    const ConnectorContext& context, const std::vector<const plan::TableDef*>& tables);
// What the target can never accept, for Spool::SetRowCheck: empty, or why not ("NULL in PRIMARY KEY
// column id"). The text lives as long as the function.
std::function<std::string_view(const Batch&, uint32_t row)> NewRowCheck(
    const ConnectorContext& context, const plan::TableDef& table);

// `weir check --connect`: asks the table's remote end whether it is there and takes us. Connectors
// without a remote end say nothing. Changes nothing; blocks for some seconds when nobody answers.
struct Reached {
  std::vector<std::string> errors, notes;
};
Reached Connect(const ConnectorContext& context, const plan::TableDef& table, bool as_sink);

// The schema of what a sink table takes: physical and non-virtual metadata columns, in table order.
Schema SinkSchema(const plan::TableDef& table);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_REGISTRY_H_
