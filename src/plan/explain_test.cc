// Explain, differences and the pages made from the option tables, on a plan made by hand. What SQL
// makes of them is tested in sql/.
#include "plan/explain.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/check.h"

namespace weir::plan {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "path", .doc = "Where | what.", .required = true, .identity = true},
    {.name = "password", .doc = "Secret."},
    {.name = "rows",
     .type = OptionType::kInteger,
     .default_value = "5",
     .doc = "Rows.",
     .sink = false,
     .min = 1,
     .max = 9},
};
constexpr std::string_view kFormats[] = {"json", "raw"};
const MetadataSpec kMetadata[] = {{"file.path", Type::Of(TypeKind::kString), "Path."}};
const ConnectorSpec kFile = {.name = "file",
                             .doc = "Files.",
                             .source = true,
                             .sink = true,
                             .formats = kFormats,
                             .options = kOptions,
                             .metadata = kMetadata,
                             .sink_accepts_updates = true,
                             .sink_guarantee = Guarantee::kAtLeastOnce,
                             .sink_guarantee_reason = "why not"};

// scan:t -> sink:t of one column. Not a plan that SQL can make; enough to look at.
Plan Small(const std::string& path) {
  Plan plan;
  plan.pipeline_name = "p";
  auto table = std::make_unique<TableDef>();
  table->name = "t";
  table->connector = &kFile;
  table->format = "json";
  ColumnDef column;
  column.name = "k";
  column.type = Type::Of(TypeKind::kString);
  table->columns.push_back(std::move(column));
  OptionValue value;
  value.text = path;
  value.written = "${P}";
  value.origin = "table option";
  table->options.Put(kOptions[0], value);
  value.text = "s3cret";
  value.written = "${cred:x}";
  value.secret = true;
  table->options.Put(kOptions[1], value);
  table->options.Declare(kOptions);
  Node scan;
  scan.id = 0;
  scan.name = "scan:t";
  scan.output = {{{"k", Type::Of(TypeKind::kString)}}};
  scan.dead_letters_of = "t";
  ScanNode body;
  body.table = table.get();
  body.raw_columns = {0};
  body.outputs.push_back(MakeColumn(0, Type::Of(TypeKind::kString), {}));
  scan.body = std::move(body);
  Node sink;
  sink.id = 1;
  sink.name = "sink:t";
  sink.output = scan.output;
  sink.inputs = {{0, Edge::kMain}};
  SinkNode sink_body;
  sink_body.table = table.get();
  sink.body = std::move(sink_body);
  plan.nodes.push_back(std::move(scan));
  plan.nodes.push_back(std::move(sink));
  plan.tables.push_back(std::move(table));
  return plan;
}

TEST_CASE("explain shows values and their origin, and never a secret") {
  const Plan plan = Small("/data");
  const std::string text = ExplainText(plan, "abc");
  CHECK(text.find("fingerprint abc\n") != std::string::npos);
  CHECK(text.find("  path: /data  (table option)\n") != std::string::npos);
  CHECK(text.find("  password: ${cred:x}  (table option)\n") != std::string::npos);
  // `rows` is a source's option: its default says nothing about the sink.
  const size_t rows = text.find("  rows: 5  (default)\n");
  CHECK(rows != std::string::npos);
  CHECK(rows < text.find("sink:t"));
  CHECK(text.find("rows: 5", rows + 5) == std::string::npos);
  CHECK(text.find("  guarantee: at least once (why not)\n") != std::string::npos);
  const std::string json = ExplainJson(plan, "abc");
  CHECK(json.find(R"("name":"sink:t","id":1,"inputs":[{"node":"scan:t","edge":"main"}])") !=
        std::string::npos);
  for (const std::string& shown : {text, json, CanonicalPlan(plan, 1)}) {
    CHECK(shown.find("s3cret") == std::string::npos);
  }
}

TEST_CASE("the canonical form says what the SQL says, not what it stands for") {
  const std::string one = CanonicalPlan(Small("/data"), 1);
  CHECK(one == CanonicalPlan(Small("/elsewhere"), 1));
  CHECK(one ==
        "weir plan 1\nsettings\tzone=0 min\n"
        "scan:t\tconnector=file\tformat=json\toption path=${P}\tcolumn k=STRING\n"
        "sink:t\tinput 0=scan:t main\tconnector=file\tformat=json\toption path=${P}\tcolumn "
        "k=STRING\n");
  CHECK(Fingerprint(one, 1) == Fingerprint(one, 1));
  CHECK(Fingerprint(one, 1) != Fingerprint(one, 2));
}

TEST_CASE("differences are found by node and field") {
  struct Case {
    const char* name;
    const char* stored;
    const char* current;
    const char* want;
  };
  for (const Case& c : {
           Case{"node added", "a:x\tk=1\n", "a:x\tk=1\nb:y\tk=2\n", "b y added"},
           Case{"node removed", "a:x\nb:y\n", "a:x\n", "b y removed"},
           Case{"field", "w:x\tsize=1 s\n", "w:x\tsize=2 s\n", "w x: size 1 s -> 2 s"},
           Case{"filter", "c:x\tfilter=A\n", "c:x\tfilter=B\n", "c x: filter changed"},
           Case{"filter gone", "c:x\tfilter=A\n", "c:x\n", "c x: filter removed"},
           Case{"type", "s:x\tcolumn v=INT\n", "s:x\tcolumn v=BIGINT NOT NULL\n",
                "s x: type of v INT -> BIGINT NOT NULL"},
           Case{"computed", "s:x\tcolumn v=INT AS $1\n", "s:x\tcolumn v=INT AS $2\n",
                "s x: column v INT AS $1 -> INT AS $2"},
           Case{"projection", "c:x\tproject 0 a=$1\n", "c:x\tproject 0 a=$2\tproject 1 b=$3\n",
                "c x: output column a is computed differently; output column b added"},
           Case{"aggregate", "w:x\taggregate 0=SUM($1)\n", "w:x\n",
                "w x: aggregate SUM($1) removed"},
           Case{"key", "s:x\tkey id=\n", "s:x\n", "s x: primary key column id removed"},
           Case{"escapes", "s:x\\ty\ta=1\\n2\n", "s:x\\ty\ta=1\\\\2\n", "s x\ty: a 1\n2 -> 1\\2"},
           Case{"order", "a:x\nb:y\n", "b:y\na:x\n", "the nodes stand in another order"},
           Case{"nothing that is understood", "x", "", "x removed"},
       }) {
    CAPTURE(c.name);
    CHECK(DescribeDifference(c.stored, c.current) == c.want);
  }
}

TEST_CASE("pages from the option tables") {
  const ConnectorSpec* const connectors[] = {&kFile};
  const std::string page = OptionsMarkdown(connectors);
  CHECK(page.find("| `path` | text | **required** |  | both | Where \\| what. |\n") !=
        std::string::npos);
  CHECK(page.find("| `rows` | whole number | `5` | from 1 to 9 | source | Rows. |\n") !=
        std::string::npos);
  CHECK(page.find("| `file.path` | STRING | Path. |\n") != std::string::npos);
  CHECK(page.find("| `weir.on-error` | dead-letter, fail |") != std::string::npos);
  CHECK(ConnectorsText(connectors) ==
        "file: Files.\n  used as: source and sink\n  guarantee: at least once (why not)\n"
        "  updates: upsert by PRIMARY KEY\n  formats: json, raw\n");
}

TEST_CASE("dead letters have nine columns") {
  CHECK(DeadLetterSchema().fields.size() == 9);
  CHECK(DeadLetterSchema().Find("raw") == 3);
}

}  // namespace
}  // namespace weir::plan
