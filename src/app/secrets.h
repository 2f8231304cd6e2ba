// ${NAME}, ${cred:name}, ${file:/path}: where values that do not stand in the SQL come from. A
// missing one is an error, never an empty text.
#ifndef WEIR_APP_SECRETS_H_
#define WEIR_APP_SECRETS_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "io/files.h"

namespace weir::app {

// kind: "env", "cred" (systemd's $CREDENTIALS_DIRECTORY) or "file". Of a file, one line feed at its
// end is not part of the value. The value is taken as it is: nothing in it is expanded again.
Result<std::string> ResolveSecret(io::Files& files, std::string_view kind, std::string_view name);

}  // namespace weir::app

#endif  // WEIR_APP_SECRETS_H_
