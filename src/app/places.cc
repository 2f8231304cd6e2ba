#include "app/places.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

#include "base/text.h"
#include "connectors/filesystem/file_receipt.h"
#include "connectors/filesystem/filesystem_spec.h"
#include "connectors/filesystem/path.h"
#include "connectors/registry.h"
#include "connectors/sqlite/sqlite_sink.h"

namespace weir::app {

using plan::Diagnostic;

namespace {

struct Place {
  const plan::TableDef* table;
  std::string path;  // as written, without file://
  bool output;
};

// Tables with a path, in plan order; one that several nodes use once.
std::vector<Place> PlacesOf(const plan::Plan& plan) {
  std::vector<Place> places;
  for (const plan::Node& node : plan.nodes) {
    const auto* scan = std::get_if<plan::ScanNode>(&node.body);
    const auto* sink = std::get_if<plan::SinkNode>(&node.body);
    const plan::TableDef* table = nullptr;
    if (scan != nullptr) table = scan->table;
    if (sink != nullptr) table = sink->table;
    if (table == nullptr || plan::FindOption(table->connector->options, "path") == nullptr ||
        !table->options.Has("path")) {
      continue;
    }
    const Result<std::string> path = connectors::LocalPath(table->options.String("path"));
    if (path) places.push_back({table, *path, sink != nullptr});
  }
  return places;
}

Diagnostic At(const plan::TableDef& table, std::string message, std::string hint = "") {
  return {Diagnostic::Severity::kError, table.options.Find("path")->value_position,
          std::move(message), std::move(hint)};
}

// Whether the sink table writes parts into a directory.
bool IsRolling(io::Files& files, const Place& place) {
  if (connectors::NeedsDelivery(*place.table)) return false;
  const Result<io::FileStat> stat = files.Stat(place.path);
  return connectors::RollingByOptions(*place.table) || (stat && stat->is_directory);
}

// What the output is called on this machine: two sinks must not have one name. Tables of one
// database are told apart by their own name there.
std::string OutputName(io::Files& files, const Place& place) {
  std::string name = files.RealPath(place.path);
  if (!connectors::NeedsDelivery(*place.table)) return name;
  const bool named = place.table->options.Has("table");
  return name + "\n" + (named ? place.table->options.String("table") : place.table->name);
}

// A file as it would appear there.
std::string ExampleFile(io::Files& files, const Place& place) {
  const std::string real = files.RealPath(place.path);
  if (!IsRolling(files, place)) return real;
  const std::string& format = place.table->format;
  return io::JoinPath(real, "part-00000000-0000000001." + (format == "raw" ? "txt" : format));
}

bool AnyHidden(const std::vector<std::string_view>& components, size_t from) {
  for (size_t i = from; i < components.size(); ++i) {
    if (components[i].starts_with('.')) return true;
  }
  return false;
}

std::vector<std::string_view> Components(std::string_view path) {
  std::vector<std::string_view> out;
  for (const std::string_view component : Split(path, '/')) {
    if (!component.empty()) out.push_back(component);
  }
  return out;
}

// Whether the input `path` (a file, a directory or a pattern) would read `file`, a real path.
bool Reads(io::Files& files, const std::string& path, const std::string& file) {
  // Components in front of a pattern may be links.
  const std::vector<std::string_view> written = Components(path);
  const bool pattern = connectors::HasPattern(path) && !files.Exists(path);
  std::string plain = path.starts_with('/') ? "/" : "";
  size_t first = 0;
  while (pattern && first < written.size() && !connectors::HasPattern(written[first])) {
    plain = plain.empty() ? std::string(written[first]) : io::JoinPath(plain, written[first]);
    ++first;
  }
  const std::string base = files.RealPath(pattern ? (plain.empty() ? "." : plain) : path);
  std::vector<std::string_view> wanted = Components(base);
  if (pattern) wanted.insert(wanted.end(), written.begin() + first, written.end());
  const std::vector<std::string_view> names = Components(file);
  if (names.size() < wanted.size()) return false;
  const size_t fixed = Components(base).size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool fits =
        i < fixed ? wanted[i] == names[i] : connectors::MatchComponent(wanted[i], names[i]);
    if (!fits) return false;
  }
  // Below a directory that matches everything is read but what is hidden.
  return !AnyHidden(names, wanted.size());
}

void FindSharedOutputs(io::Files& files, const std::vector<Place>& places,
                       std::vector<Diagnostic>* out) {
  struct Known {
    const plan::TableDef* table;
    std::string name;
  };
  std::multimap<std::string, Known> by_path;
  for (const Place& place : places) {
    if (!place.output) continue;
    const std::string path = files.RealPath(place.path);
    const std::string name = OutputName(files, place);
    const auto [begin, end] = by_path.equal_range(path);
    for (auto it = begin; it != end; ++it) {
      const plan::TableDef& known = *it->second.table;
      if (known.connector == place.table->connector && it->second.name != name) continue;
      const bool later = known.position.line < place.table->position.line;
      const plan::TableDef& second = later ? *place.table : known;
      const plan::TableDef& other = later ? known : *place.table;
      out->push_back(At(second, second.name + " and " + other.name + " have one output: " + path,
                        "several INSERTs into one table share its output"));
      break;
    }
    by_path.emplace(path, Known{place.table, name});
  }
}

// Whether a walk through an input has come by `file` (a real path, perhaps not made yet), by
// whatever links.
bool ComesBy(io::Files& files, const connectors::Listing& listing, const connectors::Walk& walk,
             const std::string& file) {
  const auto is = [](const auto& listed, const io::FileStat& stat) {
    return listed.device == stat.device && listed.inode == stat.inode;
  };
  if (const auto stat = files.Stat(file)) {
    for (const connectors::InputFile& listed : listing.files) {
      if (is(listed.stat, *stat)) return true;
    }
  }
  for (const std::string& link : walk.nowhere) {
    if (files.RealPath(link) == file) return true;
  }
  const std::vector<std::string_view> names = Components(file);
  std::string directory = file;
  for (size_t depth = names.size(); depth > 0; --depth) {
    directory = io::DirectoryOf(directory);
    const auto stat = files.Stat(directory);
    if (!stat) continue;
    const std::string_view name = names[depth - 1];
    for (const connectors::ListedDirectory& listed : walk.directories) {
      if (!is(listed, *stat)) continue;
      // What matches and is a directory was looked into, and is in the list itself.
      const bool reads =
          listed.component.empty() ||
          (depth == names.size() && connectors::MatchComponent(listed.component, name));
      if (reads && !AnyHidden(names, depth - 1)) return true;
    }
  }
  return false;
}

// The outputs, and the state directory, that lie where `source` reads.
void FindReadBack(io::Files& files, const Place& source, const std::vector<Place>& places,
                  const std::string& state,
                  const std::function<bool(const std::string& file)>& reads,
                  std::vector<Diagnostic>* out) {
  for (const Place& sink : places) {
    if (!sink.output || !reads(ExampleFile(files, sink))) continue;
    out->push_back(At(*sink.table,
                      sink.table->name + " writes where " + source.table->name + " reads",
                      "the pipeline would read its own output"));
  }
  // A file of each depth that a state directory has.
  const bool reads_state = std::ranges::any_of(
      std::initializer_list<const char*>{"state.db", "dead/t.jsonl", "spool/t/1.seg"},
      [&](const char* name) { return reads(io::JoinPath(state, name)); });
  if (!reads_state) return;
  out->push_back(At(*source.table,
                    "the state directory " + state + " lies where " + source.table->name + " reads",
                    "give the input a directory of its own, or move the state with --data-dir"));
}

}  // namespace

