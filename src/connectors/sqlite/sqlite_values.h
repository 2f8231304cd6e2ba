// Values of a row as parameters of an INSERT.
#ifndef WEIR_CONNECTORS_SQLITE_SQLITE_VALUES_H_
#define WEIR_CONNECTORS_SQLITE_SQLITE_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "sqlite/statement.h"

namespace weir::connectors {

// Owns the texts that are bound by reference until the row is written; reused from row to row.
class ValueTexts {
 public:
  void Begin(size_t columns) {
    if (texts_.size() < columns) texts_.resize(columns);
    used_ = 0;
  }
  std::string& Next() {
    texts_[used_].clear();
    return texts_[used_++];
  }

 private:
  std::vector<std::string> texts_;
  size_t used_ = 0;
};

void BindRow(const Schema& schema, const Batch& batch, uint32_t row, ValueTexts& texts,
             sqlite::Statement& insert);
std::string QuoteName(std::string_view name);  // "a ""b"""

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_SQLITE_SQLITE_VALUES_H_
