#!/usr/bin/env bash
# tests/bench/run.sh [kafka] [ARGUMENT of bench.py or kafka_bench.py...]: builds the release binary and the programs
# of the benchmarks, then measures whole processes. Figures go to stdout as Markdown and to build/bench.md
# (build/kafka-bench.md). Not a test: no time limits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
packaging/apt-install.sh python3
if [ "${1:-}" = kafka ]; then # on three real brokers
  shift
  packaging/build.sh release weir bare_kafka_consumer bare_kafka_producer kafka_latency gen_rows
  exec python3 tests/bench/kafka_bench.py "$@"
fi
packaging/build.sh release weir gen_rows bare_simdjson
exec python3 tests/bench/bench.py "$@"
