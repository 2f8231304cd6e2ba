// Explain: the plan for people and for tools.
#ifndef WEIR_PLAN_EXPLAIN_H_
#define WEIR_PLAN_EXPLAIN_H_

#include <string>

#include "plan/plan.h"

namespace weir::plan {

std::string ExplainText(const Plan& plan, const std::string& fingerprint_hex);
std::string ExplainJson(const Plan& plan, const std::string& fingerprint_hex);
// Markdown of all option tables: docs/options.md is this text, a test compares.
std::string OptionsMarkdown(std::span<const ConnectorSpec* const> connectors);
std::string ConnectorsText(
    std::span<const ConnectorSpec* const> connectors);  // weir explain --connectors

}  // namespace weir::plan

#endif  // WEIR_PLAN_EXPLAIN_H_
