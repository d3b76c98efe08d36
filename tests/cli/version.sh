#!/bin/sh
# Which Heddle is this? The command, a result and the docs must agree.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

number=$(sed -n 's/^VERSION := //p' mk/config.mk)
epoch=$(sed -n 's/.*GPU_TIMING_EPOCH = \([0-9]*\).*/\1/p' src/gpu/gpu.h)
expect 'version, commit, timing epoch' 0 "^heddle $number \(commit ([0-9a-f]{12}(-changed)?|none), timing epoch $epoch\)\$" "$heddle" --version
commit=$(sed 's/.*commit \([^,]*\),.*/\1/' "$out")
expect 'a result has them' 0 '' "$heddle" run --quiet --size test --stats "$scratch/result.json" vectoradd
tr -d '\n' <"$scratch/result.json" >"$out"
saw 'a result has the version' "\"heddle\": ?\"$number\""
saw 'a result has the commit' "\"commit\": ?\"$commit\""
saw 'a result has the timing epoch' "\"timing_epoch\": ?$epoch\b"

sed -n 's/^## \([0-9.]*\)$/\1/p' docs/changes.md | head -n 1 >"$out"
saw 'changes.md begins with this version' "^$number\$"
sed -n 's/^version: //p' CITATION.cff >"$out"
saw 'CITATION.cff has this version' "^$number\$"

# A build outside git says so.
is 'version.c without a commit' "${CC:-cc}" -std=gnu11 -Isrc -DHEDDLE_VERSION='"1.2.3"' -c src/base/version.c -o "$scratch/version.o"
strings -a "$scratch/version.o" >"$out" 2>/dev/null || tr -c '[:print:]' '\n' <"$scratch/version.o" >"$out"
saw 'outside git: none' '^1\.2\.3\+none$'
