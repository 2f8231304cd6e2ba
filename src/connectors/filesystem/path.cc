#include "connectors/filesystem/path.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace weir::connectors {
namespace {

constexpr std::string_view kFileScheme = "file:";

// "[a-z]" at the front of `pattern`. Returns its length, 0 when it is not closed (then '[' is a
// literal).
size_t MatchClass(std::string_view pattern, char c, bool* matches) {
  size_t i = 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool in = false;
  const size_t first = i;
  for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      in = in || (static_cast<unsigned char>(pattern[i]) <= static_cast<unsigned char>(c) &&
                  static_cast<unsigned char>(c) <= static_cast<unsigned char>(pattern[i + 2]));
      i += 2;
    } else {
      in = in || pattern[i] == c;
    }
  }
  if (i >= pattern.size()) return 0;
  *matches = in != negated;
  return i + 1;
}

// The one element at the front of `pattern` (not '*') against one byte. Sets how much of the
// pattern it took.
bool MatchOne(std::string_view pattern, char c, size_t* taken) {
  *taken = 1;
  if (pattern[0] == '?') return true;
  if (pattern[0] == '[') {
    bool matches = false;
    const size_t length = MatchClass(pattern, c, &matches);
    if (length > 0) {
      *taken = length;
      return matches;
    }
  }
  if (pattern[0] == '\\' && pattern.size() > 1) {
    *taken = 2;
    return pattern[1] == c;
  }
  return pattern[0] == c;
}

std::string Unescape(std::string_view component) {
  std::string out;
  for (size_t i = 0; i < component.size(); ++i) {
    if (component[i] == '\\' && i + 1 < component.size()) ++i;
    out.push_back(component[i]);
  }
  return out;
}

class Lister {
 public:
  Lister(io::Files& files, Walk* walk) : files_(files), walk_(walk) {}

  Listing Take() {
    std::sort(out_.files.begin(), out_.files.end());
    const auto same_path = [](const InputFile& a, const InputFile& b) { return a.path == b.path; };
    out_.files.erase(std::unique(out_.files.begin(), out_.files.end(), same_path),
                     out_.files.end());
    // One file under two names (a link beside what it points at) is one input: its first name
    // stands for it. Copies have inodes of their own.
    std::set<std::pair<uint64_t, uint64_t>> seen;
    std::erase_if(out_.files, [&](const InputFile& file) {
      return !seen.insert({file.stat.device, file.stat.inode}).second;
    });
    return std::move(out_);
  }

  void Plain(const std::string& path) {
    const auto stat = files_.Stat(path);
    if (!stat.has_value()) {
      out_.base_missing = stat.error().code() == Code::kNotFound;
      if (!out_.base_missing) out_.unreadable.push_back(stat.error().message());
      return;
    }
    if (stat->is_regular || stat->is_directory) return AddAny(path, *stat);
    out_.unreadable.push_back(NoFile(path));
  }

  // `components` from `index` on, below the existing directory `directory`.
  void Pattern(const std::string& directory, const std::vector<std::string_view>& components,
               size_t index, bool seen_pattern) {
    const bool last = index + 1 == components.size();
    const std::string_view component = components[index];
    if (last && walk_ != nullptr) {
      if (const auto stat = files_.Stat(directory); stat.has_value())
        walk_->directories.push_back({stat->device, stat->inode, std::string(component)});
    }
    if (!HasPattern(component)) {
      const std::string path = io::JoinPath(directory, Unescape(component));
      const auto stat = files_.Stat(path);
      if (!stat.has_value()) {
        if (!seen_pattern) out_.base_missing = true;
        Note(path, stat.error());
      } else if (last) {
        AddAny(path, *stat);
      } else if (stat->is_directory) {
        Pattern(path, components, index + 1, seen_pattern);
      }
      return;
    }
    const auto entries = files_.ListStats(
        directory, [&](std::string_view name) { return MatchComponent(component, name); });
    if (!entries.has_value()) return Note(directory, entries.error());
    for (const auto& [name, stat] : *entries) {
      const std::string path = io::JoinPath(directory, name);
      if (!stat.has_value()) {
        Note(path, stat.error());
      } else if (last) {
        AddAny(path, *stat);
      } else if (stat->is_directory) {
        Pattern(path, components, index + 1, true);
      }
    }
  }

