// QueryBinder: a SELECT -> nodes of the plan.
//
// A SELECT over a table, view or derived table becomes one Calc (filter, then projections). One
// over a window becomes Calc (WHERE, keys, arguments) -> Window -> Calc (HAVING, projections). The
// last Calc is not made here but by whoever takes the result: INSERT adds its casts to it.
#ifndef WEIR_SQL_BIND_QUERY_H_
#define WEIR_SQL_BIND_QUERY_H_

#include <optional>
#include <string>
#include <vector>

#include "sql/bind_expr.h"
#include "sql/catalog.h"

namespace weir::sql {

// A SELECT before its last Calc is made.
struct BoundSelect {
  struct Item {
    plan::ExprPtr expr;  // null: an error was reported
    std::string name;
    Position at;
    bool rowtime = false;
  };
  bool ok = false;  // false: there is no input, items tell names and types only
  plan::Input input;
  plan::ExprPtr filter;
  std::vector<Item> items;
  std::string subject;  // whose dead letters the Calc's failing rows are
  Position at;
};

class QueryBinder {
 public:
  // `base`: for the names of nodes. `view`: the view that is being defined, "" outside one.
  // `dead_subject`: whose dead letters failing rows are when they come from DEAD_LETTERS(..)
  // itself.
  QueryBinder(Context& context, std::string base, std::string view, std::string dead_subject)
      : context_(context),
        diagnostics_(context.diagnostics),
        base_(std::move(base)),
        view_(std::move(view)),
        dead_subject_(std::move(dead_subject)) {}

  BoundSelect Bind(const SelectAst& select);
  // Makes the last Calc. Unnamed columns get names; a name that stands twice is an error.
  Relation Materialize(BoundSelect bound, const std::vector<Name>& names);

  const std::vector<plan::NodeId>& windows() const { return windows_; }
  const std::string& reads() const { return reads_; }

 private:
  struct WindowSpec {
    std::string function;
    plan::WindowNode::Kind kind = plan::WindowNode::Kind::kTumble;
    int64_t size_ms = 0, offset_ms = 0, gap_ms = 0;
    int time_column = -1;
    TypeKind time_kind = TypeKind::kTimestamp;
    std::vector<int> partition_by;
    std::vector<Name> partition_names;
    Position at;
  };
  struct Source {
    Relation relation;
    std::string alias;
    std::optional<WindowSpec> window;
  };
  class GroupBinder;
  struct Grouping;

  // bind_from.cc
  Source BindFrom(const TableRef& ref);
  Relation RelationOf(const Name& name);
  Relation LateOf(const TableRef& ref);
  Relation DeadLettersRelation(const TableRef& ref);
  Relation BindDerived(const TableRef& ref);
  void BindWindow(const TableRef& ref, Source& source);
  bool BindSizes(const TableRef& ref, WindowSpec& spec);
  void CheckLaterSizes(const TableRef& ref);
  bool BindTimeColumn(const TableRef& ref, const Relation& relation, WindowSpec& spec);
  void RenameColumns(const TableRef& ref, Relation& relation);
  void AddToScope(const Source& source, Scope& scope) const;

  // bind_query.cc
  BoundSelect BindPlain(const SelectAst& select, const std::vector<Source>& sources);
  void BindItems(const SelectAst& select, const Scope& scope, ExprBinder& binder, BoundSelect& out);
  void ExpandStar(const ExprAst& star, const Scope& scope, BoundSelect& out);
  bool RefuseOldWindow(const SelectAst& select);
  bool RefuseUnbounded(const SelectAst& select);
  std::string SubjectOf(const Relation& relation) const;

  // bind_group.cc
  BoundSelect BindGrouped(const SelectAst& select, const Source& source);
  void CollectAggregates(const ExprAst& ast, Grouping& grouping);
  void BindAggregate(const ExprAst& ast, Grouping& grouping);
  bool BindKeys(const SelectAst& select, const Source& source, Grouping& grouping);
  void BindKey(const ExprAst& key, Grouping& grouping);
  bool CheckSessionKeys(const Source& source, const Grouping& grouping, Position at);
  void MakeWindow(const Source& source, Grouping& grouping, BoundSelect& out);

  Context& context_;
  Diagnostics& diagnostics_;
  std::string base_;
  std::string view_;
  std::string dead_subject_;
  std::vector<plan::NodeId> windows_;
  std::string reads_;  // the first view that is read
};

}  // namespace weir::sql

#endif  // WEIR_SQL_BIND_QUERY_H_
