#include "app/secrets.h"

#include "io/process.h"

namespace weir::app {

namespace {

constexpr uint64_t kSecretBytesMax = 64 << 10;

Result<std::string> FromFile(io::Files& files, const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(std::string value, io::ReadFile(files, path, kSecretBytesMax));
  if (!value.empty() && value.back() == '\n') value.pop_back();
  if (!value.empty() && value.back() == '\r') value.pop_back();
  return value;
}

}  // namespace

Result<std::string> ResolveSecret(io::Files& files, std::string_view kind, std::string_view name) {
  const std::string what(name);
  if (kind == "env") {
    std::optional<std::string> value = io::GetEnvironment(what.c_str());
    if (!value) return Fail(Code::kInvalid, "the environment has no such variable");
    return *std::move(value);
  }
  if (kind == "cred") {
    const std::optional<std::string> directory = io::GetEnvironment("CREDENTIALS_DIRECTORY");
    if (!directory)
      return Fail(Code::kInvalid,
                  "systemd has handed over no credentials (CREDENTIALS_DIRECTORY is not set)");
    if (what.find('/') != std::string::npos)
      return Fail(Code::kInvalid, "a credential's name has no slash");
    return FromFile(files, io::JoinPath(*directory, what));
  }
  if (kind == "file") return FromFile(files, what);
  return Fail(Code::kInvalid, "known are ${NAME}, ${cred:name} and ${file:/path}");
}

}  // namespace weir::app
