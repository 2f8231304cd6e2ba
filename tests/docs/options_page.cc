// Prints docs/options.md.
#include <cstdio>

#include "connectors/registry.h"
#include "plan/explain.h"

int main() {
  std::fputs(weir::plan::OptionsMarkdown(weir::connectors::AllConnectors()).c_str(), stdout);
  return 0;
}
