#!/usr/bin/env bash
# From Kafka to Kafka in one command: builds weir, feeds a topic with events whose every count is known, runs
# docs/examples/kafka-counts.sql, kills it with -9 again and again, and lets `weir verify` read the result as any
# read_committed consumer would.
#
#   packaging/kafka-quickstart.sh                      starts a broker of its own on 127.0.0.1, from Maven's jars
#   packaging/kafka-quickstart.sh HOST:PORT            your broker; it must have three empty topics (it says which)
#
# WEIR_BROKER_PORTS="PORT CONTROLLER_PORT" moves the broker that it starts (29092 29093). WEIR names another binary.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${WEIR:-}" ]; then
  "$root/packaging/build.sh" release
  WEIR=$root/build/release/weir
fi

work=$(mktemp -d)
pids=()
end() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap end EXIT
say() { printf '\n== %s\n' "$*"; }

if [ $# -gt 0 ]; then
  KAFKA=$1
else
  read -r port controller <<<"${WEIR_BROKER_PORTS:-29092 29093}"
  KAFKA=127.0.0.1:$port
  "$root/tests/kafka/jars.sh" >/dev/null
  say "A broker on $KAFKA"
  "$root/packaging/kafka-broker.sh" "$work/broker" "$port" "$controller" &
  broker=$!
  pids+=("$broker")
  until grep -q 'Kafka Server started' "$work/broker/broker.log" 2>/dev/null; do
    if ! kill -0 "$broker" 2>/dev/null; then
      echo "the broker ended:" >&2
      tail -20 "$work/broker/broker.log" >&2
      exit 1
    fi
    sleep 0.2
  done
  for topic in "weir-demo-events 4" "weir-demo-counts 2" "weir-demo-late 1"; do
    # shellcheck disable=SC2086 # name and partitions
    "$root/packaging/kafka-broker.sh" --topic $topic "$port" 2>/dev/null
  done
fi
export KAFKA

cp "$root/docs/examples/kafka-counts.sql" "$work/"
cd "$work"
if ! "$WEIR" check --connect kafka-counts.sql; then
  cat >&2 <<WORDS

The brokers at $KAFKA must be reachable, and have three topics that are new and empty:
  kafka-topics.sh --bootstrap-server $KAFKA --create --topic weir-demo-events --partitions 4
  kafka-topics.sh --bootstrap-server $KAFKA --create --topic weir-demo-counts --partitions 2
  kafka-topics.sh --bootstrap-server $KAFKA --create --topic weir-demo-late --partitions 1
WORDS
  exit 1
fi

say "The pipeline"
grep -v '^--' kafka-counts.sql

say "20,000 events in ten seconds, a hundredth of them too late, go to weir-demo-events"
"$WEIR" gen events.ledger --to kafka:weir-demo-events --kafka "bootstrap.servers=$KAFKA" --partitions 4 --records 20000 \
  --rate 2000 --items 100 --jitter '500 ms' --bound '1 s' --late 0.01 --late-by '10 s' --pace &
gen=$!
pids+=("$gen")

say "Meanwhile: weir run kafka-counts.sql, and kill -9, and the same command again"
kills=0
start() {
  "$WEIR" run kafka-counts.sql --progress never 2>>run.log &
  weir=$!
  pids+=("$weir")
}
start
while kill -0 "$gen" 2>/dev/null; do
  sleep 1.7
  if ! kill -0 "$weir" 2>/dev/null; then
    echo "weir ended by itself:" >&2
    tail -5 run.log >&2
    exit 1
  fi
  kill -9 "$weir"
  wait "$weir" 2>/dev/null || true
  kills=$((kills + 1))
  printf '  kill -9 number %d\n' "$kills"
  start
done
if ! wait "$gen"; then
  echo "the events could not be written" >&2
  exit 1
fi

say "What a read_committed consumer sees, judged row by row"
verdict=0
"$WEIR" verify events.ledger --kafka "bootstrap.servers=$KAFKA" --raw kafka:weir-demo-events --windows kafka:weir-demo-counts \
  --late kafka:weir-demo-late --window '2 s' --wait '10 s' || verdict=$?
kill "$weir"
if ! wait "$weir"; then
  echo "weir did not stop well:" >&2
  tail -5 run.log >&2
  exit 1
fi
if [ "$verdict" -ne 0 ] || [ "$kills" -eq 0 ]; then
  echo "weir did not keep its word, or was never killed: please report this" >&2
  exit 1
fi
printf '\nKilled %d times, and each window is there once, with the right count and sum.\n' "$kills"
