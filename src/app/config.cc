#include "app/config.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.hpp>

#include "base/text.h"

namespace weir::app {

namespace {

constexpr const char* kDefaultPath = "/etc/weir/weir.toml";
constexpr uint64_t kConfigBytesMax = 1 << 20;
constexpr std::string_view kKeys[] = {"instance", "data-dir", "log", "set", "pipeline"};
constexpr std::string_view kLogKeys[] = {"level", "format"};

class Reader {
 public:
  Reader(std::string file, std::string pipeline)
      : file_(std::move(file)), pipeline_(std::move(pipeline)) {}

  Result<Config> Read(const toml::table& root) {
    Table(root, "", false);
    if (!error_.empty()) return Fail(Code::kInvalid, error_);
    return std::move(config_);
  }

 private:
  void Error(const toml::node& at, const std::string& what) {
    if (!error_.empty()) error_ += "\n";
    error_ += file_ + ":" + std::to_string(at.source().begin.line) + ":" +
              std::to_string(at.source().begin.column) + ": " + what;
  }

  void Unknown(const toml::key& key, std::span<const std::string_view> known) {
    if (!error_.empty()) error_ += "\n";
    error_ += file_ + ":" + std::to_string(key.source().begin.line) + ":" +
              std::to_string(key.source().begin.column) + ": unknown key \"" +
              std::string(key.str()) + "\"";
    const std::string_view near = Nearest(key.str(), known);
    if (!near.empty()) error_ += "; did you mean \"" + std::string(near) + "\"?";
    if (key.str() == "http")
      error_ +=
          " (the HTTP pages are not in this version: weir status answers on the state directory's "
          "socket)";
  }

  std::optional<std::string> Text(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    Error(node, "a text in quotes is wanted");
    return std::nullopt;
  }

  void Log(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Error(node, "[log] is a table");
    for (const auto& [key, value] : *table) {
      const auto text = Text(value);
      if (!text) continue;
      if (key.str() == "level") {
        if (*text == "error")
          config_.log_level = LogLevel::kError;
        else if (*text == "warning")
          config_.log_level = LogLevel::kWarning;
        else if (*text == "info")
          config_.log_level = LogLevel::kInfo;
        else if (*text == "debug")
          config_.log_level = LogLevel::kDebug;
        else
          Error(value, "level is one of error, warning, info, debug");
      } else if (key.str() == "format") {
        if (*text == "text")
          config_.log_format = LogFormat::kText;
        else if (*text == "logfmt")
          config_.log_format = LogFormat::kLogfmt;
        else if (*text == "json")
          config_.log_format = LogFormat::kJson;
        else
          Error(value, "format is one of text, logfmt, json");
      } else {
        Unknown(key, kLogKeys);
      }
    }
  }

  void Set(const toml::node& node, const std::string& section) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return Error(node, "[set] is a table of SET keys");
    SetKeys(*table, "", section);
  }

  // A dotted key ("weir.memory.limit" unquoted) is nested tables in TOML: both spellings mean the
  // same SET key.
  void SetKeys(const toml::table& table, const std::string& prefix, const std::string& section) {
    for (const auto& [key, value] : table) {
      const std::string name = prefix + std::string(key.str());
      if (const toml::table* inner = value.as_table()) {
        SetKeys(*inner, name + ".", section);
      } else if (const auto text = Text(value)) {
        const auto& at = value.source().begin;
        config_.set[name] = {
            *text, section,
            file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column)};
      }
    }
  }

  void Table(const toml::table& table, const std::string& section, bool of_pipeline) {
    // The pipeline's own table is read last, so that it stands over the top ones.
    for (const auto& [key, value] : table) {
      if (key.str() == "instance") {
        if (auto text = Text(value)) config_.instance = *text;
      } else if (key.str() == "data-dir") {
        if (auto text = Text(value)) {
          config_.data_dir = *text;
          config_.data_dir_is_pipelines = of_pipeline;
        }
      } else if (key.str() == "log") {
        Log(value);
      } else if (key.str() == "set") {
        Set(value, section.empty() ? "[set]" : "[" + section + ".set]");
      } else if (key.str() == "pipeline" && !of_pipeline) {
        if (!value.is_table()) Error(value, "[pipeline.NAME] is a table");
      } else {
        Unknown(key, kKeys);
      }
    }
    if (of_pipeline) return;
    const toml::table* pipelines = table["pipeline"].as_table();
    if (pipelines == nullptr) return;
    for (const auto& [name, value] : *pipelines) {
      const toml::table* own = value.as_table();
      if (own == nullptr) {
        Error(value, "[pipeline." + std::string(name.str()) + "] is a table");
      } else if (name.str() == pipeline_) {
        Table(*own, "pipeline." + pipeline_, true);
      } else {
        // Another pipeline's table is checked all the same: a typo must not wait for its first
        // start.
        Reader other(file_, std::string(name.str()));
        other.Table(*own, "pipeline." + std::string(name.str()), true);
        if (!other.error_.empty()) error_ += (error_.empty() ? "" : "\n") + other.error_;
      }
    }
  }

  std::string file_;
  std::string pipeline_;
  Config config_;
  std::string error_;
};

}  // namespace

Result<Config> LoadConfig(io::Files& files, const std::optional<std::string>& path,
                          const std::string& pipeline) {
  if (!path && !files.Exists(kDefaultPath)) return Config{};
  const std::string file = path.value_or(kDefaultPath);
  WEIR_ASSIGN_OR_RETURN(const std::string text, io::ReadFile(files, file, kConfigBytesMax));
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const auto& at = parsed.error().source().begin;
    return Fail(Code::kInvalid, file + ":" + std::to_string(at.line) + ":" +
                                    std::to_string(at.column) + ": " +
                                    std::string(parsed.error().description()));
  }
  return Reader(file, pipeline).Read(parsed.table());
}

}  // namespace weir::app
