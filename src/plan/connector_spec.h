// ConnectorSpec: what a connector can do, as data. Each connector defines one
// (connectors/x/x_spec.cc); app/ lists them; the binder refuses impossible uses with line and
// column, and explain prints guarantees from it.
#ifndef WEIR_PLAN_CONNECTOR_SPEC_H_
#define WEIR_PLAN_CONNECTOR_SPEC_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/options.h"

namespace weir::plan {

enum class Guarantee { kExactlyOnce, kAtLeastOnce };

struct MetadataSpec {
  std::string_view key;  // 'file.path'
  Type type;
  std::string_view doc;
  bool writable = false;  // a sink takes the column, unless it is VIRTUAL
};

struct TableDef;

struct ConnectorSpec {
  std::string_view name = {};  // 'filesystem'
  std::string_view doc = {};
  bool source = false;
  bool sink = false;
  bool needs_format = false;                       // 'format' option is required
  std::span<const std::string_view> formats = {};  // allowed ones
  std::span<const OptionSpec> options = {};  // without 'connector', 'format' and the format's own
  std::span<const MetadataSpec> metadata = {};
  bool sink_accepts_updates = false;  // an upsert by PRIMARY KEY is possible
  Guarantee sink_guarantee = Guarantee::kExactlyOnce;
  std::string_view sink_guarantee_reason = {};  // where it is weaker than exactly once
  // Where the guarantee depends on the table's options: what explain prints. May be null.
  std::string (*table_guarantee)(const TableDef& table) = nullptr;
  // Checks that go beyond single values (combinations, schema). Appends messages with positions.
  // May be null.
  void (*check)(const TableDef& table, bool as_sink, std::vector<struct Diagnostic>& out) = nullptr;
  // The input ends by itself.
  bool (*bounded)(const TableDef& table) = nullptr;
};

struct Diagnostic {
  enum class Severity { kError, kWarning, kNote } severity = Severity::kError;
  Position position;
  std::string message;  // one line, without position
  std::string hint;     // "did you mean ..." or the way out; may be empty
};

}  // namespace weir::plan

#endif  // WEIR_PLAN_CONNECTOR_SPEC_H_
