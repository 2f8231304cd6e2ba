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

// The same of links within an input, which only a walk through it finds. For the begin of a lineage
// and for weir check: a walk past 100,000 finished files at every start would cost more than it
// finds.
std::vector<plan::Diagnostic> FindLinkedPlaces(io::Files& files, const plan::Plan& plan,
                                               const std::string& state_directory);

// What a start would trip over now, and may be in order tomorrow: an input or a directory that is
// not there, an output that cannot be made or is somebody else's. Errors, and a warning for an
// input that matches nothing. `claimed`: output files that the state directory names as its own.
std::vector<plan::Diagnostic> FindMissingPlaces(io::Files& files, const plan::Plan& plan,
                                                const std::vector<std::string>& claimed);

// An output database whose file holds something else: kCannotCreate, as every output that is not
// ours. A delivery would find it too, and wait for somebody to change it.
Status CheckDatabaseFiles(io::Files& files, const plan::Plan& plan);

// A table of a database that is there and cannot take the rows: it is missing and not to be made,
// or lacks a column, or would change values. Errors at 'path'. Before anything is read: a bounded
// run would wait at its end for somebody who does not know.
std::vector<plan::Diagnostic> FindUnfitTables(io::Files& files, const std::string& sqlite_vfs,
                                              const plan::Plan& plan);

// "table src reads /abs/in", one line each, in plan order.
std::vector<std::string> DescribePlaces(io::Files& files, const plan::Plan& plan);

}  // namespace weir::app

#endif  // WEIR_APP_PLACES_H_
