// The rows that every benchmark reads: 185 bytes of JSON with seven fields, by number, the same on
// every machine.
//
// 50,000 rows make a second of event time; a row's time lies up to 3 s before that of the newest,
// evenly spread. The page is uniform over `keys` pages, the amount over 0.01 .. 99.99.
#ifndef WEIR_TESTS_BENCH_ROWS_H_
#define WEIR_TESTS_BENCH_ROWS_H_

#include <cstdint>
#include <cstdio>
#include <string>

namespace weir::bench {

inline constexpr int64_t kFirstMs = 1767225600000;  // 2026-01-01 00:00:00 UTC
inline constexpr uint64_t kRowsPerSecond = 50000;
inline constexpr int64_t kDisorderMs = 3000;

// SplitMix64: one step.
inline uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

struct Row {
  uint64_t id = 0;
  uint32_t user = 0;
  uint32_t page = 0;
  uint32_t cents = 0;
  int64_t ms = 0;
};

inline Row RowAt(uint64_t i, uint32_t keys) {
  Row row;
  row.id = Mix(i);
  const uint64_t r = Mix(row.id);
  row.user = static_cast<uint32_t>(r % 1000000);
  row.page = static_cast<uint32_t>((r >> 20) % keys);
  const uint64_t s = Mix(r);
  row.cents = 1 + static_cast<uint32_t>(s % 9999);
  const int64_t newest = kFirstMs + kDisorderMs + static_cast<int64_t>(i * 1000 / kRowsPerSecond);
  row.ms = newest - static_cast<int64_t>((s >> 32) % static_cast<uint64_t>(kDisorderMs + 1));
  return row;
}

// Digits of v with zeros in front, `width` of them.
inline char* PutDigits(char* to, uint64_t v, int width) {
  for (int i = width - 1; i >= 0; --i, v /= 10) to[i] = static_cast<char>('0' + v % 10);
  return to + width;
}
inline char* PutNumber(char* to, uint64_t v) {
  int width = 1;
  for (uint64_t rest = v / 10; rest != 0; rest /= 10) ++width;
  return PutDigits(to, v, width);
}
inline char* PutHex(char* to, uint64_t v, int width) {
  for (int i = width - 1; i >= 0; --i, v >>= 4) to[i] = "0123456789abcdef"[v & 15];
  return to + width;
}
inline char* PutText(char* to, const char* text) {
  while (*text != 0) *to++ = *text++;
  return to;
}

// "2026-01-01T00:00:01.095Z". Good for the years that the benchmarks reach (2026 and 2027).
inline char* PutTime(char* to, int64_t ms) {
  static constexpr int kMonthDays[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const uint64_t since = static_cast<uint64_t>(ms - kFirstMs);
  uint64_t day = since / 86400000;
  const uint64_t in_day = since % 86400000;
  const uint64_t year = 2026 + day / 365;
  day %= 365;
  uint64_t month = 0;
  while (day >= static_cast<uint64_t>(kMonthDays[month]))
    day -= static_cast<uint64_t>(kMonthDays[month++]);
  to = PutDigits(to, year, 4);
  *to++ = '-';
  to = PutDigits(to, month + 1, 2);
  *to++ = '-';
  to = PutDigits(to, day + 1, 2);
  *to++ = 'T';
  to = PutDigits(to, in_day / 3600000, 2);
  *to++ = ':';
  to = PutDigits(to, in_day / 60000 % 60, 2);
  *to++ = ':';
  to = PutDigits(to, in_day / 1000 % 60, 2);
  *to++ = '.';
  to = PutDigits(to, in_day % 1000, 3);
  *to++ = 'Z';
  return to;
}

// Writes the row with its line feed; at most 200 bytes.
inline char* PutRow(char* to, const Row& row, uint64_t i) {
  to = PutText(to, "{\"event_id\":\"");
  to = PutHex(to, row.id >> 32, 8);
  *to++ = '-';
  to = PutHex(to, row.id >> 16, 4);
  *to++ = '-';
  to = PutHex(to, row.id, 4);
  *to++ = '-';
  to = PutHex(to, row.id >> 48 ^ row.id, 4);
  *to++ = '-';
  to = PutHex(to, i, 12);
  to = PutText(to, "\",\"user\":\"u");
  to = PutNumber(to, row.user);
  to = PutText(to, "\",\"page\":\"/p/");
  to = PutNumber(to, row.page);
  to = PutText(to, "\",\"amount\":");
  to = PutNumber(to, row.cents / 100);
  *to++ = '.';
  to = PutDigits(to, row.cents % 100, 2);
  to = PutText(to, ",\"ts\":\"");
  to = PutTime(to, row.ms);
  to = PutText(to, "\",\"t\":");
  to = PutNumber(to, static_cast<uint64_t>(row.ms));
  return PutText(to, ",\"agent\":\"Mozilla/5.0 (X11; Linux)\"}\n");
}

inline std::string RowsText(uint64_t first, uint64_t count, uint32_t keys) {
  std::string text(count * 200, '\0');
  char* to = text.data();
  for (uint64_t i = first; i < first + count; ++i) to = PutRow(to, RowAt(i, keys), i);
  text.resize(static_cast<size_t>(to - text.data()));
  return text;
}

}  // namespace weir::bench

#endif  // WEIR_TESTS_BENCH_ROWS_H_
