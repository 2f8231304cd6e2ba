// DATE_FORMAT and TO_TIMESTAMP patterns: a subset of java.time's letters, English names, no locale.
#include <array>

#include "base/text.h"
#include "data/time_fields.h"
#include "data/timestamp.h"

namespace weir {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                   "Friday", "Saturday", "Sunday"};

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// 0 = Monday.
int Weekday(int64_t days) { return static_cast<int>(((days + 3) % 7 + 7) % 7); }

// What a letter may stand for: counts that are understood, one bit each (bit n = n letters).
struct Letter {
  char letter;
  unsigned counts;
};
constexpr unsigned Bits(int from, int to) {
  unsigned bits = 0;
  for (int i = from; i <= to; ++i) bits |= 1u << i;
  return bits;
}
constexpr Letter kLetters[] = {
    {'y', Bits(4, 4)}, {'u', Bits(4, 4)}, {'M', Bits(1, 4)}, {'d', Bits(1, 2)}, {'H', Bits(1, 2)},
    {'h', Bits(1, 2)}, {'a', Bits(1, 1)}, {'m', Bits(1, 2)}, {'s', Bits(1, 2)}, {'S', Bits(1, 9)},
    {'E', Bits(1, 4)}, {'Z', Bits(1, 3)}, {'X', Bits(1, 3)}, {'x', Bits(1, 3)},
};

Status CheckRun(std::string_view pattern, char letter, int count) {
  const std::string run(static_cast<size_t>(count), letter);
  const std::string where = "pattern '" + std::string(pattern) + "': ";
  if (letter == 'Y') {
    return {Code::kInvalid, where +
                                "Y is the week-based year, which differs from the calendar's "
                                "around New Year; did you mean 'yyyy'?"};
  }
  if (letter == 'D') {
    return {Code::kInvalid, where + "D is the day of the year; did you mean 'dd'?"};
  }
  for (const Letter& known : kLetters) {
    if (known.letter != letter) continue;
    if (count < 32 && (known.counts >> count & 1) != 0) return Status::Ok();
    const bool year = letter == 'y' || letter == 'u';
    return {Code::kInvalid,
            where + "'" + run + "' is not supported" + (year ? "; did you mean 'yyyy'?" : "")};
  }
  return {Code::kInvalid,
          where + "'" + run + "' is not supported (text that is meant as it is stands in quotes)"};
}

void PutNumber(int value, int width, std::string& out) {
  const std::string digits = std::to_string(value);
  if (static_cast<int>(digits.size()) < width) {
    out.append(static_cast<size_t>(width) - digits.size(), '0');
  }
  out += digits;
}

// Z, ZZ, ZZZ: +hhmm. X: Z or +hh[mm], XX: Z or +hhmm, XXX: Z or +hh:mm. x: the same without Z.
void PutOffset(char letter, int count, int64_t offset_ms, std::string& out) {
  const int64_t minutes = offset_ms / 60000;
  if (letter == 'X' && minutes == 0) {
    out += 'Z';
    return;
  }
  const int64_t magnitude = minutes < 0 ? -minutes : minutes;
  out += minutes < 0 ? '-' : '+';
  PutNumber(static_cast<int>(magnitude / 60), 2, out);
  if (letter != 'Z' && count == 1 && magnitude % 60 == 0) return;
  if (letter != 'Z' && count == 3) out += ':';
  PutNumber(static_cast<int>(magnitude % 60), 2, out);
}

// One letter takes up to two digits, two take exactly two (as java.time): "Hmm" reads "930" as
// 9:30.
bool ReadNumber(const char*& p, const char* end, int count, int* out) {
  const int most = count == 1 ? 2 : count;
  int v = 0, digits = 0;
  for (; digits < most && p != end && IsDigit(*p); ++p, ++digits) v = v * 10 + (*p - '0');
  if (digits == 0 || (count > 1 && digits != count)) return false;
  *out = v;
  return true;
}

// A full or a three-letter name, any case. -1: none.
template <size_t N>
int ReadName(const char*& p, const char* end, const std::array<std::string_view, N>& names,
             bool full) {
  const std::string_view rest(p, static_cast<size_t>(end - p));
  for (size_t i = 0; i < N; ++i) {
    const std::string_view name = full ? names[i] : names[i].substr(0, 3);
    if (rest.size() >= name.size() && EqualsIgnoreCase(rest.substr(0, name.size()), name)) {
      p += name.size();
      return static_cast<int>(i);
    }
  }
  return -1;
}

constexpr char kMismatch[] = "does not match the pattern";

}  // namespace

struct TimePattern::Fields {
  CivilTime time;
  int hour12 = -1;   // h
  int half = -1;     // a: 0 = AM, 1 = PM
  int weekday = -1;  // E: only checked against the date
  bool has_offset = false;
  int offset_seconds = 0;
};

Result<TimePattern> TimePattern::Compile(std::string_view pattern) {
  TimePattern compiled;
  std::vector<Item>& items = compiled.items_;
  const auto literal = [&items](char c) {
    if (items.empty() || items.back().letter != 0) items.push_back({0, 0, ""});
    items.back().literal += c;
  };
  for (size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\'') {
      if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
        literal('\'');
        i += 2;
        continue;
      }
      for (++i;; ++i) {
        if (i >= pattern.size()) {
          return Fail(Code::kInvalid,
                      "pattern '" + std::string(pattern) + "': the quoted text does not end");
        }
        if (pattern[i] != '\'') {
          literal(pattern[i]);
        } else if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
          literal(pattern[i++]);
        } else {
          ++i;
          break;
        }
      }
      continue;
    }
    if (!IsLetter(c)) {
      // java.time reserves these; taking them as text would change the pattern's meaning silently.
      if (c == '[' || c == ']' || c == '{' || c == '}' || c == '#') {
        return Fail(Code::kInvalid, "pattern '" + std::string(pattern) + "': '" + c +
                                        "' is not supported (quote it to mean the character)");
      }
      literal(c);
      ++i;
      continue;
    }
    size_t run = i;
    while (run < pattern.size() && pattern[run] == c) ++run;
    const int count = static_cast<int>(run - i);
    WEIR_RETURN_IF_ERROR(CheckRun(pattern, c, count));
    items.push_back({c, count, ""});
    i = run;
  }
  return compiled;
}

