#include "sqlite/result_code.h"

#include <sqlite3.h>

namespace weir::sqlite {

Code CodeOf(int extended_result) {
  if (extended_result == SQLITE_CONSTRAINT_UNIQUE ||
      extended_result == SQLITE_CONSTRAINT_PRIMARYKEY) {
    return Code::kExists;
  }
  switch (extended_result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return Code::kOk;
    case SQLITE_FULL:
      return Code::kNoSpace;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::kBusy;
    case SQLITE_IOERR:
      return Code::kUnknownOutcome;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kCorruption;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return Code::kCannotCreate;
    case SQLITE_INTERRUPT:
      return Code::kInterrupted;
    // What the statement or a value asks for cannot be: an unknown table, a violated NOT NULL, a
    // value too long.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_SCHEMA:
      return Code::kInvalid;
    default:
      return Code::kInternal;
  }
}

Code CommitCodeOf(int extended_result) {
  const Code code = CodeOf(extended_result);
  const bool known = code == Code::kOk || code == Code::kNoSpace || code == Code::kBusy;
  return known ? code : Code::kUnknownOutcome;
}

}  // namespace weir::sqlite
