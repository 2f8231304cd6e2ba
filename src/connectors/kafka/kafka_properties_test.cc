// The deny list and the library's own opinion: a property is taken, or refused with a reason, and
// never ignored.
#include "connectors/kafka/kafka_properties.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>

#include "connectors/kafka/kafka_client.h"
#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

std::string Errors(const std::vector<std::pair<std::string, std::string>>& properties,
                   bool as_sink = false) {
  std::vector<std::pair<std::string, std::string>> options = {
      {"topic", "t"}, {"properties.bootstrap.servers", "127.0.0.1:1"}};
  for (const auto& [name, value] : properties) options.emplace_back("properties." + name, value);
  const auto table = MakeTable({.connector = "kafka", .options = options});
  std::vector<plan::Diagnostic> out;
  CheckProperties(*table, as_sink, out);
  std::string text;
  for (const plan::Diagnostic& d : out)
    text += (text.empty() ? "" : "\n") + d.message + (d.hint.empty() ? "" : " | " + d.hint);
  return text;
}

TEST_CASE("what a Flink script brings along is taken") {
  CHECK(Errors({{"security.protocol", "SASL_PLAINTEXT"},
                {"sasl.mechanism", "SCRAM-SHA-512"},
                {"sasl.username", "u"},
                {"sasl.password", "p"},
                {"client.id", "x"}}) == "");
  CHECK(Errors({{"linger.ms", "5"}, {"compression.type", "lz4"}}, true) == "");
}

TEST_CASE("every refused property has its reason, by name and by prefix") {
  for (const char* name :
       {"enable.auto.commit", "auto.offset.reset", "isolation.level", "transactional.id", "acks",
        "group.protocol", "fetch.min.bytes", "queued.min.messages", "sasl.jaas.config",
        "ssl.truststore.location", "plugin.library.paths", "debug", "log.queue",
        "sasl.oauthbearer.method", "test.mock.num.brokers", "consume_cb", "key.deserializer"}) {
    CAPTURE(name);
    CHECK_FALSE(PropertyRefusal(name).empty());
    const std::string refused = "option properties." + std::string(name) + " must not be set | ";
    CHECK(Errors({{name, "1"}}).starts_with(refused));
  }
  CHECK(PropertyRefusal("sasl.username").empty());
  CHECK(PropertyRefusal("linger.ms").empty());
}

TEST_CASE("nothing is accepted and ignored: typos, wrong values, properties of the other role") {
  CHECK(Errors({{"sasl.usernam", "u"}}).find("No such configuration property") !=
        std::string::npos);
  CHECK(Errors({{"security.protocol", "tls"}}).find("security.protocol") != std::string::npos);
  CHECK(Errors({{"linger.ms", "5"}}).find("will be ignored") != std::string::npos);
  CHECK(Errors({{"sasl.mechanism", "GSSAPI"}}).find("not a mechanism of this binary") !=
        std::string::npos);
  CHECK(Errors({{"security.protocol", "ssl"}, {"ssl.ca.location", "/none/ca.pem"}})
            .find("ssl.ca.location") != std::string::npos);
  CHECK(Errors({{"sasl.mechanism", "OAUTHBEARER"}, {"security.protocol", "SASL_PLAINTEXT"}}) ==
        "SASL OAUTHBEARER needs weir.oauthbearer.token-file");
}

TEST_CASE("a value that came from a reference is never shown") {
  auto table = MakeTable(
      {.connector = "kafka", .options = {{"topic", "t"}, {"properties.bootstrap.servers", "h:1"}}});
  plan::OptionSpec spec = *plan::FindOption(table->connector->options, "properties.x");
  spec.name = "properties.security.protocol";
  table->options.Put(spec, {"s3cret", "${cred:protocol}", true, {}, {}, "table option"});
  std::vector<plan::Diagnostic> out;
  CheckProperties(*table, false, out);
  REQUIRE(out.size() == 1);
  CHECK(out[0].message ==
        "option properties.security.protocol: the value of ${cred:protocol} is not allowed");
}

TEST_CASE("what weir fixes holds whatever the user says, for each role") {
  for (const ClientRole role : {ClientRole::kConsumer, ClientRole::kProducer, ClientRole::kAdmin}) {
    ClientConfig config;
    config.properties = {{"bootstrap.servers", "127.0.0.1:1"}};
    const auto handle = KafkaHandle::Create(config, role);
    REQUIRE(handle.has_value());
    for (const ClientProperty& fixed : FixedProperties(role)) {
      CAPTURE(fixed.name);
      char value[64];
      size_t size = sizeof value;
      REQUIRE(rd_kafka_conf_get(rd_kafka_conf((*handle)->get()), fixed.name.c_str(), value,
                                &size) == RD_KAFKA_CONF_OK);
      CHECK(value == fixed.value);
    }
  }
}

TEST_CASE("a token says when it ends and whose it is") {
  // {"alg":"none"} . {"sub":"alice","exp":1700000000}
  const std::string token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6MTcwMDAwMDAwMH0.c2ln";
  CHECK(TokenEndMs(token) == 1'700'000'000'000);
  CHECK(TokenSubject(token) == "alice");
  CHECK(TokenEndMs("opaque") == std::nullopt);
  CHECK(TokenSubject("opaque") == "");
}

TEST_CASE("what came from a reference is read again, all of it or nothing") {
  std::map<std::string, std::string, std::less<>> files = {{"user", "ann"}, {"pw", "one"}};
  const auto references = std::make_shared<plan::References>(
      [&](std::string_view, std::string_view name) -> Result<std::string> {
        const auto found = files.find(name);
        if (found == files.end()) return Fail(Code::kNotFound, "no such file");
        return found->second;
      });
  ClientConfig config;
  config.properties = {{"client.id", "x"},
                       {"sasl.username", "ann", "${file:user}"},
                       {"sasl.password", "one", "${file:pw}"}};
  config.references = references;
  config.generation = plan::References::kFirst;
  CHECK_FALSE(config.Old());
  files = {{"user", "bob"}};
  references->Renew();
  CHECK(config.Old());
  const Status status = config.Renew();
  CHECK(status.code() == Code::kUnavailable);
  CHECK(status.message() ==
        "properties.sasl.password cannot be read again: ${file:pw}: no such file");
  CHECK(config.properties[1].value == "ann");
  CHECK(config.Old());
  files["pw"] = "two";
  REQUIRE(config.Renew().ok());
  CHECK_FALSE(config.Old());
  CHECK(config.properties[0].value == "x");
  CHECK(config.properties[1].value == "bob");
  CHECK(config.properties[2].value == "two");
}

TEST_CASE("what the library says about a value does not show what a reference stands for") {
  ClientConfig config;
  config.properties = {{"security.protocol", "s3cret", "${file:protocol}"}};
  const auto handle = KafkaHandle::Create(config, ClientRole::kAdmin);
  REQUIRE_FALSE(handle.has_value());
  CHECK(handle.error().message().find("${file:protocol}") != std::string::npos);
  CHECK(handle.error().message().find("s3cret") == std::string::npos);
}

}  // namespace
}  // namespace weir::connectors
