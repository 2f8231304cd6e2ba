// The inside of CREATE TABLE: columns, constraints, types, options.
#include <utility>

#include "base/text.h"
#include "sql/keywords.h"
#include "sql/parser.h"

namespace weir::sql {
namespace {

constexpr const char* kCommaTooMany = "the comma in front of it is one too many";

// What other systems call the types that are here.
std::string_view TypeHere(std::string_view upper) {
  static constexpr struct {
    std::string_view there, here;
  } kTypes[] = {
      {"TEXT", "STRING"},
      {"NVARCHAR", "STRING"},
      {"CLOB", "STRING"},
      {"UUID", "STRING"},
      {"JSON", "STRING"},
      {"LONG", "BIGINT"},
      {"INT8", "BIGINT"},
      {"INT64", "BIGINT"},
      {"UINT64", "DECIMAL(20, 0)"},
      {"INT4", "INT"},
      {"INT32", "INT"},
      {"SHORT", "SMALLINT"},
      {"BYTE", "TINYINT"},
      {"BOOL", "BOOLEAN"},
      {"REAL", "FLOAT"},
      {"FLOAT4", "FLOAT"},
      {"FLOAT8", "DOUBLE"},
      {"FLOAT64", "DOUBLE"},
      {"NUMBER", "DECIMAL(p, s)"},
      {"MONEY", "DECIMAL(p, s)"},
      {"BLOB", "BYTES"},
      {"BYTEA", "BYTES"},
      {"DATETIME", "TIMESTAMP(3)"},
      {"TIMESTAMPTZ", "TIMESTAMP_LTZ(3)"},
  };
  for (const auto& type : kTypes) {
    if (type.there == upper) return type.here;
  }
  return "";
}

}  // namespace

bool Parser::ParseCreateTable(StatementAst& out) {
  out.kind = StatementAst::Kind::kCreateTable;
  out.if_not_exists = TakeWords({"IF", "NOT", "EXISTS"});
  if (!ParseObjectName("a table name", &out.name)) return false;
  if (PeekWord("AS")) return RefuseTableAs();
  if (!ExpectSymbol("(")) return false;
  do {
    if (PeekSymbol(")") && !out.columns.empty()) return Fail("a column", kCommaTooMany);
    if (!ParseTableElement(out)) return false;
  } while (TakeSymbol(","));
  if (!TakeSymbol(")")) return Fail("',' or ')'");
  if (!ParseComment()) return false;
  while (PeekWord("PARTITIONED") || PeekWord("DISTRIBUTED")) {
    Refuse(Peek().at, Peek().upper == "PARTITIONED" ? "PARTITIONED BY" : "DISTRIBUTED BY");
    while (Peek().kind == Token::Kind::kWord && !PeekWord("WITH")) Take();
    SkipBalanced("(", ")");
    if (TakeWord("INTO")) {
      Take();
      TakeWord("BUCKETS");
    }
  }
  if (PeekWord("AS")) return RefuseTableAs();
  if (!PeekWord("WITH")) return Fail("WITH (...), which names the connector");
  out.options_at = Take().at;
  if (!ParseOptions(out)) return false;
  if (PeekWord("LIKE")) {
    failed_ = true;
    Refuse(Peek().at, "CREATE TABLE .. LIKE");
    return false;
  }
  if (PeekWord("AS")) return RefuseTableAs();
  return true;
}

bool Parser::RefuseTableAs() {
  failed_ = true;
  Refuse(Peek().at, "CREATE TABLE .. AS", "write CREATE TABLE and INSERT INTO");
  return false;
}

bool Parser::ParseComment() {
  if (!PeekWord("COMMENT") || Peek(1).kind != Token::Kind::kString) return true;
  Take();
  Take();
  return true;
}

bool Parser::ParseOptions(StatementAst& out) {
  if (!ExpectSymbol("(")) return false;
  do {
    if (PeekSymbol(")") && !out.options.empty()) return Fail("an option", kCommaTooMany);
    OptionAst option;
    if (!ParseStringText("an option name in single quotes", &option.key, &option.key_at) ||
        !ExpectSymbol("=") ||
        !ParseStringText("an option value in single quotes", &option.value, &option.value_at)) {
      return false;
    }
    out.options.push_back(std::move(option));
  } while (TakeSymbol(","));
  return TakeSymbol(")") || Fail("',' or ')'");
}

bool Parser::ParsePrimaryKeyTail() {
  if (PeekWord("ENFORCED")) {
    Refuse(Take().at, "an ENFORCED key", "write NOT ENFORCED");
    return true;
  }
  if (TakeWords({"NOT", "ENFORCED"})) return true;
  if (!failed_) {
    failed_ = true;
    diagnostics_.Error(Peek().at, "PRIMARY KEY must be NOT ENFORCED",
                       "weir does not look for duplicates: write PRIMARY KEY (..) NOT ENFORCED");
  }
  return false;
}

bool Parser::ParseTableElement(StatementAst& out) {
  if (PeekWord("WATERMARK") && PeekWord("FOR", 1)) {
    const Position at = Take().at;
    Take();
    if (out.watermark_column) diagnostics_.Error(at, "a table has one watermark");
    Name column;
    if (!ParseName("a column name", &column) || !ExpectWord("AS")) return false;
    ExprAstPtr expr = ParseExpr();
    if (expr == nullptr) return false;
    out.watermark_at = at;
    out.watermark_column = std::move(column);
    out.watermark = std::move(expr);
    return true;
  }
  if (PeekWord("CONSTRAINT") && !PeekSymbol(",", 1)) {
    Take();
    Name ignored;  // a constraint's name has no use, as in Flink
    if (!ParseName("a constraint name", &ignored)) return false;
    if (!PeekWord("PRIMARY")) return Fail("PRIMARY KEY");
  }
  if (PeekWord("PRIMARY") && PeekWord("KEY", 1)) {
    const Position at = Take().at;
    Take();
    if (!out.primary_key.empty()) diagnostics_.Error(at, "a table has one PRIMARY KEY");
    out.primary_key.clear();
    return ParseNameList(&out.primary_key) && ParsePrimaryKeyTail();
  }
  if (PeekWord("UNIQUE") && PeekSymbol("(", 1)) {
    failed_ = true;
    Refuse(Peek().at, "UNIQUE");
    return false;
  }
  return ParseColumn(out);
}

bool Parser::ParseColumn(StatementAst& out) {
  ColumnAst column;
  if (!ParseName("a column name", &column.name)) return false;
  if (TakeWord("AS")) {
    column.kind = ColumnAst::Kind::kComputed;
    column.computed = ParseExpr();
    if (column.computed == nullptr || !ParseComment()) return false;
    out.columns.push_back(std::move(column));
    return true;
  }
  if (!ParseType(&column.type) || !ParseColumnConstraints(column)) return false;
  if (column.primary_key) {
    if (!out.primary_key.empty()) {
      diagnostics_.Error(column.name.at, "a table has one PRIMARY KEY",
                         "a key of several columns is written PRIMARY KEY (a, b) NOT ENFORCED");
    }
    out.primary_key.push_back(column.name);
  }
  out.columns.push_back(std::move(column));
  return true;
}

bool Parser::ParseColumnConstraints(ColumnAst& column) {
  while (true) {
    if (TakeWords({"NOT", "NULL"})) {
      column.type.nullable = false;
    } else if (TakeWord("NULL")) {
      column.type.nullable = true;
    } else if (PeekWord("METADATA")) {
      column.kind = ColumnAst::Kind::kMetadata;
      column.metadata_at = Take().at;
      if (TakeWord("FROM") && !ParseStringText("a metadata key in single quotes",
                                               &column.metadata_key, &column.metadata_at)) {
        return false;
      }
      column.is_virtual = TakeWord("VIRTUAL");
    } else if (PeekWord("PRIMARY") && PeekWord("KEY", 1)) {
      Take();
      Take();
      column.primary_key = true;
      if (!ParsePrimaryKeyTail()) return false;
    } else if (PeekWord("COMMENT")) {
      if (Peek(1).kind != Token::Kind::kString) return Fail("',' or ')'");
      if (!ParseComment()) return false;
    } else if (PeekWord("DEFAULT") || PeekWord("UNIQUE") || PeekWord("CHECK")) {
      failed_ = true;
      Refuse(Peek().at, Peek().upper + " of a column");
      return false;
    } else {
      return true;
    }
  }
}

bool Parser::ParseTypeArgument(int low, int high, std::string_view what, int* out) {
  const Token token = Peek();
  if (token.kind != Token::Kind::kNumber) return Fail("a whole number");
  Take();
  const std::optional<int64_t> number = ParseInt64(token.text);
  if (!number || *number < low || *number > high) {
    diagnostics_.Error(token.at, std::string(what) + " must be " + std::to_string(low) + " to " +
                                     std::to_string(high) + ", not " + token.text);
    *out = low;
    return true;
  }
  *out = static_cast<int>(*number);
  return true;
}

bool Parser::ParseDecimalType(Type* out) {
  int precision = 10;
  int scale = 0;
  if (TakeSymbol("(")) {
    if (!ParseTypeArgument(1, 38, "the precision of DECIMAL", &precision)) return false;
    if (TakeSymbol(",") && !ParseTypeArgument(0, precision, "the scale of DECIMAL", &scale)) {
      return false;
    }
    if (!ExpectSymbol(")")) return false;
  }
  *out = Type::Decimal(precision, scale);
  return true;
}

bool Parser::ParseTimestampTail(Position at, Type* out) {
  int precision = 6;  // Flink's default
  if (TakeSymbol("(")) {
    if (!ParseTypeArgument(0, 9, "the precision of a timestamp", &precision)) return false;
    if (!ExpectSymbol(")")) return false;
  }
  *out = out->kind == TypeKind::kTimestampLtz ? Type::TimestampLtz(precision)
                                              : Type::Timestamp(precision);
  if (TakeWords({"WITHOUT", "TIME", "ZONE"})) return true;
  if (TakeWords({"WITH", "LOCAL", "TIME", "ZONE"})) {
    *out = Type::TimestampLtz(precision);
    return true;
  }
  if (TakeWords({"WITH", "TIME", "ZONE"})) {
    Refuse(at, "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_LTZ is an instant");
  }
  return true;
}

// ARRAY<..>, MAP<..>, ROW<..> and their kind: refused by name, and skipped with what is between
// their brackets.
bool Parser::RefuseType(const Token& word) {
  static constexpr std::string_view kLater[] = {"ARRAY",    "MAP",    "ROW",       "MULTISET",
                                                "RAW",      "TIME",   "VARBINARY", "BINARY",
                                                "INTERVAL", "VARIANT"};
  bool known = false;
  for (const std::string_view later : kLater) known = known || word.upper == later;
  if (!known) return false;
  std::string hint;
  if (word.upper == "TIME") hint = "use STRING, or TIMESTAMP with a date";
  if (word.upper == "VARBINARY" || word.upper == "BINARY") hint = "use BYTES";
  Refuse(word.at, "the type " + word.upper, std::move(hint));
  if (PeekSymbol("(")) SkipBalanced("(", ")");
  if (PeekSymbol("<")) SkipBalanced("<", ">");
  return true;
}

bool Parser::ParseType(Type* out) {
  static constexpr struct {
    std::string_view name;
    TypeKind kind;
  } kTypes[] = {
      {"BOOLEAN", TypeKind::kBoolean},     {"TINYINT", TypeKind::kTinyInt},
      {"SMALLINT", TypeKind::kSmallInt},   {"INT", TypeKind::kInt},
      {"INTEGER", TypeKind::kInt},         {"BIGINT", TypeKind::kBigInt},
      {"FLOAT", TypeKind::kFloat},         {"DOUBLE", TypeKind::kDouble},
      {"DECIMAL", TypeKind::kDecimal},     {"DEC", TypeKind::kDecimal},
      {"NUMERIC", TypeKind::kDecimal},     {"STRING", TypeKind::kString},
      {"VARCHAR", TypeKind::kString},      {"CHAR", TypeKind::kString},
      {"BYTES", TypeKind::kBytes},         {"DATE", TypeKind::kDate},
      {"TIMESTAMP", TypeKind::kTimestamp}, {"TIMESTAMP_LTZ", TypeKind::kTimestampLtz},
  };
  if (Peek().kind != Token::Kind::kWord) return Fail("a type");
  const Token word = Take();
  for (const auto& type : kTypes) {
    if (word.upper != type.name) continue;
    *out = Type::Of(type.kind);
    if (type.kind == TypeKind::kDecimal) return ParseDecimalType(out);
    if (out->IsTimestamp()) return ParseTimestampTail(word.at, out);
    if (word.upper == "DOUBLE") TakeWord("PRECISION");
    if (word.upper != "VARCHAR" && word.upper != "CHAR") return true;
    int length = 1;
    if (TakeSymbol("(")) {
      if (!ParseTypeArgument(1, 2147483647, "the length", &length) || !ExpectSymbol(")")) {
        return false;
      }
    } else if (word.upper == "VARCHAR") {
      diagnostics_.Error(word.at, "VARCHAR without a length would mean VARCHAR(1)",
                         "write STRING, or VARCHAR(n)");
    }
    out->length = length == 2147483647 ? 0 : static_cast<uint32_t>(length);
    return true;
  }
  if (RefuseType(word)) {
    *out = Type::Of(TypeKind::kNull);  // "unknown": whatever touches it is not reported again
    return true;
  }
  std::vector<std::string_view> names;
  for (const auto& type : kTypes) names.push_back(type.name);
  const std::string here(TypeHere(word.upper));
  diagnostics_.Error(word.at, "unknown type " + word.text,
                     here.empty() ? DidYouMean(word.upper, names) : "here it is " + here);
  *out = Type::Of(TypeKind::kNull);
  if (PeekSymbol("(")) SkipBalanced("(", ")");
  return true;
}

}  // namespace weir::sql
