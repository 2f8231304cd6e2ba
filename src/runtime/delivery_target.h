// DeliveryTarget: what Deliveries knows of one target: its notes (A, F, R_seen), its books, its
// state. Owned and driven by Deliveries on the loop thread; only `delivery` is used on the worker.
#ifndef WEIR_RUNTIME_DELIVERY_TARGET_H_
#define WEIR_RUNTIME_DELIVERY_TARGET_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/delivery.h"
#include "io/worker.h"
#include "protocol/delivery.h"
#include "runtime/delivery_range.h"
#include "store/store.h"

namespace weir::runtime {

enum class DeliveryState {
  kIdle,
  kLooking,
  kFencing,
  kScanning,
  kNoting,
  kDelivering,
  kRefreshing,
  kPreparing,
  kClosing,
  kBackoff,
  kParked
};
const char* DeliveryStateName(DeliveryState state);

struct DeliveryTarget {
  std::string name;
  std::vector<int> sinks;  // into graph.sinks()
  std::vector<std::string> sink_names;
  std::string table;  // of the first sink: the subject of a park
  std::unique_ptr<flow::SinkDelivery> delivery;
  flow::DeliveryTraits traits;
  std::unique_ptr<io::Worker> worker;
  DeliveryState state = DeliveryState::kIdle;
  bool asked = false;  // the evidence was read in this run, and has decided

  // What is recorded.
  std::optional<protocol::TargetPosition> acked;  // A
  std::optional<protocol::Receipt> seen;          // R_seen
  protocol::Whereabouts at;                       // as of A, or of the first F
  std::optional<store::InflightNote> in_flight;   // F, durable
  bool acked_moved = false;                       // since it was last on its way to the disk
  uint64_t acked_order = 0;                       // AckedNote::order
  std::optional<EpochId> trim_to;                 // after the note is durable

  // The session.
  std::string session;  // its name there
  protocol::Whereabouts looked;
  flow::Fenced fenced;
  protocol::DeliveryFacts facts;
  protocol::DeliveryDecision decision;
  bool second_look = false;       // a scan has said park once: it counts when the next one agrees
  bool move_accepted = false;     // --accept-topic was acted on in this run
  int fenced_in_row = 0;          // deliveries that another session of our name has ended
  uint64_t fenced_by_others = 0;  // in this run: by whoever else uses our name
  std::optional<protocol::TargetPosition> attempted;  // the highest F.to of this run
  ChosenRange range;
  int64_t begun_ns = 0;  // the transaction
  int64_t path_ns = 0;   // the path

  // Sealed rows by sink, as far as seals are known here. The books' own count is ahead of it while
  // a seal is in flight.
  std::vector<uint64_t> sealed_rows;
  EpochId sealed_to = 0;
  std::vector<uint64_t> left;  // sealed rows above A, by sink
  uint64_t undelivered = 0;    // their sum
  EpochId counted_to = 0;      // `left` counts epochs up to here

  RangeSizer sizer;
  int64_t next_delivery_ns = 0;       // small epochs that come faster are merged
  std::optional<int64_t> written_ns;  // when R was written, by the monotonic clock
  std::optional<protocol::Park> park;
  std::vector<protocol::Resolution> words;
  int64_t backoff_ms = 0;
  int64_t retry_at_ns = 0;
  int64_t failing_since_ns = 0;
  std::string last_error;
  uint64_t deliveries = 0;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_DELIVERY_TARGET_H_
