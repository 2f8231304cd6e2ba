// Functions of strings that look at characters: cut, pad, trim, join, case. Positions count code
// points. (Flink's results; patterns are in pattern_kernels.cc, digests in digest_kernels.cc.)
#include <algorithm>

#include "data/utf8.h"
#include "operators/kernels.h"
#include "operators/text.h"
#include "operators/utf8.h"

namespace weir::operators {
namespace {

using plan::Fn;
using Text = std::string_view;

// The longest text that LPAD, REPEAT and REPLACE may make: a row must not be able to take the box's
// memory.
constexpr size_t kTextMax = 16 << 20;

Outcome TooLong(OpState& s) { return s.Fail(kArgument, "the text would be longer than 16 MiB"); }

// SUBSTRING: positions from 1, 0 is 1, negative from the end; beyond the text: ''.
Outcome Substring(OpState& s, Text text, int64_t start, int64_t length, Text* out) {
  if (length < 0) return s.Fail(kArgument, "SUBSTRING: negative length");
  *out = Text();
  size_t from = 0;
  if (start > 0) {
    // No code point is shorter than a byte: a start beyond the bytes is beyond the text.
    if (static_cast<uint64_t>(start - 1) >= text.size()) return Outcome::kValue;
    from = Utf8Offset(text, static_cast<size_t>(start - 1));
  } else if (start < 0) {
    const size_t count = CountCodePoints(text);
    if (start < -static_cast<int64_t>(count)) return Outcome::kValue;
    from = Utf8Offset(text, count - static_cast<size_t>(-start));
  }
  const Text rest = text.substr(from);
  *out = FirstCodePoints(rest, static_cast<size_t>(length));
  return Outcome::kValue;
}

int64_t Position(Text needle, Text text) {
  const size_t at = text.find(needle);
  return at == Text::npos ? 0 : static_cast<int64_t>(CountCodePoints(text.substr(0, at))) + 1;
}

// REPLACE. An empty `from` stands between all characters, and at both ends (Java's and Flink's
// rule).
Outcome Replace(OpState& s, Text text, Text from, Text to, std::string& buffer, Text* out) {
  if (!from.empty() && text.find(from) == Text::npos) {
    *out = text;
    return Outcome::kValue;
  }
  buffer.clear();
  size_t at = 0;
  if (from.empty()) {
    while (at < text.size() && buffer.size() <= kTextMax) {
      const size_t width = Utf8Width(text, at);
      buffer.append(to).append(text.substr(at, width));
      at += width;
    }
    buffer.append(to);
  } else {
    for (size_t next; (next = text.find(from, at)) != Text::npos; at = next + from.size()) {
      buffer.append(text.substr(at, next - at)).append(to);
      if (buffer.size() > kTextMax) return TooLong(s);
    }
    buffer.append(text.substr(at));
  }
  if (buffer.size() > kTextMax) return TooLong(s);
  *out = s.arena.Copy(buffer);
  return Outcome::kValue;
}

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

// SPLIT_INDEX: NULL beyond the pieces, and for an empty text. An empty separator: any blank.
Outcome SplitIndex(Text text, Text separator, int64_t index, Text* out) {
  if (index < 0 || text.empty()) return Outcome::kNull;
  size_t at = 0;
  for (;; --index) {
    size_t end = at;
    if (separator.empty()) {
      while (end < text.size() && !IsBlank(text[end])) ++end;
    } else {
      end = std::min(text.find(separator, at), text.size());
    }
    if (index == 0) {
      *out = text.substr(at, end - at);
      return Outcome::kValue;
    }
    if (end == text.size()) return Outcome::kNull;
    at = end + std::max<size_t>(separator.size(), 1);
  }
}

// LPAD and RPAD: NULL for a negative length and for an empty pad.
Outcome Pad(OpState& s, Text text, int64_t length, Text pad, bool left, std::string& buffer,
            Text* out) {
  if (length < 0 || pad.empty()) return Outcome::kNull;
  const int64_t count = static_cast<int64_t>(CountCodePoints(text));
  if (count >= length) {
    *out = FirstCodePoints(text, static_cast<size_t>(length));
    return Outcome::kValue;
  }
  if (length > static_cast<int64_t>(kTextMax)) return TooLong(s);
  buffer.clear();
  if (!left) buffer.append(text);
  const int64_t pad_count = static_cast<int64_t>(CountCodePoints(pad));
  for (int64_t missing = length - count; missing > 0; missing -= pad_count) {
    buffer.append(FirstCodePoints(pad, static_cast<size_t>(missing)));
  }
  if (left) buffer.append(text);
  if (buffer.size() > kTextMax) return TooLong(s);
  *out = s.arena.Copy(buffer);
  return Outcome::kValue;
}

bool HasCharacter(Text set, Text character) {
  for (size_t at = 0; at < set.size();) {
    const size_t width = Utf8Width(set, at);
    if (set.substr(at, width) == character) return true;
    at += width;
  }
  return false;
}

Text Trim(Text text, Text characters, bool leading, bool trailing) {
  while (leading && !text.empty()) {
    const size_t width = Utf8Width(text, 0);
    if (!HasCharacter(characters, text.substr(0, width))) break;
    text.remove_prefix(width);
  }
  while (trailing && !text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && IsContinuation(text[at])) --at;
    if (!HasCharacter(characters, text.substr(at))) break;
    text = text.substr(0, at);
  }
  return text;
}

// Joins any number of strings. CONCAT: NULL when one is NULL. CONCAT_WS: the first is the
// separator, NULLs are left out.
class JoinKernel final : public ArgumentsKernel {
 public:
  JoinKernel(const Type& type, Args args, bool separator)
      : ArgumentsKernel(type, std::move(args)), separator_(separator) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    rows = EvaluateArguments(batch, rows, state);
    result_.Resize(batch.rows());
    for (uint32_t r : rows) {
      const bool null = separator_ ? !columns_[0]->valid[r]
                                   : std::any_of(columns_.begin(), columns_.end(),
                                                 [r](const Column* c) { return !c->valid[r]; });
      result_.valid[r] = !null;
      if (!null) result_.strings[r] = Join(r, state.arena);
    }
    return result_;
  }

