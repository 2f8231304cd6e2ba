// Catalog: what the statements so far have defined, and what all of them share while they are
// bound.
#ifndef WEIR_SQL_CATALOG_H_
#define WEIR_SQL_CATALOG_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "sql/ast.h"
#include "sql/diagnostics.h"
#include "sql/plan_builder.h"

namespace weir::sql {

struct RelationColumn {
  std::string name;
  Type type;             // kNull: its definition was refused
  bool rowtime = false;  // carries the watermark: may be the time column of a window
};

// What can stand in FROM: the rows of one edge of a node.
struct Relation {
  bool known =
      false;  // false: an error was reported; there is no input, and columns may be missing
  plan::Input input;
  std::vector<RelationColumn> columns;  // all columns of the edge, in order
  std::string subject;                  // whose dead letters rows that fail in a calc over it are
};

struct Table {
  plan::TableDef* def = nullptr;
  bool broken = false;                      // reported; its columns are known all the same
  Position read_at, written_at;             // of the first use; line 0: none
  bool source_ok = false, sink_ok = false;  // what the checks of the first use said
};

struct View {
  Relation relation;
  std::vector<plan::NodeId> windows;  // made by its own SELECT (derived tables in it included)
  std::string reads;                  // the view that it reads, "" for a table: for messages
};

struct Entry {
  Position at;
  std::optional<Table> table;
  std::optional<View> view;    // neither: a definition with a syntax error, or one being read
  bool being_defined = false;  // a view while its own SELECT is bound
};

// What all binders share. One for a Compile.
struct Context {
  Diagnostics& diagnostics;
  PlanBuilder& builder;
  plan::Plan& plan;  // owns the TableDefs; settings and zone are set
  std::map<std::string, Entry> entries;
  std::map<std::string, Position> later;  // names that the file defines further down
};

// The entry of a name, or null: reported with a suggestion. `what`: "table", "table or view".
Entry* FindEntry(Context& context, const Name& name, std::string_view what);

}  // namespace weir::sql

#endif  // WEIR_SQL_CATALOG_H_
