// 'properties.*': what of the client library a user may set, what weir always sets, and the deny
// list with its reasons. Pure but for one trial: the library itself is asked whether it takes a
// property, so that a typo is an error with a place and not a warning at run time.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_PROPERTIES_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_PROPERTIES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/env.h"
#include "plan/plan.h"
#include "plan/references.h"

namespace weir::connectors {

struct ClientProperty {
  std::string name;  // librdkafka's or Java's, where librdkafka knows both
  std::string value;
  std::string written = {};  // with its references, "" where it has none
};

// All that a handle to one cluster is made of. Holds secrets: printed nowhere.
struct ClientConfig {
  std::vector<ClientProperty> properties;
  // SASL OAUTHBEARER: gives the token, from any thread; null when another mechanism is used.
  std::function<Result<std::string>()> token;
  std::function<int64_t()> wall_ms;  // with token: when it ends is data of the token
  std::string shown_user;            // sasl.username, where the SQL itself says it: for messages
  // Where properties that are given by reference are read again; null: they are not.
  std::shared_ptr<const plan::References> references;
  uint64_t generation = 0;  // of the references, when they were read

  // SIGHUP has said that secrets and certificates may be others: what is made of this config from
  // now on should be made after Renew. Certificates are read by the library, for each handle.
  bool Old() const { return references != nullptr && references->generation() != generation; }
  // All or nothing. kUnavailable names the reference that cannot be read; it is Old still.
  Status Renew();
  bool operator==(const ClientConfig& other) const;  // the properties
};

// What the table's user has set, names without "properties.". `table` is checked.
ClientConfig ClientConfigOf(const plan::TableDef& table);
// With the token of SASL OAUTHBEARER, read from its file whenever one is wanted, and with where
// its references are read again. `env` outlives it.
ClientConfig ClientConfigOf(const plan::TableDef& table, const io::Env& env,
                            std::shared_ptr<const plan::References> references);

enum class ClientRole {
  kConsumer,  // reads; manual assignment
  kProducer,  // what a delivery adds (transactional id, ...) is the caller's
  kAdmin      // metadata, offsets, receipts
};
// What weir sets whatever the user says, in front of and behind the user's own.
std::vector<ClientProperty> FixedProperties(ClientRole role);

// Why a property must not be set; "" when it may.
std::string_view PropertyRefusal(std::string_view name);

// Every property of the table: the deny list, then the library's own opinion. Opens the files that
// they name (certificates), contacts nobody.
void CheckProperties(const plan::TableDef& table, bool as_sink, std::vector<plan::Diagnostic>& out);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_PROPERTIES_H_
