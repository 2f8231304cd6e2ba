// PlanBuilder: collects nodes while statements are bound, and makes a Plan of those that lead to a
// sink.
//
// Ids are provisional until Finish: views that nobody reads are dropped, dead letters are gathered,
// and what is left is put into topological order.
#ifndef WEIR_SQL_PLAN_BUILDER_H_
#define WEIR_SQL_PLAN_BUILDER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "sql/diagnostics.h"

namespace weir::sql {

class PlanBuilder {
 public:
  explicit PlanBuilder(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // The one scan of a table; made on first use. Null columns are never asked for: a broken table
  // has no scan.
  plan::NodeId ScanOf(const plan::TableDef& table, plan::Position at);
  // `base` names it: "calc:BASE.1", "calc:BASE.2"; "window:BASE", "window:BASE.2".
  plan::NodeId AddCalc(const std::string& base, plan::Input input, plan::CalcNode calc,
                       Schema output, const std::string& dead_letters_of, plan::Position at);
  plan::NodeId AddWindow(const std::string& base, plan::Input input, plan::WindowNode window,
                         Schema output, const std::string& dead_letters_of, plan::Position at);
  void AddSinkInput(const plan::TableDef& table, const Schema& schema, plan::NodeId input,
                    plan::Position at);
  void AddPrint(const Schema& schema, plan::NodeId input, plan::Position at);
  // The dead letters of a table or view; made on first use.
  plan::NodeId DeadLettersOf(const std::string& subject, plan::Position at);

  const plan::Node& node(plan::NodeId id) const { return *nodes_[static_cast<size_t>(id)]; }

  // Moves what leads to a sink into plan.nodes. Reports cycles and dead letters of what nobody
  // reads or writes.
  void Finish(plan::Plan& plan);

 private:
  plan::Node& NewNode(std::string name, plan::Position at);
  std::string Unique(const std::string& name);
  void MarkUsed(plan::NodeId id, std::vector<bool>& used) const;
  void GatherDeadLetters(std::vector<bool>& used);
  bool Order(const std::vector<bool>& used, std::vector<plan::NodeId>* order);

  Diagnostics& diagnostics_;
  std::vector<std::unique_ptr<plan::Node>> nodes_;  // stable addresses
  std::set<std::string> names_;
  std::map<std::string, int> calcs_;  // how many a base has
  std::map<const plan::TableDef*, plan::NodeId> scans_;
  std::map<const plan::TableDef*, plan::NodeId> sinks_;
  std::map<std::string, plan::NodeId> dead_letters_;
  int prints_ = 0;
};

}  // namespace weir::sql

#endif  // WEIR_SQL_PLAN_BUILDER_H_
