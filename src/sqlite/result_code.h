// SQLite's result codes as weir's. One place, because "known to have failed" and "unknown" is
// decided here.
#ifndef WEIR_SQLITE_RESULT_CODE_H_
#define WEIR_SQLITE_RESULT_CODE_H_

#include "base/status.h"

namespace weir::sqlite {

// Of an extended result code. SQLITE_IOERR is always an unknown outcome: our VFS has already turned
// the I/O errors that only mean "no space" into SQLITE_FULL.
Code CodeOf(int extended_result);
// The same for the result of a COMMIT: everything but space and lock is an unknown outcome.
Code CommitCodeOf(int extended_result);

}  // namespace weir::sqlite

#endif  // WEIR_SQLITE_RESULT_CODE_H_
