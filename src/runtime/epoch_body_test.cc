#include "runtime/epoch_body.h"

#include <doctest/doctest.h>

namespace weir::runtime {

TEST_CASE("what is sealed of watermarks and books comes back to the last digit") {
  EpochBody body;
  body.watermarks["scan:a"] = 1767225601095;
  body.watermarks["scan:b"] = kWatermarkNone;
  body.watermarks["scan:c"] = kWatermarkMax;
  body.watermarks["scan:my table"] = -1;
  body.current["scan:a"] = "f17";
  body.books["calc:x"][flow::Count::kIn] = 10;
  body.books["calc:x"][flow::Count::kLateWoke] = 3;
  body.books["sink:100%\n"][flow::Count::kStaged] = 7;
  body.ended.insert("scan:c");
  const Result<EpochBody> back = EpochBody::Decode(body.Encode());
  REQUIRE(back.has_value());
  CHECK(back->watermarks == body.watermarks);
  CHECK(back->current == body.current);
  CHECK(back->books == body.books);
  CHECK(back->ended == body.ended);
}

TEST_CASE("a line that cannot be read is damage, never skipped") {
  for (const char* text : {"watermark scan:a soon\n", "books x read=ten\n", "books x nosuch=1\n",
                           "what is this\n", "watermark\n"}) {
    CAPTURE(text);
    const Result<EpochBody> body = EpochBody::Decode(text);
    REQUIRE(!body.has_value());
    CHECK(body.error().code() == Code::kCorruption);
  }
}

}  // namespace weir::runtime
