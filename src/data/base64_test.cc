#include "data/base64.h"

#include <doctest/doctest.h>

namespace weir {
namespace {

TEST_CASE("base64 is read when it is the one text of its bytes") {
  struct Case {
    const char* text;
    const char* want;  // nullptr: refused
  };
  const Case cases[] = {{"", ""},           {"Zg==", "f"},         {"Zm8=", "fo"},
                        {"Zm9v", "foo"},    {"Zm9vYg==", "foob"},  {"+/+/", "\xFB\xFF\xBF"},
                        {"Zg", nullptr},    {"Zg=", nullptr},      {"Zh==", nullptr},
                        {"Zm9=", nullptr},  {"Z===", nullptr},     {"====", nullptr},
                        {"Zm 8", nullptr},  {"Zm8=Zm8=", nullptr}, {"-_-_", nullptr},
                        {"Zm9v\n", nullptr}};
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const std::optional<std::string> bytes = DecodeBase64(c.text);
    REQUIRE(bytes.has_value() == (c.want != nullptr));
    if (!bytes) continue;
    CHECK(*bytes == c.want);
    std::string text;
    AppendBase64(*bytes, text);
    CHECK(text == c.text);
  }
}

}  // namespace
}  // namespace weir
