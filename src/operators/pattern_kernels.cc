// LIKE and the regular expressions. A literal pattern is compiled once; one that comes from a
// column is compiled when it differs from those before it, and kept.
#include <re2/re2.h>

#include <map>
#include <optional>

#include "operators/kernels.h"
#include "operators/like.h"
#include "operators/text.h"
#include "operators/utf8.h"

namespace weir::operators {
namespace {

using plan::Fn;
using Text = std::string_view;

constexpr size_t kCachedPatterns = 64;

re2::StringPiece Piece(Text t) { return {t.data(), t.size()}; }

Result<std::shared_ptr<const RE2>> CompileRegex(Text pattern) {
  RE2::Options options;  // UTF-8; linear time whatever the pattern
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(Piece(pattern), options);
  if (!regex->ok()) {
    return Fail(Code::kInvalid, "regular expression: " + regex->error());
  }
  return regex;
}

// Compiled patterns by text. When full it starts anew: what is compiled never changes a result.
template <class T>
class PatternCache {
 public:
  template <class Compile>
  const T* Get(Text pattern, Compile compile, std::string* error) {
    const auto found = compiled_.find(pattern);
    if (found != compiled_.end()) return &found->second;
    Result<T> made = compile(pattern);
    if (!made) {
      *error = made.error().message();
      return nullptr;
    }
    if (compiled_.size() >= kCachedPatterns) compiled_.clear();
    return &compiled_.emplace(std::string(pattern), std::move(*made)).first->second;
  }

 private:
  std::map<std::string, T, std::less<>> compiled_;
};

// A regular expression argument: compiled once when it is a literal.
class RegexArgument {
 public:
  static Result<RegexArgument> Of(const Kernel& kernel) {
    RegexArgument argument;
    const Value* literal = kernel.literal();
    if (literal && !literal->null) {
      WEIR_ASSIGN_OR_RETURN(argument.fixed_, CompileRegex(literal->text));
    }
    return argument;
  }
  // Null: not a regular expression; `error` says why.
  const RE2* Get(Text pattern, std::string* error) {
    if (fixed_) return fixed_.get();
    const auto* found = cache_.Get(pattern, CompileRegex, error);
    return found ? found->get() : nullptr;
  }

