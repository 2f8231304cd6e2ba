#include "sqlite/statement.h"

#include <sqlite3.h>

#include <utility>

#include "base/check.h"
#include "sqlite/database.h"

namespace weir::sqlite {

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement::Statement(Statement&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)),
      handle_(std::exchange(other.handle_, nullptr)),
      bind_error_(std::exchange(other.bind_error_, 0)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  if (this != &other) {
    sqlite3_finalize(handle_);
    database_ = std::exchange(other.database_, nullptr);
    handle_ = std::exchange(other.handle_, nullptr);
    bind_error_ = std::exchange(other.bind_error_, 0);
  }
  return *this;
}

Statement& Statement::Bound(int rc) {
  // A wrong number, or binding in the middle of rows, is a bug; a value too long is an outcome.
  CHECK(rc != SQLITE_RANGE && rc != SQLITE_MISUSE);
  if (rc != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = rc;
  return *this;
}

Statement& Statement::BindNull(int parameter) {
  return Bound(sqlite3_bind_null(handle_, parameter));
}

Statement& Statement::BindInt(int parameter, int64_t value) {
  return Bound(sqlite3_bind_int64(handle_, parameter, value));
}

Statement& Statement::BindDouble(int parameter, double value) {
  return Bound(sqlite3_bind_double(handle_, parameter, value));
}

Statement& Statement::BindText(int parameter, std::string_view utf8) {
  // A null pointer would bind NULL instead of an empty text.
  const char* data = utf8.empty() ? "" : utf8.data();
  return Bound(
      sqlite3_bind_text64(handle_, parameter, data, utf8.size(), SQLITE_STATIC, SQLITE_UTF8));
}

Statement& Statement::BindBlob(int parameter, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  return Bound(sqlite3_bind_blob64(handle_, parameter, data, bytes.size(), SQLITE_STATIC));
}

Status Statement::Run() {
  Result<bool> row = true;
  while (row.has_value() && *row) row = Step();
  Reset();
  return row.has_value() ? Status::Ok() : std::move(row.error());
}

Result<bool> Statement::Step() {
  CHECK(handle_ != nullptr);
  if (database_->failed()) return Fail(database_->failure_);
  if (bind_error_ != SQLITE_OK) {
    return Fail(database_->Outcome(bind_error_, "bind a value"));
  }
  const int rc = sqlite3_step(handle_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return Fail(database_->Outcome(rc, sqlite3_sql(handle_)));
}

void Statement::Reset() {
  // Repeats the error of the last step, which was handled there.
  (void)sqlite3_reset(handle_);
  (void)sqlite3_clear_bindings(handle_);
  bind_error_ = SQLITE_OK;
}

int Statement::ColumnCount() const { return sqlite3_column_count(handle_); }

ColumnType Statement::Type(int column) const {
  switch (sqlite3_column_type(handle_, column)) {
    case SQLITE_INTEGER:
      return ColumnType::kInteger;
    case SQLITE_FLOAT:
      return ColumnType::kReal;
    case SQLITE_TEXT:
      return ColumnType::kText;
    case SQLITE_BLOB:
      return ColumnType::kBlob;
    default:
      return ColumnType::kNull;
  }
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::Double(int column) const { return sqlite3_column_double(handle_, column); }

std::string_view Statement::Text(int column) const {
  // In this order: the call for the text may convert the value, the one for the length must come
  // after.
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

std::string_view Statement::Blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

}  // namespace weir::sqlite
