#include "plan/references.h"

namespace weir::plan {

namespace {

Expansion Failed(std::string error, std::string hint) { return {"", false, error, hint}; }

}  // namespace

Expansion ExpandReferences(std::string_view written, const ReadReference& read) {
  Expansion out;
  for (size_t i = 0; i < written.size();) {
    const std::string_view rest = written.substr(i);
    if (rest.starts_with("$${")) {
      out.text += "${";
      i += 3;
      continue;
    }
    if (!rest.starts_with("${")) {
      out.text += written[i++];
      continue;
    }
    const size_t end = rest.find('}');
    if (end == std::string_view::npos) return Failed("${ without }", "a literal ${ is written $${");
    const std::string_view inner = rest.substr(2, end - 2);
    const size_t colon = inner.find(':');
    const bool plain = colon == std::string_view::npos;
    const std::string_view kind = plain ? "env" : inner.substr(0, colon);
    const std::string_view name = plain ? inner : inner.substr(colon + 1);
    const std::string shown = "${" + std::string(inner) + "}";
    const bool known = plain || kind == "cred" || kind == "file";
    if (!known || name.empty()) {
      return Failed(shown + " is not understood",
                    "${NAME}, ${cred:name} or ${file:/path}; there are no default values");
    }
    if (!read) return Failed(shown + ": no values are given here", "");
    const Result<std::string> value = read(kind, name);
    // The name stands in the ${} already; what says why does not say it again.
    if (!value) return Failed(shown + ": " + value.error().message(), "");
    out.text += *value;
    out.secret = out.secret || kind != "env";
    i += end + 1;
  }
  return out;
}

}  // namespace weir::plan
