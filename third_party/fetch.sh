#!/usr/bin/env bash
# fetch.sh LOCK OUTDIR: brings every group of LOCK into OUTDIR and prints "group file" for each.
# fetch.sh --refresh LOCK OUTDIR: fetches nothing; prints lock lines for what trixie and forky list
# now. A build never takes an unlocked file: try the line, then commit it.
#
# The files come from Debian's trixie and forky through apt, from the mirror that this machine is
# already set up to use. Nothing from there is ever installed: a -dev package of a newer suite
# would drag its libc along. What counts is the SHA-256 in LOCK; apt's signature check of the
# index is the second line of defence. A group whose file is present with its hash costs no
# network at all.
#
# Exit 0: every group is there. Exit 1: some group cannot be had, named on stderr.
set -euo pipefail

refresh=
if [ "${1:-}" = --refresh ]; then refresh=1 && shift; fi
lock=$(realpath "$1")
if ! [ -f "$lock" ]; then echo "fetch.sh: no lock file $1" >&2 && exit 1; fi
mkdir -p "$2"
out=$(realpath "$2")
state=$out/.apt
arch=$(dpkg --print-architecture)

have() {  # FILE SHA256
  [ -f "$out/$1" ] && echo "$2  $out/$1" | sha256sum --status -c -
}

apt_options=(
  -o Dir::Etc::sourcelist="$state/suites.sources" -o Dir::Etc::sourceparts=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::preferences=/dev/null
  -o Dir::State::lists="$state/lists"
  # A cache of our own: with an empty one each apt call would parse every index again.
  -o Dir::Cache="$state/cache/"
  -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3
  # forky's index on a mirror can be weeks old; the locked hashes make up for a replayed one.
  -o Acquire::Check-Valid-Until=false -q)

updated=
update() {  # Reads the indexes of trixie and forky, once per run and only when something is missing.
  [ -z "$updated" ] || return 0
  updated=1
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  # The system's own mirror with other suites, whichever format its own sources are in.
  local site keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  # shellcheck disable=SC2016  # apt expands these names
  site=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(SITE)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "Debian" && !n++ { print $3 }')
  if [ -z "$site" ]; then
    echo "fetch.sh: apt knows no Debian mirror; run apt-get update first" >&2
    exit 1
  fi
  {
    printf 'Types: deb deb-src\nURIs: %s\nSuites: trixie forky\nComponents: main\n' "$site"
    if [ -f "$keyring" ]; then echo "Signed-By: $keyring"; fi
  } >"$state/suites.sources"
  if ! apt-get "${apt_options[@]}" update >"$state/update.log" 2>&1; then
    echo "fetch.sh: apt-get update failed; see $state/update.log" >&2
  fi
}

get() {  # GROUP KIND PACKAGE VERSION
  update
  (
    cd "$out"
    case $2 in
      tar) apt-get "${apt_options[@]}" source --download-only --tar-only "$3=$4" ;;
      deb) apt-get "${apt_options[@]}" download "$3=$4" ;;
      *) echo "unknown kind $2" && exit 1 ;;
    esac
  ) >"$state/$1.log" 2>&1
}

list() {  # GROUP KIND PACKAGE: a lock line for each version that the indexes list
  local show=(show) uris=(download --print-uris) version
  if [ "$2" = tar ]; then
    show=(showsrc --only-source)
    uris=(source --print-uris --tar-only)
  fi
  for version in $(apt-cache "${apt_options[@]}" "${show[@]}" "$3" |
    awk '/^Version:/ { print $2 }' | sort -urV); do
    # 'URI' FILE SIZE SHA256:HASH; a source package may have more tarballs than its .orig.
    apt-get "${apt_options[@]}" "${uris[@]}" "$3=$version" 2>/dev/null |
      awk -v line="$1 $2 $3 $version" \
        '$4 ~ /^SHA256:/ && $2 !~ /orig-/ { print line, $2, substr($4, 8) }'
  done
}

if [ -n "$refresh" ]; then
  update
  awk -v arch="$arch" '!/^#/ && NF && ($3 !~ /:/ || $3 ~ ":" arch "$") { print $1, $2, $3 }' "$lock" |
    sort -u | while read -r group kind package; do list "$group" "$kind" "$package"; done
  exit 0
fi

rc=0
while read -r group; do
  got=
  while read -r _ kind package version file sum; do
    case $package in
      *:"$arch") ;;
      *:*) continue ;;
    esac
    if have "$file" "$sum"; then got=$file; break; fi
    get "$group" "$kind" "$package" "$version" || continue
    if have "$file" "$sum"; then got=$file; break; fi
    echo "fetch.sh: $group: $file came with another hash; refused" >&2
    rm -f "${out:?}/$file"
  done < <(awk -v g="$group" '$1 == g' "$lock")
  if [ -n "$got" ]; then
    echo "$group $got"
  else
    echo "fetch.sh: $group: not to be had in any locked version; see $state/$group.log" >&2
    rc=1
  fi
done < <(awk '!/^#/ && NF && !seen[$1]++ { print $1 }' "$lock")
exit $rc
