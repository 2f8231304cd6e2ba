#include "sqlite/result_code.h"

#include <doctest/doctest.h>
#include <sqlite3.h>

namespace weir::sqlite {
namespace {

TEST_CASE("a result means the same in a statement and in a COMMIT only for space and locks") {
  struct Case {
    int given;
    Code statement;
    Code commit;
  };
  const Case cases[] = {
      {SQLITE_OK, Code::kOk, Code::kOk},
      {SQLITE_DONE, Code::kOk, Code::kOk},
      {SQLITE_FULL, Code::kNoSpace, Code::kNoSpace},
      {SQLITE_BUSY, Code::kBusy, Code::kBusy},
      {SQLITE_BUSY_SNAPSHOT, Code::kBusy, Code::kBusy},
      {SQLITE_LOCKED, Code::kBusy, Code::kBusy},
      {SQLITE_IOERR, Code::kUnknownOutcome, Code::kUnknownOutcome},
      {SQLITE_IOERR_FSYNC, Code::kUnknownOutcome, Code::kUnknownOutcome},
      {SQLITE_IOERR_SHORT_READ, Code::kUnknownOutcome, Code::kUnknownOutcome},
      {SQLITE_CORRUPT, Code::kCorruption, Code::kUnknownOutcome},
      {SQLITE_NOTADB, Code::kCorruption, Code::kUnknownOutcome},
      {SQLITE_CANTOPEN, Code::kCannotCreate, Code::kUnknownOutcome},
      {SQLITE_READONLY_DBMOVED, Code::kCannotCreate, Code::kUnknownOutcome},
      {SQLITE_INTERRUPT, Code::kInterrupted, Code::kUnknownOutcome},
      {SQLITE_CONSTRAINT_PRIMARYKEY, Code::kExists, Code::kUnknownOutcome},
      {SQLITE_CONSTRAINT_UNIQUE, Code::kExists, Code::kUnknownOutcome},
      {SQLITE_CONSTRAINT_NOTNULL, Code::kInvalid, Code::kUnknownOutcome},
      {SQLITE_ERROR, Code::kInvalid, Code::kUnknownOutcome},
      {SQLITE_NOMEM, Code::kInternal, Code::kUnknownOutcome},
      {SQLITE_MISUSE, Code::kInternal, Code::kUnknownOutcome},
  };
  for (const Case& c : cases) {
    CAPTURE(sqlite3_errstr(c.given));
    CHECK(CodeOf(c.given) == c.statement);
    CHECK(CommitCodeOf(c.given) == c.commit);
  }
}

}  // namespace
}  // namespace weir::sqlite
