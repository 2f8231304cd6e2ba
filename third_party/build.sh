#!/usr/bin/env bash
# third_party/build.sh [--prefix]: fetches and builds what weir links, into a cache outside the tree.
#
#   third_party/build.sh            installs missing Debian packages, fetches, builds; prints the prefix
#   third_party/build.sh --prefix   only prints where the prefix is (or would be); touches nothing
#
# The prefix is named after a hash of the lock and of this script, so a change to either makes a
# new one and branches that differ do not disturb each other. It appears under its name only when
# it is complete (built beside, renamed last), so "the directory exists" means "it is current" and a
# killed build leaves nothing that could be taken for a good one. WEIR_DEPS_DIR moves the cache.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
deps=${WEIR_DEPS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/weir/deps}
machine=$(uname -m)
hash=$({ echo "$machine" && cat "$here/sources.lock" "$here/build.sh"; } | sha256sum | cut -c1-16)
prefix=$deps/$hash

if [ "${1:-}" = --prefix ]; then
  echo "$prefix"
  exit 0
fi

debian_libraries_present() {
  local name
  for name in z zstd lz4 ssl crypto re2 utf8proc; do [ -f "/usr/lib/$machine-linux-gnu/lib$name.a" ] || return 1; done
}

# The usual case: nothing to do, in a few milliseconds and without the network.
if [ -d "$prefix" ] && debian_libraries_present; then
  echo "$prefix"
  exit 0
fi

say() { echo "third_party: $*" >&2; }

# What Debian 12 ships as a good static library is used as it is: it gets Debian's security
# updates, which a copy of ours would not. The rest is what the recipes below need.
"$here/../packaging/apt-install.sh" zlib1g-dev libzstd-dev liblz4-dev libssl-dev libre2-dev \
  libutf8proc-dev build-essential cmake ninja-build ca-certificates xz-utils bzip2 dpkg-dev

mkdir -p "$deps"
exec 9>"$deps/.lock"
flock 9  # two builds at once: the second waits, then finds the work done
if [ -d "$prefix" ]; then
  echo "$prefix"
  exit 0
fi

work=$prefix.work
stage=$prefix.tmp
rm -rf "$work" "$stage"
mkdir -p "$work" "$stage"

say "fetching into $deps/sources"
"$here/fetch.sh" "$here/sources.lock" "$deps/sources" >"$work/fetched"

cc=(gcc)
launcher=()
if command -v ccache >/dev/null; then
  # The path of the work directory changes with the hash; it must not count.
  export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
  cc=(ccache gcc)
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
# PIC rather than PIE so that tests may also put them into a shared object.
flags=(-O2 -g0 -fPIC -ffunction-sections -fdata-sections)

source_of() { awk -v g="$1" -v d="$deps/sources/" '$1 == g { print d $2 }' "$work/fetched"; }

# Each library has include/ and lib/ of its own, so that a folder of src/ sees only what the layer
# table lets it include.
unpack() {  # GROUP: the source tree, or the package's files, in $work/GROUP
  local file
  file=$(source_of "$1")
  mkdir -p "$work/$1" "$stage/$1"/{include,lib}
  # The binary contains these libraries, so their licences go where it goes.
  case $file in
    *.deb)
      dpkg-deb -x "$file" "$work/$1"
      find "$work/$1/usr/share/doc" -name copyright -exec cp {} "$stage/$1/" \;
      ;;
    *)
      tar -xf "$file" -C "$work/$1" --strip-components=1
      find "$work/$1" -maxdepth 1 -type f \( -name 'LICENSE*' -o -name 'COPYING*' \) \
        -exec cp {} "$stage/$1/" \;
      ;;
  esac
}

cmake_configure() {  # GROUP OPTIONS...
  local group=$1
  shift
  CC=gcc CXX=g++ cmake -S "$work/$group" -B "$work/$group/_build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="${flags[*]} -DNDEBUG" \
    -DCMAKE_CXX_FLAGS_RELEASE="${flags[*]} -DNDEBUG" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$stage/$group" \
    "${launcher[@]}" "$@"
}

