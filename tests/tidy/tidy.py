#!/usr/bin/env python3
"""The tidy test: rules of the source tree that a compiler does not check. docs/architecture.md has the layer table.

  tidy.py [--root DIR]       check the tree
  tidy.py --self-test        each rule is shown to say no
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from weirtest.report import Failure, Report, Skip  # noqa: E402
from weirtest.weir import LOG_DIR, ROOT  # noqa: E402

# Folder -> folders that it may include. `*`: all of them.
LAYERS = {
    "base": "",
    "io": "base",
    "data": "base",
    "protocol": "base",
    "plan": "base data",
    "flow": "base data protocol",
    "state": "base data",
    "sqlite": "base io",
    "sql": "base data plan",
    "operators": "base data plan flow state",
    "store": "base io data protocol flow state sqlite",
    "connectors": "base io data protocol plan flow sqlite",
    "runtime": "base io data protocol plan flow state sqlite store",
    "qualify": "base io data sqlite connectors",
    "app": "*",
}
# A test may go one step further: it may use the fakes of io, and runtime's tests build whole pipelines.
TEST_LAYERS = {
    "state": "io", "operators": "io", "data": "io", "flow": "io", "plan": "io connectors", "sql": "connectors io",
    "runtime": "*", "protocol": "io",
}
# Third-party header (a prefix) -> folders that may include it.
THIRD_PARTY = {
    "fmt/": "*",  # base's log and status are made of it: it is part of the floor
    "tl/expected.hpp": "base",
    "xxhash.h": "base",
    "mbedtls/": "base",
    "event2/": "io",
    "re2/": "data operators",
    "zlib.h": "data",
    "zstd": "data store",
    "utf8proc.h": "operators",
    "sqlite3.h": "sqlite",
    "rdkafka": "connectors qualify",
    "openssl/": "connectors",
    "CLI/": "app",
    "toml++/": "app",
    "doctest/": "@test",
    "simdjson.h": "@test",
}
STANDARD = set("""algorithm array atomic bit bitset cassert cctype cerrno charconv chrono cinttypes climits cmath compare
concepts condition_variable csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime deque exception filesystem
fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map memory
memory_resource mutex new numeric optional ostream queue random ranges regex set shared_mutex span sstream stack
stdexcept streambuf string string_view system_error thread tuple type_traits typeinfo unordered_map unordered_set
utility valarray variant vector source_location numbers""".split())
INTRINSICS = {"emmintrin.h", "immintrin.h", "nmmintrin.h", "tmmintrin.h", "smmintrin.h", "arm_neon.h", "cpuid.h"}
# Standard headers that bring a clock, randomness, a locale, files or threads: only behind io's seams.
BANNED_STANDARD = {
    "chrono": "io base", "random": "io", "ctime": "io", "filesystem": "io", "fstream": "io", "iostream": "",
    "locale": "", "regex": "", "thread": "io", "future": "", "condition_variable": "io", "csignal": "io app", "sstream": "",
    "unordered_map": "", "unordered_set": "",
}
# Where tests may use what the product may not.
TEST_FREE = {"filesystem", "fstream", "thread", "sstream", "chrono", "csignal", "condition_variable", "random"}
# OS headers: io, and the VFS through which SQLite's files go the same way.
OS_HEADERS_IN = re.compile(r"^src/(io/|sqlite/(vfs|sim_vfs))")
# Calls that read the world: name -> where they may stand.
BANNED_CALLS = {
    r"(?<![\w.>])(?:std::)?getenv": r"^src/(io|app)/",
    r"(?<![\w.>])(?:::)?clock_gettime": r"^src/io/",
    r"(?<![\w.>:])(?:std::|::)?(?:rand|srand|random|drand48)(?=\s*\()": r"^src/io/",
    r"\b(?:std::)?random_device\b": r"^src/io/",
    r"\b(?:system_clock|steady_clock)::now": r"^src/io/",
    r"(?<![\w.>])(?:::)?(?:gettimeofday|localtime(?:_r)?|gmtime(?:_r)?|strftime|mktime)": r"^src/io/",
    r"(?<![\w.>])(?:std::|::)?setlocale": r"^src/app/",
    r"(?<![\w.>])(?:std::|::)?(?:strtod|strtof|atof|stod|stof)(?=\s*\()": r"^$",  # they read the locale
    r"(?<![\w.>])(?:std::|::)(?:isspace|isalpha|isdigit|isalnum|tolower|toupper)(?=\s*\()": r"^$",
    r"(?<![\w.>])(?:::)?(?:usleep|nanosleep|popen|fork|vfork)(?=\s*\()": r"^src/(io|app)/",
    r"\bstd::regex\b": r"^$",
}
LINES_MAX, LINES_HARD = 500, 600
FUNCTION_MAX, FUNCTION_HARD = 70, 100
# Text that says on which machine or from which place something was made.
MACHINE_PATHS = re.compile(
    r"(/root/|/home/[a-z]|/work/(?:main|shared)|/tmp/(?:build|brief)-?\w*|\.pyenv|"
    r"\b(?:farm-\w+|artifactory|nexus\.|mirror\.[a-z]+\.(?:internal|corp|local))|"
    r"https?://(?:127\.0\.0\.1|localhost|10\.\d|192\.168\.)[^\s\"'`)]*/(?:simple|repository|artifactory|debian))", re.I)


class Tree:
    def __init__(self, root, files=None):
        self.root = root
        if files is None:
            listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                                    stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
            files = [f for f in listed if f and os.path.isfile(os.path.join(root, f))]
        self.files = sorted(files)
        self.cache = {}

    def text(self, name):
        if name not in self.cache:
            with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as f:
                self.cache[name] = f.read()
        return self.cache[name]

    def sources(self):
        return [f for f in self.files if f.startswith("src/") and f.endswith((".cc", ".h"))]


def is_test(name):
    return bool(re.search(r"(_test\.cc|_testing\.(cc|h)|/testing/|/sim_[^/]*)$|/testing/", name))


def folder_of(name):
    return name.split("/")[1]


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1), match.group(2)


def allowed(table, folder, other):
    words = table.get(folder, "").split()
    return other == folder or "*" in words or other in words


def require_none(found, what):
    if found:
        raise Failure(f"{len(found)} {what}\n" + "\n".join(found))


def check_layers(tree):
    wrong = []
    for name in tree.sources():
        folder = folder_of(name)
        if folder not in LAYERS:
            wrong.append(f"{name}: folder {folder} is not in the layer table")
            continue
        for number, quote, header in includes(tree.text(name)):
            if quote != '"' or header == "build_info.h" and folder == "app":
                continue
            other = header.split("/")[0]
            if "/" not in header or other not in LAYERS:
                if header.endswith(".sql"):
                    continue  # the schema, included as a string
                wrong.append(f'{name}:{number}: "{header}" is not written from src/')
            elif not allowed(LAYERS, folder, other) and not (is_test(name) and allowed(TEST_LAYERS, folder, other)):
                wrong.append(f"{name}:{number}: {folder}/ may not include {other}/")
    require_none(wrong, "includes against the layer table")


def check_third_party(tree):
    wrong = []
    for name in tree.sources():
        folder = folder_of(name)
        for number, quote, header in includes(tree.text(name)):
            if quote == '"':
                continue
            entry = next((e for e in THIRD_PARTY if header.startswith(e)), None)
            if entry is not None:
                where = THIRD_PARTY[entry].split()
                if not ("*" in where or folder in where or is_test(name) and "@test" in where):
                    wrong.append(f"{name}:{number}: <{header}> is for {THIRD_PARTY[entry]}")
            elif header in STANDARD:
                where = BANNED_STANDARD.get(header)
                free = is_test(name) and header in TEST_FREE
                if where is not None and folder not in where.split() and not free:
                    wrong.append(f"{name}:{number}: <{header}> is banned" + (f" outside {where}/" if where else ""))
            elif header in INTRINSICS:
                if folder not in ("base", "data"):
                    wrong.append(f"{name}:{number}: intrinsics only in base/ and data/")
            elif not OS_HEADERS_IN.match(name) and not is_test(name):
                wrong.append(f"{name}:{number}: <{header}> is the OS's: only io/ and SQLite's VFS")
    require_none(wrong, "includes from outside that the table does not allow")


def strip_comments(text):
    """Comments and literals blanked, line breaks kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text)  # digit separators
    return pattern.sub(blank, text)


