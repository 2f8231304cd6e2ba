#include "data/format.h"

#include "data/csv_decoder.h"
#include "data/encoders.h"
#include "data/json_decoder.h"
#include "data/line_decoder.h"

namespace weir {
namespace {

// Types that have no text form are no types of a table's column: the binder should have said so.
Status CheckType(const std::string& name, const Type& type) {
  if (type.kind != TypeKind::kNull && type.kind != TypeKind::kInterval) return Status::Ok();
  return {Code::kInvalid, "column " + name + ": " + type.ToString() + " is no type of a column"};
}

}  // namespace

Result<std::unique_ptr<RowDecoder>> NewRowDecoder(const FormatSpec& spec,
                                                  const std::vector<DecodeField>& fields) {
  for (const DecodeField& f : fields) WEIR_RETURN_IF_ERROR(CheckType(f.name, f.type));
  switch (spec.kind) {
    case FormatSpec::Kind::kJson:
      return NewJsonDecoder(spec, fields);
    case FormatSpec::Kind::kCsv:
      return NewCsvDecoder(spec, fields);
    case FormatSpec::Kind::kRaw:
      return NewRawDecoder(spec, fields);
    case FormatSpec::Kind::kRegex:
      return NewRegexDecoder(spec, fields);
  }
  return Fail(Code::kInternal, "unknown format");
}

Result<std::unique_ptr<RowEncoder>> NewRowEncoder(const FormatSpec& spec, const Schema& schema) {
  for (const Field& f : schema.fields) WEIR_RETURN_IF_ERROR(CheckType(f.name, f.type));
  switch (spec.kind) {
    case FormatSpec::Kind::kJson:
      return NewJsonEncoder(spec, schema);
    case FormatSpec::Kind::kCsv:
      return NewCsvEncoder(spec, schema);
    case FormatSpec::Kind::kRaw:
      return NewRawEncoder(spec, schema);
    case FormatSpec::Kind::kRegex:
      return Fail(Code::kInvalid, "format 'regex' only reads: choose json, csv or raw to write");
  }
  return Fail(Code::kInternal, "unknown format");
}

}  // namespace weir
