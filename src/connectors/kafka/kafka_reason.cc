#include "connectors/kafka/kafka_reason.h"

namespace weir::connectors {
namespace {

// What an operator gives whom it is missing. From the brokers' own list of what needs what.
struct MissingRight {
  rd_kafka_resp_err_t code;
  std::string_view on;
  std::string_view rights;
};
constexpr MissingRight kMissingRights[] = {
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "the topic",
     "Describe and Read to read it, Write as well to write it"},
    {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, "the group", "Read"},
    {RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "the transactional id",
     "Write and Describe"},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, "the cluster",
     "IdempotentWrite, or Write on any topic"},
};

std::string RightOf(rd_kafka_resp_err_t code, std::string_view user) {
  for (const MissingRight& right : kMissingRights) {
    if (right.code != code) continue;
    return " (" + std::string(rd_kafka_err2name(code)) + ": " +
           (user.empty() ? "the user that we log in as" : "user " + std::string(user)) +
           " lacks an ACL on " + std::string(right.on) + "; needed: " + std::string(right.rights) +
           ")";
  }
  return "";
}

}  // namespace

KafkaErrorKind KindOf(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      return KafkaErrorKind::kNothing;
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__STATE:
    case RD_KAFKA_RESP_ERR__INCONSISTENT:
      return KafkaErrorKind::kGeneral;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
      return KafkaErrorKind::kConnection;
    default:
      return KafkaErrorKind::kCause;
  }
}

void KafkaReason::Note(rd_kafka_resp_err_t code, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (KindOf(code) < KindOf(code_)) return;
  code_ = code;
  text_ = PlainReason(text);
}

void KafkaReason::NoteLog(std::string_view text) {
  constexpr size_t kLongest = 4096;
  const std::lock_guard lock(mutex_);
  if (log_.size() < kLongest) log_ += (log_.empty() ? "" : "; ") + std::string(text);
}

void KafkaReason::Clear() {
  const std::lock_guard lock(mutex_);
  code_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  text_.clear();
}

std::string KafkaReason::Text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

rd_kafka_resp_err_t KafkaReason::code() const {
  const std::lock_guard lock(mutex_);
  return code_;
}

std::string KafkaReason::LogText() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

namespace {

// A broker that ends a TLS connection may be heard to say why, or not: its alert is lost when it
// closes with something of ours unread. The library then guesses one cause of several.
void NameCausesOfClosingTls(std::string& text) {
  constexpr std::string_view kClosed = "SSL connection closed by peer";
  constexpr std::string_view kGuess = ": connecting to a PLAINTEXT broker listener?";
  const size_t closed = text.find(kClosed);
  if (closed == std::string::npos) return;
  const size_t end = closed + kClosed.size();
  if (text.compare(end, kGuess.size(), kGuess) == 0) text.erase(end, kGuess.size());
  text.insert(end,
              " (the listener may speak no TLS, or ask for a client certificate: "
              "properties.ssl.certificate.location)");
}

// `text` as the library says it, with the state in which the connection was.
bool ClosedBeforeFirstAnswer(std::string_view text) {
  const auto has = [&text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  return has("onnection closed by peer") && !has("SSL") &&
         (has("in state APIVERSION_QUERY") || has("in state AUTH_HANDSHAKE"));
}

}  // namespace

std::string PlainReason(std::string_view text) {
  const bool closed_early = ClosedBeforeFirstAnswer(text);
  std::string out;
  // "(after 310ms in state AUTH_REQ, 1 identical error(s) suppressed)"
  while (!text.empty()) {
    const size_t open = text.find(" (after ");
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open + 2);
    int depth = 1;
    size_t at = 0;
    for (; at < text.size() && depth > 0; ++at)
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    text.remove_prefix(at);
  }
  NameCausesOfClosingTls(out);
  if (closed_early) out += " (the listener may want TLS: properties.security.protocol)";
  return out;
}

std::string Explain(std::string_view what, rd_kafka_resp_err_t code, std::string_view text,
                    const KafkaReason& reason, std::string_view user) {
  const std::string why = reason.Text();
  const KafkaErrorKind kind = KindOf(code), why_kind = KindOf(reason.code());
  const std::string told = text.empty() ? rd_kafka_err2str(code) : PlainReason(text);
  std::string message(what);
  // Of one kind both count, but for the code's own name beside what was told with the same code.
  const bool bare = code == reason.code() && told == rd_kafka_err2str(code);
  if ((kind >= why_kind && !bare) || told.find(why) != std::string::npos) message += ": " + told;
  if (why_kind >= kind && message.find(why) == std::string::npos) message += ": " + why;
  // Said once, of whichever tells more.
  return message + RightOf(why_kind > kind ? reason.code() : code, user);
}

}  // namespace weir::connectors
