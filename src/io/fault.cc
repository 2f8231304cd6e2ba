#include "io/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace weir::io {
namespace {

// In the order in which an epoch meets them. docs/exactly-once says what stands on each side of
// each.
constexpr std::string_view kFaultPoints[] = {
    "scan.after_batch",
    "cut.before_freeze",
    "cut.after_freeze",
    "seal.before_stage_write",
    "seal.during_stage_write",
    "seal.before_stage_sync",
    "seal.after_stage_sync",
    "seal.before_commit",
    "seal.after_commit",
    "deliver.after_fence",
    "deliver.after_receipt_read",
    "deliver.before_inflight",
    "deliver.after_inflight",
    "deliver.before_begin",
    "deliver.during_produce",
    "deliver.before_receipt",
    "deliver.after_receipt",
    "deliver.before_commit",
    "deliver.between_commit_and_ack",
    "deliver.after_ack",
    "spool.before_trim",
    "spool.after_trim",
    "file.during_append",
    "file.before_rename",
    "file.after_rename",
    "file.before_receipt",
    "takeover.after_lock",
    "takeover.after_decide",
    "takeover.after_run_row",
    "compact.before_swap",
    "compact.after_swap",
    "finish.before_marker",
    "finish.after_marker",
};

[[noreturn]] void KillOurselves() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();  // the signal is on its way
}

}  // namespace

std::span<const std::string_view> DeclaredFaultPoints() { return kFaultPoints; }

Status FaultResult::ToStatus(std::string_view point) const {
  switch (action) {
    case FaultAction::kNone:
    case FaultAction::kWait:
      return Status::Ok();
    case FaultAction::kNoSpace:
      return Status(Code::kNoSpace, "injected at " + std::string(point) + ": no space");
    case FaultAction::kFail:
    case FaultAction::kTorn:  // at a point that writes nothing
      return Status(Code::kUnknownOutcome, "injected at " + std::string(point) + ": I/O error");
  }
  return Status::Ok();
}

Status WriteWithFault(FaultResult fault, std::string_view point, File& file, uint64_t offset,
                      std::string_view bytes) {
  switch (fault.action) {
    case FaultAction::kNone:
    case FaultAction::kWait:
      return file.WriteAt(offset, bytes);
    case FaultAction::kFail:
    case FaultAction::kNoSpace:
      return fault.ToStatus(point);
    case FaultAction::kTorn:
      WEIR_RETURN_IF_ERROR(file.WriteAt(offset, bytes.substr(0, fault.torn_bytes)));
      KillOurselves();
  }
  return Status::Ok();
}

#if defined(WEIR_FAULTS) && WEIR_FAULTS

namespace {

enum class RuleAction { kKill, kFail, kNoSpace, kDelay, kTorn, kWait };

struct Rule {
  std::string point;
  std::string action_text;  // as written, for the witness
  RuleAction action = RuleAction::kKill;
  uint64_t argument = 0;    // ms or bytes
  uint64_t occurrence = 1;  // 0: every
};

// Process-wide: a fault point is a place in the code, reached from any thread.
struct FaultState {
  std::mutex mutex;
  std::vector<Rule> rules;
  std::map<std::string, uint64_t, std::less<>> reached;
  std::string witness_path;
  std::atomic<uint64_t> changes{0};
  std::atomic<uint64_t> kill_at_change{0};
};

FaultState& State() {
  static FaultState& state = *new FaultState();  // never destroyed: threads may fire during exit
  return state;
}

// Past PosixFiles, so that a witness does not count as a change of the file system.
void Witness(const std::string& path, const std::string& line) {
  if (path.empty()) return;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  CHECK(fd >= 0);  // a fault without its witness would prove nothing
  const std::string out = line + "\n";
  CHECK(::write(fd, out.data(), out.size()) == static_cast<ssize_t>(out.size()));
  ::close(fd);
}

void SleepMs(uint64_t ms) {
  timespec left{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0) {
  }
}

std::optional<uint64_t> ParseCount(std::string_view text) {
  const std::optional<int64_t> n = ParseInt64(text);
  if (!n || *n < 0) return std::nullopt;
  return static_cast<uint64_t>(*n);
}

Result<Rule> ParseRule(std::string_view text) {
  const auto fail = [&](std::string why) {
    return Fail(Code::kUsage, "WEIR_FAULT: '" + std::string(text) + "': " + why);
  };
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail("expected point=action");
  Rule rule;
  rule.point = std::string(text.substr(0, equals));
  const auto points = DeclaredFaultPoints();
  if (std::find(points.begin(), points.end(), rule.point) == points.end()) {
    return fail("no such point; the nearest is '" + std::string(Nearest(rule.point, points)) + "'");
  }
  std::string_view action = text.substr(equals + 1);
  if (const size_t at = action.find('@'); at != std::string_view::npos) {
    const std::string_view occurrence = action.substr(at + 1);
    const std::optional<uint64_t> n = ParseCount(occurrence);
    if (occurrence == "every") {
      rule.occurrence = 0;
    } else if (n && *n > 0) {
      rule.occurrence = *n;
    } else {
      return fail("after @ stands a number from 1, or every");
    }
    action = action.substr(0, at);
  }
  rule.action_text = std::string(action);
  const size_t colon = action.find(':');
  const std::string_view name = action.substr(0, colon);
  if (name == "kill" || name == "fail" || name == "nospace") {
    if (colon != std::string_view::npos) return fail("this action takes no argument");
    rule.action = name == "kill"   ? RuleAction::kKill
                  : name == "fail" ? RuleAction::kFail
                                   : RuleAction::kNoSpace;
    return rule;
  }
  if (name != "delay" && name != "torn" && name != "wait") {
    return fail("unknown action; there are kill, fail, nospace, delay:MS, torn:BYTES and wait:MS");
  }
  const std::optional<uint64_t> argument =
      colon == std::string_view::npos ? std::nullopt : ParseCount(action.substr(colon + 1));
  if (!argument) return fail("this action needs a number after the colon");
  rule.action = name == "delay"  ? RuleAction::kDelay
                : name == "torn" ? RuleAction::kTorn
                                 : RuleAction::kWait;
  rule.argument = *argument;
  return rule;
}

}  // namespace