 private:
  std::shared_ptr<const RE2> fixed_;
  PatternCache<std::shared_ptr<const RE2>> cache_;
};

// An argument that the caller has checked: the row's own literal cannot fail.
Result<KernelPtr> MakeLike(const Call& call, Args& args) {
  if (args.size() == 2) {
    Value none;
    none.type = Type::Of(TypeKind::kString);
    none.null = false;
    args.push_back(MakeLiteralKernel(std::move(none)));
  }
  WEIR_RETURN_IF_ERROR(MatchSignature(call, args, "ttt"));
  const Value* pattern = args[1]->literal();
  const Value* escape = args[2]->literal();
  std::optional<LikePattern> fixed;
  if (pattern && escape && !pattern->null && !escape->null) {
    WEIR_ASSIGN_OR_RETURN(fixed, LikePattern::Compile(pattern->text, escape->text));
  }
  return Strict<uint8_t, Text, Text, Text>(
      call.type, std::move(args),
      [fixed = std::move(fixed), cache = PatternCache<LikePattern>(), key = std::string()](
          OpState& s, Text a, Text pattern_text, Text escape_text, uint8_t* out) mutable {
        const LikePattern* like = fixed ? &*fixed : nullptr;
        std::string error;
        if (!like) {
          // The escape is part of what the pattern means: its length keeps the two apart.
          key.assign(1, static_cast<char>(escape_text.size()));
          key.append(escape_text).append(pattern_text);
          like = cache.Get(
              key, [&](Text) { return LikePattern::Compile(pattern_text, escape_text); }, &error);
        }
        if (!like) return s.Fail(kArgument, error);
        *out = like->Matches(a);
        return Outcome::kValue;
      });
}

Result<KernelPtr> MakeRegexp(const Call& call, Args& args) {
  WEIR_RETURN_IF_ERROR(MatchSignature(call, args, "tt"));
  WEIR_ASSIGN_OR_RETURN(RegexArgument regex, RegexArgument::Of(*args[1]));
  return Strict<uint8_t, Text, Text>(
      call.type, std::move(args),
      [regex = std::move(regex)](OpState& s, Text a, Text pattern, uint8_t* out) mutable {
        // Flink: an empty pattern matches nothing.
        *out = 0;
        if (pattern.empty()) return Outcome::kValue;
        std::string error;
        const RE2* re = regex.Get(pattern, &error);
        if (!re) return s.Fail(kArgument, error);
        *out = RE2::PartialMatch(Piece(a), *re);
        return Outcome::kValue;
      });
}

Result<KernelPtr> MakeRegexpExtract(const Call& call, Args& args) {
  if (args.size() == 2) {
    Value whole;
    whole.type = Type::Of(TypeKind::kInt);
    whole.null = false;
    args.push_back(MakeLiteralKernel(std::move(whole)));
  }
  WEIR_RETURN_IF_ERROR(MatchSignature(call, args, "tti"));
  WEIR_ASSIGN_OR_RETURN(RegexArgument regex, RegexArgument::Of(*args[1]));
  return Strict<Text, Text, Text, int64_t>(
      call.type, std::move(args),
      [regex = std::move(regex), groups = std::vector<re2::StringPiece>()](
          OpState& s, Text a, Text pattern, int64_t group, Text* out) mutable {
        std::string error;
        const RE2* re = regex.Get(pattern, &error);
        if (!re) return s.Fail(kArgument, error);
        if (group < 0 || group > re->NumberOfCapturingGroups()) return Outcome::kNull;
        groups.assign(static_cast<size_t>(group) + 1, {});
        if (!re->Match(Piece(a), 0, a.size(), RE2::UNANCHORED, groups.data(),
                       static_cast<int>(groups.size()))) {
          return Outcome::kNull;
        }
        const re2::StringPiece& found = groups[static_cast<size_t>(group)];
        if (found.data() == nullptr) return Outcome::kNull;  // a group that took no part
        *out = Text(found.data(), found.size());
        return Outcome::kValue;
      });
}

// Every match, from left to right; an empty one also right behind another (Java's rule). The
// replacement is literal text, as in Flink.
void ReplaceMatches(const RE2& re, Text a, Text replacement, std::string& out) {
  size_t at = 0;
  while (at <= a.size()) {
    re2::StringPiece match;
    if (!re.Match(Piece(a), at, a.size(), RE2::UNANCHORED, &match, 1)) break;
    const size_t begin = static_cast<size_t>(match.data() - a.data());
    out.append(a.substr(at, begin - at)).append(replacement);
    at = begin + match.size();
    if (!match.empty()) continue;
    if (at == a.size()) return;
    const size_t width = Utf8Width(a, at);
    out.append(a.substr(at, width));
    at += width;
  }
  if (at < a.size()) out.append(a.substr(at));
}

Result<KernelPtr> MakeRegexpReplace(const Call& call, Args& args) {
  WEIR_RETURN_IF_ERROR(MatchSignature(call, args, "ttt"));
  WEIR_ASSIGN_OR_RETURN(RegexArgument regex, RegexArgument::Of(*args[1]));
  return Strict<Text, Text, Text, Text>(
      call.type, std::move(args),
      [regex = std::move(regex), buffer = std::string()](OpState& s, Text a, Text pattern,
                                                         Text replacement, Text* out) mutable {
        std::string error;
        const RE2* re = regex.Get(pattern, &error);
        if (!re) return s.Fail(kArgument, error);
        buffer.clear();
        ReplaceMatches(*re, a, replacement, buffer);
        *out = s.arena.Copy(buffer);
        return Outcome::kValue;
      });
}

}  // namespace

Result<KernelPtr> MakePattern(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kLike:
      return MakeLike(call, args);
    case Fn::kRegexp:
      return MakeRegexp(call, args);
    case Fn::kRegexpExtract:
      return MakeRegexpExtract(call, args);
    case Fn::kRegexpReplace:
      return MakeRegexpReplace(call, args);
    default:
      return nullptr;
  }
}

}  // namespace weir::operators
