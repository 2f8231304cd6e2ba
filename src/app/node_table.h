// The table of nodes: which plan node becomes which connector or operator. The one place where
// runtime's factories meet them.
#ifndef WEIR_APP_NODE_TABLE_H_
#define WEIR_APP_NODE_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "connectors/registry.h"
#include "plan/plan.h"
#include "runtime/factories.h"

namespace weir::app {

// `env` and `plan` outlive what the factories make. `words`: operator's words that are not used up
// yet. `references`: see ConnectorContext.
runtime::Factories MakeFactories(const io::Env& env, const plan::Plan& plan,
                                 const std::string& state_directory, const std::string& pipeline,
                                 const std::string& instance,
                                 const std::vector<protocol::Resolution>& words,
                                 const std::shared_ptr<const plan::References>& references);

}  // namespace weir::app

#endif  // WEIR_APP_NODE_TABLE_H_
