// Rows of an output as the judges see them: some named columns of a file, a table or a topic.
//
// A reader takes the end of its output when Read is called and passes that end before it returns.
// What cannot be read as asked for reaches the judge as well (`broken`): a record is never dropped.
#ifndef WEIR_QUALIFY_ROWS_H_
#define WEIR_QUALIFY_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/format.h"
#include "io/files.h"

namespace weir::qualify {

enum class CellKind : uint8_t { kInteger, kText, kTime, kBytes };
// A column that is wanted. An empty name: not in this output, and not compared.
struct Wish {
  std::string column;
  CellKind kind = CellKind::kText;
};
struct Cell {
  bool null = true;       // NULL, not there, or not wished for
  int64_t number = 0;     // kInteger; kTime: ms since 1970 UTC
  std::string_view text;  // kText, kBytes
};
struct Row {
  std::string_view broken;      // why it is no row; "" when it is one
  std::span<const Cell> cells;  // as wished, when not broken
  std::string_view raw;         // the record's bytes; "" of a table
  std::string_view source;      // file or table
  uint64_t number = 0;          // line or record there, from 1
};
// Views in a Row are valid during the call only.
using RowHandler = std::function<void(const Row&)>;

class LayerReader {
 public:
  virtual ~LayerReader() = default;
  // Changes when there is more to read, for those who wait for quiet.
  virtual Result<uint64_t> Mark() = 0;
  // Everything from the beginning to the end as it is now.
  virtual Status Read(const RowHandler& handle) = 0;
};

// A file of JSON lines, or all files of a directory but hidden ones, in the order of their names. A
// last line without line feed is still being written: not read. kNotFound: no such path.
std::unique_ptr<LayerReader> NewFileReader(io::Files& files, std::string path,
                                           std::vector<Wish> wishes);
// A table or view. The database is only read.
std::unique_ptr<LayerReader> NewSqliteReader(std::string path, std::string table,
                                             std::vector<Wish> wishes, std::string vfs = "weir");

// JSON records to rows: shared by readers of files and of topics. With no wishes nothing is
// decoded: the judge wants the bytes.
class JsonRows {
 public:
  explicit JsonRows(std::vector<Wish> wishes);
  void Handle(std::string_view record, std::string_view source, uint64_t number,
              const RowHandler& handle);

 private:
  const std::vector<Wish> wishes_;
  Schema schema_;
  std::vector<int> columns_;  // of a wish; -1: not wished for
  std::unique_ptr<RowDecoder> decoder_;
  Batch batch_;
  std::vector<Cell> cells_;
};

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_ROWS_H_
