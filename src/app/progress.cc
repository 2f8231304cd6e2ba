#include "app/progress.h"

#include <fmt/format.h>

#include "base/text.h"
#include "data/timestamp.h"

namespace weir::app {

namespace {

std::string Grouped(uint64_t n) {
  std::string digits = std::to_string(n), out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string Short(double n) {
  if (n >= 1e6) return fmt::format("{:.1f} M", n / 1e6);
  if (n >= 1e4) return fmt::format("{:.0f} k", n / 1e3);
  return fmt::format("{:.0f}", n);
}

double RowsPerSecond(const runtime::Snapshot& s) {
  return s.running_ms > 0
             ? static_cast<double>(s.totals.read) * 1000.0 / static_cast<double>(s.running_ms)
             : 0;
}

}  // namespace

std::string ProgressLine(const runtime::Snapshot& s) {
  std::string line = Short(static_cast<double>(s.totals.read)) + " rows";
  if (s.total_bytes > 0) {
    line += fmt::format("  {:.1f} of {:.1f} MB", static_cast<double>(s.read_bytes) / 1e6,
                        static_cast<double>(s.total_bytes) / 1e6);
  }
  line += "  " + Short(RowsPerSecond(s)) + " rows/s";
  if (s.watermark != kWatermarkNone && s.watermark != kWatermarkMax) {
    line += "  event time ";
    AppendTimestamp(s.watermark, Type::Timestamp(0), TimestampStyle::kSql, SessionZone{}, line);
  }
  // By the speed of this run: what earlier ones have read took none of its time.
  if (s.total_bytes > s.read_bytes && s.run_bytes > 0) {
    const double left_ms = static_cast<double>(s.total_bytes - s.read_bytes) *
                           static_cast<double>(s.running_ms) / static_cast<double>(s.run_bytes);
    line += fmt::format("  ETA {:.0f} s", left_ms / 1000 + 0.5);
  }
  return line;
}

std::string SummaryLine(const runtime::Snapshot& s) {
  return fmt::format(
      "read {} rows, {} filtered, {} late, {} dead letters, {} emitted in {} epochs, {:.2f} s, {} "
      "rows/s",
      Grouped(s.totals.read), Grouped(s.totals.filtered), Grouped(s.totals.late),
      Grouped(s.totals.dead), Grouped(s.totals.emitted), Grouped(s.epochs),
      static_cast<double>(s.running_ms) / 1000, Short(RowsPerSecond(s)));
}

std::string SummaryJson(const runtime::Snapshot& s, int exit_code, std::string_view error) {
  return fmt::format(
      "{{\"exit_code\":{},\"read\":{},\"filtered\":{},\"late\":{},\"dead\":{},\"emitted\":{},"
      "\"epochs\":{},\"sealed_epoch\":{},"
      "\"took_ms\":{},\"rows_per_second\":{:.0f}{}}}",
      exit_code, s.totals.read, s.totals.filtered, s.totals.late, s.totals.dead, s.totals.emitted,
      s.epochs, s.sealed, s.running_ms, RowsPerSecond(s),
      error.empty() ? "" : ",\"error\":" + JsonQuote(error));
}

}  // namespace weir::app
