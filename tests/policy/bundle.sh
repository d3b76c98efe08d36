# shellcheck shell=sh
# Bundles as a person uses them: a file with a scheduler and an L1 policy that share state, behind -p and behind the
# options of single policies; the same results either way.
# sh tests/policy/bundle.sh BUILD, from the repository's root; counted as the command-line tests are.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $heddle in /*) from_anywhere=$heddle ;; *) from_anywhere=$PWD/$heddle ;; esac
cc=${CC:-cc}
make_bundle() { # NAME FLAGS
    # shellcheck disable=SC2086 # flags are words
    is "$1 compiles" $cc -std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused -shared -fPIC -Iinclude ${2:-} \
        -o "$scratch/$1.so" tests/policy/bundle.c
}
make_bundle mine
make_bundle probed -DWITH_PROBE
make_bundle same_name -DSAME_NAME
mine=$scratch/mine.so
run() { "$heddle" run --quiet --size test "$@"; }
simulated() { sed '/^  "host": {/,/^  }/d' "$1"; }
counter() { sed -n '/^  "total": {/,$p' "$1" | sed -n "s/^ *\"$2\": \([0-9]*\),*\$/\1/p" | head -n 1; }

expect 'a bundle runs' 0 '' run -m ccws -p "$mine" --stats "$scratch/bundle.json" bfs
is 'its scheduler' grep -q '"scheduler": "counting:tone=low,limit=4"' "$scratch/bundle.json"
is 'its L1 policy' grep -q '"l1": "reading:tone=low,share=0.5"' "$scratch/bundle.json"
issued=$(sed -n '/^  "total": {/,$p' "$scratch/bundle.json" | sed -n '/"counting": {/,/}/s/.*"issued": \([0-9]*\).*/\1/p')
seen=$(counter "$scratch/bundle.json" seen)
is 'instructions were counted' test "${seen:-0}" -gt 1000
is 'the L1 policy sees what its scheduler counted' test "$seen" = "$issued"
is 'which is all that was issued' test "$seen" = "$(counter "$scratch/bundle.json" warp_instructions)"
is 'with several schedulers a core' run -m gtx480 -p "$mine" --stats "$scratch/two.json" -j 2 bfs
is 'they share one state' test "$(counter "$scratch/two.json" seen)" = "$(counter "$scratch/two.json" warp_instructions)"

# The same policies one by one.
is 'the parts' run -m ccws -s "$mine" --l1 "$mine" --stats "$scratch/parts.json" bfs
simulated "$scratch/bundle.json" >"$scratch/a"
simulated "$scratch/parts.json" >"$scratch/b"
is 'a bundle and its parts: the same results' cmp "$scratch/a" "$scratch/b"
is 'a bundle with parameters' run -m ccws -p "$mine:tone=high,share=0.25" --stats "$scratch/bundle.json" vectoradd
is 'its parts with theirs' run -m ccws -s "$mine:tone=high" --l1 "$mine:tone=high,share=0.25" --stats "$scratch/parts.json" vectoradd
simulated "$scratch/bundle.json" >"$scratch/a"
simulated "$scratch/parts.json" >"$scratch/b"
is 'the same results' cmp "$scratch/a" "$scratch/b"
is 'both have the key that both know' grep -q '"scheduler": "counting:tone=high,limit=4"' "$scratch/a"
is 'one has the key that it knows' grep -q '"l1": "reading:tone=high,share=0.25"' "$scratch/a"

# The library's own reading of its options.
direct() { LD_LIBRARY_PATH=$build/lib HEDDLE_OPTIONS="-m ccws $1 --stats $scratch/direct.json --quiet" "$build/workloads/vectoradd" --size test; }
is 'without heddle run' direct "-p $mine:tone=high,share=0.25"
sed '/"program": /d; /"arguments": /,/\]/d' "$scratch/a" >"$scratch/c"
simulated "$scratch/direct.json" | sed '/"program": /d; /"arguments": /,/\]/d' >"$scratch/d"
is 'the same results again' cmp "$scratch/c" "$scratch/d"
fails() { if direct "$1" >"$out" 2>&1; then return 1; fi; grep -q "$2" "$out"; }
is 'and the same complaint' fails "--policies $mine --l1 lru" 'this bundle has an L1 policy of its own; --l1 lru cannot'

expect 'a bundle with a probe' 0 '"heard": *[1-9]' run -p "$scratch/probed.so" --stats - vectoradd
saw 'the probe is in the list' '^    "listening"$'
expect 'and one more probe' 0 '^    "residency",*$' run --probe residency -p "$scratch/probed.so" --stats - vectoradd
is 'without time' run --functional -p "$scratch/probed.so" vectoradd
(cd "$scratch" && expect 'a path from another folder' 0 '' "$from_anywhere" run --quiet --size test -p mine.so vectoradd)

expect 'an L1 policy without its scheduler' 1 'reading cannot work on this machine: it shares state with its scheduler' run --l1 "$mine" vectoradd
expect 'a bundle and a scheduler' 2 'this bundle has a scheduler of its own; -s gto cannot be given as well' run -p "$mine" -s gto vectoradd
expect 'a bundle and an L1 policy' 2 'this bundle has an L1 policy of its own; --l1 lru cannot' run --l1 lru --policies="$mine" vectoradd
is 'a bundle and what it does not have' run -p "$mine" --divergence pdom vectoradd
expect 'an unknown parameter' 2 "has a parameter 'lmit'; did you mean 'limit'" run -p "$mine:lmit=2" vectoradd
saw 'with a caret' '^ +\^$'
expect 'a wrong value' 2 "^heddle: -p:1:[0-9]+: error: one of low, high for 'tone' was expected, not 'loud'" run -p "$mine:tone=loud" vectoradd
expect 'two policies of one name' 2 "its scheduler and its L1 policy have the same name, 'counting'" run -p "$scratch/same_name.so" vectoradd
expect 'a bundle behind --divergence' 2 'holds a scheduler and an L1 policy, not a divergence unit; it goes after -p' run --divergence "$mine" vectoradd
expect 'an unknown bundle' 2 "no bundle 'nosuch'" run -p nosuch vectoradd
expect 'a scheduler behind -p' 2 "'gto' is a scheduler, not a bundle; it goes after -s" run -p gto vectoradd
expect 'an empty one' 2 'empty value' run -p '' vectoradd
is 'list bundles' "$heddle" list bundles
expect 'the help has it' 0 '-p, --policies SPEC' "$heddle" run --help

# Each built-in bundle is what it stands for.
# shellcheck disable=SC2016 # backticks of the table
"$heddle" list bundles --markdown | sed -n 's/^| `\([a-z0-9-]*\)` | .* | `\(.*\)` |$/\1 \2/p' >"$scratch/bundles"
while read -r bundle parts; do
    is "-p $bundle" run -p "$bundle" --stats "$scratch/bundle.json" bfs
    # shellcheck disable=SC2086 # the parts are words
    is "-p $bundle: its parts" run $parts --stats "$scratch/parts.json" bfs
    simulated "$scratch/bundle.json" >"$scratch/a"
    simulated "$scratch/parts.json" >"$scratch/b"
    is "-p $bundle: the same results" cmp "$scratch/a" "$scratch/b"
done <"$scratch/bundles"
