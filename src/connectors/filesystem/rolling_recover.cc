// The start of a rolling sink: what stands in its directory, whose it is, and what has to be
// finished.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "connectors/filesystem/rolling_names.h"
#include "connectors/filesystem/rolling_stage.h"
#include "connectors/filesystem/takeover_facts.h"

namespace weir::connectors {
namespace {

using protocol::Verb;

// Names of a lineage show only its first 8 digits.
bool IsOurPrefix(const flow::TakeoverContext& context, std::string_view prefix) {
  if (context.lineage.ShortHex() == prefix) return true;
  return context.lineages != nullptr &&
         std::any_of(context.lineages->begin(), context.lineages->end(),
                     [&](const protocol::LineageRecord& record) {
                       return record.lineage.ShortHex() == prefix;
                     });
}

Result<RollingExtent> SealedExtent(const flow::TakeoverContext& context, const std::string& sink) {
  if (context.fresh || context.blob.empty()) return RollingExtent();
  auto extent = DecodeRollingExtent(context.blob);
  if (!extent)
    return Fail(Code::kCorruption, "the sealed extent of sink " + sink + " cannot be read");
  return std::move(*extent);
}

// A part of this lineage that no sealed epoch has closed: written by a newer life than this
// directory knows.
bool IsAbove(const flow::TakeoverContext& context, const ParsedName& name) {
  return !context.fresh && !name.in_progress && name.lineage == context.lineage.ShortHex() &&
         name.epoch > context.sealed;
}

}  // namespace

void RollingStage::ParkWith(std::string rule, std::string facts, std::vector<Verb> verbs) {
  if (!park_)
    park_ = protocol::Park{options_.sink, std::move(rule), std::move(facts), std::move(verbs)};
}

Status RollingStage::Inspect(const flow::TakeoverContext& context) {
  park_.reset();
  highest_seen_ = 0;
  const auto stat = files_.Stat(options_.directory);
  if (stat.has_value()) {
    if (!stat->is_directory)
      return Status(Code::kCannotCreate, options_.directory + " is not a directory");
    WEIR_RETURN_IF_ERROR(files_.CheckWritable(options_.directory));
    return InspectDirectory(context);
  }
  if (stat.error().code() != Code::kNotFound)
    return Status(Code::kCannotCreate, stat.error().message());
  WEIR_RETURN_IF_ERROR(CheckParent(files_, options_.directory));
  WEIR_ASSIGN_OR_RETURN(const RollingExtent sealed, SealedExtent(context, options_.sink));
  if ((sealed.open || !sealed.closed.empty()) && !HasWord(context, Verb::kAcceptMissing)) {
    ParkWith("rolling.missing", options_.directory + " is gone, with files of sealed epochs in it",
             {Verb::kAcceptMissing});
  }
  return Status::Ok();
}

Status RollingStage::InspectDirectory(const flow::TakeoverContext& context) {
  WEIR_ASSIGN_OR_RETURN(const RollingExtent sealed, SealedExtent(context, options_.sink));
  WEIR_ASSIGN_OR_RETURN(const auto names, files_.List(options_.directory));
  const bool rewind = HasWord(context, Verb::kRewindFile);
  const bool accept_missing = HasWord(context, Verb::kAcceptMissing);
  for (const std::string& name : names) {
    const auto parsed = ParseName(name);
    if (!parsed || !IsOurPrefix(context, parsed->lineage)) continue;
    highest_seen_ = std::max(highest_seen_, parsed->epoch);
    if (IsAbove(context, *parsed) && !rewind) {
      ParkWith("rolling.part-above",
               fmt::format("{} is above epoch {}, the newest sealed here: the state directory was "
                           "restored from a backup",
                           InDirectory(name), context.sealed),
               {Verb::kRewindFile});
    }
  }
  if (rewind) return Status::Ok();  // what is missing may stand in a part that is above
  if (sealed.open) {
    const auto open = files_.Stat(InDirectory(sealed.open->in_progress));
    const bool shorter = open.has_value() && open->size < sealed.open->length;
    if ((!open.has_value() || shorter) && !accept_missing) {
      ParkWith(
          shorter ? "rolling.shorter" : "rolling.missing",
          fmt::format("{} {}, {} bytes of it are sealed", InDirectory(sealed.open->in_progress),
                      shorter ? "is shorter" : "is gone", sealed.open->length),
          {Verb::kAcceptMissing});
    }
  }
  for (const PartRecord& record : sealed.closed) {
    WEIR_ASSIGN_OR_RETURN(const bool done, Matches(InDirectory(record.part), record, false));
    if (done) continue;
    WEIR_ASSIGN_OR_RETURN(const bool waiting,
                          Matches(InDirectory(record.in_progress), record, false));
    const bool other = files_.Exists(InDirectory(record.part));
    if (other) {
      ParkWith("rolling.part-exists",
               InDirectory(record.part) + " is not the file that epoch closed under this name",
               {Verb::kRewindFile});
    } else if (!waiting && !accept_missing) {
      ParkWith("rolling.missing",
               InDirectory(record.part) + " is gone, and so is the file that becomes it",
               {Verb::kAcceptMissing});
    }
  }
  return Status::Ok();
}

Status RollingStage::Recover(const flow::TakeoverContext& context) {
  if (park_) return Status::Ok();
  lineage_ = context.lineage;
  last_epoch_ = std::max(context.base, context.sealed);
  epoch_rows_ = frozen_length_ = 0;
  closed_.clear();
  file_.reset();
  const Status made = files_.MakeDirectory(options_.directory);
  if (made.ok()) WEIR_RETURN_IF_ERROR(files_.SyncDirectory(io::DirectoryOf(options_.directory)));
  if (!made.ok() && made.code() != Code::kExists) return made;
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, files_.Stat(options_.directory));
  directory_key_ = KeyOf(stat);
  WEIR_ASSIGN_OR_RETURN(const RollingExtent sealed, SealedExtent(context, options_.sink));
  const bool accept_missing = HasWord(context, Verb::kAcceptMissing);
  if (HasWord(context, Verb::kRewindFile)) WEIR_RETURN_IF_ERROR(MovePartsAside(context, sealed));
  for (const PartRecord& record : sealed.closed) {
    WEIR_ASSIGN_OR_RETURN(const Rename state, FinishRename(record));
    rename_to_forget_ = true;
    if (state == Rename::kDone || accept_missing) continue;
    ParkWith("rolling.part-exists",
             InDirectory(record.part) + " is not the file that epoch closed under this name",
             {Verb::kRewindFile});
    return Status::Ok();
  }
  WEIR_RETURN_IF_ERROR(RemoveLeftovers(context, sealed));
  return sealed.open ? Reopen(*sealed.open, accept_missing || HasWord(context, Verb::kRewindFile))
                     : Status::Ok();
}

