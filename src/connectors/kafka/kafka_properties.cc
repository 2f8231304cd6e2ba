#include "connectors/kafka/kafka_properties.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/spec_parts.h"

namespace weir::connectors {
namespace {

constexpr std::string_view kPrefix = "properties.";
constexpr std::string_view kResetProperty = "auto.offset.reset";

// A name, or with a * at its end every name that begins so.
struct Refused {
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kNoGroup = "weir assigns partitions itself and joins no group";
constexpr std::string_view kPositions =
    "positions live in weir's sealed epochs; weir.commit-positions mirrors them for lag monitors";
constexpr std::string_view kExactlyOnce = "what exactly once needs is not a setting";
constexpr std::string_view kMemory = "sizes follow from SET 'weir.memory.limit'";
constexpr std::string_view kFormatsDoIt = "the options format and key.format say it";
constexpr std::string_view kPem =
    "a setting of Java; here properties.ssl.ca.location names a file of CA certificates (PEM)";
constexpr std::string_view kNoPlugins = "nothing is loaded at run time";
constexpr std::string_view kNoKerberos = "this binary has no Kerberos";
constexpr std::string_view kToken =
    "the token comes from the file that "
    "weir.oauthbearer.token-file names";
constexpr std::string_view kLogs =
    "weir logs what the library reports; its own log may show secrets";
constexpr std::string_view kNotText = "no value can be given as text";

constexpr Refused kRefused[] = {
    {"group.instance.id", kNoGroup},
    {"group.protocol*", kNoGroup},
    {"group.remote.assignor", kNoGroup},
    {"session.timeout.ms", kNoGroup},
    {"heartbeat.interval.ms", kNoGroup},
    {"max.poll.*", kNoGroup},
    {"partition.assignment.strategy", kNoGroup},
    {"coordinator.query.interval.ms", kNoGroup},
    {"enable.auto.commit", kPositions},
    {"auto.commit.*", kPositions},
    {"enable.auto.offset.store", kPositions},
    {"offset.store.*", kPositions},
    {kResetProperty,
     "scan.startup.mode says where reading begins, and a position that is gone parks the source "
     "instead of jumping; only with group-offsets it says what a group without offsets means: "
     "earliest or latest"},
    {"isolation.level", "weir reads committed records, always"},
    {"check.crcs", "checksums are checked, always"},
    {"enable.partition.eof", "the end of a partition is asked of its leader"},
    {"consume.callback.max.messages", kMemory},
    {"transactional.id",
     "it is made of instance, pipeline and cluster; see sink.transactional-id-prefix"},
    {"transaction.timeout.ms", kExactlyOnce},
    {"enable.idempotence", kExactlyOnce},
    {"enable.gapless.guarantee", kExactlyOnce},
    {"acks", kExactlyOnce},
    {"request.required.acks", kExactlyOnce},
    {"max.in.flight*", kExactlyOnce},
    {"retries", kExactlyOnce},
    {"message.send.max.retries", kExactlyOnce},
    {"message.timeout.ms", kExactlyOnce},
    {"delivery.timeout.ms", kExactlyOnce},
    {"delivery.report.only.error", kExactlyOnce},
    {"queuing.strategy", kExactlyOnce},
    {"produce.offset.report", kExactlyOnce},
    {"partitioner", "sink.partitioner says it"},
    {"sticky.partitioning.linger.ms", "sink.partitioner says it"},
    {"queue.buffering.max.messages", kMemory},
    {"queue.buffering.max.kbytes", kMemory},
    {"queued.*", kMemory},
    {"fetch.*", kMemory},
    {"max.partition.fetch.bytes", kMemory},
    {"receive.message.max.bytes", kMemory},
    {"message.copy.max.bytes", kMemory},
    {"allow.auto.create.topics", "a topic that does not exist is an error"},
    {"key.deserializer", kFormatsDoIt},
    {"value.deserializer", kFormatsDoIt},
    {"key.serializer", kFormatsDoIt},
    {"value.serializer", kFormatsDoIt},
    {"sasl.jaas.config",
     "a setting of Java; here properties.sasl.username and properties.sasl.password say it"},
    {"sasl.login.*", "a setting of Java"},
    {"sasl.client.callback.handler.class", "a setting of Java"},
    {"ssl.truststore.*", kPem},
    {"ssl.keystore.type",
     "a setting of Java; properties.ssl.keystore.location is PKCS#12 here, or "
     "use ssl.certificate.location and ssl.key.location (PEM)"},
    {"ssl.protocol", "a setting of Java"},
    {"ssl.enabled.protocols", "a setting of Java"},
    {"ssl.engine*", kNoPlugins},
    {"ssl.providers", kNoPlugins},
    {"ssl_engine_callback_data", kNotText},
    {"plugin.library.paths", kNoPlugins},
    {"interceptor*", kNoPlugins},
    {"metric.reporters", kNoPlugins},
    {"sasl.kerberos.*", kNoKerberos},
    {"sasl.oauthbearer.*", kToken},
    {"enable.sasl.oauthbearer.unsecure.jwt", kToken},
    {"debug", kLogs},
    {"log_level", kLogs},
    {"log.*", kLogs},
    {"statistics.interval.ms", "weir status shows what there is to see"},
    {"enable.metrics.push", "weir sends nothing about itself"},
    {"test.mock.*", "a made-up broker proves nothing"},
    {"opaque", kNotText},
    {"default_topic_conf", kNotText},
    {"ssl_key", kNotText},
    {"ssl_certificate", kNotText},
    {"ssl_ca", kNotText},
    {"builtin.features", "it cannot be set"},
    {"enabled_events", kNotText},
};

bool Matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool AllowedReset(const plan::TableDef& table, bool as_sink, const plan::OptionValue& value) {
  return !as_sink && table.options.String("scan.startup.mode") == "group-offsets" &&
         (value.text == "earliest" || value.text == "latest");
}

bool IsMechanism(std::string_view name) {
  return name == "sasl.mechanism" || name == "sasl.mechanisms";
}

// The value is not shown: it may come from a secret.
std::string MechanismRefusal(std::string_view value) {
  for (const std::string_view known : {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"}) {
    if (EqualsIgnoreCase(value, known)) return "";
  }
  return "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER are there";
}

bool UsesOauth(const ClientConfig& config) {
  return std::any_of(config.properties.begin(), config.properties.end(),
                     [](const ClientProperty& p) {
                       return IsMechanism(p.name) && EqualsIgnoreCase(p.value, "OAUTHBEARER");
                     });
}

void CheckOauth(const plan::TableDef& table, const ClientConfig& config,
                std::vector<plan::Diagnostic>& out) {
  const bool has_file = table.options.Has("weir.oauthbearer.token-file");
  if (UsesOauth(config) && !has_file) {
    Error(out, table.position, "SASL OAUTHBEARER needs weir.oauthbearer.token-file");
  } else if (!UsesOauth(config) && has_file) {
    Error(out, table.options.Find("weir.oauthbearer.token-file")->key_position,
          "weir.oauthbearer.token-file needs properties.sasl.mechanism = 'OAUTHBEARER'");
  }
}

}  // namespace

bool ClientConfig::operator==(const ClientConfig& other) const {
  return std::equal(properties.begin(), properties.end(), other.properties.begin(),
                    other.properties.end(), [](const ClientProperty& a, const ClientProperty& b) {
                      return a.name == b.name && a.value == b.value;
                    });
}

ClientConfig ClientConfigOf(const plan::TableDef& table) {
  ClientConfig config;
  for (const auto& [name, value] : table.options.all()) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string property = name.substr(kPrefix.size());
    // With group-offsets: what a group without offsets means. The handle's own is always `error`.
    if (property == kResetProperty) continue;
    config.properties.push_back(
        {property, value.text, value.text == value.written ? "" : value.written});
    // What comes from a reference is shown nowhere.
    if (property == "sasl.username" && value.text == value.written) config.shown_user = value.text;
  }
  return config;
}

Status ClientConfig::Renew() {
  CHECK(references != nullptr);
  const uint64_t now = references->generation();  // before: a signal meanwhile counts again
  std::vector<ClientProperty> renewed = properties;
  for (ClientProperty& property : renewed) {
    if (property.written.empty()) continue;
    plan::Expansion expansion = references->Expand(property.written);
    if (!expansion.error.empty()) {
      return Status(Code::kUnavailable,
                    "properties." + property.name + " cannot be read again: " + expansion.error);
    }
    property.value = std::move(expansion.text);
  }
  properties = std::move(renewed);
  generation = now;
  return Status::Ok();
}

ClientConfig ClientConfigOf(const plan::TableDef& table, const io::Env& env,
                            std::shared_ptr<const plan::References> references) {
  constexpr uint64_t kTokenBytesMax = 64 << 10;
  ClientConfig config = ClientConfigOf(table);
  // What the SQL's text was expanded to is of the first generation: of before the first signal.
  config.generation = references == nullptr ? 0 : plan::References::kFirst;
  config.references = std::move(references);
  if (!table.options.Has("weir.oauthbearer.token-file")) return config;
  io::Files& files = env.files;
  io::Clock& clock = env.clock;
  const std::string path = table.options.String("weir.oauthbearer.token-file");
  config.token = [&files, path]() -> Result<std::string> {
    WEIR_ASSIGN_OR_RETURN(const std::string text, io::ReadFile(files, path, kTokenBytesMax));
    return std::string(TrimAscii(text));
  };
  config.wall_ms = [&clock] { return clock.WallMs(); };
  return config;
}

std::vector<ClientProperty> FixedProperties(ClientRole role) {
  // Time-outs: a frozen leader keeps a connection busy until socket.timeout.ms, and a broker that
  // is back is found again within reconnect.backoff.max.ms.
  std::vector<ClientProperty> fixed = {
      {"allow.auto.create.topics", "false"},
      {"enable.metrics.push", "false"},
      {"socket.keepalive.enable", "true"},
  };
  switch (role) {
    case ClientRole::kConsumer:
      fixed.insert(fixed.end(), {{"auto.offset.reset", "error"},
                                 {"enable.auto.commit", "false"},
                                 {"enable.auto.offset.store", "false"},
                                 {"isolation.level", "read_committed"},
                                 {"check.crcs", "true"}});
      break;
    case ClientRole::kAdmin:
      // A consumer by kind, so that it may ask for a group's offsets; it reads nothing.
      fixed.insert(fixed.end(), {{"auto.offset.reset", "error"},
                                 {"enable.auto.commit", "false"},
                                 {"enable.auto.offset.store", "false"},
                                 {"isolation.level", "read_committed"}});
      break;
    case ClientRole::kProducer:
      // librdkafka's own bound is 1 GiB.
      fixed.insert(fixed.end(), {{"queue.buffering.max.kbytes", "16384"},
                                 {"queue.buffering.max.messages", "50000"}});
      break;
  }
  return fixed;
}

std::string_view PropertyRefusal(std::string_view name) {
  for (const Refused& refused : kRefused) {
    if (Matches(refused.name, name)) return refused.why;
  }
  return name.ends_with("_cb") ? kNotText : std::string_view();
}

void CheckProperties(const plan::TableDef& table, bool as_sink,
                     std::vector<plan::Diagnostic>& out) {
  const size_t before = out.size();
  const ClientRole role = as_sink ? ClientRole::kProducer : ClientRole::kConsumer;
  for (const auto& [name, value] : table.options.all()) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string property = name.substr(kPrefix.size());
    std::string_view refusal = PropertyRefusal(property);
    if (property == kResetProperty && AllowedReset(table, as_sink, value)) continue;
    if (!refusal.empty()) {
      Error(out, value.key_position, "option " + name + " must not be set", std::string(refusal));
      continue;
    }
    if (const std::string why = IsMechanism(property) ? MechanismRefusal(value.text) : "";
        !why.empty()) {
      Error(out, value.value_position, "option " + name + ": not a mechanism of this binary", why);
      continue;
    }
    // What a ${} stands for may be a secret, and is never shown; the library's text quotes values.
    if (const Status status = TryProperty(property, value.text, role); !status.ok()) {
      Error(
          out, value.key_position,
          "option " + name + ": " +
              (value.text == value.written ? status.message()
                                           : "the value of " + value.written + " is not allowed"));
    }
  }
  if (out.size() != before) return;
  const ClientConfig config = ClientConfigOf(table);
  CheckOauth(table, config, out);
  if (out.size() != before) return;
  if (const Status status = TryConfig(config, role); !status.ok())
    Error(out, table.position, "properties.*: " + status.message());
}

}  // namespace weir::connectors
