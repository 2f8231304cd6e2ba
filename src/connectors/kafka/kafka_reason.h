// KafkaReason: why nothing works, as the client library whispers it. What a call returns is often
// general ("Local: Timed out", "Purged in queue") while the cause (a wrong password, a certificate,
// a missing ACL) went to an event callback earlier. The cause is kept here, and one line is made of
// both.
//
// Invariant: a cause never gives way to what it caused, only to another cause or to success.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_REASON_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_REASON_H_

#include <rdkafka.h>

#include <mutex>
#include <string>
#include <string_view>

namespace weir::connectors {

// How much an error explains. The order counts: what explains more is kept.
enum class KafkaErrorKind {
  kNothing,     // no error
  kGeneral,     // something took too long, was thrown away, went down: because of something else
  kConnection,  // what happened to one connection
  kCause        // what is wrong with us, or what the cluster refuses
};
KafkaErrorKind KindOf(rd_kafka_resp_err_t code);

// The last thing that went wrong, as the library told it. Any thread.
class KafkaReason {
 public:
  void Note(rd_kafka_resp_err_t code, std::string_view text);
  void NoteLog(std::string_view text);  // a line of the library's log about a setting
  void Clear();                         // something has worked
  std::string Text() const;             // "" when nothing is known
  rd_kafka_resp_err_t code() const;
  std::string LogText() const;

 private:
  mutable std::mutex mutex_;
  rd_kafka_resp_err_t code_ = RD_KAFKA_RESP_ERR_NO_ERROR;
  std::string text_;
  std::string log_;
};

// "sasl_ssl://h:1/bootstrap: SASL authentication error: ... (after 310ms in state AUTH_REQ, 1
// identical error(s) suppressed)" without what changes from try to try.
std::string PlainReason(std::string_view text);

// One line: WHAT: why. `code` and `text` ("": the code's own) are what the call returned; where
// they are general, the reason stands in their place. A missing right says who lacks which: `user`
// as the SQL names it, "" when it is not to be shown or not known.
std::string Explain(std::string_view what, rd_kafka_resp_err_t code, std::string_view text,
                    const KafkaReason& reason, std::string_view user);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_REASON_H_
