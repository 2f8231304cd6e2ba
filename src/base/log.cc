#include "base/log.h"

#include <chrono>
#include <cstdio>

#include "base/text.h"

namespace weir {
namespace {

// Written by ConfigureLog before any thread starts, only read afterwards: no lock.
LogOptions g_options;

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kDebug:
      return "debug";
  }
  return "error";
}

// 2026-11-29T19:54:03.120Z. chrono's calendar: no locale, no TZ.
std::string FormatWallClock(int64_t ms) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> instant{milliseconds(ms)};
  const auto day = floor<days>(instant);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{instant - day};
  char out[64];
  std::snprintf(out, sizeof(out), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return out;
}

// Bare when no reader could misread it; otherwise quoted as a JSON string, which also keeps one
// event on one line.
void AppendValue(std::string_view value, std::string& out) {
  bool bare = !value.empty();
  for (const char c : value) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '"' || c == '\\' || c == '=') bare = false;
  }
  out.append(bare ? std::string(value) : JsonQuote(value));
}

void AppendJsonMember(std::string_view key, std::string_view value, bool number, std::string& out) {
  if (out.back() != '{') out.push_back(',');
  out.append(JsonQuote(key)).push_back(':');
  out.append(number ? std::string(value) : JsonQuote(value));
}

std::string FormatJson(LogLevel level, const std::string& time, std::string_view event,
                       std::initializer_list<LogField> fields) {
  std::string out = "{";
  if (!time.empty()) AppendJsonMember("ts", time, false, out);
  AppendJsonMember("level", LevelName(level), false, out);
  AppendJsonMember("event", event, false, out);
  for (const LogField& field : fields) AppendJsonMember(field.key, field.value, field.number, out);
  out.push_back('}');
  return out;
}

std::string FormatPlain(LogLevel level, const std::string& time, std::string_view event,
                        std::initializer_list<LogField> fields) {
  const bool logfmt = g_options.format == LogFormat::kLogfmt;
  std::string out;
  if (!time.empty()) out.append(logfmt ? "ts=" : "").append(time).push_back(' ');
  // journald shows the priority itself; in text the usual level is not worth a word.
  if (logfmt) {
    out.append("level=").append(LevelName(level)).push_back(' ');
  } else if (level != LogLevel::kInfo && !g_options.journald) {
    out.append(LevelName(level)).append(": ");
  }
  out.append("event=");
  AppendValue(event, out);
  for (const LogField& field : fields) {
    out.append(" ").append(field.key).push_back('=');
    AppendValue(field.value, out);
  }
  return out;
}

}  // namespace

void ConfigureLog(const LogOptions& options) { g_options = options; }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (static_cast<int>(level) > static_cast<int>(g_options.level)) return;
  std::string time;
  if (!g_options.journald && g_options.wall_clock_ms != nullptr) {
    time = FormatWallClock(g_options.wall_clock_ms());
  }
  std::string line;
  if (g_options.journald) line = "<" + std::to_string(static_cast<int>(level)) + ">";
  line += g_options.format == LogFormat::kJson ? FormatJson(level, time, event, fields)
                                               : FormatPlain(level, time, event, fields);
  if (g_options.sink != nullptr) {
    g_options.sink(line);
    return;
  }
  line.push_back('\n');
  // stderr has no buffer, so this is one write(2) and lines of two threads do not mix. Nobody can
  // be told when it fails.
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace weir
