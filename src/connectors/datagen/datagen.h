// datagen: made-up rows. Every value is a pure function of (weir.seed, column, row number), so that
// a restart, another batch size or another machine gives the same rows; the position is the row
// number.
//
//   random    integers, decimals and doubles in [min, max]; strings and bytes of `length`; booleans
//   sequence  start, start + 1, ... end; the input ends with the shortest sequence
//   times     weir.start-time + row / rows-per-second, minus a random part of fields.#.max-past:
//   event time that moves as the rows do
#ifndef WEIR_CONNECTORS_DATAGEN_DATAGEN_H_
#define WEIR_CONNECTORS_DATAGEN_DATAGEN_H_

#include <memory>
#include <string>
#include <vector>

#include "data/decimal.h"
#include "flow/source.h"
#include "io/clock.h"
#include "plan/plan.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kDatagenSpec;

// One column, its options understood.
struct GeneratedField {
  Type type;
  bool sequence = false;
  Int128 low = 0, high = 0;  // integers, decimals (unscaled), sequences, milliseconds of max-past
  double low_double = 0, high_double = 1;
  size_t length = 100;      // strings, bytes
  int64_t start_ticks = 0;  // times
  uint64_t salt = 0;        // column of the table: the same values whichever columns are read
};
struct GeneratorPlan {
  std::vector<GeneratedField> fields;
  uint64_t seed = 0;
  int64_t rows_per_second = 10'000;  // 0: no limit
  uint64_t rows = UINT64_MAX;        // UINT64_MAX: no end
};
// `columns`: indexes into table.columns. kInvalid names the option.
Result<GeneratorPlan> MakeGeneratorPlan(const plan::TableDef& table,
                                        const std::vector<int>& columns);

class DatagenSource : public flow::Source {
 public:
  DatagenSource(io::Clock& clock, std::string table, GeneratorPlan plan)
      : clock_(clock), table_(std::move(table)), plan_(std::move(plan)) {}

  Status Open(const std::vector<flow::SavedPosition>& saved,
              std::string_view source_state) override;
  Status Discover(std::vector<flow::PartitionInfo>& found) override;
  bool Complete() const override { return true; }
  bool Woken() override { return false; }
  bool AtEnd(flow::PartitionIndex) const override { return true; }  // by rate: nothing more is due
  Result<flow::ReadState> Read(flow::PartitionIndex partition, uint32_t max_rows,
                               Batch& out) override;
  bool MayRead(flow::PartitionIndex) const override { return true; }  // by rate: the clock says
  Status Peek(flow::PartitionIndex partition, Batch& out) override;
  Result<std::string> EncodePosition(flow::PartitionIndex partition, int64_t position) override;
  void Release(flow::PartitionIndex, int64_t) override {}  // nothing is kept for a position
  std::optional<std::string> FreezeSourceState() override { return std::nullopt; }
  void TakeForgotten(std::vector<std::string>&) override {}
  std::vector<flow::SourcePark> parks() const override { return {}; }
  std::string Trouble() const override { return ""; }
  void AppendStatus(std::string&) const override {}
  void Progress(uint64_t* read_bytes, uint64_t* total_bytes) const override {
    *read_bytes = *total_bytes = 0;
  }
  int64_t PollIntervalMs() const override;

 private:
  uint64_t Allowed() const;  // rows that the rate lets out by now
  void Generate(uint64_t row, uint32_t at, Batch& out) const;

  io::Clock& clock_;
  const std::string table_;
  const GeneratorPlan plan_;
  bool announced_ = false;
  bool restored_ = false;
  uint64_t row_ = 0;
  uint64_t first_row_ = 0;  // of this life, and when it began
  int64_t first_ns_ = 0;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_DATAGEN_DATAGEN_H_
