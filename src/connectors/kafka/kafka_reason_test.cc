// The reason that the library only whispers: one line, with the cause and without what it caused.
#include "connectors/kafka/kafka_reason.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace weir::connectors {
namespace {

using Event = std::pair<rd_kafka_resp_err_t, std::string_view>;

struct Case {
  std::string_view name;
  std::vector<Event> events;  // of the event callback, in order
  rd_kafka_resp_err_t code;   // what the call returned
  std::string_view text;
  std::string_view want;  // behind "doing it: "
};

constexpr auto kTimedOut = RD_KAFKA_RESP_ERR__TIMED_OUT;
constexpr auto kAllDown = RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
constexpr auto kTransport = RD_KAFKA_RESP_ERR__TRANSPORT;
constexpr auto kLogin = RD_KAFKA_RESP_ERR__AUTHENTICATION;
constexpr auto kTls = RD_KAFKA_RESP_ERR__SSL;
constexpr auto kTopic = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;

const Case kCases[] = {
    {"nothing was whispered: what the call says", {}, kTimedOut, "", "Local: Timed out"},
    {"a refused password stands for the time-out that it caused",
     {{kLogin,
       "h:1: SASL authentication error: invalid credentials (after 310ms in state AUTH_REQ)"}},
     kTimedOut,
     "",
     "h:1: SASL authentication error: invalid credentials"},
    {"and for brokers that are down because of it, in whichever order it is told",
     {{kTransport, "h:1: Disconnected"},
      {kLogin, "wrong password"},
      {kAllDown, "1/1 brokers are down"}},
     kAllDown,
     "",
     "wrong password"},
    {"a failed handshake stands for it, too",
     {{kTls, "h:1: SSL handshake failed: certificate verify failed"},
      {kAllDown, "1/1 brokers are down"}},
     kTransport,
     "Local: Broker transport failure",
     "h:1: SSL handshake failed: certificate verify failed"},
    {"what happened to a connection tells more than that all are down",
     {{kTransport,
       "h:1: Disconnected while requesting ApiVersion: might be caused by incorrect "
       "security.protocol configuration"},
      {kAllDown, "1/1 brokers are down"}},
     kTimedOut,
     "",
     "h:1: Disconnected while requesting ApiVersion: might be caused by incorrect "
     "security.protocol "
     "configuration"},
    {"a TLS connection that was closed has more causes than the library's guess",
     {{kTransport,
       "ssl://h:1: SSL handshake failed: Disconnected: SSL connection closed by peer: connecting "
       "to "
       "a PLAINTEXT broker listener? (after 9ms in state SSL_HANDSHAKE)"}},
     kTimedOut,
     "",
     "ssl://h:1: SSL handshake failed: Disconnected: SSL connection closed by peer (the listener "
     "may speak no TLS, or ask for a client certificate: properties.ssl.certificate.location)"},
    {"a connection that is closed before anything was said may be to a listener with TLS",
     {{kTransport,
       "sasl_plaintext://h:1: Disconnected: connection closed by peer (after 3ms in state "
       "AUTH_HANDSHAKE)"}},
     kTimedOut,
     "",
     "sasl_plaintext://h:1: Disconnected: connection closed by peer (the listener may want TLS: "
     "properties.security.protocol)"},
    {"but not one that was in use",
     {{kTransport, "h:1: Disconnected: connection closed by peer (after 3ms in state UP)"}},
     kTimedOut,
     "",
     "h:1: Disconnected: connection closed by peer"},
    {"an unknown host is named",
     {{RD_KAFKA_RESP_ERR__RESOLVE, "Failed to resolve 'nowhere:9092'"},
      {kAllDown, "1/1 brokers are down"}},
     kTimedOut,
     "",
     "Failed to resolve 'nowhere:9092'"},
    {"a cause that the call returns does not get the consequence behind it",
     {{kAllDown, "1/1 brokers are down"}},
     RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
     "",
     "Broker: Unknown topic or partition"},
    {"records that were thrown away: why, whose right it is, and what to give",
     {{kTopic,
       "Failed to add partition(s) to transaction: Broker: Topic authorization failed (after 3 "
       "ms)"}},
     RD_KAFKA_RESP_ERR__PURGE_QUEUE,
     "",
     "Failed to add partition(s) to transaction: Broker: Topic authorization failed "
     "(TOPIC_AUTHORIZATION_FAILED: user alice lacks an ACL on the topic; needed: Describe and Read "
     "to "
     "read it, Write as well to write it)"},
    {"the same where the report of a record says it",
     {},
     kTopic,
     "",
     "Broker: Topic authorization failed (TOPIC_AUTHORIZATION_FAILED: user alice lacks an ACL on "
     "the "
     "topic; needed: Describe and Read to read it, Write as well to write it)"},
    {"a transactional id",
     {},
     RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
     "",
     "Broker: Transactional Id authorization failed (TRANSACTIONAL_ID_AUTHORIZATION_FAILED: user "
     "alice "
     "lacks an ACL on the transactional id; needed: Write and Describe)"},
    {"a group",
     {},
     RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
     "",
     "Broker: Group authorization failed (GROUP_AUTHORIZATION_FAILED: user alice lacks an ACL on "
     "the "
     "group; needed: Read)"},
    {"records that were thrown away for a broker that is too slow: no right is made up",
     {{kTransport, "h:1: Disconnected"}},
     RD_KAFKA_RESP_ERR__PURGE_INFLIGHT,
     "",
     "h:1: Disconnected"},
    {"two causes are both said",
     {{kLogin, "wrong password"}},
     RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
     "",
     "Broker: Unknown topic or partition: wrong password"},
    {"the name of a code is not put before what was told with it",
     {{kTransport, "ssl://h:1: Receive failed: sslv3 alert bad certificate"}},
     kTransport,
     "",
     "ssl://h:1: Receive failed: sslv3 alert bad certificate"},
    {"a reason that the call repeats is said once",
     {{kTransport, "h:1: connection refused"}},
     kTransport,
     "h:1: connection refused",
     "h:1: connection refused"},
};

TEST_CASE("an error of the library is one line with the cause that it hides") {
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    KafkaReason reason;
    for (const auto& [code, text] : c.events) reason.Note(code, text);
    CHECK(Explain("doing it", c.code, c.text, reason, "alice") ==
          "doing it: " + std::string(c.want));
  }
}

