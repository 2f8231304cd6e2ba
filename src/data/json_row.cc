#include "data/json_row.h"

#include <algorithm>

#include "data/json_skip.h"
#include "data/json_string.h"

namespace weir::json {
namespace {

std::vector<std::string> NamesOf(const std::vector<DecodeField>& fields) {
  std::vector<std::string> names;
  for (const DecodeField& field : fields) names.push_back(field.name);
  return names;
}

}  // namespace

RowReader::RowReader(const FormatSpec& spec, const std::vector<DecodeField>& fields)
    : targets_(fields.size()), keys_(NamesOf(fields)) {
  for (const DecodeField& field : fields) {
    columns_.emplace_back(field, spec);
    if (!field.type.nullable) not_null_.push_back(static_cast<uint32_t>(columns_.size() - 1));
  }
}

void RowReader::Bind(Batch& batch, uint32_t first, uint32_t last) {
  batch.ResizeOwned(last);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t at = static_cast<size_t>(columns_[i].batch_column());
    if (targets_[i] != &batch.column(at)) targets_[i] = &batch.mutable_column(at);
    std::fill(targets_[i]->valid.begin() + first, targets_[i]->valid.begin() + last, 0);
    columns_[i].Bind(*targets_[i]);
  }
}

void RowReader::Open(Batch& batch, uint32_t first, uint32_t last) {
  Bind(batch, first, last);
  AttachStrings(batch);
}

void RowReader::Close(Batch& batch, uint32_t rows) {
  DetachStrings();
  if (batch.rows() != rows) batch.ResizeOwned(rows);
}

// What stands before a value: the object's begin or a comma, a key, a colon; or the row's end.
inline const char* RowReader::ReadGlue(const char* p, bool first, int& action) {
  Failure& failure = context_.failure;
  if (MayBeBlank(*p)) p = SkipBlanks(p);
  bool close = *p == '}';
  if (first) {
    if (*p != '{') return failure.Set(JsonError::kNotObject, p);
    p = SkipBlanks(p + 1);
    close = *p == '}';
  } else if (*p == ',') {
    p = SkipBlanks(p + 1);
  } else if (!close) {
    return failure.Set(JsonError::kExpectedCommaOrBrace, p);
  }
  if (!close) return ReadKey(p, action);
  p = SkipBlanks(p + 1);
  if (*p != '\n') return failure.Set(JsonError::kTrailing, p);
  action = kCloseRow;
  return p + 1;
}

// A key, its colon and the blanks around; returns the value's first byte.
inline const char* RowReader::ReadKey(const char* p, int& action) {
  if (*p != '"') return context_.failure.Set(JsonError::kExpectedKey, p);
  const char* const key = p + 1;
  const uint32_t mask = Scan::StringMask(key);
  const int length = mask == 0 ? 16 : std::countr_zero(mask);
  if (length < 16 && key[length] == '"') {
    action = keys_.Find(key, static_cast<size_t>(length));
    p = key + length + 1;
  } else {
    p = SkipString(key, context_.failure);
    if (p == nullptr) return nullptr;
    const std::string_view text(key, static_cast<size_t>(p - 1 - key));
    if (text.find('\\') == std::string_view::npos) {
      action = keys_.Find(key, text.size());
    } else {
      Unescape(text, key_scratch_);
      const size_t size = key_scratch_.size();
      key_scratch_.append(8, '\0');  // Find looks at eight bytes
      action = keys_.Find(key_scratch_.data(), size);
    }
  }
  if (MayBeBlank(*p)) p = SkipBlanks(p);
  if (*p != ':') return context_.failure.Set(JsonError::kExpectedColon, p);
  ++p;
  return MayBeBlank(*p) ? SkipBlanks(p) : p;
}

// Out of line: what happens once in many rows shall not cost the others registers.
[[gnu::noinline]] const char* RowReader::LearnGlue(const char* p, bool first,
                                                   const KeySlots::Slot* slot, int& action) {
  const char* const end = ReadGlue(p, first, action);
  if (end != nullptr) slots_.Learn(slot, p, end, action, ColumnOf(action));
  return end;
}

// kGuess: keys are compared with those of the row before first.
template <bool kGuess>
const char* RowReader::ReadFields(const char* const begin, uint32_t row) {
  const KeySlots::Slot* slot = slots_.First();
  for (const char* p = begin;; slot = slot->next) {
    JsonColumn* column = nullptr;
    bool guessed = kGuess && slot->Matches(p);
    if (guessed) {
      if (__builtin_expect(slot->action < kSkipValue, 0)) {
        if (slot->action == kCloseRow) return p + slot->length;
        guessed = false;
      } else {
        column = slot->column;
        p += slot->length;
        // More blanks may follow here than where the slot was learned.
        if (MayBeBlank(*p)) p = SkipBlanks(p);
      }
    }
    if (!guessed) {
      int action;
      p = kGuess ? LearnGlue(p, p == begin, slot, action) : ReadGlue(p, p == begin, action);
      if (p == nullptr) return nullptr;
      column = ColumnOf(action);
      if (action == kCloseRow) return p;
    }
    p = column != nullptr ? column->Read(p, row, context_) : SkipValue(p, context_.failure);
    if (p == nullptr) return nullptr;
  }
}

const char* RowReader::Read(const char* p, uint32_t row) {
  context_.failure.error = JsonError::kNone;
  context_.has_problem = false;
  strings_mark_ = context_.strings.mark();
  const char* const end = slots_.guessing() ? ReadFields<true>(p, row) : ReadFields<false>(p, row);
  slots_.EndRow();
  if (__builtin_expect(end != nullptr && !context_.has_problem && not_null_.empty(), 1)) return end;
  if (end != nullptr && Complete(row)) return end;
  Discard(row);
  return nullptr;
}

// The object has been read to its end: does every column have what it may have? If not, the value
// that stands first in the row is named; NULLs after all values, in the order of the columns.
bool RowReader::Complete(uint32_t row) {
  bad_column_ = nullptr;
  if (context_.has_problem) {
    for (const JsonColumn& column : columns_) {
      if (column.state(row) != JsonColumn::kIsProblem) continue;
      if (bad_column_ == nullptr || column.problem().begin < bad_column_->problem().begin)
        bad_column_ = &column;
    }
    bad_value_ = bad_column_ != nullptr;
    if (bad_value_) return false;
  }
  for (const uint32_t i : not_null_) {
    if (columns_[i].state(row) != JsonColumn::kIsNull) continue;
    bad_column_ = &columns_[i];
    return false;
  }
  return true;
}

void RowReader::Discard(uint32_t row) {
  for (JsonColumn& column : columns_) column.SetNull(row);
  context_.strings.Rewind(strings_mark_);
}

const char* RowReader::Code() const {
  if (context_.failure.error != JsonError::kNone) return JsonErrorCode(context_.failure.error);
  return bad_value_ ? "value" : "null";
}

std::string RowReader::Message(const char* begin) const {
  if (context_.failure.error != JsonError::kNone) {
    return JsonErrorMessage(context_.failure, begin);
  }
  if (bad_value_) return bad_column_->ProblemMessage(context_);
  return "column " + bad_column_->name() + ": NULL or missing, but the column is NOT NULL";
}

}  // namespace weir::json
