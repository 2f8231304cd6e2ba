// One line = one event: `event=epoch_sealed epoch=42 rows=918 took_ms=7`. To stderr, as text,
// logfmt or json, with journald priorities (<6>...) when started by systemd. No secrets, no row
// data. The clock that stamps lines is handed in by main (base may not read one).
#ifndef WEIR_BASE_LOG_H_
#define WEIR_BASE_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace weir {

enum class LogLevel { kError = 3, kWarning = 4, kInfo = 6, kDebug = 7 };
enum class LogFormat { kText, kLogfmt, kJson };

// A field: key and value; text is quoted where the format needs it.
struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, int64_t v) : key(k), value(std::to_string(v)), number(true) {}
  LogField(std::string_view k, uint64_t v) : key(k), value(std::to_string(v)), number(true) {}
  LogField(std::string_view k, int v) : key(k), value(std::to_string(v)), number(true) {}
  LogField(std::string_view k, unsigned v) : key(k), value(std::to_string(v)), number(true) {}
  std::string_view key;
  std::string value;
  bool number = false;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  bool journald = false;  // priorities in front, no time stamp (journald has its own)
  int64_t (*wall_clock_ms)() = nullptr;  // null: no time stamp
  void (*sink)(std::string_view line) =
      nullptr;  // null: stderr, one write(2) per line; tests set it
};

// Process-wide by nature (stderr is); set once in main before any thread starts.
void ConfigureLog(const LogOptions& options);
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
inline void LogInfo(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kInfo, e, f);
}
inline void LogWarning(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kWarning, e, f);
}
inline void LogError(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kError, e, f);
}
inline void LogDebug(std::string_view e, std::initializer_list<LogField> f = {}) {
  Log(LogLevel::kDebug, e, f);
}

}  // namespace weir

#endif  // WEIR_BASE_LOG_H_