TEST_CASE("every general code gives way to a cause; none of the broker's refusals is general") {
  KafkaReason reason;
  reason.Note(kLogin, "wrong password");
  for (const auto code :
       {kAllDown, kTimedOut, kTransport, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE,
        RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__WAIT_COORD, RD_KAFKA_RESP_ERR__DESTROY,
        RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, RD_KAFKA_RESP_ERR__FATAL,
        RD_KAFKA_RESP_ERR__STATE, RD_KAFKA_RESP_ERR__INCONSISTENT}) {
    CAPTURE(rd_kafka_err2name(code));
    CHECK(Explain("x", code, "", reason, "") == "x: wrong password");
  }
  // Codes of the broker are positive.
  for (int code = 1; code < 120; ++code)
    CHECK(KindOf(static_cast<rd_kafka_resp_err_t>(code)) == KafkaErrorKind::kCause);
}

TEST_CASE("a user that came from a reference is not shown") {
  const KafkaReason none;
  CHECK(Explain("x", RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, "", none, "")
            .find("the user that we log in as lacks an ACL") != std::string::npos);
}

TEST_CASE(
    "the reason stays, loses what changes from try to try, and is gone once something works") {
  CHECK(PlainReason("sasl_ssl://h:1/bootstrap: SASL authentication error: no (after 310ms in state "
                    "AUTH_REQ, 1 identical error(s) suppressed)") ==
        "sasl_ssl://h:1/bootstrap: SASL authentication error: no");
  KafkaReason reason;
  reason.Note(kTransport, "h:1: connection refused");
  CHECK(reason.Text() == "h:1: connection refused");
  reason.Note(kLogin, "wrong password");
  reason.Note(kAllDown, "1/1 brokers are down");
  CHECK(reason.Text() == "wrong password");
  reason.Note(kTls, "wrong certificate");
  CHECK(reason.Text() == "wrong certificate");
  reason.Clear();
  CHECK(reason.Text() == "");
}

}  // namespace
}  // namespace weir::connectors
