#include "sqlite/vfs.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "io/fault.h"

namespace weir::sqlite {
namespace {

// What SQLite sees as its file; the unix VFS's own file object follows it in the same allocation.
struct ShimFile {
  sqlite3_file base;  // first: SQLite casts
  bool failed;        // point 2 of vfs.h
  const char* name;   // for witness lines; SQLite keeps it alive as long as the file; may be null
};

constexpr int kShimBytes = (sizeof(ShimFile) + 15) / 16 * 16;

ShimFile* Shim(sqlite3_file* file) { return reinterpret_cast<ShimFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kShimBytes);
}
sqlite3_vfs* RealVfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

[[maybe_unused]] const char* NameOf(sqlite3_file* file) {
  return Shim(file)->name != nullptr ? Shim(file)->name : "(temporary)";
}

bool IsNoSpace(int error) { return error == ENOSPC || error == EDQUOT; }

// After a failed write, truncate or sync: FULL when it was for space (the unix VFS remembers
// errno), else the failure sticks to the file.
int Failed(sqlite3_file* file, int rc) {
  if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_FULL) return rc;
  int error = 0;
  Real(file)->pMethods->xFileControl(Real(file), SQLITE_FCNTL_LAST_ERRNO, &error);
  if (IsNoSpace(error)) return SQLITE_FULL;
  Shim(file)->failed = true;
  return rc;
}

int ShimClose(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }

int ShimRead(sqlite3_file* file, void* out, int bytes, sqlite3_int64 offset) {
  return Real(file)->pMethods->xRead(Real(file), out, bytes, offset);
}

int ShimWrite(sqlite3_file* file, const void* in, int bytes, sqlite3_int64 offset) {
  if (Shim(file)->failed) return SQLITE_IOERR_WRITE;
  WEIR_BEFORE_FS_CHANGE("write", NameOf(file));
  return Failed(file, Real(file)->pMethods->xWrite(Real(file), in, bytes, offset));
}

int ShimTruncate(sqlite3_file* file, sqlite3_int64 size) {
  if (Shim(file)->failed) return SQLITE_IOERR_TRUNCATE;
  WEIR_BEFORE_FS_CHANGE("truncate", NameOf(file));
  return Failed(file, Real(file)->pMethods->xTruncate(Real(file), size));
}

int ShimSync(sqlite3_file* file, int flags) {
  if (Shim(file)->failed) return SQLITE_IOERR_FSYNC;
  WEIR_BEFORE_FS_CHANGE("sync", NameOf(file));
  return Failed(file, Real(file)->pMethods->xSync(Real(file), flags));
}

int ShimFileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int ShimLock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xLock(Real(file), level);
}
int ShimUnlock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xUnlock(Real(file), level);
}
int ShimCheckReservedLock(sqlite3_file* file, int* held) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), held);
}
int ShimFileControl(sqlite3_file* file, int op, void* argument) {
  return Real(file)->pMethods->xFileControl(Real(file), op, argument);
}
int ShimSectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
int ShimDeviceCharacteristics(sqlite3_file* file) {
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}

int ShimShmMap(sqlite3_file* file, int region, int bytes, int extend, void volatile** out) {
  errno = 0;  // the unix VFS does not keep the errno of this call
  const int rc = Real(file)->pMethods->xShmMap(Real(file), region, bytes, extend, out);
  return (rc & 0xff) == SQLITE_IOERR && IsNoSpace(errno) ? SQLITE_FULL : rc;
}
int ShimShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShimShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
int ShimShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

// Version 2: with shared memory, without memory-mapped reads.
constexpr sqlite3_io_methods kShimMethods = {
    2,
    ShimClose,
    ShimRead,
    ShimWrite,
    ShimTruncate,
    ShimSync,
    ShimFileSize,
    ShimLock,
    ShimUnlock,
    ShimCheckReservedLock,
    ShimFileControl,
    ShimSectorSize,
    ShimDeviceCharacteristics,
    ShimShmMap,
    ShimShmLock,
    ShimShmBarrier,
    ShimShmUnmap,
    nullptr,
    nullptr,
};

