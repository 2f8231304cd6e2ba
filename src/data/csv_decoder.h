// CSV (RFC 4180) into columns.
//
// - Records end with LF or CR LF; line breaks inside quotes are data, byte for byte. A byte order
// mark is skipped at
//   position 0 of a partition. Empty lines, and with csv.allow-comments lines that begin with '#',
//   are skipped.
// - Fields are mapped by position among the table's columns; with csv.header by the names of the
// first record, which
//   must hold every column that is read. A record with another number of fields is a dead letter.
// - An empty unquoted field is NULL, but for STRING and BYTES: there it is '', unless
// csv.null-literal is ''. A field
//   that equals csv.null-literal is NULL when it is not quoted. Quoted text is never NULL.
// - A record that is not ended within weir.max-record-bytes, or has text behind a closing quote, or
// quotes that the
//   input never closes, is ONE dead letter that holds its first line; reading goes on at the next
//   line.
//
// Codes of dead letters: csv.fields, csv.quote, csv.utf8, value, null, record.too-long.
#ifndef WEIR_DATA_CSV_DECODER_H_
#define WEIR_DATA_CSV_DECODER_H_

#include <memory>
#include <vector>

#include "data/format.h"

namespace weir {

Result<std::unique_ptr<RowDecoder>> NewCsvDecoder(const FormatSpec& spec,
                                                  const std::vector<DecodeField>& fields);

}  // namespace weir

#endif  // WEIR_DATA_CSV_DECODER_H_
