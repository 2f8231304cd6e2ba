#include "operators/text.h"

#include <utf8proc.h>

#include <optional>

#include "base/hash.h"
#include "data/base64.h"
#include "data/utf8.h"
#include "operators/utf8.h"

namespace weir::operators {
namespace {

using plan::Fn;
using Text = std::string_view;

void AppendCodePoint(utf8proc_int32_t c, std::string& out) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t n = utf8proc_encode_char(c, bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
}

// The code point at text[*at]; advances. -1 for bytes that are none (they never are in a column of
// strings).
utf8proc_int32_t NextCodePoint(Text text, size_t* at) {
  utf8proc_int32_t c = -1;
  const utf8proc_ssize_t n =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + *at,
                       static_cast<utf8proc_ssize_t>(text.size() - *at), &c);
  *at += n > 0 ? static_cast<size_t>(n) : 1;
  return n > 0 ? c : -1;
}

char UpperAscii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Unicode's simple mapping has no capital for U+00DF; utf8proc takes U+1E9E.
utf8proc_int32_t Upper(utf8proc_int32_t c) { return c == 0xDF ? c : utf8proc_toupper(c); }

template <class Ascii, class Unicode>
void AppendMapped(Text text, std::string& out, Ascii ascii, Unicode unicode) {
  out.reserve(out.size() + text.size());
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      out.push_back(ascii(text[at++]));
      continue;
    }
    const size_t begin = at;
    const utf8proc_int32_t c = NextCodePoint(text, &at);
    if (c < 0) {
      out.append(text.substr(begin, at - begin));
    } else {
      AppendCodePoint(unicode(c), out);
    }
  }
}

bool IsAlphanumeric(utf8proc_int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
      return true;
    default:
      return false;
  }
}

}  // namespace

void AppendUpper(Text text, std::string& out) { AppendMapped(text, out, UpperAscii, Upper); }
void AppendLower(Text text, std::string& out) {
  AppendMapped(text, out, LowerAscii, utf8proc_tolower);
}

void AppendInitcap(Text text, std::string& out) {
  bool inside = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const utf8proc_int32_t c = NextCodePoint(text, &at);
    if (c < 0 || !IsAlphanumeric(c)) {
      out.append(text.substr(begin, at - begin));
      inside = false;
      continue;
    }
    AppendCodePoint(inside ? utf8proc_tolower(c) : Upper(c), out);
    inside = true;
  }
}

void AppendReversed(Text text, std::string& out) {
  out.reserve(out.size() + text.size());
  for (size_t end = text.size(); end > 0;) {
    size_t at = end - 1;
    while (at > 0 && IsContinuation(text[at])) --at;
    out.append(text.substr(at, end - at));
    end = at;
  }
}

namespace {

std::string HexSha256(Text text) { return Sha256(text).ToHex(); }

template <class F>
KernelPtr TextOf(const Call& call, Args& args, F f) {
  return Strict<Text, Text>(call.type, std::move(args), [f](OpState& s, Text a, Text* out) {
    *out = s.arena.Copy(f(a));
    return Outcome::kValue;
  });
}

}  // namespace

Result<KernelPtr> MakeDigest(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kMd5:
    case Fn::kSha256:
    case Fn::kToBase64:
    case Fn::kFromBase64:
      WEIR_RETURN_IF_ERROR(MatchSignature(call, args, "t"));
      break;
    default:
      return nullptr;
  }
  if (call.fn == Fn::kMd5) return TextOf(call, args, Md5Hex);
  if (call.fn == Fn::kSha256) return TextOf(call, args, HexSha256);
  if (call.fn == Fn::kToBase64) {
    return TextOf(call, args, [](Text a) {
      std::string out;
      AppendBase64(a, out);
      return out;
    });
  }
  const bool text = call.type.kind == TypeKind::kString;
  return Strict<Text, Text>(call.type, std::move(args), [text](OpState& s, Text a, Text* out) {
    const std::optional<std::string> bytes = DecodeBase64(a);
    if (!bytes) return s.Fail(kArgument, ShownInMessage(a) + " is not base64");
    if (text && !IsWellFormedUtf8(*bytes)) {
      return s.Fail(kArgument, "FROM_BASE64: the bytes are not valid UTF-8");
    }
    *out = s.arena.Copy(*bytes);
    return Outcome::kValue;
  });
}

}  // namespace weir::operators
