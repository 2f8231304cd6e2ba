// Statement: a prepared statement, used many times. Bind all parameters, then Run() it, or Step()
// through its rows.
#ifndef WEIR_SQLITE_STATEMENT_H_
#define WEIR_SQLITE_STATEMENT_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"

struct sqlite3_stmt;

namespace weir::sqlite {

class Database;

enum class ColumnType { kNull, kInteger, kReal, kText, kBlob };

// Must not outlive its Database.
class Statement {
 public:
  Statement() = default;  // empty; only to be assigned to
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;

  // Parameters count from 1. Text and blobs are borrowed until Run() returns or Reset(): no copy of
  // a 4 MiB blob. A value that SQLite refuses (longer than its limit of 10^9 bytes) makes the next
  // Run() or Step() fail.
  Statement& BindNull(int parameter);
  Statement& BindInt(int parameter, int64_t value);
  Statement& BindDouble(int parameter, double value);
  Statement& BindText(int parameter, std::string_view utf8);
  Statement& BindBlob(int parameter, std::string_view bytes);

  // For statements whose rows nobody wants: runs to the end and resets, also after a failure.
  Status Run();
  // True: there is a row. False: there are no more; Reset() before the next use.
  Result<bool> Step();
  // Ready to be used again; forgets the parameters.
  void Reset();

  // Of the current row; columns count from 0. Views are valid until the next Step() or Reset().
  int ColumnCount() const;
  ColumnType Type(int column) const;
  bool IsNull(int column) const { return Type(column) == ColumnType::kNull; }
  int64_t Int(int column) const;
  double Double(int column) const;
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}
  Statement& Bound(int rc);

  Database* database_ = nullptr;
  sqlite3_stmt* handle_ = nullptr;
  int bind_error_ = 0;  // the first refused value since Reset()
};

}  // namespace weir::sqlite

#endif  // WEIR_SQLITE_STATEMENT_H_
