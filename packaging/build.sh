#!/usr/bin/env bash
# packaging/build.sh [PRESET [TARGET...]]: from a fresh Debian 12 with git to build/PRESET/weir.
#
# Installs the build packages that are missing, builds the third-party libraries into their cache,
# configures and builds. Every step is skipped when there is nothing to do. PRESET is release unless
# given (CMakePresets.json lists them), TARGET is weir (unit_tests and F_tests are others).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(weir)

packages=(build-essential cmake ninja-build ccache git)
if [ "$preset" = fuzz ]; then packages+=(clang-14 libclang-rt-14-dev); fi
packaging/apt-install.sh "${packages[@]}"

third_party/build.sh >/dev/null
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
ninja -C "build/$preset" -j2 "${targets[@]}"
