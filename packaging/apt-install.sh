#!/usr/bin/env bash
# packaging/apt-install.sh PACKAGE...: installs what is missing of the named Debian packages, and
# says what. Nothing missing: no network, no root, a few milliseconds.
set -euo pipefail

missing=()
for package in "$@"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  as_root=(sudo)
  if ! command -v sudo >/dev/null; then
    echo "${0##*/}: not root, and no sudo; please install: ${missing[*]}" >&2
    exit 1
  fi
fi
echo "installing with apt-get: ${missing[*]}" >&2
# A foreign source in sources.list.d may fail to update; what counts is the install.
"${as_root[@]}" apt-get update -q >&2 || true
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
