// What the tests of connectors stand on: a world of simulated disk, clock and chance; tables as the
// binder would make them; sources read to rows.
#ifndef WEIR_CONNECTORS_TESTING_CONNECTOR_WORLD_H_
#define WEIR_CONNECTORS_TESTING_CONNECTOR_WORLD_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connectors/registry.h"
#include "flow/operator.h"
#include "io/env.h"
#include "io/sim_clock.h"
#include "io/sim_files.h"

namespace weir::connectors {

// A process life on a simulated machine. The next life goes on with files() of a successor.
class World {
 public:
  explicit World(std::unique_ptr<io::SimFiles> files = std::make_unique<io::SimFiles>(),
                 const char* vfs = "");
  io::SimFiles& files() { return *files_; }
  io::SimClock& clock() { return clock_; }
  ConnectorContext Context() const { return {env_, "/state", "pipeline", "box", {}, nullptr, {}}; }
  void Put(const std::string& path, std::string_view bytes) { files_->PutFile(path, bytes); }
  std::string Content(const std::string& path);  // "<none>" when there is no file
  void Append(const std::string& path, std::string_view bytes);

 private:
  std::unique_ptr<io::SimFiles> files_;
  io::SimClock clock_;
  io::SimRandom random_{1};
  io::SimMachine machine_;
  io::CompletionQueue completions_;
  io::Env env_;
};

struct TableParts {
  std::string name = "t";
  std::string connector = "filesystem";
  std::string format = "json";
  std::vector<std::pair<std::string, std::string>> options = {};
  std::vector<std::pair<std::string, Type>> columns = {{"v", Type::Of(TypeKind::kInt)}};
  std::vector<std::pair<std::string, std::string>> metadata =
      {};  // column name, key; of the key's type
  std::vector<int> primary_key = {};
  std::string key_format = "";  // Kafka: of the columns that the option key.fields names
};
// CHECKs that the options are in the specs and right.
std::unique_ptr<plan::TableDef> MakeTable(const TableParts& parts);
// Raw columns: all physical and metadata ones.
std::vector<int> RawColumns(const plan::TableDef& table);
Schema RawSchema(const plan::TableDef& table);

// A batch of rows of one INT column.
void FillInts(const std::vector<int64_t>& values, Batch& out);

// Collects what leaves on the dead edge.
class DeadOutputs : public flow::Outputs {
 public:
  void Main(const Batch&) override {}
  void Late(const Batch&) override {}
  void Dead(const Batch& batch) override;
  void Watermark(TimestampMs) override {}
  std::vector<std::string> records;  // column `record`, with `message` behind it
};

// Drives a source as a scan would.
class SourceDriver {
 public:
  SourceDriver(const ConnectorContext& context, const plan::TableDef& table);
  // The saved positions of an earlier driver: a restart.
  Status Open(const std::map<std::string, std::string>& saved, const std::string& state);
  Status Open() { return Open({}, ""); }
  // Reads until every partition waits or has ended. Rows as JSON, "dead CODE" and "skipped" in
  // reading order.
  std::vector<std::string> ReadAll(uint32_t max_rows = 1000);
  // One call of Read.
  Result<flow::ReadState> ReadOnce(flow::PartitionIndex partition, uint32_t max_rows,
                                   std::vector<std::string>& rows);
  void Discover();
  // The cut and the seal: positions of all partitions as consumed so far.
  void Seal();
  flow::Source& source() { return *source_; }
  const std::vector<flow::PartitionInfo>& partitions() const { return partitions_; }
  bool AllEnded() const;
  int64_t position(flow::PartitionIndex partition) const {
    return positions_[static_cast<size_t>(partition)];
  }
  std::map<std::string, std::string> saved;  // sealed
  std::string state;

 private:
  Schema schema_;
  std::string table_name_;
  std::unique_ptr<flow::Source> source_;
  std::vector<flow::PartitionInfo> partitions_;
  std::vector<int64_t> positions_;
  std::vector<bool> ended_, changed_;
  Batch batch_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_TESTING_CONNECTOR_WORLD_H_
