// KafkaHandle: one rd_kafka_t and what it whispers. The only place where handles are made: what
// weir always sets is set here, secrets go in and never come out, and the *reason* of a failure (a
// wrong password, a certificate, a missing ACL), which the library only tells its event callback,
// is kept and put into every Status.
//
// Not here: producing (kafka_delivery), consuming (kafka_source), questions to the cluster
// (kafka_admin).
//
// Who drives it: its owner's thread. Poll serves the events and must be called now and then by
// whoever waits for something, else Reason() is old. The token of OAUTHBEARER is fetched by a
// thread of the library. A handle that is destroyed waits for nothing but the library's own
// threads.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_CLIENT_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_CLIENT_H_

#include <rdkafka.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_properties.h"
#include "connectors/kafka/kafka_reason.h"
#include "connectors/kafka/producer_identity.h"

namespace weir::connectors {

// Frees what the library hands out: std::unique_ptr<T, KafkaFree<f>>.
template <auto Free>
struct KafkaFree {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using KafkaError = std::unique_ptr<rd_kafka_error_t, KafkaFree<rd_kafka_error_destroy>>;
using KafkaEvent = std::unique_ptr<rd_kafka_event_t, KafkaFree<rd_kafka_event_destroy>>;
using KafkaQueue = std::unique_ptr<rd_kafka_queue_t, KafkaFree<rd_kafka_queue_destroy>>;
using KafkaPartitions = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                        KafkaFree<rd_kafka_topic_partition_list_destroy>>;

// The value of the last header of that name; "": there is none, or it is empty. Lives as long as
// the message.
std::string_view HeaderOf(const rd_kafka_message_t& message, const char* name);

// An extra property of a producer: its log, which nobody else sees, then tells its identity().
inline ClientProperty ShowsIdentity() { return {"debug", "eos"}; }

class KafkaHandle {
 public:
  // What became of a record, from a producer's Poll and flush: the record's own opaque says whose
  // it was.
  using DeliveryReport = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void* opaque);

  // `extra` comes behind the user's properties and before weir's fixed ones. Starts the library's
  // threads, contacts nobody yet. kInvalid: a property or a file that it names is wrong.
  static Result<std::unique_ptr<KafkaHandle>> Create(const ClientConfig& config, ClientRole role,
                                                     const std::vector<ClientProperty>& extra = {},
                                                     DeliveryReport delivered = nullptr);
  ~KafkaHandle();
  KafkaHandle(const KafkaHandle&) = delete;

  rd_kafka_t* get() const { return rk_; }
  KafkaReason& reason() { return reason_; }
  // What init_transactions has made of a producer with ShowsIdentity.
  std::optional<ProducerIdentity> identity() const {
    const std::lock_guard lock(identity_mutex_);
    return identity_;
  }
  // Serves the events that wait, at most timeout_ms for the first.
  void Poll(int timeout_ms) { rd_kafka_poll(rk_, timeout_ms); }
  // kUnavailable: "WHAT: why" (kafka_reason.h). Errors that only an operator can end
  // (authorisation, unknown topic, a wrong password) read the same: they are retried, too.
  Status Unavailable(std::string_view what, rd_kafka_resp_err_t code,
                     std::string_view text = {}) const;
  Status Unavailable(std::string_view what, const rd_kafka_error_t* error) const;

 private:
  KafkaHandle() = default;
  static void OnError(rd_kafka_t*, int code, const char* text, void* opaque);
  static void OnLog(const rd_kafka_t* rk, int level, const char* facility, const char* text);
  static void OnTokenWanted(rd_kafka_t* rk, const char* config, void* opaque);

  KafkaReason reason_;
  mutable std::mutex identity_mutex_;  // the library's threads tell it
  std::optional<ProducerIdentity> identity_;
  ClientConfig config_;
  rd_kafka_t* rk_ = nullptr;
};

// Whether the library knows the property and takes the value. kInvalid says why; the text may quote
// the value.
Status TryProperty(const std::string& name, const std::string& value, ClientRole role);
// Whether a handle can be made of it: files exist, certificates and keys fit, nothing is of the
// other role. Contacts nobody.
Status TryConfig(const ClientConfig& config, ClientRole role);

// The `exp` claim of a JSON web token in ms since 1970; nullopt when it has none.
std::optional<int64_t> TokenEndMs(std::string_view token);
// Its `sub` claim; "" when there is none.
std::string TokenSubject(std::string_view token);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_CLIENT_H_