// Files in progress that no sealed epoch knows: of a life that died before its seal, or of a
// lineage that was given up by a fresh run.
Status RollingStage::RemoveLeftovers(const flow::TakeoverContext& context,
                                     const RollingExtent& sealed) {
  WEIR_ASSIGN_OR_RETURN(const auto names, files_.List(options_.directory));
  for (const std::string& name : names) {
    const auto parsed = ParseName(name);
    if (!parsed || !parsed->in_progress || !IsOurPrefix(context, parsed->lineage)) continue;
    if (sealed.open && sealed.open->in_progress == name) continue;
    WEIR_RETURN_IF_ERROR(files_.Remove(InDirectory(name)));
  }
  return Status::Ok();
}

// --rewind-file: parts above what is sealed here leave the readers' sight. The first of them may be
// what our file in progress became: its first bytes are sealed here, and it goes on as that file.
Status RollingStage::MovePartsAside(const flow::TakeoverContext& context,
                                    const RollingExtent& sealed) {
  WEIR_ASSIGN_OR_RETURN(const auto names, files_.List(options_.directory));
  bool open_found = !sealed.open || files_.Exists(InDirectory(sealed.open->in_progress));
  for (const std::string& name : names) {
    const auto parsed = ParseName(name);
    const bool conflict =
        std::any_of(sealed.closed.begin(), sealed.closed.end(),
                    [&](const PartRecord& record) { return record.part == name; });
    if (!parsed || (!IsAbove(context, *parsed) && !conflict)) continue;
    if (conflict) {
      const auto record = std::find_if(sealed.closed.begin(), sealed.closed.end(),
                                       [&](const PartRecord& r) { return r.part == name; });
      WEIR_ASSIGN_OR_RETURN(const bool done, Matches(InDirectory(name), *record, false));
      if (done) continue;
    }
    std::string aside = ".rewound-" + name;
    if (!open_found) {
      WEIR_ASSIGN_OR_RETURN(open_found, Matches(InDirectory(name), *sealed.open, true));
      if (open_found) aside = sealed.open->in_progress;
    }
    WEIR_RETURN_IF_ERROR(files_.RenameNoReplace(InDirectory(name), InDirectory(aside)));
    LogWarning("part_moved_aside", {{"sink", options_.sink}, {"from", name}, {"to", aside}});
  }
  return files_.SyncDirectory(options_.directory);
}

// Goes on with the file in progress behind what is sealed of it.
Status RollingStage::Reopen(const PartRecord& open, bool may_be_missing) {
  const std::string path = InDirectory(open.in_progress);
  const auto stat = files_.Stat(path);
  if (!stat.has_value() || stat->size < open.length) {
    if (!may_be_missing)
      return Status(Code::kInternal, path + " changed between the decision and the recovery");
    LogWarning("part_in_progress_lost",
               {{"sink", options_.sink}, {"path", path}, {"sealed_bytes", open.length}});
    return stat.has_value() ? files_.Remove(path) : Status::Ok();
  }
  WEIR_ASSIGN_OR_RETURN(file_, OutputFile::Open(files_, path, open.length));
  WEIR_ASSIGN_OR_RETURN(const auto reader, files_.Open(path, io::OpenMode::kRead));
  WEIR_ASSIGN_OR_RETURN(StreamDigest so_far, DigestOfPrefix(*reader, open.length));
  if (so_far.Value() != open.digest)
    return Status(Code::kCorruption, path + " does not hold the bytes that are sealed of it");
  file_->TrackWhole(std::move(so_far));
  file_name_ = open.in_progress;
  frozen_length_ = open.length;
  opened_ns_ = clock_.MonotonicNs();
  return Status::Ok();
}

}  // namespace weir::connectors