def check_calls(tree):
    wrong = []
    for name in tree.sources():
        if is_test(name):
            continue
        text = strip_comments(tree.text(name))
        for pattern, where in BANNED_CALLS.items():
            if re.match(where, name):
                continue
            for match in re.finditer(pattern, text):
                wrong.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(0).strip()}")
    require_none(wrong, "calls that read the world outside its door")


def check_file_size(tree):
    sizes = [(tree.text(n).count("\n"), n) for n in tree.sources()]
    for lines, name in sorted(sizes, reverse=True):
        if LINES_MAX < lines <= LINES_HARD:
            print(f"# {name} has {lines} lines: which concept is missing?")
    require_none([f"{n}: {lines} lines" for lines, n in sizes if lines > LINES_HARD], f"files above {LINES_HARD} lines")


def functions(text):
    """(first line, last line, name) of function bodies, by braces: a brace that follows `)` and perhaps const, noexcept,
    override, a return type or an initialiser list, outside of any other body."""
    text = strip_comments(text)
    # Lines of the preprocessor have braces of their own.
    text = re.sub(r"^\s*#[^\n]*(?:\\\n[^\n]*)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)
    depth, stack, last = 0, [], 0
    for i, c in enumerate(text):
        if c == "{":
            before = text[last:i].strip()
            scope = re.search(r"\b(namespace|class|struct|union|enum|extern)\b(?![^;]*\)\s*$)[^;()]*$", before)
            inside = any(kind == "function" for kind, _, _ in stack)
            is_function = not inside and not scope and ")" in before and not before.endswith(("=", ",", "("))
            kind = "function" if is_function else "scope"
            name = re.search(r"([\w:~]+|operator\S+)\s*\([^{]*$", before)
            stack.append((kind, text.count("\n", 0, i) + 1, name.group(1) if name else "?"))
            depth += 1
            last = i + 1
        elif c == "}":
            if stack:
                kind, begin, name = stack.pop()
                if kind == "function":
                    yield begin, text.count("\n", 0, i) + 1, name
            depth -= 1
            last = i + 1
        elif c == ";":
            last = i + 1


def check_function_size(tree):
    wrong, long = [], []
    for name in tree.sources():
        for begin, end, function in functions(tree.text(name)):
            lines = end - begin + 1
            hard = FUNCTION_HARD * 3 if is_test(name) else FUNCTION_HARD
            if lines > hard:
                wrong.append(f"{name}:{begin}: {function}() has {lines} lines")
            elif lines > FUNCTION_MAX and not is_test(name):
                long.append(f"{name}:{begin}: {function}() {lines} lines")
    for text in long:
        print(f"# longer than {FUNCTION_MAX}: {text}")
    require_none(wrong, f"functions above {FUNCTION_HARD} lines")


def check_fault_points(tree):
    text = tree.text("src/io/fault.cc")
    block = re.search(r"kFaultPoints\[\]\s*=\s*\{(.*?)\};", text, re.S)
    declared = set(re.findall(r'"([a-z_.]+)"', block.group(1))) if block else set()
    if len(declared) < 2:
        raise Failure("no list of fault points in src/io/fault.cc")
    called = set()
    unknown = []
    for name in tree.sources():
        if is_test(name):
            continue
        for match in re.finditer(r'WEIR_FAULT_POINT\(\s*"([^"]+)"\s*\)|WEIR_FAULT_POINT\(\s*(k\w+)\s*\)', tree.text(name)):
            point = match.group(1)
            if point is None:  # a constant of this file
                constant = re.search(match.group(2) + r'\s*(?:=|\[\]\s*=)\s*"([^"]+)"', tree.text(name))
                point = constant.group(1) if constant else match.group(2)
            called.add(point)
            if point not in declared:
                unknown.append(f"{name}: {point} is not declared in src/io/fault.cc")
    missing = [f"{p}: declared, no call site" for p in sorted(declared - called)]
    require_none(unknown + missing, "fault points without a pair")


def switch_answers(text, function):
    """case label -> what the switch of `function` returns for it."""
    begin = re.search(r"\b" + function + r"\(\w*\s*\w+\)\s*\{\s*switch", text)
    if begin is None:
        raise Failure(f"no switch in {function}()")
    body = text[begin.end():]
    body = body[:body.index("\n}\n")]
    answers, open_labels = {}, []
    for line in body.splitlines():
        for label in re.findall(r"case\s+(?:\w+::)*(\w+):", line):
            open_labels.append(label)
        match = re.search(r"return\s+(.*?);", line)
        if match:
            for label in open_labels:
                answers[label] = match.group(1)
            open_labels = []
    return answers


def enumerators(text, name):
    block = re.search(r"enum class " + name + r"\b[^{]*\{(.*?)\}", text, re.S)
    if block is None:
        raise Failure(f"no enum {name}")
    return re.findall(r"\bk\w+", block.group(1))


def check_verbs(tree):
    """Every refusal and every park of the protocol's tables names a way out."""
    header = tree.text("src/protocol/takeover.h")
    takeover, local, delivery = (tree.text(f"src/protocol/{n}.cc") for n in ("takeover", "local_file", "delivery"))
    wrong = []
    refusals = switch_answers(takeover, "RefusalVerbs")
    for action in enumerators(header, "TakeoverAction"):
        if action.startswith("kRefuse") and refusals.get(action, "{}") in ("{}", ""):
            wrong.append(f"TakeoverAction::{action} names no way out")
    verbs, advice = switch_answers(local, "LocalFileVerbs"), switch_answers(local, "LocalFileAdvice")
    for action in enumerators(header, "LocalFileAction"):
        if action.startswith("kPark") and verbs.get(action, "{}") == "{}":
            wrong.append(f"LocalFileAction::{action} parks and names no verb")
        if action.startswith(("kPark", "kRefuse")) and advice.get(action, '""') in ('""', "{}"):
            wrong.append(f"LocalFileAction::{action} gives no advice")
    rows = switch_answers(delivery.replace("case ", "case k"), "DeliveryVerbs")
    # Rows of the table whose action without a scan is to park: the seventh of each line is not parsed, kPark is.
    table = re.search(r"kRows\[\]\s*=\s*\{(.*?)\n\};", delivery, re.S)
    if table is None:
        raise Failure("no kRows in src/protocol/delivery.cc")
    parks = 0
    for row in re.finditer(r"\{\s*(?:\.row\s*=\s*)?(\d+)\s*,(.*?)\}(?=,?\s*(?:\{|//|$))", table.group(1), re.S):
        if "kPark" in row.group(2):
            parks += 1
            if rows.get("k" + row.group(1), "{}") == "{}":
                wrong.append(f"delivery row {row.group(1)} parks and names no verb")
    if parks == 0:
        raise Failure("no park found among the delivery rows: the table has another form")
    require_none(wrong, "refusals or parks without a way out")


def check_no_machine(tree):
    wrong = []
    for name in tree.files:
        if name == "tests/tidy/tidy.py" or name.startswith("tests/data/") or name.endswith((".gz", ".zst", ".png")):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            match = MACHINE_PATHS.search(line)
            if match and "tests/tidy: ok" not in line:
                wrong.append(f"{name}:{number}: {match.group(0)}")
    require_none(wrong, "traces of a machine or a registry")


def check_shell(tree):
    if not shutil.which("shellcheck"):
        raise Skip("no shellcheck")
    scripts = [f for f in tree.files if not f.startswith("tests/data/")
               and (f.endswith(".sh") or re.match(r"#!.*\b(ba|da)?sh\b", tree.text(f)[:60]))]
    if not scripts:
        raise Failure("no shell script found")
    done = subprocess.run(["shellcheck", "-x", "-P", "SCRIPTDIR", *scripts], cwd=tree.root, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Failure("shellcheck:\n" + done.stdout.decode()[-4000:])


# False while a format change is under way: the number is then shown, not judged.
FORMAT_IS_LAW = True


def check_format(tree, law=None):
    if not shutil.which("clang-format"):
        raise Skip("no clang-format")
    names = [f for f in tree.files if f.startswith(("src/", "tests/")) and f.endswith((".cc", ".h"))]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *names], cwd=tree.root, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error: code should be clang-formatted", done.stdout.decode(), re.M)))
    if bad and not (FORMAT_IS_LAW if law is None else law):
        raise Skip(f"{len(bad)} of {len(names)} files are not as clang-format writes them (not judged yet)")
    require_none(bad, f"of {len(names)} files are not as clang-format writes them")


CHECKS = [check_layers, check_third_party, check_calls, check_file_size, check_function_size, check_fault_points,
          check_verbs, check_no_machine, check_shell, check_format]


def says_no(check, files):
    """`check` must refuse a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                f.write(text)
        try:
            check(Tree(root, list(files)))
        except Failure:
            return
        raise Failure(f"{getattr(check, '__name__', check)} did not refuse {sorted(files)}")


def says_yes(check, files):
    try:
        says_no(check, files)
    except Failure as refusal:
        if "did not refuse" in str(refusal):
            return
    raise Failure(f"{check.__name__} refused {sorted(files)}")


def self_test(report, tree):
    protocol = {f"src/protocol/{n}": tree.text(f"src/protocol/{n}")
                for n in ("takeover.h", "takeover.cc", "local_file.cc", "delivery.cc")}
    no_verb = dict(protocol)
    no_verb["src/protocol/local_file.cc"] = protocol["src/protocol/local_file.cc"].replace("{Verb::kRewindFile}", "{}")
    no_refusal = dict(protocol)
    no_refusal["src/protocol/takeover.cc"] = re.sub(r"kRefuseDamage:\s*return \{.*?\};", "kRefuseDamage:\n return {};",
                                                    protocol["src/protocol/takeover.cc"], flags=re.S)
    no_row = dict(protocol)
    no_row["src/protocol/delivery.cc"] = re.sub(r"case 9:\n", "", protocol["src/protocol/delivery.cc"])
    points = 'constexpr std::string_view kFaultPoints[] = {\n "a.b", "c.d",\n};\n'
    body = "void F(int a) {\n" + "  a = 1;\n" * 101 + "}\n"
    cases = [
        ("layers", check_layers, {"src/data/x.cc": '#include "io/files.h"\n'}),
        ("layers-up", check_layers, {"src/protocol/x.h": '#include "plan/plan.h"\n'}),
        ("layers-runtime", check_layers, {"src/runtime/x.cc": '#include "connectors/registry.h"\n'}),
        ("folder", check_layers, {"src/util/x.cc": "\n"}),
        ("third-party", check_third_party, {"src/runtime/x.cc": "#include <sqlite3.h>\n"}),
        ("os-header", check_third_party, {"src/store/x.cc": "#include <unistd.h>\n"}),
        ("clock-header", check_third_party, {"src/store/x.cc": "#include <chrono>\n"}),
        ("getenv", check_calls, {"src/store/x.cc": 'auto a = std::getenv("A");\n'}),
        ("clock", check_calls, {"src/data/x.cc": "auto t = std::chrono::steady_clock::now();\n"}),
        ("rand", check_calls, {"src/data/x.cc": "int a = rand();\n"}),
        ("strtod", check_calls, {"src/data/x.cc": "double a = strtod(p, &q);\n"}),
        ("file-size", check_file_size, {"src/data/x.cc": "\n" * 601}),
        ("function-size", check_function_size, {"src/data/x.cc": "namespace weir {\n" + body + "}\n"}),
        ("method-size", check_function_size, {"src/data/x.cc": "class A : public B {\n" + body + "};\n"}),
        ("point-without-call", check_fault_points, {"src/io/fault.cc": points,
                                                    "src/io/a.cc": 'WEIR_FAULT_POINT("a.b");'}),
        ("call-without-point", check_fault_points, {"src/io/fault.cc": points, "src/io/a.cc":
                                                    'WEIR_FAULT_POINT("a.b"); WEIR_FAULT_POINT("c.d"); WEIR_FAULT_POINT("e");'}),
        ("park-without-verb", check_verbs, no_verb),
        ("refusal-without-way-out", check_verbs, no_refusal),
        ("delivery-row-without-verb", check_verbs, no_row),
        ("machine-path", check_no_machine, {"docs/x.md": "see /home/" + "joe/weir\n"}),
        ("registry", check_no_machine, {"x.sh": "curl http://127.0.0.1:8080/" + "simple\n"}),
        ("shell", check_shell, {"x.sh": "#!/bin/bash\ncd $1\n"}),
        ("format", lambda t: check_format(t, law=True), {"src/a.cc": "int   f( ){return 1 ;}\n"}),
    ]
    for name, check, files in cases:
        report.check(f"says-no/{name}", says_no, check, files)
    report.check("says-yes/verbs", says_yes, check_verbs, protocol)
    report.check("says-yes/short-function", says_yes, check_function_size,
                 {"src/data/x.cc": "struct A {\n int a;\n" + "\n" * 150 + "};\nvoid F() {\n}\n"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    tree = Tree(args.root)
    report = Report("tidy-self-test" if args.self_test else "tidy", LOG_DIR)
    if args.self_test:
        self_test(report, tree)
    else:
        for check in CHECKS:
            report.check(check.__name__[len("check_"):].replace("_", "-"), check, tree)
    report.finish()


if __name__ == "__main__":
    main()
