// JSON for people: the status document as indented text. Understands only well-formed JSON of our
// own making.
#ifndef WEIR_APP_JSON_TEXT_H_
#define WEIR_APP_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace weir::app {

// {"a":1,"b":{"c":"x"}} -> "a: 1\nb:\n  c: x\n". Empty objects and arrays are left out.
std::string JsonToText(std::string_view json);

}  // namespace weir::app

#endif  // WEIR_APP_JSON_TEXT_H_