build_fmt() {
  unpack fmt
  cmake_configure fmt -DFMT_TEST=OFF -DFMT_DOC=OFF
  ninja -C "$work/fmt/_build" -j1 install
}

build_mbedtls() {  # the hashes only, so libmbedcrypto only
  unpack mbedtls
  cmake_configure mbedtls -DENABLE_PROGRAMS=OFF -DENABLE_TESTING=OFF \
    -DUSE_SHARED_MBEDTLS_LIBRARY=OFF -DGEN_FILES=OFF
  ninja -C "$work/mbedtls/_build" -j1 mbedcrypto
  cp "$work/mbedtls/_build/library/libmbedcrypto.a" "$stage/mbedtls/lib/"
  cp -r "$work/mbedtls/include/mbedtls" "$work/mbedtls/include/psa" "$stage/mbedtls/include/"
}

build_libevent() {
  unpack libevent
  cmake_configure libevent -DEVENT__LIBRARY_TYPE=STATIC -DEVENT__DISABLE_OPENSSL=ON \
    -DEVENT__DISABLE_MBEDTLS=ON -DEVENT__DISABLE_BENCHMARK=ON -DEVENT__DISABLE_TESTS=ON \
    -DEVENT__DISABLE_REGRESS=ON -DEVENT__DISABLE_SAMPLES=ON -DEVENT__DISABLE_DEBUG_MODE=ON
  ninja -C "$work/libevent/_build" -j1 install
}

# One connection, used by one thread at a time; no host configuration, no extensions, no mmap; a
# writer that asks for WAL gets a full sync. OMIT_AUTOINIT: sqlite3_initialize() before the first
# open, which is where weir installs its VFS.
sqlite_options=(-DSQLITE_DQS=0 -DSQLITE_THREADSAFE=2 -DSQLITE_DEFAULT_MEMSTATUS=0
  -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE
  -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_OMIT_PROGRESS_CALLBACK -DSQLITE_MAX_EXPR_DEPTH=0
  -DSQLITE_OMIT_AUTOINIT -DSQLITE_DEFAULT_WAL_SYNCHRONOUS=2 -DSQLITE_USE_ALLOCA
  -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_TEMP_STORE=2 -DSQLITE_DEFAULT_FOREIGN_KEYS=1 -DHAVE_USLEEP=1)

build_sqlite() {
  unpack sqlite
  cd "$work/sqlite"
  # The fallback, 3.46.1, still makes its amalgamation with tclsh; newer ones bring an interpreter.
  if ! [ -d autosetup ]; then "$here/../packaging/apt-install.sh" tcl; fi
  CC=gcc ./configure --disable-tcl --disable-readline
  make sqlite3.c sqlite3.h
  "${cc[@]}" "${flags[@]}" -DNDEBUG "${sqlite_options[@]}" -c sqlite3.c -o sqlite3.o
  ar rcs "$stage/sqlite/lib/libsqlite3.a" sqlite3.o
  cp sqlite3.h "$stage/sqlite/include/"
}

