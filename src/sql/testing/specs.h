// Small connectors for tests of the front end: the shapes of the real ones, without their code.
#ifndef WEIR_SQL_TESTING_SPECS_H_
#define WEIR_SQL_TESTING_SPECS_H_

#include <string>
#include <vector>

#include "sql/compile.h"

namespace weir::sql {

// filesystem, datagen, print, blackhole, sqlite (an upsert sink).
std::vector<const plan::ConnectorSpec*> TestConnectors();

// Text to compile, as "test.sql", with the test connectors and these secrets: env X = "x-value",
// cred pw = "s3cret", nothing else.
CompileInput TestInput(std::string text);

}  // namespace weir::sql

#endif  // WEIR_SQL_TESTING_SPECS_H_