 private:
  Text Join(uint32_t r, Arena& arena) const {
    const Text separator = separator_ ? columns_[0]->strings[r] : Text();
    size_t size = 0;
    size_t count = 0;
    for (size_t i = separator_; i < columns_.size(); ++i) {
      if (!columns_[i]->valid[r]) continue;
      size += columns_[i]->strings[r].size();
      ++count;
    }
    if (count > 1) size += (count - 1) * separator.size();
    if (size == 0) return {};
    char* const begin = arena.Allocate(size);
    char* at = begin;
    const auto append = [&at](Text piece) {
      if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
      at += piece.size();
    };
    bool first = true;
    for (size_t i = separator_; i < columns_.size(); ++i) {
      if (!columns_[i]->valid[r]) continue;
      if (!first) append(separator);
      first = false;
      append(columns_[i]->strings[r]);
    }
    return {begin, size};
  }
  bool separator_;
};

// A function text -> text that writes into a buffer.
template <class F>
KernelPtr Rewrite(const Call& call, Args& args, F rewrite) {
  return Strict<Text, Text>(
      call.type, std::move(args),
      [rewrite, buffer = std::string()](OpState& s, Text a, Text* out) mutable {
        buffer.clear();
        rewrite(a, buffer);
        *out = s.arena.Copy(buffer);
        return Outcome::kValue;
      });
}

KernelPtr MakeTrim(const Call& call, Args& args) {
  const bool leading = call.fn != Fn::kTrimTrailing;
  const bool trailing = call.fn != Fn::kTrimLeading;
  return Strict<Text, Text, Text>(call.type, std::move(args),
                                  [=](OpState&, Text a, Text characters, Text* out) {
                                    *out = Trim(a, characters, leading, trailing);
                                    return Outcome::kValue;
                                  });
}

KernelPtr MakeSubstring(const Call& call, Args& args) {
  if (args.size() == 2) {
    return Strict<Text, Text, int64_t>(call.type, std::move(args),
                                       [](OpState& s, Text a, int64_t start, Text* out) {
                                         return Substring(s, a, start, INT64_MAX, out);
                                       });
  }
  return Strict<Text, Text, int64_t, int64_t>(
      call.type, std::move(args), [](OpState& s, Text a, int64_t start, int64_t length, Text* out) {
        return Substring(s, a, start, length, out);
      });
}

KernelPtr MakeLeftRight(const Call& call, Args& args) {
  const bool left = call.fn == Fn::kLeft;
  return Strict<Text, Text, int64_t>(
      call.type, std::move(args), [left](OpState&, Text a, int64_t n, Text* out) {
        const size_t wanted = n <= 0 ? 0 : static_cast<size_t>(n);
        if (left) {
          *out = FirstCodePoints(a, wanted);
        } else {
          const size_t count = CountCodePoints(a);
          *out = wanted >= count ? a : a.substr(Utf8Offset(a, count - wanted));
        }
        return Outcome::kValue;
      });
}

KernelPtr MakeRepeat(const Call& call, Args& args) {
  return Strict<Text, Text, int64_t>(
      call.type, std::move(args), [](OpState& s, Text a, int64_t n, Text* out) {
        *out = Text();
        if (n <= 0 || a.empty()) return Outcome::kValue;
        if (static_cast<uint64_t>(n) > kTextMax / a.size()) return TooLong(s);
        const size_t size = a.size() * static_cast<size_t>(n);
        char* at = s.arena.Allocate(size);
        for (int64_t i = 0; i < n; ++i) {
          std::memcpy(at + static_cast<size_t>(i) * a.size(), a.data(), a.size());
        }
        *out = {at, size};
        return Outcome::kValue;
      });
}

KernelPtr MakePad(const Call& call, Args& args) {
  const bool left = call.fn == Fn::kLpad;
  return Strict<Text, Text, int64_t, Text>(
      call.type, std::move(args),
      [left, buffer = std::string()](OpState& s, Text a, int64_t length, Text pad,
                                     Text* out) mutable {
        return Pad(s, a, length, pad, left, buffer, out);
      });
}

