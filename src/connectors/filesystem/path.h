// What the option 'path' names: a file, a pattern or a directory, for sources and sinks.
#ifndef WEIR_CONNECTORS_FILESYSTEM_PATH_H_
#define WEIR_CONNECTORS_FILESYSTEM_PATH_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "io/files.h"

namespace weir::connectors {

// "file:///x" and "file:/x" are "/x"; a host in the URL, or another scheme, is kInvalid. Empty is
// kInvalid.
Result<std::string> LocalPath(std::string_view option);

// '*' any run, '?' one byte, '[a-z]' / '[!a-z]' a class, '\' takes the next byte literally; never
// across a '/'.
bool HasPattern(std::string_view path);
// One component of a path. As in a shell, a leading '.' is matched by a literal '.' only.
bool MatchComponent(std::string_view pattern, std::string_view name);

struct InputFile {
  std::string path;  // absolute
  io::FileStat stat;
  bool operator<(const InputFile& other) const { return path < other.path; }
};

// A directory that a listing has looked into, whatever links led there.
struct ListedDirectory {
  uint64_t device = 0, inode = 0;
  std::string
      component;  // which of its names are read; "": all that are not hidden, and below them
};

struct Listing {
  std::vector<InputFile> files;  // by path
  std::vector<std::string>
      unreadable;  // directories and files that could not be looked at, with the reason
  std::vector<std::string>
      left_out;               // what is no file (a socket, a pipe, a device), found on the way
  bool base_missing = false;  // the file, or the directory that a pattern begins with, is not there
};

// What a listing has come by on its way, for who looks for links (app/places).
struct Walk {
  std::vector<ListedDirectory> directories;
  std::vector<std::string> nowhere;  // links that point at nothing yet
};

// The regular files that `path` (absolute, of LocalPath) stands for, sorted by path, each once
// whatever links lead to it:
//   a file        itself
//   a directory   every file below it, at any depth; names that begin with '.' are left out (files
//   in progress) a pattern     every match; a matching directory stands for the files below it
// What is neither file nor directory (a socket, a pipe) is left out and named in `left_out`; where
// `path` itself is one, in `unreadable`. A file that goes away meanwhile is not an error, nor is a
// link that points at nothing. `walk` may be null: a follower lists many times a second, and asks
// for none.
Listing ListInputs(io::Files& files, const std::string& path, Walk* walk = nullptr);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_PATH_H_
