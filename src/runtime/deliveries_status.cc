// What Deliveries tells the engine and `weir status`: whether all is settled, notes that are due,
// trims, waits.
#include <algorithm>

#include "base/text.h"
#include "runtime/deliveries.h"

namespace weir::runtime {

const char* DeliveryStateName(DeliveryState state) {
  switch (state) {
    case DeliveryState::kIdle:
      return "idle";
    case DeliveryState::kLooking:
      return "looking";
    case DeliveryState::kFencing:
      return "fencing";
    case DeliveryState::kScanning:
      return "scanning";
    case DeliveryState::kNoting:
      return "noting";
    case DeliveryState::kDelivering:
      return "delivering";
    case DeliveryState::kRefreshing:
      return "refreshing";
    case DeliveryState::kPreparing:
      return "preparing";
    case DeliveryState::kClosing:
      return "closing";
    case DeliveryState::kBackoff:
      return "waiting";
    case DeliveryState::kParked:
      return "parked";
  }
  return "";
}

bool Deliveries::Settled(EpochId sealed, bool count_parked) const {
  return std::all_of(targets_.begin(), targets_.end(), [&](const auto& t) {
    if (t->state == DeliveryState::kParked) return count_parked;
    const bool rests = t->state == DeliveryState::kIdle || t->state == DeliveryState::kPreparing;
    return rests && t->asked && !t->second_look && t->undelivered == 0 && sealed == sealed_;
  });
}

bool Deliveries::Busy() const {
  return std::any_of(targets_.begin(), targets_.end(), [](const auto& t) {
    return t->state != DeliveryState::kIdle && t->state != DeliveryState::kBackoff &&
           t->state != DeliveryState::kParked;
  });
}

std::vector<protocol::Park> Deliveries::parks() const {
  std::vector<protocol::Park> all;
  for (const auto& t : targets_) {
    if (t->park) all.push_back(*t->park);
  }
  return all;
}

Deliveries::Notes Deliveries::TakeNotes() {
  Notes notes;
  notes.used_words.swap(used_words_);
  for (auto& t : targets_) {
    if (!t->acked_moved) continue;
    t->acked_moved = false;
    notes.acked.push_back(NoteOf(*t));
    // A may end within its epoch, and a start takes only the epoch before it as proven whole.
    t->trim_to = t->acked->epoch > 0 ? t->acked->epoch - 1 : 0;
  }
  return notes;
}

void Deliveries::KeepNotes(const Notes& notes) {
  used_words_.insert(used_words_.end(), notes.used_words.begin(), notes.used_words.end());
  for (auto& t : targets_) {
    if (t->trim_to) t->acked_moved = true;
  }
}

std::vector<std::pair<store::Spool*, EpochId>> Deliveries::TrimDue() {
  std::vector<std::pair<store::Spool*, EpochId>> due;
  for (auto& t : targets_) {
    if (!t->trim_to || t->acked_moved) continue;
    for (const int sink : t->sinks) due.emplace_back(graph_.sinks()[sink].spool, *t->trim_to);
    if (trace_) trace_(protocol::TrimmedEvent(t->name, *t->trim_to));
    t->trim_to.reset();
  }
  return due;
}

bool Deliveries::RefreshDue(const Target& target, int64_t now_ns) const {
  if (target.traits.refresh_ms == 0 || !target.acked || target.undelivered > 0) return false;
  return !target.written_ns || now_ns - *target.written_ns >= target.traits.refresh_ms * 1000000;
}

int64_t Deliveries::WaitMs() const {
  int64_t wait = -1;
  const int64_t now_ns = env_.clock.MonotonicNs();
  for (const auto& t : targets_) {
    int64_t at_ns = -1;
    if (t->state == DeliveryState::kBackoff) at_ns = t->retry_at_ns;
    if (t->state == DeliveryState::kIdle && t->undelivered > 0) at_ns = t->next_delivery_ns;
    if (t->state == DeliveryState::kIdle && !t->asked) at_ns = now_ns;
    if (at_ns < 0) continue;
    const int64_t left = std::max<int64_t>(0, (at_ns - now_ns + 999999) / 1000000);
    wait = wait < 0 ? left : std::min(wait, left);
  }
  return wait;
}

bool Deliveries::degraded() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const auto& t) { return t->failing_since_ns != 0; });
}

void Deliveries::AppendStatus(std::string& json) const {
  const int64_t now_ns = env_.clock.MonotonicNs();
  json += "[";
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Target& t = *targets_[i];
    if (i > 0) json += ",";
    json += "{\"target\":" + JsonQuote(t.name) + ",\"state\":\"" + DeliveryStateName(t.state) +
            "\",\"acked\":" + (t.acked ? JsonQuote(t.acked->ToString()) : std::string("null")) +
            ",\"undelivered_rows\":" + std::to_string(t.undelivered) +
            ",\"deliveries\":" + std::to_string(t.deliveries);
    if (t.in_flight) json += ",\"in_flight\":" + JsonQuote(t.in_flight->to.ToString());
    if (!t.looked.cluster.empty()) json += ",\"cluster\":" + JsonQuote(t.looked.cluster);
    if (!t.session.empty()) json += ",\"session\":" + JsonQuote(t.session);
    if (t.fenced_by_others > 0)
      json += ",\"fenced_by_others\":" + std::to_string(t.fenced_by_others);
    if (t.failing_since_ns != 0) {
      json += ",\"failing_for_ms\":" + std::to_string((now_ns - t.failing_since_ns) / 1000000) +
              ",\"reason\":" + JsonQuote(t.last_error);
    }
    json += "}";
  }
  json += "]";
}

}  // namespace weir::runtime
