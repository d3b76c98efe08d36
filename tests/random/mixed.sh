#!/bin/sh
# Random kernels under a divergence unit that mixes warps: sh tests/random/mixed.sh BUILD UNIT FIRST_SEED SEEDS MUST_PASS
# [MACHINE], from the repository's root; the machine is slp where none is named. The unit refuses kernels that do what
# only warps can; at least MUST_PASS of them must run. The last line is 'N passed, N failed'.
set -u
build=$1 unit=$2 first=$3 seeds=$4 must_pass=$5 machine=${6:-slp}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export HEDDLE_OPTIONS="-m $machine --set core.shared_bytes=96K --set core.registers=64K --divergence $unit" # every kernel fits a core
"$build/tests/random" mixed "$first" "$seeds" tests/random/recorded.txt "$must_pass" >"$scratch/out" 2>"$scratch/errors"
status=$?
sed '/has no meaning where divergence unit/,+2d' "$scratch/errors" # a refusal is three lines
cat "$scratch/out"
exit $status
