#!/usr/bin/env bash
# The main job in one command, on a fresh Debian 12 with nothing but git: sets up, builds, runs a pipeline over the bundled
# web access log, kills it with -9 in the middle, runs the same command again and compares with an undisturbed run.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
weir=$root/build/release/weir

"$root/packaging/build.sh" release

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/calm" "$work/killed"
for place in calm killed; do cp "$root/tests/data/access.log" "$root/docs/examples/access-log.sql" "$work/$place/"; done
say() { printf '\n== %s\n' "$*"; }

say "The pipeline: requests, bytes and server errors per 10 minutes of 10,000 log lines, and the busiest 10 seconds"
grep -v '^--' "$root/docs/examples/access-log.sql"

say "An undisturbed run"
(cd "$work/calm" && "$weir" run access-log.sql --progress never 2>&1 | grep '^weir:')

say "The same in small steps, killed with -9 in the middle"
# One row a batch and an epoch every 2 ms, so that there is a middle to be killed in.
cd "$work/killed"
run=("$weir" run access-log.sql --progress never --set weir.batch-rows=1 --set "execution.checkpointing.interval=2 ms")
lines() { if [ -f "$1" ]; then wc -l <"$1"; else echo 0; fi; }
kills=0
for out in 10 40; do
  "${run[@]}" 2>>"$work/killed.log" &
  pid=$!
  while [ "$(lines traffic.csv)" -lt "$out" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.002; done
  if ! kill -9 "$pid" 2>/dev/null; then
    echo "  (it finished before it could be killed)"
    break
  fi
  wait "$pid" 2>/dev/null || true
  kills=$((kills + 1))
  printf '  kill -9 number %d: %d lines of traffic.csv were out by then\n' "$kills" "$(lines traffic.csv)"
done

say "The same command again: it takes over where the last sealed epoch ended"
"${run[@]}" 2>&1 | grep '^weir:'

say "Both outputs, compared byte for byte"
same=yes
for file in traffic.csv peaks.csv late.jsonl unparsable.log; do
  if cmp -s "$work/calm/$file" "$file"; then
    printf '  equal      %-15s %6d lines\n' "$file" "$(lines "$file")"
  else
    printf '  DIFFERENT  %s\n' "$file"
    same=no
  fi
done
show() { printf '\n%s\n%s\n' "$1" "$(head -3 "$2" | cut -c1-150 | sed 's/^/  /')"; }
show "traffic.csv, 10 minutes a line:" traffic.csv
show "peaks.csv, 10 seconds with 30 requests or more:" peaks.csv
show "late.jsonl, lines that came when their 10 seconds had closed (the log is up to a minute out of order):" late.jsonl
show "unparsable.log, cut short in the log itself:" unparsable.log
if [ "$same" = no ] || [ "$kills" -eq 0 ]; then
  echo "weir did not keep its word, or was never killed: please report this" >&2
  exit 1
fi
printf '\nKilled %d times, and the output is that of an undisturbed run.\n' "$kills"
