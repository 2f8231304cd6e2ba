#!/usr/bin/env bash
# packaging/kafka-broker.sh DIR [PORT [CONTROLLER_PORT]]: one Apache Kafka broker on 127.0.0.1, for a first look at weir
# with Kafka: plaintext, one replica, nothing to keep data in. Stays in the foreground; ^C or SIGTERM ends it, and the
# same command goes on with what DIR holds.
#
# packaging/kafka-broker.sh --topic NAME PARTITIONS PORT: makes a topic there.
#
# Kafka's jars are fetched once into the cache that the tests use (tests/kafka/jars.sh: versions and digests are locked).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
jars=$("$root/tests/kafka/jars.sh")
java=(java -Xms64m -Xmx384m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$jars/libs/*")

if [ "${1:-}" = --topic ]; then
  exec "${java[@]}" org.apache.kafka.tools.TopicCommand --bootstrap-server "127.0.0.1:${4:-9092}" --create \
    --topic "$2" --partitions "$3" --replication-factor 1
fi

dir=${1:?usage: packaging/kafka-broker.sh DIR [PORT [CONTROLLER_PORT]]}
port=${2:-9092}
controller=${3:-$((port + 1))}
mkdir -p "$dir"
cat >"$dir/broker.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$dir/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
PROPERTIES
if ! [ -d "$dir/data" ]; then
  cluster=$("${java[@]}" kafka.tools.StorageTool random-uuid 2>/dev/null | tail -1)
  "${java[@]}" kafka.tools.StorageTool format -t "$cluster" -c "$dir/broker.properties" >"$dir/format.log" 2>&1 ||
    { cat "$dir/format.log" >&2; exit 1; }
fi
exec "${java[@]}" kafka.Kafka "$dir/broker.properties" >"$dir/broker.log" 2>&1
