// SimVfs: a VFS over an io::Files, so that a database, its log and its journal live on the
// simulated disk and share its power cuts. Tests only (library weir_sqlite_testing).
//
// Locks and shared memory exist within the object, between the connections that were opened through
// it: they die with it, as those of a killed process do. A crash test closes its Databases, drops
// the SimVfs, asks the world for its successor and makes a SimVfs for that.
//
// Like the VFS "weir" it gives SQLITE_FULL for "no space" and lets a failed sync stick to the file.
#ifndef WEIR_SQLITE_SIM_VFS_H_
#define WEIR_SQLITE_SIM_VFS_H_

#include <memory>
#include <string>

#include "io/files.h"

namespace weir::sqlite {

class SimVfs {
 public:
  // Registers itself under `name`; InitializeSqlite() must have been called. `files` must outlive
  // it. The seed makes SQLite's own randomness (salts of the log) repeat.
  explicit SimVfs(io::Files& files, const char* name = "weir-sim", int seed = 1);
  ~SimVfs();  // all Databases that use it are closed
  SimVfs(const SimVfs&) = delete;
  SimVfs& operator=(const SimVfs&) = delete;
  const char* name() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace weir::sqlite

#endif  // WEIR_SQLITE_SIM_VFS_H_
