#include "app/places.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "connectors/registry.h"
#include "io/posix_files.h"
#include "io/sim_files.h"
#include "sql/compile.h"

namespace weir::app {
namespace {

struct World {
  World() {
    files.PutFile("/in/a.jsonl", "{}\n");
    files.PutDirectory("/out");
  }

  // Tables of one column: t1 reads the first place, t2, t3 .. are written to the others.
  std::unique_ptr<plan::Plan> Plan(const std::string& input,
                                   const std::vector<std::string>& outputs) {
    const auto table = [](int n, const std::string& with) {
      return "CREATE TABLE t" + std::to_string(n) + " (a INT) WITH (" + with + ");\n";
    };
    const auto file = [](const std::string& path) {
      return "'connector' = 'filesystem', 'format' = 'json', 'path' = '" + path + "'";
    };
    std::string text = table(1, file(input));
    int n = 1;
    for (const std::string& output : outputs) {
      ++n;
      const bool database = output.ends_with(".db");
      text +=
          table(n, database ? "'connector' = 'sqlite', 'path' = '" + output + "'" : file(output));
      text += "INSERT INTO t" + std::to_string(n) + " SELECT a FROM t1;\n";
    }
    sql::CompileInput compile;
    compile.text = text;
    for (const plan::ConnectorSpec* spec : connectors::AllConnectors())
      compile.connectors.push_back(spec);
    sql::CompileOutput output = sql::Compile(compile);
    CAPTURE(text);
    REQUIRE(output.plan != nullptr);
    return std::move(output.plan);
  }

  // "2 t2 and t3 have ..": line, message; joined by " / ".
  static std::string Text(const std::vector<plan::Diagnostic>& found) {
    std::string text;
    for (const plan::Diagnostic& d : found) {
      CHECK(d.position.line > 0);
      const bool error = d.severity == plan::Diagnostic::Severity::kError;
      text += (text.empty() ? "" : " / ") + std::to_string(d.position.line) +
              (error ? " " : " warning: ") + d.message;
    }
    return text;
  }
  std::string Shared(const std::string& input, const std::vector<std::string>& outputs) {
    return Text(FindSharedPlaces(files, *Plan(input, outputs), "/state"));
  }
  std::string Missing(const std::string& input, const std::vector<std::string>& outputs,
                      const std::vector<std::string>& claimed = {}) {
    return Text(FindMissingPlaces(files, *Plan(input, outputs), claimed));
  }

