#!/usr/bin/env bash
# The one test command. Local == CI.
#
#   tests/run.sh                 everything that fits CI
#   tests/run.sh unit            unit tests and tidy: under a minute after the build
#   tests/run.sh quick           unit, then the SQL cases straight through
#   tests/run.sh full            every occurrence, every write, both kinds of disk, longer fuzzing and simulation
#   tests/run.sh LAYER...        only these (tests/README.md lists them)
#
# Prints the minutes of each layer, keeps logs of failures in build/test-logs, and ends with a line
# "N passed, N failed". Exit status 0 when nothing failed and something passed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
logs=build/test-logs
mkdir -p "$logs"

all_layers=(unit selftest tidy threads upgrade sql examples qualify crash restart service disk kafka campaign sim model fuzz)
full=
layers=()
for argument in "$@"; do
  case $argument in
    full) full=1 ;;
    unit) layers+=(unit selftest tidy) ;;
    quick) layers+=(unit selftest tidy sql) ;;
    -*) echo "usage: tests/run.sh [unit | quick | full | LAYER...]" >&2; exit 64 ;;
    *) layers+=("$argument") ;;
  esac
done
[ ${#layers[@]} -gt 0 ] || layers=("${all_layers[@]}")
for layer in "${layers[@]}"; do
  if ! declare -p all_layers | grep -qw -- "$layer"; then
    echo "tests/run.sh: no layer '$layer'; there are: ${all_layers[*]}" >&2
    exit 64
  fi
done

passed=0 failed=0 skipped=0
declare -A seconds
names_of_failures=()

wants() { printf '%s\n' "${layers[@]}" | grep -qx -- "$1"; }

# add NAME FILE: adds up "ok", "not ok" and "skip" lines, and doctest's summaries.
add() {
  local ok bad skips
  ok=$(grep -c '^ok ' "$2" || true)
  bad=$(grep -c '^not ok ' "$2" || true)
  skips=$(grep -c '^skip ' "$2" || true)
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skips))
  if [ "$bad" -gt 0 ]; then names_of_failures+=("$1"); fi
}

# one NAME COMMAND...: a layer that is a program printing such lines. A program that ends with an error without having
# named a failure is one.
one() {
  local name=$1 log=$logs/$1.out status=0 begun=$SECONDS
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$log" || status=$?
  if [ "$status" -ne 0 ] && ! grep -q '^not ok ' "$log"; then
    echo "not ok $name: ended with $status" | tee -a "$log"
  elif ! grep -qE '^(ok|not ok|skip) ' "$log"; then
    echo "not ok $name: no result at all" | tee -a "$log"
  fi
  add "$name" "$log"
  seconds[$name]=$((SECONDS - begun))
}

# doctest NAME PROGRAM ARGUMENT...: its test cases as ok and not ok lines.
doctest() {
  local name=$1 log=$logs/$1.doctest status=0
  shift
  mkdir -p "${log%/*}"
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 "$@" >"$log" 2>&1 || status=$?
  local summary good bad
  summary=$(grep -a '^\[doctest\] test cases:' "$log" | tail -1 || true)
  good=$(sed -nE 's/.*\| +([0-9]+) passed.*/\1/p' <<<"$summary")
  bad=$(sed -nE 's/.*\| +([0-9]+) failed.*/\1/p' <<<"$summary")
  if [ -z "$summary" ] || { [ "$status" -ne 0 ] && [ "${bad:-0}" -eq 0 ]; }; then
    echo "not ok $name: ended with $status and no verdict"
    tail -20 "$log" | sed 's/^/#   /'
    return 0
  fi
  local i
  for ((i = 1; i <= good; ++i)); do echo "ok $name/$i"; done
  for ((i = 1; i <= bad; ++i)); do echo "not ok $name: a test case failed"; done
  if [ "$bad" -gt 0 ]; then grep -a -E -A6 'ERROR:|FATAL|TEST CASE:' "$log" | head -60 | sed 's/^/#   /'; fi
}

unit_layer() {
  local program
  for program in build/fault/unit/*_tests; do
    [ "${program##*/}" != sim_tests ] || continue
    doctest "unit/${program##*/}" "$program"
  done
}

# Simulated power cuts: fixed seeds in CI, more of them in full.
sim_layer() {
  local program=build/fault/unit/sim_tests
  if [ ! -x "$program" ]; then echo "not ok sim: no program $program"; return 0; fi
  WEIR_SIM_FULL=$full doctest sim/sim_tests "$program"
}

threads_layer() {
  local program
  for program in build/tsan/unit/*_tests; do
    if ! "$program" --list-test-cases --test-case='*_threads*' 2>/dev/null | grep -q _threads; then continue; fi
    TSAN_OPTIONS=halt_on_error=1 doctest "threads/${program##*/}" "$program" --test-case='*_threads*'
  done
}

