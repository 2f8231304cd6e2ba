// Rewritings of text by code point and digests: what the string kernels call.
#ifndef WEIR_OPERATORS_TEXT_H_
#define WEIR_OPERATORS_TEXT_H_

#include <string>
#include <string_view>

#include "operators/kernels.h"

namespace weir::operators {

// Simple Unicode mapping, one code point to one: no locale, no context ("ß" stays).
void AppendUpper(std::string_view text, std::string& out);
void AppendLower(std::string_view text, std::string& out);
// The first letter of each word in upper case, the others in lower case; words are runs of letters
// and digits.
void AppendInitcap(std::string_view text, std::string& out);
void AppendReversed(std::string_view text, std::string& out);

// Arguments by a signature such as "tti": t = text, i = integer; a last '*' repeats, a last '?' may
// be missing.
Status MatchSignature(const Call& call, Args& args, std::string_view signature);

Result<KernelPtr> MakeDigest(const Call& call, Args& args);  // MD5, SHA256, TO_BASE64, FROM_BASE64

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_TEXT_H_
