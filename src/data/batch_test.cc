#include "data/batch.h"

#include <doctest/doctest.h>

#include <string>

#include "data/testing/rows.h"

namespace weir {
namespace {

const Schema kTwo{{{"i", Type::Of(TypeKind::kBigInt)}, {"s", Type::Of(TypeKind::kString)}}};

TEST_CASE("an arena keeps addresses, rewinds one row and survives a move") {
  Arena arena(64);
  const std::string_view a = arena.Copy("first");
  char* mark = arena.mark();
  arena.Copy("refused");
  arena.Rewind(mark);
  CHECK(arena.mark() == mark);
  const std::string_view b = arena.Copy("second");
  CHECK(b.data() == mark);
  // A row that outgrew the chunk: its mark is in the older one, and must not come back.
  mark = arena.mark();
  const std::string_view big = arena.Copy(std::string(100, 'x'));
  arena.Rewind(mark);
  const std::string_view after = arena.Copy(std::string(50, 'y'));
  CHECK(a == "first");
  CHECK(b == "second");
  CHECK(big == std::string(100, 'x'));
  CHECK(after == std::string(50, 'y'));
  CHECK(arena.bytes() == 64 + 100 + 64);

  Arena moved(std::move(arena));
  CHECK(a == "first");
  CHECK(arena.Copy("again") == "again");  // NOLINT: using the moved-from arena is the point
  CHECK(moved.Copy("more") == "more");
  CHECK(a == "first");
  moved.Clear();
  CHECK(moved.bytes() == 64);
  CHECK(moved.Copy("reused").data() == a.data());
}

TEST_CASE("reserve and commit take a prefix") {
  Arena arena(64);
  char* p = arena.Reserve(10);
  p[0] = 'a';
  arena.Commit(p + 1);
  CHECK(arena.Allocate(1) == p + 1);
  p = arena.Reserve(1000);
  arena.Commit(p + 1000);
  CHECK(arena.mark() == p + 1000);
}

TEST_CASE("columns are reused between batches, also for another type") {
  Batch batch;
  batch.Reset(kTwo, 2);
  SetRow(batch, 0, {"1", "a"});
  SetRow(batch, 1, {"NULL", "b"});
  CHECK(RowsText(batch) == "1|a\nNULL|b\n");
  const Column* first = &batch.column(0);
  batch.Reset(Schema{{{"s", Type::Of(TypeKind::kString)}}}, 1);
  CHECK(&batch.column(0) == first);
  CHECK(batch.column_count() == 1);
  CHECK(batch.column(0).ints.empty());
  SetRow(batch, 0, {"x"});
  CHECK(RowsText(batch) == "x\n");
}

TEST_CASE("a borrowed column stands beside owned ones") {
  Batch source;
  source.Reset(kTwo, 1);
  SetRow(source, 0, {"7", "text"});
  Batch derived;
  derived.ResetEmpty(1);
  derived.Borrow(source.column(1));
  Column& own = derived.Own(Type::Of(TypeKind::kBigInt));
  own.valid[0] = 1;
  own.ints[0] = 8;
  CHECK(RowsText(derived) == "text|8\n");
  CHECK(&derived.mutable_column(1) == &own);
}

TEST_CASE("the selection says which rows are in") {
  Batch batch;
  batch.Reset(kTwo, 3);
  for (uint32_t r = 0; r < 3; ++r) SetRow(batch, r, {std::to_string(r), "s"});
  CHECK(batch.selected_count() == 3);
  batch.SetSelection({0, 2});
  CHECK(batch.selected_count() == 2);
  CHECK(RowsText(batch) == "0|s\n2|s\n");
  batch.ClearSelection();
  CHECK(batch.selected_count() == 3);
}

TEST_CASE("AppendRow copies values and provenance") {
  Batch to;
  to.Reset(kTwo);
  {
    Batch from;
    from.Reset(kTwo, 2);
    SetRow(from, 0, {"1", "gone"});
    SetRow(from, 1, {"NULL", "kept beyond its source"});
    from.watermarks = {10, 20};
    from.positions = {100, 200};
    from.partition = 3;
    from.source = "clicks";
    to.AppendRow(from, 1);
    to.AppendRow(from, 0);
  }
  CHECK(RowsText(to) == "NULL|kept beyond its source\n1|gone\n");
  CHECK(to.watermarks == std::vector<TimestampMs>{20, 10});
  CHECK(to.positions == std::vector<int64_t>{200, 100});
  CHECK(to.partition == 3);
  CHECK(to.source == "clicks");
  Batch next;
  next.InheritProvenance(to);
  CHECK(next.positions == to.positions);
  CHECK(next.partition == 3);
}

TEST_CASE("ResizeOwned keeps rows, columns and provenance in step") {
  Batch batch;
  batch.Reset(kTwo);
  batch.ResizeOwned(2);
  CHECK(batch.positions.empty());  // not in use
  batch.positions = {5, 6};
  batch.ResizeOwned(1);
  CHECK(batch.rows() == 1);
  CHECK(batch.column(1).size() == 1);
  CHECK(batch.positions == std::vector<int64_t>{5});
}

TEST_CASE("a moved batch keeps its values") {
  Batch a;
  a.Reset(kTwo, 1);
  SetRow(a, 0, {"1", "text"});
  Batch b = std::move(a);
  a.Reset(kTwo, 1);  // NOLINT: a moved-from batch may be used again
  SetRow(a, 0, {"2", "other"});
  CHECK(RowsText(b) == "1|text\n");
  CHECK(RowsText(a) == "2|other\n");
}

}  // namespace
}  // namespace weir
