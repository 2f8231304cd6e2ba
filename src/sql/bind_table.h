// CREATE TABLE -> TableDef, and what is checked when a table is first read or written.
#ifndef WEIR_SQL_BIND_TABLE_H_
#define WEIR_SQL_BIND_TABLE_H_

#include "sql/bind_options.h"
#include "sql/catalog.h"

namespace weir::sql {

void BindCreateTable(const StatementAst& ast, OptionBinder& options, Context& context);

// Adds an entry for a new table or view; null: the name is taken (reported) or IF NOT EXISTS says
// to skip.
Entry* AddEntry(const StatementAst& ast, Context& context);

// Whether the table can be read (written): capabilities, options of the other role, schema against
// format and connector. Reports once.
bool CheckSource(Table& table, Position at, Context& context);
bool CheckSink(Table& table, Position at, Context& context);
// Two tables with one output, an output that is also an input.
void CheckOutputs(Context& context);

// The columns that a sink takes: table column indexes.
std::vector<int> SinkColumns(const plan::TableDef& table);

}  // namespace weir::sql

#endif  // WEIR_SQL_BIND_TABLE_H_
