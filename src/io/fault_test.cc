#include "io/fault.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>

#include "base/text.h"
#include "io/posix_files.h"
#include "io/sim_files.h"

namespace weir::io {
namespace {

TEST_CASE("each fault point is declared once") {
  std::set<std::string_view> names;
  for (const std::string_view point : DeclaredFaultPoints()) CHECK(names.insert(point).second);
  CHECK(names.count("deliver.between_commit_and_ack") == 1);
}

TEST_CASE("a write at a fault point does what the fault asks for") {
  SimFiles files;
  auto file = files.Open("/a", OpenMode::kCreate).value();
  CHECK(WriteWithFault({}, "p", *file, 0, "abc").ok());
  CHECK(WriteWithFault({FaultAction::kFail, 0}, "p", *file, 3, "d").code() ==
        Code::kUnknownOutcome);
  CHECK(WriteWithFault({FaultAction::kNoSpace, 0}, "p", *file, 3, "d").code() == Code::kNoSpace);
  CHECK(ReadFile(files, "/a", 10).value() == "abc");
}

#if defined(WEIR_FAULTS) && WEIR_FAULTS

// Runs `act` in a child and returns the signal that killed it, or 0.
int SignalOf(const std::function<void()>& act) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    act();
    ::_exit(0);
  }
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
  return WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

class Faults {
 public:
  Faults() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_fault_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
  }
  ~Faults() {
    (void)ConfigureFaults(nullptr, nullptr);
    (void)ConfigureKillAtWrite(nullptr);
    std::filesystem::remove_all(directory_);
  }
  std::string witness() const { return directory_ + "/witness"; }
  std::string file() const { return directory_ + "/file"; }
  // The witness without pids, which differ.
  std::vector<std::string> Lines() const {
    PosixFiles files;
    const std::string text = ReadFile(files, witness(), 1 << 20).value_or("");
    std::vector<std::string> out;
    for (const std::string_view line : Split(TrimAscii(text), '\n')) {
      if (line.empty()) continue;
      std::vector<std::string_view> words = Split(line, ' ');
      CHECK(words.size() >= 4);
      out.push_back(std::string(words[0]) + " " + std::string(words[1]) + " " +
                    std::string(words[2]));
    }
    return out;
  }

 private:
  std::string directory_;
};

TEST_CASE("a kill fires at the occurrence that was asked for, and its witness was written before") {
  const Faults faults;
  REQUIRE(ConfigureFaults("seal.before_commit=kill@3", faults.witness().c_str()).ok());
  CHECK(SignalOf([] {
          for (int i = 0; i < 2; ++i) WEIR_FAULT_POINT("seal.before_commit");
          WEIR_FAULT_POINT("seal.after_commit");
        }) == 0);
  CHECK(faults.Lines().empty());
  CHECK(SignalOf([] {
          for (int i = 0; i < 3; ++i) WEIR_FAULT_POINT("seal.before_commit");
        }) == SIGKILL);
  CHECK(faults.Lines() == std::vector<std::string>{"seal.before_commit kill 3"});
}

TEST_CASE("failures are given to the call site, once or every time") {
  const Faults faults;
  REQUIRE(ConfigureFaults("file.before_rename=fail@2,seal.before_commit=nospace@every",
                          faults.witness().c_str())
              .ok());
  CHECK(WEIR_FAULT_POINT("file.before_rename").ToStatus("p").ok());
  CHECK(WEIR_FAULT_POINT("file.before_rename").ToStatus("p").code() == Code::kUnknownOutcome);
  CHECK(WEIR_FAULT_POINT("file.before_rename").ToStatus("p").ok());
  for (int i = 0; i < 3; ++i) {
    CHECK(WEIR_FAULT_POINT("seal.before_commit").ToStatus("p").code() == Code::kNoSpace);
  }
  CHECK(faults.Lines() ==
        std::vector<std::string>{"file.before_rename fail 2", "seal.before_commit nospace 1",
                                 "seal.before_commit nospace 2", "seal.before_commit nospace 3"});
}

TEST_CASE("a call site that is asked to wait is told so, and nothing fails") {
  const Faults faults;
  REQUIRE(ConfigureFaults("scan.after_batch=wait:1@every", faults.witness().c_str()).ok());
  const FaultResult fault = WEIR_FAULT_POINT("scan.after_batch");
  CHECK(fault.action == FaultAction::kWait);
  CHECK(fault.ToStatus("p").ok());
  CHECK(!ConfigureFaults("scan.after_batch=wait", nullptr).ok());  // without its milliseconds
}

TEST_CASE("a torn write leaves its first bytes and kills") {
  const Faults faults;
  REQUIRE(ConfigureFaults("file.during_append=torn:2", faults.witness().c_str()).ok());
  CHECK(SignalOf([&] {
          PosixFiles files;
          auto file = files.Open(faults.file(), OpenMode::kCreate);
          (void)WriteWithFault(WEIR_FAULT_POINT("file.during_append"), "file.during_append", **file,
                               0, "abcdef");
        }) == SIGKILL);
  PosixFiles files;
  CHECK(ReadFile(files, faults.file(), 10).value() == "ab");
  CHECK(faults.Lines() == std::vector<std::string>{"file.during_append torn:2 1"});
}

TEST_CASE("the process dies in front of the n-th change of the file system") {
  struct Case {
    const char* n;
    std::string want_witness;
    std::string want_content;  // "-": no file
  };
  const Case cases[] = {
      {"1", "fs.create kill 1", "-"}, {"2", "fs.write kill 2", ""},   {"3", "fs.sync kill 3", "x"},
      {"4", "fs.rename kill 4", "x"}, {"5", "fs.remove kill 5", "-"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.n);
    const Faults faults;
    REQUIRE(ConfigureFaults(nullptr, faults.witness().c_str()).ok());
    REQUIRE(ConfigureKillAtWrite(c.n).ok());
    CHECK(SignalOf([&] {
            PosixFiles files;
            auto file = files.Open(faults.file(), OpenMode::kCreate);
            (void)(*file)->WriteAt(0, "x");
            (void)(*file)->Sync();
            (void)files.Rename(faults.file(), faults.file() + "2");
            (void)files.Remove(faults.file() + "2");
          }) == SIGKILL);
    CHECK(faults.Lines() == std::vector<std::string>{c.want_witness});
    PosixFiles files;
    CHECK(ReadFile(files, faults.file(), 10).value_or("-") == c.want_content);
  }
}

TEST_CASE("a specification that means nothing is refused, never ignored") {
  const Faults faults;
  for (const char* bad :
       {"seal.before_commit", "seal.before_comit=kill", "seal.before_commit=explode",
        "seal.before_commit=kill@0", "seal.before_commit=kill@x", "seal.before_commit=kill:3",
        "seal.before_commit=torn", "seal.before_commit=delay:soon", "seal.before_commit=kill,"}) {
    CAPTURE(bad);
    CHECK(ConfigureFaults(bad, nullptr).code() == Code::kUsage);
  }
  CHECK(ConfigureFaults("seal.before_comit=kill", nullptr).message().find("seal.before_commit") !=
        std::string::npos);
  CHECK(ConfigureKillAtWrite("0").code() == Code::kUsage);
  CHECK(ConfigureKillAtWrite("many").code() == Code::kUsage);
  CHECK(ConfigureFaults("", nullptr).ok());
  CHECK(ConfigureFaults("cut.before_freeze=delay:0", nullptr).ok());
  CHECK(WEIR_FAULT_POINT("cut.before_freeze").action == FaultAction::kNone);
}

#endif

}  // namespace
}  // namespace weir::io