// What a function takes: t = text, i = integer; the last may repeat ('*') or be left out ('?').
std::string_view Signature(Fn fn) {
  switch (fn) {
    case Fn::kConcat:
      return "t*";
    case Fn::kConcatWs:
      return "tt*";
    case Fn::kUpper:
    case Fn::kLower:
    case Fn::kReverse:
    case Fn::kInitcap:
    case Fn::kCharLength:
    case Fn::kOctetLength:
      return "t";
    case Fn::kTrimBoth:
    case Fn::kTrimLeading:
    case Fn::kTrimTrailing:
    case Fn::kPosition:
    case Fn::kStartsWith:
    case Fn::kEndsWith:
      return "tt";
    case Fn::kSubstring:
      return "tii?";
    case Fn::kReplace:
      return "ttt";
    case Fn::kSplitIndex:
      return "tti";
    case Fn::kLpad:
    case Fn::kRpad:
      return "tit";
    case Fn::kLeft:
    case Fn::kRight:
    case Fn::kRepeat:
      return "ti";
    default:
      return {};
  }
}

}  // namespace

Status MatchSignature(const Call& call, Args& args, std::string_view signature) {
  const bool repeats = signature.ends_with('*');
  const bool optional = signature.ends_with('?');
  const size_t letters = signature.size() - (repeats || optional);
  const size_t least = letters - (repeats || optional);
  if (args.size() < least || (!repeats && args.size() > letters)) {
    return BadArguments(call).value();
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const char letter = signature[std::min(i, letters - 1)];
    // BYTES are as good as text where only bytes are looked at; others were cast by the binder.
    const bool text = letter == 't';
    if (args[i]->type().kind == TypeKind::kNull) {
      const Type type = Type::Of(text ? TypeKind::kString : TypeKind::kBigInt);
      args[i] = MakeLiteralKernel(Value::Null(type));
    }
    if (args[i]->type().physical() != (text ? Physical::kString : Physical::kInt64)) {
      return BadArguments(call).value();
    }
  }
  return Status::Ok();
}

Result<KernelPtr> MakeText(const Call& call, Args& args) {
  const std::string_view signature = Signature(call.fn);
  if (signature.empty()) return MakeDigest(call, args);
  WEIR_RETURN_IF_ERROR(MatchSignature(call, args, signature));
  switch (call.fn) {
    case Fn::kConcat:
    case Fn::kConcatWs:
      return std::make_unique<JoinKernel>(call.type, std::move(args), call.fn == Fn::kConcatWs);
    case Fn::kUpper:
      return Rewrite(call, args, AppendUpper);
    case Fn::kLower:
      return Rewrite(call, args, AppendLower);
    case Fn::kReverse:
      return Rewrite(call, args, AppendReversed);
    case Fn::kInitcap:
      return Rewrite(call, args, AppendInitcap);
    case Fn::kTrimBoth:
    case Fn::kTrimLeading:
    case Fn::kTrimTrailing:
      return MakeTrim(call, args);
    case Fn::kSubstring:
      return MakeSubstring(call, args);
    case Fn::kLeft:
    case Fn::kRight:
      return MakeLeftRight(call, args);
    case Fn::kRepeat:
      return MakeRepeat(call, args);
    case Fn::kLpad:
    case Fn::kRpad:
      return MakePad(call, args);
    case Fn::kCharLength:
      return Strict<int64_t, Text>(call.type, std::move(args), [](OpState&, Text a, int64_t* out) {
        *out = static_cast<int64_t>(CountCodePoints(a));
        return Outcome::kValue;
      });
    case Fn::kOctetLength:
      return Strict<int64_t, Text>(call.type, std::move(args), [](OpState&, Text a, int64_t* out) {
        *out = static_cast<int64_t>(a.size());
        return Outcome::kValue;
      });
    case Fn::kPosition:
      return Strict<int64_t, Text, Text>(call.type, std::move(args),
                                         [](OpState&, Text needle, Text a, int64_t* out) {
                                           *out = Position(needle, a);
                                           return Outcome::kValue;
                                         });
    case Fn::kStartsWith:
    case Fn::kEndsWith:
      return Strict<uint8_t, Text, Text>(
          call.type, std::move(args),
          [start = call.fn == Fn::kStartsWith](OpState&, Text a, Text part, uint8_t* out) {
            *out = start ? a.starts_with(part) : a.ends_with(part);
            return Outcome::kValue;
          });
    case Fn::kReplace:
      return Strict<Text, Text, Text, Text>(
          call.type, std::move(args),
          [buffer = std::string()](OpState& s, Text a, Text from, Text to, Text* out) mutable {
            return Replace(s, a, from, to, buffer, out);
          });
    case Fn::kSplitIndex:
      return Strict<Text, Text, Text, int64_t>(
          call.type, std::move(args),
          [](OpState&, Text a, Text separator, int64_t index, Text* out) {
            return SplitIndex(a, separator, index, out);
          });
    default:
      return BadArguments(call);
  }
}

}  // namespace weir::operators
