// weir.toml: the appliance's configuration. Every key is known or an error with line and column; a
// value keeps where it was said, for explain.
#ifndef WEIR_APP_CONFIG_H_
#define WEIR_APP_CONFIG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "io/files.h"

namespace weir::app {

struct ConfiguredSet {
  std::string value;
  std::string origin;  // "[set]", "[pipeline.orders.set]"
  std::string place;   // "weir.toml:12:3"
};

struct Config {
  std::optional<std::string> instance;
  std::optional<std::string>
      data_dir;  // the parent of NAME/ for this appliance, or of one pipeline: its directory
  bool data_dir_is_pipelines = false;
  std::optional<LogLevel> log_level;
  std::optional<LogFormat> log_format;
  std::map<std::string, ConfiguredSet>
      set;  // defaults for SET keys; the pipeline's own over the top ones
};

// `path` empty: /etc/weir/weir.toml when it exists, else nothing. `pipeline`: whose [pipeline.NAME]
// counts. kInvalid: "FILE:LINE:COL: what".
Result<Config> LoadConfig(io::Files& files, const std::optional<std::string>& path,
                          const std::string& pipeline);

}  // namespace weir::app

#endif  // WEIR_APP_CONFIG_H_
