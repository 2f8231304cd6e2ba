// ProducerIdentity: which producer a cluster takes the holder of a transactional id for. Each
// InitProducerId of a name raises its epoch by one, whoever sends it, and so does the end of a
// transaction that its holder has left open. So two fencings of ours with a transaction of known
// end between them are one apart; what is above that, somebody else has done (a second box with our
// name, or a late request of an earlier life of ours). No decision rests on it: it is told.
#ifndef WEIR_CONNECTORS_KAFKA_PRODUCER_IDENTITY_H_
#define WEIR_CONNECTORS_KAFKA_PRODUCER_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::connectors {

struct ProducerIdentity {
  int64_t id = -1;
  int32_t epoch = -1;  // from 0 to 32766; then the cluster gives a new id
};

// Of the library's log line "...Acquired PID{Id:7,Epoch:3}...": no call of its tells it. nullopt:
// another line.
std::optional<ProducerIdentity> AcquiredIdentity(std::string_view line);

// How often others have fenced the name between two fencings of ours. 0 where nothing is known: no
// fencing before, or another id since.
uint64_t FencingsByOthers(const std::optional<ProducerIdentity>& before,
                          const std::optional<ProducerIdentity>& now);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_PRODUCER_IDENTITY_H_