model_layer() {
  tests/model/check.sh ${full:+full} | sed '/^[0-9]* passed, [0-9]* failed$/d'
}

# Each fuzzer for some seconds, from its corpus. A crash is a failure and its input is kept.
fuzz_layer() {
  local fuzzer name each=${full:+120} status
  for fuzzer in build/fuzz/fuzz/*_fuzz; do
    [ -x "$fuzzer" ] || continue
    name=${fuzzer##*/}
    mkdir -p "$logs/fuzz/$name"
    local corpora=("$logs/fuzz/$name")
    if [ -d "tests/fuzz/corpus/${name%_fuzz}" ]; then corpora+=("tests/fuzz/corpus/${name%_fuzz}"); fi
    status=0
    "$fuzzer" -max_total_time="${each:-10}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$logs/fuzz/$name-" "${corpora[@]}" >"$logs/$name.log" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then echo "ok fuzz/$name ($(sed -nE 's/^stat::number_of_executed_units: +//p' "$logs/$name.log") runs)"
    else echo "not ok fuzz/$name: ended with $status"; tail -15 "$logs/$name.log" | sed 's/^/#   /'; fi
  done
}

build_layer() {
  local targets=()
  if wants unit; then targets+=(unit_tests); fi
  if wants sim; then targets+=(sim_tests); fi
  if wants sql || wants examples || wants qualify || wants crash || wants restart || wants service || wants disk || wants kafka || wants campaign || wants upgrade; then targets+=(weir); fi
  if [ ${#targets[@]} -gt 0 ]; then packaging/build.sh fault "${targets[@]}" || { echo "not ok build/fault"; return 0; }; fi
  if wants sql || wants service; then packaging/build.sh release || { echo "not ok build/release"; return 0; }; fi
  if wants threads; then packaging/build.sh tsan io_tests store_tests || { echo "not ok build/tsan"; return 0; }; fi
  if wants fuzz; then
    mapfile -t fuzzers < <(sed -nE 's/^weir_fuzzer\(([a-z_]+) .*/\1/p' tests/fuzz/CMakeLists.txt)
    packaging/build.sh fuzz "${fuzzers[@]}" || { echo "not ok build/fuzz"; return 0; }
  fi
  echo "ok build"
}

packages=(python3)
if wants tidy; then packages+=(shellcheck clang-format git); fi
if wants sql || wants crash; then packages+=(zstd); fi
if wants disk; then packages+=(e2fsprogs mount util-linux); fi
if wants kafka || wants campaign; then packages+=(openssl util-linux); fi  # and what tests/kafka/jars.sh installs
if wants model; then packages+=(spin gcc); fi
packaging/apt-install.sh "${packages[@]}"

one build build_layer
if [ "$failed" -gt 0 ]; then layers=(); fi
if wants unit; then one unit unit_layer; fi
if wants selftest; then one selftest python3 tests/selftest/run.py; fi
if wants tidy; then
  one tidy-self-test python3 tests/tidy/tidy.py --self-test
  one tidy python3 tests/tidy/tidy.py
fi
if wants threads; then one threads threads_layer; fi
if wants upgrade; then one upgrade python3 tests/upgrade/run.py; fi
if wants sql; then one sql python3 tests/sql/run.py ${full:+--full}; fi
if wants examples; then one examples python3 tests/examples/run.py; fi
if wants qualify; then one qualify python3 tests/qualify/run.py; fi
if wants crash; then one crash python3 tests/crash/run.py ${full:+--full}; fi
if wants restart; then one restart python3 tests/restart/run.py; fi
if wants service; then one service python3 tests/service/run.py; fi
if wants disk; then one disk python3 tests/disk/run.py ${full:+--full}; fi
if wants kafka; then one kafka python3 tests/kafka/run.py ${full:+--full}; fi
if wants campaign; then
  one campaign-judged python3 tests/campaign/judged.py
  one campaign python3 tests/campaign/run.py ${full:+--minutes 60}
fi
if wants sim; then one sim sim_layer; fi
if wants model; then one model model_layer; fi
if wants fuzz; then one fuzz fuzz_layer; fi

echo
echo "minutes"
for name in build tidy-self-test campaign-judged "${all_layers[@]}"; do
  [ -n "${seconds[$name]:-}" ] || continue
  printf '  %-16s %5.1f\n' "$name" "$(python3 -c "print(${seconds[$name]} / 60)")"
done
printf '  %-16s %5.1f\n' "in all" "$(python3 -c "print($SECONDS / 60)")"
if [ "$skipped" -gt 0 ]; then echo "$skipped skipped: this machine cannot do them (see the lines that begin with skip)"; fi
if [ "$failed" -gt 0 ]; then echo "failed in: ${names_of_failures[*]}; logs in $logs"; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
