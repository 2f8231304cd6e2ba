#include "connectors/kafka/kafka_client.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "data/base64.h"

namespace weir::connectors {
namespace {

using Conf = std::unique_ptr<rd_kafka_conf_t, KafkaFree<rd_kafka_conf_destroy>>;
using ErrorText = std::array<char, 512>;

constexpr int64_t kTokenWithoutEndMs = 300'000;  // it is read again after this

rd_kafka_type_t TypeOf(ClientRole role) {
  return role == ClientRole::kProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
}

Status Set(rd_kafka_conf_t* conf, const ClientProperty& property) {
  ErrorText text{};
  if (rd_kafka_conf_set(conf, property.name.c_str(), property.value.c_str(), text.data(),
                        text.size()) == RD_KAFKA_CONF_OK) {
    return Status::Ok();
  }
  return Status(Code::kInvalid, text.data());
}

bool Has(const std::vector<ClientProperty>& properties, std::string_view name) {
  return std::any_of(properties.begin(), properties.end(),
                     [&](const ClientProperty& p) { return p.name == name; });
}

// Whose default would be the place where the library was built for.
bool NeedsCaProbe(const std::vector<ClientProperty>& properties) {
  const bool tls = std::any_of(properties.begin(), properties.end(), [](const ClientProperty& p) {
    return p.name == "security.protocol" && ToLowerAscii(p.value).ends_with("ssl");
  });
  return tls && !Has(properties, "ssl.ca.location") && !Has(properties, "ssl.ca.pem");
}

Status Fill(rd_kafka_conf_t* conf, const ClientConfig& config, ClientRole role,
            const std::vector<ClientProperty>& extra) {
  const ClientProperty defaults[] = {
      {"client.id", "weir"}, {"socket.timeout.ms", "10000"}, {"reconnect.backoff.max.ms", "2000"}};
  for (const ClientProperty& property : defaults) WEIR_RETURN_IF_ERROR(Set(conf, property));
  if (NeedsCaProbe(config.properties))
    WEIR_RETURN_IF_ERROR(Set(conf, {"ssl.ca.location", "probe"}));
  for (const ClientProperty& property : config.properties) {
    const Status status = Set(conf, property);
    if (status.ok()) continue;
    // The library's text may quote the value, and what a reference stands for is never shown.
    return property.written.empty()
               ? status.WithContext("properties." + property.name)
               : Status(Code::kInvalid, "properties." + property.name + ": the value of " +
                                            property.written + " is not allowed");
  }
  for (const ClientProperty& property : extra) {
    const Status status = Set(conf, property);
    CHECK(status.ok());  // weir's own
  }
  for (const ClientProperty& property : FixedProperties(role)) {
    const Status status = Set(conf, property);
    CHECK(status.ok());
  }
  return Status::Ok();
}

// The JSON text of a token's payload, "" when it is no JSON web token.
std::string TokenPayload(std::string_view token) {
  const std::vector<std::string_view> parts = Split(token, '.');
  if (parts.size() < 2) return "";
  std::string text(parts[1]);
  for (char& c : text) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  while (text.size() % 4 != 0) text += '=';
  return DecodeBase64(text).value_or("");
}

// What stands behind "NAME": in a flat JSON object; "" when it is not there.
std::string_view ClaimText(std::string_view payload, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\"";
  const size_t at = payload.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = payload.substr(at + key.size());
  while (!rest.empty() && (rest[0] == ' ' || rest[0] == ':')) rest.remove_prefix(1);
  return rest;
}

}  // namespace

Result<std::unique_ptr<KafkaHandle>> KafkaHandle::Create(const ClientConfig& config,
                                                         ClientRole role,
                                                         const std::vector<ClientProperty>& extra,
                                                         DeliveryReport delivered) {
  // Before the library touches OpenSSL: the host's openssl.cnf, and what it names, is not read.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  Conf conf(rd_kafka_conf_new());
  WEIR_RETURN_IF_ERROR(Fill(conf.get(), config, role, extra));
  auto handle = std::unique_ptr<KafkaHandle>(new KafkaHandle());
  handle->config_ = config;
  rd_kafka_conf_set_opaque(conf.get(), handle.get());
  rd_kafka_conf_set_error_cb(conf.get(), &KafkaHandle::OnError);
  rd_kafka_conf_set_log_cb(conf.get(), &KafkaHandle::OnLog);
  if (delivered != nullptr) rd_kafka_conf_set_dr_msg_cb(conf.get(), delivered);
  if (config.token) {
    rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf.get(), &KafkaHandle::OnTokenWanted);
    // Whoever owns the handle may be in a blocking call when the token ends.
    rd_kafka_conf_enable_sasl_queue(conf.get(), 1);
  }
  ErrorText text{};
  handle->rk_ = rd_kafka_new(TypeOf(role), conf.get(), text.data(), text.size());
  if (handle->rk_ == nullptr) return Fail(Code::kInvalid, text.data());
  (void)conf.release();  // the handle's now
  if (config.token) {
    const KafkaError error(rd_kafka_sasl_background_callbacks_enable(handle->rk_));
    if (error != nullptr) return Fail(Code::kInternal, rd_kafka_error_string(error.get()));
  }
  return handle;
}