# No Cyrus SASL (it would drag LDAP and Kerberos along; PLAIN, SCRAM and OAUTHBEARER are librdkafka's
# own), no curl (the token of OAUTHBEARER comes from a file), no plug-ins, nothing that is loaded at
# run time. WITH_SASL=OFF alone would drop SCRAM as well.
build_librdkafka() {
  unpack librdkafka
  # 2.14.2 asks #ifdef of a macro that CMake defines as 0, and then wants curl's headers.
  sed -i 's/^#ifdef WITH_OAUTHBEARER_OIDC/#if WITH_OAUTHBEARER_OIDC/' \
    "$work/librdkafka/src/rdkafka_conf.c"
  # A partition of an idempotent producer that waits for answers has nothing to wake up for: 2.14.2
  # polls without a pause while a batch is ready that it may not send, three threads at 100 % on a
  # slow link. The answer wakes it.
  sed -i 's/^\( *\)rkb->rkb_state == RD_KAFKA_BROKER_STATE_UP ? next_wakeup$/\1rkb->rkb_state == RD_KAFKA_BROKER_STATE_UP \&\& (!rd_kafka_is_idempotent(rkb->rkb_rk) || rd_atomic32_get(\&rktp->rktp_msgs_inflight) < RD_KAFKA_IDEMP_MAX_INFLIGHT) ? next_wakeup/' \
    "$work/librdkafka/src/rdkafka_broker.c"
  grep -q 'rktp_msgs_inflight) < RD_KAFKA_IDEMP_MAX_INFLIGHT) ? next_wakeup' \
    "$work/librdkafka/src/rdkafka_broker.c"
  cmake_configure librdkafka -DRDKAFKA_BUILD_STATIC=ON -DRDKAFKA_BUILD_EXAMPLES=OFF \
    -DRDKAFKA_BUILD_TESTS=OFF -DWITH_SSL=ON -DOPENSSL_USE_STATIC_LIBS=ON -DWITH_SASL=OFF \
    -DWITH_SASL_SCRAM=ON -DWITH_SASL_OAUTHBEARER=ON -DWITH_CURL=OFF -DWITH_ZLIB=ON -DWITH_ZSTD=ON \
    -DENABLE_LZ4_EXT=ON -DWITH_PLUGINS=OFF -DWITH_LIBDL=OFF
  ninja -C "$work/librdkafka/_build" -j2 rdkafka
  cp "$work/librdkafka/_build/src/librdkafka.a" "$stage/librdkafka/lib/"
  cp "$work/librdkafka/src/rdkafka.h" "$work/librdkafka/src/rdkafka_mock.h" \
    "$stage/librdkafka/include/"
  # CMake decides these from what it finds; a build without one of them would fail in the field.
  local want
  for want in WITH_SSL WITH_SASL_SCRAM WITH_SASL_OAUTHBEARER WITH_ZLIB WITH_ZSTD; do
    grep -q "#define $want 1" "$work/librdkafka/_build/generated/config.h"
  done
}

build_headers() {
  local group
  for group in xxhash cli11 tomlplusplus tl-expected doctest simdjson; do unpack "$group"; done
  # Header only: librdkafka exports the XXH symbols itself.
  cp "$work/xxhash/xxhash.h" "$stage/xxhash/include/"
  cp -r "$work/cli11/include/CLI" "$stage/cli11/include/"
  cp -r "$work/tomlplusplus/usr/include/toml++" "$stage/tomlplusplus/include/"
  cp -r "$work/tl-expected/usr/include/tl" "$stage/tl-expected/include/"
  cp -r "$work/doctest/usr/include/doctest" "$stage/doctest/include/"
  cp "$work/simdjson/usr/include/simdjson.h" "$stage/simdjson/include/"
  cp "$work/simdjson/usr/lib/$machine-linux-gnu/libsimdjson"*.a "$stage/simdjson/lib/libsimdjson.a"
}

# Two lanes, because the time is mostly configure checks, which use one core.
lane() {  # LOG STEP...
  local log=$1 step
  shift
  for step in "$@"; do
    echo "== $step"
    "build_$step"
  done >"$log" 2>&1
}

say "building into $prefix (logs in $work)"
(set -e; lane "$work/lane1.log" headers sqlite) &
lane1=$!
(set -e; lane "$work/lane2.log" librdkafka libevent mbedtls fmt) &
lane2=$!
rc=0
wait $lane1 || { rc=1; say "failed:"; tail -n 40 "$work/lane1.log" >&2; }
wait $lane2 || { rc=1; say "failed:"; tail -n 40 "$work/lane2.log" >&2; }
[ $rc = 0 ] || exit 1

# What was really taken, for `weir version` and for the .deb's copyright file.
cp "$work/fetched" "$stage/fetched"
mv "$stage" "$prefix"
rm -rf "$work"
say "done: $prefix"
echo "$prefix"