FaultResult FireFault(std::string_view point) {
  FaultState& state = State();
  Rule fired;
  {
    const std::lock_guard lock(state.mutex);
    if (state.rules.empty()) return {};
    const auto points = DeclaredFaultPoints();
    CHECK(std::find(points.begin(), points.end(), point) != points.end());
    const uint64_t occurrence = ++state.reached[std::string(point)];
    const auto matches = [&](const Rule& rule) {
      return rule.point == point && (rule.occurrence == 0 || rule.occurrence == occurrence);
    };
    const auto rule = std::find_if(state.rules.begin(), state.rules.end(), matches);
    if (rule == state.rules.end()) return {};
    fired = *rule;
    Witness(state.witness_path, std::string(point) + " " + rule->action_text + " " +
                                    std::to_string(occurrence) + " " + std::to_string(::getpid()));
  }
  switch (fired.action) {
    case RuleAction::kKill:
      KillOurselves();
    case RuleAction::kFail:
      return {FaultAction::kFail, 0};
    case RuleAction::kNoSpace:
      return {FaultAction::kNoSpace, 0};
    case RuleAction::kDelay:
      SleepMs(fired.argument);
      return {};
    case RuleAction::kTorn:
      return {FaultAction::kTorn, fired.argument};
    case RuleAction::kWait:
      SleepMs(fired.argument);
      return {FaultAction::kWait, 0};
  }
  return {};
}

Status ConfigureFaults(const char* spec, const char* witness_path) {
  std::vector<Rule> rules;
  if (spec != nullptr && *spec != '\0') {
    for (const std::string_view text : Split(spec, ',')) {
      WEIR_ASSIGN_OR_RETURN(Rule rule, ParseRule(TrimAscii(text)));
      rules.push_back(std::move(rule));
    }
  }
  FaultState& state = State();
  const std::lock_guard lock(state.mutex);
  state.rules = std::move(rules);
  state.reached.clear();
  state.witness_path = witness_path != nullptr ? witness_path : "";
  return Status::Ok();
}

Status ConfigureKillAtWrite(const char* n) {
  uint64_t at = 0;
  if (n != nullptr && *n != '\0') {
    const std::optional<uint64_t> parsed = ParseCount(n);
    if (!parsed || *parsed == 0) {
      return Status(Code::kUsage,
                    std::string("WEIR_KILL_AT_WRITE: '") + n + "' is no number from 1");
    }
    at = *parsed;
  }
  State().changes = 0;
  State().kill_at_change = at;
  return Status::Ok();
}

Status ConfigureFaultsFromEnvironment() {
  WEIR_RETURN_IF_ERROR(
      ConfigureFaults(std::getenv("WEIR_FAULT"), std::getenv("WEIR_FAULT_WITNESS")));
  return ConfigureKillAtWrite(std::getenv("WEIR_KILL_AT_WRITE"));
}

void BeforeFileSystemChange(std::string_view kind, std::string_view path) {
  FaultState& state = State();
  const uint64_t n = ++state.changes;
  if (n != state.kill_at_change) return;
  const std::lock_guard lock(state.mutex);
  Witness(state.witness_path, "fs." + std::string(kind) + " kill " + std::to_string(n) + " " +
                                  std::to_string(::getpid()) + " " + std::string(path));
  KillOurselves();
}

uint64_t FileSystemChanges() { return State().changes; }

#endif

}  // namespace weir::io