std::vector<Diagnostic> FindSharedPlaces(io::Files& files, const plan::Plan& plan,
                                         const std::string& state_directory) {
  const std::vector<Place> places = PlacesOf(plan);
  const std::string state = files.RealPath(state_directory);
  std::vector<Diagnostic> out;
  FindSharedOutputs(files, places, &out);
  for (const Place& place : places) {
    const std::string real = files.RealPath(place.path);
    if (place.output && (real == state || real.starts_with(state + "/"))) {
      out.push_back(At(*place.table,
                       place.table->name + " writes into the state directory " + state,
                       "that is weir's own: write somewhere else"));
    }
    if (place.output) continue;
    FindReadBack(
        files, place, places, state,
        [&](const std::string& file) { return Reads(files, place.path, file); }, &out);
  }
  return out;
}

std::vector<Diagnostic> FindLinkedPlaces(io::Files& files, const plan::Plan& plan,
                                         const std::string& state_directory) {
  const std::vector<Place> places = PlacesOf(plan);
  const std::string state = files.RealPath(state_directory);
  std::vector<Diagnostic> out;
  for (const Place& place : places) {
    if (place.output) continue;
    connectors::Walk walk;
    const connectors::Listing listing =
        connectors::ListInputs(files, files.AbsolutePath(place.path), &walk);
    FindReadBack(
        files, place, places, state,
        [&](const std::string& file) { return ComesBy(files, listing, walk, file); }, &out);
  }
  return out;
}

