// Where the front end collects what it finds, and how that is shown.
#ifndef WEIR_SQL_DIAGNOSTICS_H_
#define WEIR_SQL_DIAGNOSTICS_H_

#include <string>
#include <string_view>
#include <vector>

#include "plan/connector_spec.h"

namespace weir::sql {

class Diagnostics {
 public:
  void Error(plan::Position at, std::string message, std::string hint = "");
  void Warning(plan::Position at, std::string message, std::string hint = "");
  void Note(plan::Position at, std::string message, std::string hint = "");

  size_t errors() const { return errors_; }
  bool quiet() const { return quiet_ > 0; }
  const std::vector<plan::Diagnostic>& all() const { return all_; }
  std::vector<plan::Diagnostic> TakeSorted();  // by position

  // While one lives, nothing is recorded (errors are still counted): the binder tries a reading
  // without committing to it.
  class Quiet {
   public:
    explicit Quiet(Diagnostics& d) : d_(d), errors_(d.errors_) { ++d_.quiet_; }
    ~Quiet() {
      --d_.quiet_;
      d_.errors_ = errors_;
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    Diagnostics& d_;
    size_t errors_;
  };

 private:
  void Add(plan::Diagnostic diagnostic);

  std::vector<plan::Diagnostic> all_;
  size_t errors_ = 0;
  int quiet_ = 0;
};

// "did you mean x?", or "" when nothing is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

// `file:line:col: message`, the source line, a caret, the hint; one after another.
std::string FormatText(std::string_view file_name, std::string_view text,
                       const std::vector<plan::Diagnostic>& diagnostics);
// A JSON array of {severity, file, line, column, message, hint}.
std::string FormatJson(std::string_view file_name,
                       const std::vector<plan::Diagnostic>& diagnostics);

}  // namespace weir::sql

#endif  // WEIR_SQL_DIAGNOSTICS_H_