 private:
  static std::string NoFile(const std::string& path) {
    return path + " is neither a file nor a directory";
  }
  // Gone between listing and looking is normal, as is a link that points at nothing; everything
  // else is worth a word.
  void Note(const std::string& path, const Status& status) {
    if (status.code() != Code::kNotFound)
      out_.unreadable.push_back(status.message());
    else if (walk_ != nullptr)
      walk_->nowhere.push_back(path);
  }

  void AddAny(const std::string& path, const io::FileStat& stat) {
    if (stat.is_directory) return AddDirectory(path, stat);
    if (stat.is_regular) {
      out_.files.push_back({path, stat});
    } else {
      out_.left_out.push_back(NoFile(path));
    }
  }

  void AddDirectory(const std::string& path, const io::FileStat& stat) {
    // A link that leads back up would never end; a directory that two links reach is read once.
    if (!directories_.insert({stat.device, stat.inode}).second) return;
    if (walk_ != nullptr) walk_->directories.push_back({stat.device, stat.inode, ""});
    const auto entries =
        files_.ListStats(path, [](std::string_view name) { return name.front() != '.'; });
    if (!entries.has_value()) return Note(path, entries.error());
    out_.files.reserve(out_.files.size() + entries->size());
    for (const auto& [name, child] : *entries) {
      if (child.has_value()) {
        AddAny(io::JoinPath(path, name), *child);
      } else {
        Note(io::JoinPath(path, name), child.error());
      }
    }
  }

  io::Files& files_;
  Walk* const walk_;  // null: nobody asks
  Listing out_;
  std::set<std::pair<uint64_t, uint64_t>> directories_;  // those that are read as a whole
};

}  // namespace

Result<std::string> LocalPath(std::string_view option) {
  std::string_view path = option;
  if (path.starts_with(kFileScheme)) {
    path.remove_prefix(kFileScheme.size());
    if (path.starts_with("//")) {
      path.remove_prefix(2);
      if (path.starts_with("localhost/")) path.remove_prefix(9);
    }
    if (!path.starts_with("/")) {
      return Fail(Code::kInvalid,
                  "'" + std::string(option) +
                      "' names a host: write file:///absolute/path or a plain path");
    }
  } else if (const size_t colon = path.find("://");
             colon != std::string_view::npos && path.find('/') > colon) {
    return Fail(Code::kInvalid,
                "'" + std::string(path.substr(0, colon)) +
                    "://' is not supported: files are local (a plain path or file://)");
  }
  if (path.empty()) return Fail(Code::kInvalid, "'path' is empty");
  return std::string(path);
}

bool HasPattern(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

bool MatchComponent(std::string_view pattern, std::string_view name) {
  if (!name.empty() && name[0] == '.' && (pattern.empty() || pattern[0] != '.')) return false;
  size_t p = 0, n = 0;
  // Where to go on when a literal does not match: after the last '*', one byte further. Never worse
  // than quadratic.
  size_t star = std::string_view::npos, star_n = 0;
  while (n < name.size()) {
    size_t taken = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      star_n = n;
    } else if (p < pattern.size() && MatchOne(pattern.substr(p), name[n], &taken)) {
      p += taken;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Listing ListInputs(io::Files& files, const std::string& path, Walk* walk) {
  Lister lister(files, walk);
  // A file that is really called "a[1].log" is read as such.
  if (!HasPattern(path) || files.Exists(path)) {
    lister.Plain(path);
  } else {
    std::vector<std::string_view> components;
    for (const std::string_view component : Split(path, '/')) {
      if (!component.empty()) components.push_back(component);
    }
    lister.Pattern("/", components, 0, false);
  }
  return lister.Take();
}

}  // namespace weir::connectors
