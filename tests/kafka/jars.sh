#!/usr/bin/env bash
# tests/kafka/jars.sh VERSION: Apache Kafka's jars of that version and the Java tool built against them, in a cache
# outside the tree. Prints a directory with libs/ and classes/.
# tests/kafka/jars.sh --lock VERSION: fetches and prints lock lines instead. Nothing runs on an unlocked set: try it,
# then commit it as jars/VERSION.lock.
#
# Maven resolves, the lock decides: each jar by name and SHA-256, and no jar beside them. The directory appears under
# its name only when it is complete, so a killed fetch leaves nothing that could be taken for a good one.
# WEIR_DEPS_DIR moves the cache, as for third_party/build.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
deps=${WEIR_DEPS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/weir/deps}/kafka

make_lock=
if [ "${1:-}" = --lock ]; then make_lock=1 && shift; fi
version=${1:-4.1.2}
lock=$here/jars/$version.lock

# Whatever JDK and Maven there are will do; a machine without gets Debian's.
packages=()
if ! command -v javac >/dev/null || ! command -v java >/dev/null; then packages+=(default-jdk-headless); fi
if ! command -v mvn >/dev/null; then packages+=(maven); fi
if [ ${#packages[@]} -gt 0 ]; then "$here/../../packaging/apt-install.sh" "${packages[@]}"; fi

fetch() {  # OUTDIR
  local try
  for try in 1 2 3; do
    mkdir -p "$1"
    # The copy of the pom is outside the tree: Maven writes beside it.
    cp "$here/jars/pom.xml" "$1/pom.xml"
    if (cd "$1" && mvn -q -B -Dkafka="$version" \
      org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory=libs) >&2; then
      rm "$1/pom.xml"
      return 0
    fi
    echo "jars.sh: try $try of 3 failed" >&2
    rm -rf "$1"
  done
  return 1
}

sums() { (cd "$1/libs" && sha256sum -- *.jar); }

mkdir -p "$deps"
if [ -n "$make_lock" ]; then
  work=$(mktemp -d "$deps/lock.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  fetch "$work"
  sums "$work"
  exit 0
fi

if ! [ -f "$lock" ]; then echo "jars.sh: no lock for Kafka $version" >&2 && exit 1; fi
key=$(cat "$lock" "$here/tool/Tool.java" | sha256sum | cut -c1-16)
place=$deps/$version-$key
exec 9>"$deps/.lock"
flock 9
if ! [ -d "$place" ]; then
  libs=$deps/$version-libs-$(sha256sum <"$lock" | cut -c1-16)
  if ! [ -d "$libs" ]; then
    echo "jars.sh: fetching Kafka $version" >&2
    rm -rf "$libs.tmp"
    fetch "$libs.tmp"
    if ! sums "$libs.tmp" | diff "$lock" - >&2; then
      echo "jars.sh: the jars of Kafka $version are not those of ${lock##*/}; refused" >&2
      exit 1
    fi
    mv "$libs.tmp" "$libs"
  fi
  rm -rf "$place.tmp"
  mkdir -p "$place.tmp/classes"
  ln -s "$libs/libs" "$place.tmp/libs"
  javac -nowarn -XDsuppressNotes -Xlint:-options --release 17 -cp "$libs/libs/*" -d "$place.tmp/classes" "$here/tool/Tool.java" >&2
  mv "$place.tmp" "$place"
fi
echo "$place"
