#!/usr/bin/env bash
# The protocol's models, every one and every mutant of it, by SPIN (exhaustive search, no bitstate).
#
#   tests/model/check.sh         base models and all mutants: under a minute
#   tests/model/check.sh full    one more fault in each base model
#
# A row says what must come out: ok = the properties hold in all interleavings; cex = SPIN must find a
# counterexample, because a rule is switched off. Prints "ok ..." and "not ok ..." lines, and ends
# with "N passed, N failed". Needs spin and gcc. What each row is about: README.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work here=$PWD

rows() {
  # ---- the rules as they are ----
  echo "ok  takeover -DFL=3 -DEIO"
  echo "ok  takeover -DFL=3 -DEIO -DRESTORE"
  echo "ok  sqlsink  -DFL=2"
  echo "ok  sqlsink  -DFL=2 -DTWIN"
  echo "ok  kafka    -DFL=2"
  echo "ok  kafka    -DFL=2 -DASYNC"
  echo "ok  kafka    -DFL=2 -DEXPIRE"
  echo "ok  kafka    -DFL=2 -DEXPIRE -DLOGTRIM -DFOREIGN"
  echo "ok  kafka    -DFL=2 -DCLASSIC -DLOGTRIM"
  echo "ok  kafka    -DFL=2 -DFRESH -DROLLBACK"
  echo "ok  kafka    -DFL=2 -DRESTORE"
  if [ "${1:-}" = full ]; then
    echo "ok  takeover -DFL=4 -DEIO"
    echo "ok  takeover -DFL=4 -DEIO -DRESTORE"
    echo "ok  takeover -DFL=3 -DM=3 -DEIO"
    echo "ok  sqlsink  -DFL=4 -DTWIN"
    echo "ok  kafka    -DFL=3"
    echo "ok  kafka    -DFL=3 -DEXPIRE -DRECREATE"
    echo "ok  kafka    -DFL=3 -DFRESH -DCLASSIC"
    echo "ok  kafka    -DFL=3 -DRESTORE -DEXPIRE"
    echo "ok  kafka    -DFL=1 -DM=2 -DTWIN"
  fi
  # ---- a rule switched off ----
  echo "cex takeover -DFL=2 -DPAGE_CLAIM"
  echo "cex takeover -DFL=2 -DPAGE_MARKER"
  echo "cex takeover -DFL=2 -DPAGE_EIO -DEIO"
  echo "cex takeover -DFL=2 -DM_FRESHDROP"
  echo "cex takeover -DFL=2 -DM_FIN"
  echo "cex takeover -DFL=2 -DM_FLOOR"
  echo "cex takeover -DFL=2 -DM_BASE"
  echo "cex takeover -DFL=2 -DM_NORECEIPT -DRESTORE"
  echo "cex takeover -DFL=2 -DM_RECEIPTFIRST"
  echo "cex takeover -DFL=2 -DM_FINEARLY"
  echo "cex takeover -DFL=3 -DM_ONEANC"
  echo "cex takeover -DFL=3 -DM_EARLYSEND -DPAGE_EIO"
  echo "cex sqlsink  -DFL=1 -DPAGE_READ"
  echo "cex sqlsink  -DFL=0 -DPAGE_READ -DTWIN"
  echo "cex kafka    -DFL=2 -DPAGE_CHUNK"
  echo "cex kafka    -DFL=2 -DPAGE_GAP -DRESTORE"
  echo "cex kafka    -DFL=3 -DPAGE_SCANR -DCLASSIC"
  echo "cex kafka    -DFL=3 -DPAGE_LOGSTART -DCLASSIC -DLOGTRIM"
  echo "cex kafka    -DFL=3 -DPAGE_TRUSTA -DRESTORE -DEXPIRE"
  echo "cex kafka    -DFL=2 -DM_REUSE"
  echo "cex kafka    -DFL=2 -DM_READ_FIRST"
  echo "cex kafka    -DFL=2 -DM_PLAIN -DASYNC"
  echo "cex kafka    -DFL=2 -DM_TRUSTERR"
  echo "cex kafka    -DFL=2 -DM_ACKFIRST"
  echo "cex kafka    -DFL=2 -DM_NOF -DEXPIRE"
  echo "cex kafka    -DFL=2 -DM_TRIMFIRST"
  echo "cex kafka    -DFL=3 -DM_HWRC -DEXPIRE -DFOREIGN"
  echo "cex kafka    -DFL=2 -DM_NOSCAN -DEXPIRE"
  echo "cex kafka    -DFL=1 -DM_UNSEALED"
  echo "cex kafka    -DFL=2 -DM_NOHASH -DRESTORE"
  # ---- rules whose absence alone does no harm: a row each, so that a change of that is noticed ----
  echo "ok  takeover -DFL=3 -DPAGE_EIO"
  echo "ok  takeover -DFL=3 -DM_EARLYSEND"
  echo "ok  takeover -DFL=2 -DM_NOABOVE -DRESTORE"
}

# check WANT MODEL DEFINE...: one line of verdict.
check() {
  local want=$1 model=$2 got=cut
  shift 2
  local name="model/$model $*" dir
  dir=$(mktemp -d "$work/XXXXXX")
  cp "$here/$model.pml" "$dir"
  cd "$dir"
  if ! spin -a "$@" "$model.pml" >log 2>&1 ||
    ! gcc -O1 -w -DCOLLAPSE -DSAFETY -DMEMLIM=3000 -DVECTORSZ=2048 -o pan pan.c >>log 2>&1; then
    echo "not ok $name: does not build: $(tail -1 log)"
    return 0
  fi
  ./pan -m200000 -E >out 2>&1 || true
  # A search that ran out of memory or depth has proven nothing.
  if grep -q 'assertion violated' out; then
    got=cex
  elif grep -q 'errors: 0' out && ! grep -qE 'MEMLIM|out of memory|depth too small|not completed' out; then
    got=ok
  fi
  local states
  states=$(sed -nE 's/ *([0-9.e+]+) states, stored.*/\1/p' out)
  if [ "$got" = "$want" ]; then
    echo "ok $name: $got, ${states:-?} states"
  else
    echo "not ok $name: $got, wanted $want: $(grep -m1 'assertion violated' out || true)"
  fi
}
export -f check

# shellcheck disable=SC2016
rows "${1:-}" | xargs -P 2 -L 1 bash -c 'check "$@"' check | tee "$work/verdicts"

passed=$(grep -c '^ok ' "$work/verdicts" || true)
failed=$(grep -c '^not ok ' "$work/verdicts" || true)
wanted=$(rows "${1:-}" | wc -l)
if [ $((passed + failed)) -ne "$wanted" ]; then
  echo "not ok model: $((passed + failed)) verdicts of $wanted rows"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