namespace {

void CheckInput(io::Files& files, const Place& place, std::vector<Diagnostic>* out) {
  const std::string absolute = files.AbsolutePath(place.path);
  const connectors::Listing listing = connectors::ListInputs(files, absolute);
  const bool pattern = connectors::HasPattern(place.path) && !files.Exists(place.path);
  const bool follow = place.table->options.Has("source.monitor-interval");
  if (listing.base_missing) {
    Diagnostic missing = At(*place.table, place.table->name + ": " + absolute + " does not exist");
    if (follow || pattern) missing.severity = Diagnostic::Severity::kWarning;
    out->push_back(std::move(missing));
  } else if (listing.files.empty() && listing.unreadable.empty()) {
    Diagnostic nothing = At(*place.table, place.table->name + ": " + absolute +
                                              (pattern ? " matches no file" : " holds no file"));
    nothing.severity = Diagnostic::Severity::kWarning;
    out->push_back(std::move(nothing));
  }
  for (const std::string& reason : listing.unreadable) {
    Diagnostic unreadable = At(*place.table, place.table->name + ": " + reason);
    if (!listing.files.empty()) unreadable.severity = Diagnostic::Severity::kWarning;
    out->push_back(std::move(unreadable));
  }
  // Not each of a hundred thousand: what cannot be read is mostly all of them or none.
  constexpr size_t kOpenedMax = 1000;
  for (size_t i = 0; i < std::min(listing.files.size(), kOpenedMax); ++i) {
    const connectors::InputFile& file = listing.files[i];
    const auto opened = files.Open(file.path, io::OpenMode::kRead);
    if (!opened)
      out->push_back(At(*place.table, place.table->name + ": " + opened.error().message()));
  }
}

// Ok: no file, an empty one or an SQLite database.
Status CheckDatabase(io::Files& files, const std::string& absolute) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  char head[16];
  const Result<io::FileStat> stat = files.Stat(absolute);
  if (!stat || stat->size == 0) return Status::Ok();
  WEIR_ASSIGN_OR_RETURN(const auto file, files.Open(absolute, io::OpenMode::kReadWrite));
  WEIR_ASSIGN_OR_RETURN(const size_t n, file->ReadAt(0, head));
  if (std::string_view(head, n) == kMagic) return Status::Ok();
  return Status(Code::kCannotCreate, absolute + " exists and is no SQLite database");
}

