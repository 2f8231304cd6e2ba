// Plan: the waist. sql/ produces it, runtime/ consumes it; neither includes the other.
//
// A plan is a DAG of nodes in topological order: inputs have lower ids. Each node has up to three
// output edges: main, late (windows) and dead. A view is one set of nodes however many INSERTs read
// it, so that LATE(view) and the view see the same window.
#ifndef WEIR_PLAN_PLAN_H_
#define WEIR_PLAN_PLAN_H_

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "data/format.h"
#include "plan/connector_spec.h"
#include "plan/expr.h"
#include "plan/options.h"

namespace weir::plan {

using NodeId = int;
enum class Edge : uint8_t { kMain, kLate, kDead };

struct ColumnDef {
  enum class Kind { kPhysical, kComputed, kMetadata } kind = Kind::kPhysical;
  std::string name;
  Type type;
  Position position;
  ExprPtr computed;          // kComputed: over the table's columns
  std::string metadata_key;  // kMetadata
  bool is_virtual = false;   // METADATA ... VIRTUAL: not written by a sink
};

struct WatermarkDef {
  int column = -1;       // into TableDef::columns; TIMESTAMP(p<=3) or TIMESTAMP_LTZ(p<=3)
  int64_t bound_ms = 0;  // `ts - INTERVAL`: out-of-orderness
  Position position;
};

struct TableDef {
  std::string name;
  Position position;
  const ConnectorSpec* connector = nullptr;
  std::string format;  // "" when the connector needs none
  std::vector<ColumnDef> columns;
  std::optional<WatermarkDef> watermark;
  std::vector<int> primary_key;  // column indexes; NOT ENFORCED
  Options options;               // connector's, format's, checked
  FormatSpec format_spec;        // from the options; zone from SET
  // What the format's bytes hold: physical columns, by index, ascending. Of a record with a key
  // (Kafka) those of the value; key_columns are those of the key, in the order of 'key.fields', and
  // a column may be in both ('value.fields-include' = 'ALL').
  std::vector<int> value_columns;
  std::string key_format;  // "" when the key is not read or written
  std::vector<int> key_columns;
  FormatSpec key_format_spec;
};

// Reads a table. Output: the wanted columns of the table (physical, metadata, computed), in table
// order.
struct ScanNode {
  const TableDef* table = nullptr;
  // What the source fills: columns 0..n-1 of the "raw" batch (physical and metadata columns that
  // somebody needs).
  std::vector<int> raw_columns;  // table column indexes
  // Output columns as expressions over the raw batch (a plain column for physical and metadata
  // ones). Errors: dead edge.
  std::vector<ExprPtr> outputs;
  int rowtime = -1;  // output column that carries the watermark's column; -1: no watermark
  int64_t watermark_bound_ms = 0;
  bool bounded = true;
};

// Filter and project in one pass. The filter (may be null) is evaluated first; projections only for
// rows that passed.
struct CalcNode {
  ExprPtr filter;
  std::vector<ExprPtr> projections;  // over the input schema
};

struct AggregateCall {
  enum class Fn { kCountStar, kCount, kSum, kAvg, kMin, kMax } fn = Fn::kCountStar;
  int argument = -1;  // input column; -1 for COUNT(*)
  Type type;  // of the result. SUM: BIGINT for integers, DECIMAL(38, s), DOUBLE; AVG: Flink's types
};

// Windowed aggregation by key: TUMBLE or SESSION. Input columns are plain columns: a CalcNode below
// has computed them.
struct WindowNode {
  enum class Kind { kTumble, kSession } kind = Kind::kTumble;
  int64_t size_ms = 0;    // TUMBLE
  int64_t offset_ms = 0;  // TUMBLE: windows begin at offset + k * size, aligned to 1970-01-01 UTC
  int64_t gap_ms = 0;     // SESSION
  int time_column = -1;   // input column, TIMESTAMP*(<=3). NULL in it: a dead letter
  std::vector<int> keys;  // input columns; SESSION: PARTITION BY and GROUP BY keys are the same set
  std::vector<AggregateCall> aggregates;
  // Output schema, main edge: keys, aggregates, window_start, window_end, window_time - in this
  // fixed order; a Calc above it reorders. Late edge: input columns late_columns, then
  // window_start, window_end, watermark (TIMESTAMP*(3) like the time column's kind).
  std::vector<int> late_columns;
  Schema late_schema;
  std::string view;  // the view it stands in, for messages; may be empty
};

// Writes to a table. Input columns are those that the table takes (physical and non-virtual),
// already of its types. One SinkNode per table: several INSERTs into one table are several inputs
// of its node (they share its stage).
struct SinkNode {
  enum class Kind {
    kTable,           // `table`
    kPrint,           // of a bare SELECT; table is null
    kDeadLetterFile,  // dead/<subject>.jsonl of the state directory: dead letters that nobody
                      // selects; table is null
  } kind = Kind::kTable;
  const TableDef* table = nullptr;
  std::string subject;  // kDeadLetterFile
};

// Gathers the dead letters of one table or view: inputs are the dead edges of all nodes whose
// dead_letters_of is `subject`, main edge is DeadLetterSchema(). The binder makes one for every
// subject that can have dead letters; who consumes it are the INSERTs that select from
// DEAD_LETTERS(subject), or else a SinkNode of kind kDeadLetterFile. So every dead edge has one
// consumer. A cycle (DEAD_LETTERS(s) written into s itself) is refused. A kDeadLetterFile sink has
// no dead letters.
struct DeadLettersNode {
  std::string subject;
};

struct Input {
  NodeId node = -1;
  Edge edge = Edge::kMain;
};

struct Node {
  NodeId id = -1;
  std::string name;  // unique, stable, for books, status and state keys: "scan:clicks",
                     // "window:counts", "calc:counts.1", "sink:page_counts"
  Schema output;     // main edge
  std::vector<Input> inputs;
  std::variant<ScanNode, CalcNode, WindowNode, SinkNode, DeadLettersNode> body;
  Position position;
  std::string
      dead_letters_of;  // whose DEAD_LETTERS(...) rows that fail here belong to: table or view name
};

struct Plan {
  std::string pipeline_name;                      // SET 'pipeline.name', else the file's name
  std::vector<std::unique_ptr<TableDef>> tables;  // stable addresses
  std::vector<Node> nodes;                        // topological order; node id == index
  Options settings;                               // SET keys, checked
  std::vector<Diagnostic> diagnostics;            // warnings and notes for `weir check`
  SessionZone zone;
  bool bounded = true;  // every source ends
};

// The dead letters' schema: stage, code, message, raw, record, source, part, pos, ts (sql.md).
const Schema& DeadLetterSchema();

// The canonical form of a plan by rule version, and its fingerprint: nodes, expressions, key and
// window definitions, connector identities as the SQL says them; not addresses, credentials,
// comments, whitespace or tuning options.
inline constexpr int kFingerprintVersion = 1;
std::string CanonicalPlan(const Plan& plan, int version);
Digest256 Fingerprint(std::string_view canonical_plan, int version);
// What differs between two canonical forms, for people: "window counts: size 10 s -> 20 s; filter
// added". Never empty for different texts.
std::string DescribeDifference(std::string_view stored_canonical,
                               std::string_view current_canonical);

// Drops columns that nobody reads (scan raw columns, calc projections). After CanonicalPlan:
// optimisation is not part of the fingerprint.
void PruneColumns(Plan& plan);

}  // namespace weir::plan

#endif  // WEIR_PLAN_PLAN_H_
