// JSON rows into typed columns: one pass over the bytes, every row fully checked, wanted fields
// converted.
//
// A row is accepted or refused as a whole, whichever fields are read (sql.md, "Types"): grammar,
// UTF-8, what follows the object, depth. Lines are framed by the line feed and by nothing else; a
// carriage return before it is white space. A byte order mark is skipped at position 0 of a
// partition. Codes of dead letters:
//
//   json.syntax, json.utf8, json.depth, json.root   the record is no JSON object; the message names
//   the byte, from 0 value                                           a value that its column cannot
//   hold exactly null                                            NULL or no field for a NOT NULL
//   column record.too-long                                 more than max_record_bytes without the
//   line feed; raw is cut there
//
// A line that is longer than max_record_bytes and has no line feed in the block is consumed piece
// by piece without an entry in the batch; the one dead letter comes when its line feed is found, or
// with the end of the input. Meanwhile Batch::end_position stays at the line's begin: a reader that
// saves end_position and not position + consumed starts over with the whole line after a restart.
// The memory of the line belongs to the position where the next block must begin; a Decode at any
// other position forgets it.
//
// A block that is all dead letters or empty lines ends early, like one that reached max_rows: no
// call adds more than max_rows entries to Batch::non_rows.
#ifndef WEIR_DATA_JSON_DECODER_H_
#define WEIR_DATA_JSON_DECODER_H_

#include <memory>
#include <vector>

#include "data/format.h"

namespace weir {

// No two fields have the same name.
std::unique_ptr<RowDecoder> NewJsonDecoder(const FormatSpec& spec,
                                           const std::vector<DecodeField>& fields);

}  // namespace weir

#endif  // WEIR_DATA_JSON_DECODER_H_