// An existing file at the path of an output.
void CheckOutputFile(io::Files& files, const Place& place, const std::string& absolute,
                     const std::vector<std::string>& claimed, std::vector<Diagnostic>* out) {
  const Result<io::FileStat> stat = files.Stat(absolute);
  if (!stat) return;
  if (!stat->is_regular) {
    out->push_back(
        At(*place.table, place.table->name + ": " + absolute + " is not a regular file"));
    return;
  }
  if (connectors::NeedsDelivery(*place.table)) {
    if (const Status status = CheckDatabase(files, absolute); !status.ok())
      out->push_back(At(*place.table, place.table->name + ": " + status.message()));
    return;
  }
  if (stat->size == 0 || place.table->options.String("weir.sink.if-exists") != "fail") return;
  if (std::ranges::find(claimed, absolute) != claimed.end()) return;
  // Moved here with its receipt, perhaps ours: a start looks into it.
  if (files.Exists(connectors::ReceiptPath(absolute))) return;
  out->push_back(
      At(*place.table,
         place.table->name + ": " + absolute + " exists and was not written by this pipeline",
         "move the file away, or set 'weir.sink.if-exists' to 'append' or 'overwrite'"));
}

void CheckOutput(io::Files& files, const Place& place, const std::vector<std::string>& claimed,
                 std::vector<Diagnostic>* out) {
  const std::string absolute = files.AbsolutePath(place.path);
  // A rolling sink's own directory is made by the run; the one above it must be there.
  const bool rolling = IsRolling(files, place);
  const bool into = rolling && files.Exists(absolute);
  const std::string parent = into ? absolute : io::DirectoryOf(absolute);
  const Result<io::FileStat> stat = files.Stat(parent);
  if (!stat) {
    out->push_back(
        At(*place.table, place.table->name + ": the directory " + parent + " does not exist",
           "make it, or mount what belongs there: weir makes no directories for output"));
    return;
  }
  if (!stat->is_directory) {
    out->push_back(At(*place.table, place.table->name + ": " + parent + " is not a directory"));
    return;
  }
  if (const Status status = files.CheckWritable(parent); !status.ok())
    out->push_back(At(*place.table, place.table->name + ": " + status.message()));
  if (!rolling) CheckOutputFile(files, place, absolute, claimed, out);
}

}  // namespace

std::vector<Diagnostic> FindMissingPlaces(io::Files& files, const plan::Plan& plan,
                                          const std::vector<std::string>& claimed) {
  std::vector<Diagnostic> out;
  for (const Place& place : PlacesOf(plan)) {
    if (place.output)
      CheckOutput(files, place, claimed, &out);
    else
      CheckInput(files, place, &out);
  }
  return out;
}

Status CheckDatabaseFiles(io::Files& files, const plan::Plan& plan) {
  for (const Place& place : PlacesOf(plan)) {
    if (!place.output || !connectors::NeedsDelivery(*place.table)) continue;
    WEIR_RETURN_IF_ERROR(CheckDatabase(files, files.AbsolutePath(place.path)));
  }
  return Status::Ok();
}

std::vector<Diagnostic> FindUnfitTables(io::Files& files, const std::string& sqlite_vfs,
                                        const plan::Plan& plan) {
  std::vector<Diagnostic> out;
  for (const Place& place : PlacesOf(plan)) {
    if (!place.output || !connectors::NeedsDelivery(*place.table)) continue;
    const std::string absolute = files.AbsolutePath(place.path);
    if (!CheckDatabase(files, absolute).ok()) continue;  // said already
    const Status status = connectors::CheckSqliteTable(files, sqlite_vfs, absolute, *place.table);
    if (!status.ok()) out.push_back(At(*place.table, place.table->name + ": " + status.message()));
  }
  return out;
}

std::vector<std::string> DescribePlaces(io::Files& files, const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const Place& place : PlacesOf(plan)) {
    out.push_back("table " + place.table->name + (place.output ? " writes " : " reads ") +
                  files.AbsolutePath(place.path));
  }
  return out;
}

}  // namespace weir::app
