#include "flow/books.h"

#include <initializer_list>

#include "base/check.h"

namespace weir::flow {
namespace {

// "" when books[left] is the sum of `right`, else the equation with its numbers.
std::string CheckSum(std::string_view node, const NodeBooks& books, Count left,
                     std::initializer_list<Count> right) {
  uint64_t sum = 0;
  for (Count c : right) sum += books[c];
  if (books[left] == sum) return "";
  std::string text(node);
  text += ": ";
  text += CountName(left);
  text += " " + std::to_string(books[left]) + " !=";
  const char* plus = " ";
  for (Count c : right) {
    text += plus;
    text += CountName(c);
    text += " " + std::to_string(books[c]);
    plus = " + ";
  }
  return text;
}

}  // namespace

std::string_view CountName(Count count) {
  switch (count) {
    case Count::kRead:
      return "read";
    case Count::kDecoded:
      return "decoded";
    case Count::kSkipped:
      return "skipped";
    case Count::kIn:
      return "in";
    case Count::kOut:
      return "out";
    case Count::kFiltered:
      return "filtered";
    case Count::kDead:
      return "dead";
    case Count::kPlaced:
      return "placed";
    case Count::kLate:
      return "late";
    case Count::kLateWoke:
      return "late_woke";
    case Count::kAssigned:
      return "assigned";
    case Count::kFired:
      return "fired";
    case Count::kOpen:
      return "open";
    case Count::kResults:
      return "results";
    case Count::kResultsDead:
      return "results_dead";
    case Count::kFutureSkew:
      return "future_skew";
    case Count::kStaged:
      return "staged";
    case Count::kSealed:
      return "sealed";
    case Count::kAcked:
      return "acked";
    case Count::kDropped:
      return "dropped";
    case Count::kDeadDropped:
      return "dead_dropped";
    case Count::kCountOf:
      break;
  }
  CHECK(false && "no such count");
  __builtin_unreachable();
}

std::string CheckBooks(std::string_view node, BooksKind kind, const NodeBooks& books) {
  using enum Count;
  switch (kind) {
    case BooksKind::kScan:
      return CheckSum(node, books, kRead, {kDecoded, kDead, kSkipped});
    case BooksKind::kCalc:
      return CheckSum(node, books, kIn, {kOut, kFiltered, kDead});
    case BooksKind::kWindow: {
      std::string rows = CheckSum(node, books, kIn, {kPlaced, kLate, kDead});
      std::string assignments = CheckSum(node, books, kAssigned, {kOpen, kFired});
      if (rows.empty()) return assignments;
      return assignments.empty() ? rows : rows + "; " + assignments;
    }
    case BooksKind::kSink: {
      std::string staged = CheckSum(node, books, kIn, {kStaged, kDead});
      // What is acked or dropped was sealed, and what is sealed was staged; the rest is in the
      // spool or in the open epoch.
      if (staged.empty() && books[kSealed] > books[kStaged]) {
        staged = CheckSum(node, books, kSealed, {kStaged});
      }
      if (staged.empty() && books[kAcked] + books[kDropped] > books[kSealed]) {
        staged = CheckSum(node, books, kSealed, {kAcked, kDropped});
      }
      return staged;
    }
    case BooksKind::kPassThrough:
      return CheckSum(node, books, kIn, {kOut});
  }
  CHECK(false && "no such kind");
  __builtin_unreachable();
}

}  // namespace weir::flow