void TimePattern::Format(int64_t ticks, const Type& type, const SessionZone& zone,
                         std::string& out) const {
  if (type.kind == TypeKind::kTimestampLtz) ticks += zone.offset_ms * TicksPerMs(type);
  const int64_t per_second = TicksPerMs(type) * 1000;
  const CivilTime t = CivilFromTicks(ticks, per_second);
  for (const Item& item : items_) {
    switch (item.letter) {
      case 0:
        out += item.literal;
        break;
      case 'y':
      case 'u':
        PutNumber(t.year, 4, out);
        break;
      case 'M': {
        const std::string_view name = kMonths[static_cast<size_t>(t.month - 1)];
        if (item.count <= 2) {
          PutNumber(t.month, item.count, out);
        } else {
          out += item.count == 3 ? name.substr(0, 3) : name;
        }
        break;
      }
      case 'd':
        PutNumber(t.day, item.count, out);
        break;
      case 'H':
        PutNumber(t.hour, item.count, out);
        break;
      case 'h':
        PutNumber(t.hour % 12 == 0 ? 12 : t.hour % 12, item.count, out);
        break;
      case 'a':
        out += t.hour < 12 ? "AM" : "PM";
        break;
      case 'm':
        PutNumber(t.minute, item.count, out);
        break;
      case 's':
        PutNumber(t.second, item.count, out);
        break;
      case 'S': {
        int fraction = t.nanosecond;
        for (int i = item.count; i < 9; ++i) fraction /= 10;
        PutNumber(fraction, item.count, out);
        break;
      }
      case 'E': {
        const std::string_view name =
            kDays[static_cast<size_t>(Weekday(DaysFromCivil(t.year, t.month, t.day)))];
        out += item.count <= 3 ? name.substr(0, 3) : name;
        break;
      }
      default:  // Z X x: Compile lets nothing else through
        PutOffset(item.letter, item.count, zone.offset_ms, out);
    }
  }
}

const char* TimePattern::ReadItem(const Item& item, const char*& p, const char* end,
                                  Fields& f) const {
  const auto number = [&](int* out) -> const char* {
    return ReadNumber(p, end, item.count, out) ? nullptr : kMismatch;
  };
  switch (item.letter) {
    case 0:
      if (!std::string_view(p, static_cast<size_t>(end - p)).starts_with(item.literal)) {
        return kMismatch;
      }
      p += item.literal.size();
      return nullptr;
    case 'y':
    case 'u':
      return number(&f.time.year);
    case 'M': {
      if (item.count <= 2) return number(&f.time.month);
      const int month = ReadName(p, end, kMonths, item.count == 4);
      f.time.month = month + 1;
      return month < 0 ? "no such month" : nullptr;
    }
    case 'd':
      return number(&f.time.day);
    case 'H':
      return number(&f.time.hour);
    case 'h':
      if (number(&f.hour12) != nullptr) return kMismatch;
      return f.hour12 < 1 || f.hour12 > 12 ? "an hour of the half day is 1 to 12" : nullptr;
    case 'a':
      f.half = ReadName(p, end, std::array<std::string_view, 2>{"AM", "PM"}, true);
      return f.half < 0 ? kMismatch : nullptr;
    case 'm':
      return number(&f.time.minute);
    case 's':
      return number(&f.time.second);
    case 'S': {
      int v = 0;
      for (int i = 0; i < item.count; ++i, ++p) {
        if (p == end || !IsDigit(*p)) return kMismatch;
        v = v * 10 + (*p - '0');
      }
      for (int i = item.count; i < 9; ++i) v *= 10;
      f.time.nanosecond = v;
      return nullptr;
    }
    case 'E':
      f.weekday = ReadName(p, end, kDays, item.count == 4);
      return f.weekday < 0 ? kMismatch : nullptr;
    default:  // Z X x
      f.has_offset = true;
      return time_fields::ReadOffset(p, end, &f.offset_seconds) ? nullptr : "no such zone offset";
  }
}

TimeParse TimePattern::Parse(std::string_view text, const Type& type,
                             const SessionZone& zone) const {
  Fields f;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (const Item& item : items_) {
    if (const char* why = ReadItem(item, p, end, f)) return {false, 0, why};
  }
  if (p != end) return {false, 0, kMismatch};
  if (f.hour12 >= 0) {
    // Guessing the half of the day would file the row twelve hours off.
    if (f.half < 0) return {false, 0, "the pattern has h without a (AM or PM): use H"};
    f.time.hour = f.hour12 % 12 + 12 * f.half;
  }
  if (const char* why = time_fields::WhyInvalidDate(f.time)) return {false, 0, why};
  if (const char* why = time_fields::WhyInvalidTime(f.time)) return {false, 0, why};
  if (f.weekday >= 0 &&
      f.weekday != Weekday(DaysFromCivil(f.time.year, f.time.month, f.time.day))) {
    return {false, 0, "another day of the week"};
  }
  return time_fields::FromFields(f.time, f.has_offset, f.offset_seconds, type, zone);
}

}  // namespace weir
