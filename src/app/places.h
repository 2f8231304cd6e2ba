// The places that a pipeline names on this machine: files, directories and patterns that tables
// read and write, and the state directory. What SQL alone cannot see (two names of one file, a
// pattern that matches an output, a link) is found here, before anything is opened for writing.
// Looks and never changes: `weir check` and `weir run` both ask.
#ifndef WEIR_APP_PLACES_H_
#define WEIR_APP_PLACES_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "io/files.h"
#include "plan/plan.h"

namespace weir::app {

// Two tables with one output, an output in the input or the state directory, the state directory in
// an input. Errors at the table option 'path'. Every verb that would run the plan refuses them.
std::vector<plan::Diagnostic> FindSharedPlaces(io::Files& files, const plan::Plan& plan,
                                               const std::string& state_directory);

// What a start would trip over now, and may be in order tomorrow: an input or a directory that is
// not there, an output that cannot be made or is somebody else's. Errors, and a warning for an
// input that matches nothing. `claimed`: output files that the state directory names as its own.
std::vector<plan::Diagnostic> FindMissingPlaces(io::Files& files, const plan::Plan& plan,
                                                const std::vector<std::string>& claimed);

// An output database whose file holds something else: kCannotCreate, as every output that is not
// ours. A delivery would find it too, and wait for somebody to change it.
Status CheckDatabaseFiles(io::Files& files, const plan::Plan& plan);

// "table src reads /abs/in", one line each, in plan order.
std::vector<std::string> DescribePlaces(io::Files& files, const plan::Plan& plan);

}  // namespace weir::app

#endif  // WEIR_APP_PLACES_H_
