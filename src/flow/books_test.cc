#include "flow/books.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <set>

namespace weir::flow {
namespace {

using enum Count;
using Amount = std::pair<Count, uint64_t>;

NodeBooks Books(std::initializer_list<Amount> amounts) {
  NodeBooks books;
  for (const Amount& a : amounts) books[a.first] = a.second;
  return books;
}

TEST_CASE("books balance, or the equation is named with its numbers") {
  struct Case {
    const char* name;
    BooksKind kind;
    NodeBooks books;
    const char* want;
  };
  const Case cases[] = {
      {"scan", BooksKind::kScan, Books({{kRead, 6}, {kDecoded, 3}, {kDead, 2}, {kSkipped, 1}}), ""},
      {"scan, one lost", BooksKind::kScan, Books({{kRead, 6}, {kDecoded, 3}, {kDead, 2}}),
       "n: read 6 != decoded 3 + dead 2 + skipped 0"},
      {"calc", BooksKind::kCalc, Books({{kIn, 6}, {kOut, 3}, {kDead, 2}, {kFiltered, 1}}), ""},
      {"calc, one twice", BooksKind::kCalc,
       Books({{kIn, 5}, {kOut, 3}, {kDead, 2}, {kFiltered, 1}}),
       "n: in 5 != out 3 + filtered 1 + dead 2"},
      {"window", BooksKind::kWindow,
       Books({{kIn, 10},
              {kPlaced, 7},
              {kLate, 2},
              {kDead, 1},
              {kAssigned, 7},
              {kOpen, 3},
              {kFired, 4}}),
       ""},
      {"window, rows", BooksKind::kWindow,
       Books({{kIn, 10}, {kPlaced, 7}, {kLate, 2}, {kAssigned, 7}, {kOpen, 3}, {kFired, 4}}),
       "n: in 10 != placed 7 + late 2 + dead 0"},
      {"window, assignments", BooksKind::kWindow,
       Books({{kIn, 9}, {kPlaced, 7}, {kLate, 2}, {kAssigned, 7}, {kOpen, 3}, {kFired, 3}}),
       "n: assigned 7 != open 3 + fired 3"},
      {"window, both", BooksKind::kWindow, Books({{kIn, 1}, {kAssigned, 2}}),
       "n: in 1 != placed 0 + late 0 + dead 0; n: assigned 2 != open 0 + fired 0"},
      {"sink", BooksKind::kSink,
       Books({{kIn, 9}, {kStaged, 8}, {kDead, 1}, {kSealed, 6}, {kAcked, 4}, {kDropped, 1}}), ""},
      {"sink, lost", BooksKind::kSink, Books({{kIn, 9}, {kStaged, 8}}),
       "n: in 9 != staged 8 + dead 0"},
      {"sink, sealed more than staged", BooksKind::kSink,
       Books({{kIn, 8}, {kStaged, 8}, {kSealed, 9}}), "n: sealed 9 != staged 8"},
      {"sink, acked more than sealed", BooksKind::kSink,
       Books({{kIn, 8}, {kStaged, 8}, {kSealed, 5}, {kAcked, 5}, {kDropped, 1}}),
       "n: sealed 5 != acked 5 + dropped 1"},
      {"pass through", BooksKind::kPassThrough, Books({{kIn, 2}, {kOut, 2}}), ""},
      {"pass through, lost", BooksKind::kPassThrough, Books({{kIn, 2}}), "n: in 2 != out 0"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(CheckBooks("n", c.kind, c.books) == c.want);
  }
}

TEST_CASE("every count has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(kCountOf); ++i) {
    const std::string_view name = CountName(static_cast<Count>(i));
    CHECK(!name.empty());
    CHECK(names.insert(name).second);
  }
}

}  // namespace
}  // namespace weir::flow