KafkaHandle::~KafkaHandle() {
  if (rk_ == nullptr) return;
  // No consumer of ours is a member of a group: there is nothing to leave.
  rd_kafka_destroy_flags(rk_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

void KafkaHandle::OnError(rd_kafka_t* rk, int code, const char* text, void* opaque) {
  auto* handle = static_cast<KafkaHandle*>(opaque);
  const auto error = static_cast<rd_kafka_resp_err_t>(code);
  if (error != RD_KAFKA_RESP_ERR__FATAL) {
    handle->reason_.Note(error, text == nullptr ? "" : text);
    return;
  }
  // "Fatal" is no reason: what was fatal is asked for. (While the handle is being made it is not
  // known yet; nothing fatal happens then.)
  ErrorText fatal{};
  if (rk != nullptr) {
    const rd_kafka_resp_err_t why = rd_kafka_fatal_error(rk, fatal.data(), fatal.size());
    handle->reason_.Note(why, fatal.data());
  }
}

void KafkaHandle::OnLog(const rd_kafka_t* rk, int, const char* facility, const char* text) {
  if (rk == nullptr || facility == nullptr || text == nullptr) return;
  KafkaHandle& handle = *static_cast<KafkaHandle*>(rd_kafka_opaque(rk));
  KafkaReason& reason = handle.reason_;
  if (std::string_view(facility) == "CONFWARN") reason.NoteLog(text);
  if (std::string_view(facility) == "GETPID") {
    const std::lock_guard lock(handle.identity_mutex_);
    if (const auto identity = AcquiredIdentity(text)) handle.identity_ = identity;
  }
  if (std::string_view(facility) != "FAIL") return;
  // That the other side has closed a connection, and what that may mean ("connecting to a SSL
  // listener?"), is told to the log only. In front stands the thread.
  std::string_view line(text);
  if (const size_t end = line.find("]: "); end != std::string_view::npos)
    line.remove_prefix(end + 3);
  reason.Note(RD_KAFKA_RESP_ERR__TRANSPORT, line);
}

void KafkaHandle::OnTokenWanted(rd_kafka_t* rk, const char*, void* opaque) {
  auto* handle = static_cast<KafkaHandle*>(opaque);
  const Result<std::string> token = handle->config_.token();
  ErrorText text{};
  if (token.has_value()) {
    const int64_t now_ms = handle->config_.wall_ms();
    const std::string subject = TokenSubject(*token);
    if (rd_kafka_oauthbearer_set_token(
            rk, token->c_str(), TokenEndMs(*token).value_or(now_ms + kTokenWithoutEndMs),
            subject.c_str(), nullptr, 0, text.data(), text.size()) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      return;
    }
  }
  const std::string why = token.has_value() ? text.data() : token.error().message();
  handle->reason_.Note(RD_KAFKA_RESP_ERR__AUTHENTICATION, "OAUTHBEARER token: " + why);
  rd_kafka_oauthbearer_set_token_failure(rk, why.c_str());
}

Status KafkaHandle::Unavailable(std::string_view what, rd_kafka_resp_err_t code,
                                std::string_view text) const {
  return Status(Code::kUnavailable, Explain(what, code, text, reason_, config_.shown_user));
}

Status KafkaHandle::Unavailable(std::string_view what, const rd_kafka_error_t* error) const {
  return Unavailable(what, rd_kafka_error_code(error), rd_kafka_error_string(error));
}

Status TryProperty(const std::string& name, const std::string& value, ClientRole) {
  const Conf conf(rd_kafka_conf_new());
  return Set(conf.get(), {name, value});
}

Status TryConfig(const ClientConfig& config, ClientRole role) {
  ClientConfig silent = config;
  // Without an address nobody is contacted.
  std::erase_if(silent.properties, [](const ClientProperty& p) {
    return p.name == "bootstrap.servers" || p.name == "metadata.broker.list";
  });
  silent.token = nullptr;
  WEIR_ASSIGN_OR_RETURN(const auto handle, KafkaHandle::Create(silent, role, {}));
  const std::string log = handle->reason().LogText();
  for (const std::string_view line : Split(log, ';')) {
    if (line.find("will be ignored") != std::string_view::npos)
      return Status(Code::kInvalid, std::string(TrimAscii(line)));
  }
  return Status::Ok();
}

std::optional<int64_t> TokenEndMs(std::string_view token) {
  const std::string payload = TokenPayload(token);
  const std::string_view text = ClaimText(payload, "exp");
  const size_t digits = text.find_first_not_of("0123456789");
  const auto seconds = ParseInt64(text.substr(0, digits));
  if (!seconds || *seconds > INT64_MAX / 1000) return std::nullopt;
  return *seconds * 1000;
}

std::string TokenSubject(std::string_view token) {
  const std::string payload = TokenPayload(token);
  const std::string_view text = ClaimText(payload, "sub");
  if (!text.starts_with('"')) return "";
  const size_t end = text.find('"', 1);
  return end == std::string_view::npos ? "" : std::string(text.substr(1, end - 1));
}

std::string_view HeaderOf(const rd_kafka_message_t& message, const char* name) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      value == nullptr) {
    return {};
  }
  return {static_cast<const char*>(value), size};
}

}  // namespace weir::connectors
