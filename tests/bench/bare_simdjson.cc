// bare_simdjson FILE: what the fastest JSON parser in fashion and a hash map do for the benchmarks'
// query, with nothing around them: no checks of what is not read, no late rows, no state, no
// delivery. The reference of the ratios in docs/performance.md; its output is what weir must give.
//
//   SELECT window_start, window_end, page, COUNT(*) AS n, SUM(amount) AS total
//   FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start,
//   window_end, page
//
// Rows are those of rows.h. Windows are printed in the order of their ends, keys as first seen.
#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr int64_t kWindowMs = 10000;
constexpr int64_t kBoundMs = 5000;
constexpr size_t kBlock = 1 << 20;

struct Entry {
  std::string page;
  int64_t count = 0;
  int64_t cents = 0;
};

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

struct Window {
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> index;
  std::vector<Entry> entries;

  Entry& At(std::string_view page) {
    auto it = index.find(page);
    if (it == index.end()) {
      it = index.emplace(std::string(page), entries.size()).first;
      entries.push_back({std::string(page)});
    }
    return entries[it->second];
  }
};

int Digits(const char* p, int n) {
  int value = 0;
  for (int i = 0; i < n; ++i) value = value * 10 + (p[i] - '0');
  return value;
}

int64_t DaysOf(int year, int month, int day) {
  year -= month <= 2;
  const int64_t era = year / 400;
  const int of_era = static_cast<int>(year - era * 400);
  const int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "2026-01-01T00:00:01.095Z"
int64_t MsOf(const char* p) {
  const int64_t days = DaysOf(Digits(p, 4), Digits(p + 5, 2), Digits(p + 8, 2));
  return ((days * 24 + Digits(p + 11, 2)) * 60 + Digits(p + 14, 2)) * 60000 +
         Digits(p + 17, 2) * 1000 + Digits(p + 20, 3);
}

// "45.47", "7" or "7.5" in hundredths.
int64_t CentsOf(std::string_view token) {
  int64_t value = 0;
  int fraction = -1;
  for (const char c : token) {
    if (c == '.') {
      fraction = 0;
    } else if (c >= '0' && c <= '9') {
      value = value * 10 + (c - '0');
      if (fraction >= 0) ++fraction;
    } else {
      break;
    }
  }
  for (int i = fraction < 0 ? 0 : fraction; i < 2; ++i) value *= 10;
  return value;
}

void AppendTime(int64_t ms, std::string& out) {
  // Howard Hinnant's civil_from_days in this program's words; the days are after 1970.
  const int64_t days = ms / 86400000 + 719468;
  const int64_t era = days / 146097;
  const int64_t of_era = days - era * 146097;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t m = (5 * of_year + 2) / 153;
  const int64_t day = of_year - (153 * m + 2) / 5 + 1;
  const int64_t month = m < 10 ? m + 3 : m - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2);
  const int64_t rest = ms % 86400000;
  char text[64];
  const int n =
      std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%03d", static_cast<int>(year),
                    static_cast<int>(month), static_cast<int>(day),
                    static_cast<int>(rest / 3600000), static_cast<int>(rest / 60000 % 60),
                    static_cast<int>(rest / 1000 % 60), static_cast<int>(rest % 1000));
  out.append(text, static_cast<size_t>(n));
}

void Print(int64_t start, const Window& window) {
  std::string bounds = "{\"window_start\":\"";
  AppendTime(start, bounds);
  bounds += "\",\"window_end\":\"";
  AppendTime(start + kWindowMs, bounds);
  bounds += "\",\"page\":\"";
  std::string out;
  for (const Entry& entry : window.entries) {
    out += bounds;
    out += entry.page;
    out += "\",\"n\":";
    out += std::to_string(entry.count);
    out += ",\"total\":";
    out += std::to_string(entry.cents / 100);
    out += '.';
    out += static_cast<char>('0' + entry.cents / 10 % 10);
    out += static_cast<char>('0' + entry.cents % 10);
    out += "}\n";
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
}

class Query {
 public:
  // False: the row is not what the benchmark's rows are.
  bool Add(const char* line, size_t size, size_t readable) {
    simdjson::ondemand::document row;
    if (parser_.iterate(line, size, readable).get(row)) return false;
    std::string_view page, ts, amount;
    if (row["page"].get_string().get(page)) return false;
    if (row["amount"].raw_json_token().get(amount)) return false;
    if (row["ts"].get_string().get(ts) || ts.size() < 23) return false;
    const int64_t ms = MsOf(ts.data());
    Entry& entry = windows_[ms - ms % kWindowMs].At(page);
    entry.count += 1;
    entry.cents += CentsOf(amount);
    if (ms > newest_) {
      newest_ = ms;
      while (!windows_.empty() && windows_.begin()->first + kWindowMs <= newest_ - kBoundMs)
        PrintFirst();
    }
    return true;
  }
  void Finish() {
    while (!windows_.empty()) PrintFirst();
  }

 private:
  void PrintFirst() {
    Print(windows_.begin()->first, windows_.begin()->second);
    windows_.erase(windows_.begin());
  }
  simdjson::ondemand::parser parser_;
  std::map<int64_t, Window> windows_;
  int64_t newest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bare_simdjson FILE\n");
    return 64;
  }
  const int file = open(argv[1], O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    std::perror(argv[1]);
    return 66;
  }
  std::vector<char> buffer(2 * kBlock + simdjson::SIMDJSON_PADDING);
  Query query;
  size_t have = 0;
  for (;;) {
    const ssize_t n = read(file, buffer.data() + have, kBlock);
    if (n < 0) {
      std::perror(argv[1]);
      return 74;
    }
    if (n == 0) break;
    have += static_cast<size_t>(n);
    const char* p = buffer.data();
    const char* const end = p + have;
    while (const void* feed = std::memchr(p, '\n', static_cast<size_t>(end - p))) {
      const char* const line_end = static_cast<const char*>(feed);
      if (!query.Add(p, static_cast<size_t>(line_end - p),
                     static_cast<size_t>(buffer.data() + buffer.size() - p))) {
        std::fprintf(stderr, "bare_simdjson: not a row of the benchmark: %.*s\n",
                     static_cast<int>(line_end - p), p);
        return 65;
      }
      p = line_end + 1;
    }
    have = static_cast<size_t>(end - p);
    if (have > kBlock) return 65;
    std::memmove(buffer.data(), p, have);
  }
  query.Finish();
  close(file);
  return std::fflush(stdout) == 0 ? 0 : 74;
}