  io::SimFiles files;
};

TEST_CASE("two names of one output are one output") {
  World w;
  struct Case {
    const char *first, *second, *want;
  };
  for (const Case& c : {
           Case{"/out/x", "/out/y", ""},
           {"/out/x", "/out/../out/./x", "4 t3 and t2 have one output: /out/x"},
           {"out/x", "/out/x", "4 t3 and t2 have one output: /out/x"},
           {"/out/", "/out", "4 t3 and t2 have one output: /out"},
           {"/out/", "/out/x", ""},
           {"/out/x.db", "/out/../out/x.db", ""},  // two tables of one database
       }) {
    CAPTURE(c.second);
    CHECK(w.Shared("/in/a.jsonl", {c.first, c.second}) == c.want);
  }
}

TEST_CASE("an output is never in the input, whatever the input is written as") {
  World w;
  const std::string feeds = "2 t2 writes where t1 reads";
  CHECK(w.Shared("/in/*.jsonl", {"/in/out.jsonl"}) == feeds);
  CHECK(w.Shared("/in/*.jsonl", {"/in/out.txt"}).empty());
  CHECK(w.Shared("/in/*.jsonl", {"/in/.out.jsonl"}).empty());  // a * takes no hidden file
  CHECK(w.Shared("/*/*.jsonl", {"/out/x.jsonl"}) == feeds);
  CHECK(w.Shared("/i?", {"/in/deep/x"}) == feeds);   // a directory that matches, and all below it
  CHECK(w.Shared("/in/*.json", {"/in/"}) == feeds);  // parts are named part-...json
  CHECK(w.Shared("/in/*.jsonl", {"/in/"}).empty());
  CHECK(w.Shared("/in/a.jsonl", {"/out/a.jsonl"}).empty());
}

TEST_CASE("the state directory is nobody's input and nobody's output") {
  World w;
  const std::string reads = "1 the state directory /state lies where t1 reads";
  CHECK(w.Shared("/", {"/proc"}).find(reads) != std::string::npos);
  CHECK(w.Shared("/st*", {"/out/x"}) == reads);
  CHECK(w.Shared("/*/*/*.jsonl", {"/out/x"}) == reads);  // dead letters
  CHECK(w.Shared("/*.jsonl", {"/out/x"}).empty());
  CHECK(w.Shared("/in/a.jsonl", {"/state/x"}) == "2 t2 writes into the state directory /state");
}

TEST_CASE("a link within an input leads to no output, and not to the state directory") {
  namespace fs = std::filesystem;
  const std::string writes = "2 t2 writes where t1 reads";
  const std::string state = " lies where t1 reads";
  struct Case {
    const char* name;
    const char* link;    // in/...
    const char* target;  // below the test's directory; "": the directory itself
    const char* input;
    const char* output;
    bool writes, state;
  };
  const Case cases[] = {
      {"no link", "", "", "in", "out/x.jsonl", false, false},
      {"to the directory of the output", "in/l", "out", "in", "out/x.jsonl", true, false},
      {"to a directory of parts", "in/l", "out", "in", "out/", true, false},
      {"up to what is above both", "in/l", "", "in", "out/x.jsonl", true, true},
      {"to the state directory", "in/l", "state", "in", "out/x.jsonl", false, true},
      {"to a part of the state directory", "in/l", "state/dead", "in", "out/x.jsonl", false, true},
      {"to an output that is there", "in/l.jsonl", "out/there.jsonl", "in", "out/there.jsonl", true,
       false},
      {"to an output that is still to be made", "in/l.jsonl", "out/x.jsonl", "in", "out/x.jsonl",
       true, false},
      {"a pattern with the link in it", "in/l", "out", "in/*/*.jsonl", "out/x.jsonl", true, false},
      {"a pattern that takes other names", "in/l", "out", "in/*/*.csv", "out/x.jsonl", false,
       false},
      {"a pattern that takes no link", "in/l", "out", "in/*.jsonl", "out/x.jsonl", false, false},
      {"a hidden output is not read", "in/l", "out", "in", "out/.x.jsonl", false, false},
      {"a hidden link is not followed", "in/.l", "out", "in", "out/x.jsonl", false, false},
      {"to somewhere else", "in/l", "other", "in", "out/x.jsonl", false, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const fs::path dir = fs::canonical(fs::temp_directory_path()) /
                         ("weir-places-test-" + std::to_string(std::random_device()()));
    for (const char* made : {"in/deep", "out", "other", "state/dead", "state/spool"})
      REQUIRE(fs::create_directories(dir / made));
    io::PosixFiles files;
    REQUIRE(io::WriteFileAtomically(files, dir / "in/a.jsonl", "{}\n").ok());
    REQUIRE(io::WriteFileAtomically(files, dir / "out/there.jsonl", "").ok());
    if (c.link[0] != '\0') fs::create_directory_symlink(dir / c.target, dir / c.link);
    const auto plan = World().Plan((dir / c.input).string(), {(dir / c.output).string()});
    const std::string found = World::Text(FindLinkedPlaces(files, *plan, (dir / "state").string()));
    CHECK((found.find(writes) != std::string::npos) == c.writes);
    CHECK((found.find(state) != std::string::npos) == c.state);
    CHECK(found.empty() == !(c.writes || c.state));
    fs::remove_all(dir);
  }
}

TEST_CASE("what a start would trip over is found with its place, without running") {
  World w;
  w.files.PutFile("/out/mine", "x\n");
  w.files.PutFile("/out/theirs", "x\n");
  w.files.PutFile("/out/empty", "");
  w.files.PutFile("/out/text.db", "this is no database at all\n");
  w.files.PutFile("/out/none.db", "");
  w.files.PutDirectory("/read-only");
  w.files.SetReadOnly("/read-only", true);
  CHECK(w.Missing("/in/a.jsonl", {"/out/x", "/out/empty", "/out/", "/out/none.db"}).empty());
  CHECK(w.Missing("/in/b.jsonl", {"/out/x"}) == "1 t1: /in/b.jsonl does not exist");
  CHECK(w.Missing("/in/b*", {"/out/x"}) == "1 warning: t1: /in/b* matches no file");
  CHECK(w.Missing("/out/no/*", {"/out/x"}) == "1 warning: t1: /out/no/* does not exist");
  CHECK(w.Missing("/in/a.jsonl", {"/no/x"}) == "2 t2: the directory /no does not exist");
  CHECK(w.Missing("/in/a.jsonl", {"/out/theirs/x"}) == "2 t2: /out/theirs is not a directory");
  CHECK(w.Missing("/in/a.jsonl", {"/out/theirs"}) ==
        "2 t2: /out/theirs exists and was not written by this pipeline");
  CHECK(w.Missing("/in/a.jsonl", {"/out/mine"}, {"/out/mine"}).empty());
  w.files.PutFile("/out/.moved.weir-receipt", "whoever's\n");
  w.files.PutFile("/out/moved", "x\n");
  CHECK(w.Missing("/in/a.jsonl", {"/out/moved"}).empty());
  CHECK(w.Missing("/in/a.jsonl", {"/out/text.db"}) ==
        "2 t2: /out/text.db exists and is no SQLite database");
  CHECK(w.Missing("/in/a.jsonl", {"/read-only/x"}).starts_with("2 t2: "));
  CHECK(CheckDatabaseFiles(w.files, *w.Plan("/in/a.jsonl", {"/out/none.db"})).ok());
  CHECK(CheckDatabaseFiles(w.files, *w.Plan("/in/a.jsonl", {"/out/text.db"})).code() ==
        Code::kCannotCreate);
}

}  // namespace
}  // namespace weir::app