int ShimOpen(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* real_vfs = RealVfs(vfs);
  ShimFile* shim = new (file) ShimFile{};
  shim->name = name;
  Real(file)->pMethods = nullptr;
#if defined(WEIR_FAULTS) && WEIR_FAULTS
  int exists = 1;
  if (name != nullptr && (flags & SQLITE_OPEN_CREATE) != 0) {
    real_vfs->xAccess(real_vfs, name, SQLITE_ACCESS_EXISTS, &exists);
  }
  if (exists == 0) WEIR_BEFORE_FS_CHANGE("create", name);
#endif
  errno = 0;
  const int rc = real_vfs->xOpen(real_vfs, name, Real(file), flags, out_flags);
  if (rc != SQLITE_OK) {
    // No methods: SQLite then does not close what was not opened.
    if (Real(file)->pMethods != nullptr) Real(file)->pMethods->xClose(Real(file));
    return IsNoSpace(errno) ? SQLITE_FULL : rc;
  }
  file->pMethods = &kShimMethods;
  return SQLITE_OK;
}

int ShimDelete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  WEIR_BEFORE_FS_CHANGE("remove", name);
  return RealVfs(vfs)->xDelete(RealVfs(vfs), name, sync_directory);
}
int ShimAccess(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
  return RealVfs(vfs)->xAccess(RealVfs(vfs), name, flags, result);
}
int ShimFullPathname(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return RealVfs(vfs)->xFullPathname(RealVfs(vfs), name, size, out);
}
int ShimRandomness(sqlite3_vfs* vfs, int bytes, char* out) {
  return RealVfs(vfs)->xRandomness(RealVfs(vfs), bytes, out);
}
int ShimSleep(sqlite3_vfs* vfs, int microseconds) {
  return RealVfs(vfs)->xSleep(RealVfs(vfs), microseconds);
}
int ShimCurrentTime(sqlite3_vfs* vfs, double* out) {
  return RealVfs(vfs)->xCurrentTime(RealVfs(vfs), out);
}
int ShimGetLastError(sqlite3_vfs* vfs, int size, char* out) {
  return RealVfs(vfs)->xGetLastError(RealVfs(vfs), size, out);
}
int ShimCurrentTimeInt64(sqlite3_vfs* vfs, sqlite3_int64* out) {
  return RealVfs(vfs)->xCurrentTimeInt64(RealVfs(vfs), out);
}

sqlite3_vfs MakeVfs(sqlite3_vfs* real) {
  sqlite3_vfs vfs{};
  vfs.iVersion = 2;
  vfs.szOsFile = kShimBytes + real->szOsFile;
  vfs.mxPathname = real->mxPathname;
  vfs.zName = "weir";
  vfs.pAppData = real;
  vfs.xOpen = ShimOpen;
  vfs.xDelete = ShimDelete;
  vfs.xAccess = ShimAccess;
  vfs.xFullPathname = ShimFullPathname;
  // No xDl*: extensions are compiled out.
  vfs.xRandomness = ShimRandomness;
  vfs.xSleep = ShimSleep;
  vfs.xCurrentTime = ShimCurrentTime;
  vfs.xGetLastError = ShimGetLastError;
  vfs.xCurrentTimeInt64 = ShimCurrentTimeInt64;
  return vfs;
}

}  // namespace

Status RegisterVfs() {
  if (sqlite3_vfs_find("weir") != nullptr) return Status::Ok();
  sqlite3_vfs* real = sqlite3_vfs_find("unix");
  if (real == nullptr) return Status(Code::kInternal, "SQLite has no unix VFS");
  static sqlite3_vfs vfs = MakeVfs(real);  // SQLite keeps a pointer to it and links it into a list
  const int rc = sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
  if (rc != SQLITE_OK) return Status(Code::kInternal, "cannot register the VFS weir");
  return Status::Ok();
}

}  // namespace weir::sqlite
