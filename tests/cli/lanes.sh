#!/bin/sh
# The picture of --probe lanes, as a person asks for it: the command of docs/probes.md draws the picture of that page.
# tests/unit/test_probe_lanes.c looks at every cell.
# Uses xmllint: whether the picture is well-formed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
svg=$scratch/lanes.svg

draw() { # MORE WORKLOAD
    "$heddle" run --quiet --functional --size test --probe "lanes:file=$svg$1" "$2"
}
none() { # NAME: there is no picture, nor half of one
    is "$1" test ! -e "$svg" -a ! -e "$svg.unfinished"
}

is 'bitonic' draw '' bitonic
is 'it is the picture of the docs' cmp "$svg" docs/lanes.svg
is 'with its counts' grep -q '>8 warps → 8 warps, ideal 4<' "$svg"
is 'under balanced' grep -q '>8 warps → 4 warps, ideal 4<' "$svg"
is 'which is small enough for a page' test "$(wc -c <docs/lanes.svg)" -lt 60000
is 'docs/probes.md has the command' \
    grep -q '^    heddle run --functional --probe lanes:file=lanes.svg bitonic$' docs/probes.md
if command -v xmllint >/dev/null 2>&1; then
    is 'it is well-formed' xmllint --noout "$svg"
else
    echo 'note skipped: whether the picture is well-formed (xmllint is not installed: apt-get install libxml2-utils)'
fi
is 'another permutation' draw ,permutation=xor-half,occurrence=0 bitonic
is 'is named' grep -q '>Lanes permuted: xor-half<' "$svg"
rm -f "$svg"

expect 'nothing diverges' 1 'probe lanes could not write its results: no divergent branch to draw: in every warp' \
    "$heddle" run --quiet --functional --probe "lanes:file=$svg" "$ptx_run" "$ptx/fine.ptx" k
none 'nothing is written'
expect 'no such branch' 1 'no divergent branch to draw: none with this kernel, pc and occurrence' draw ,pc=0 bitonic
none 'nothing is written here either'
expect 'no such folder' 1 'probe lanes could not write its results: No such file or directory' \
    "$heddle" run --quiet --functional --size test --probe "lanes:file=$scratch/no/lanes.svg" bitonic
expect 'no file' 1 'file=NAME.svg' "$heddle" run --quiet --functional --size test --probe lanes bitonic
expect 'with time' 2 "'lanes'.*needs --functional" \
    "$heddle" run --quiet --size test --probe "lanes:file=$svg" bitonic
