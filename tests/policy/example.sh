# shellcheck shell=sh
# Policies from shared objects as a person makes them: the example of docs/add-a-policy.md, taken from the page, compiled outside the repository and run; and what wrong ones say.
# sh tests/policy/example.sh BUILD, from the repository's root; counted as the command-line tests are.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
include=$PWD/include
case $heddle in /*) from_anywhere=$heddle ;; *) from_anywhere=$PWD/$heddle ;; esac
cc=${CC:-cc}
flags='-std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC'

# The blocks in C of the page: a scheduler, and a bundle.
block() { awk -v wanted="$1" '/^```c$/ { inside = ++count == wanted; next } /^```/ { inside = 0 } inside' docs/add-a-policy.md; }
block 1 >"$scratch/mine.c"
block 2 >"$scratch/favour.c"
is 'the example is on the page' test -s "$scratch/mine.c"
is 'that of a bundle, too' test -s "$scratch/favour.c"
# shellcheck disable=SC2086 # flags are words
is 'the example compiles' $cc $flags -I"$include" -o "$scratch/mine.so" "$scratch/mine.c"
# shellcheck disable=SC2086
is 'the bundle compiles' $cc $flags -I"$include" -o "$scratch/favour.so" "$scratch/favour.c"

variant() { # NAME FLAGS: $scratch/NAME.so out of tests/policy/variant.c
    # shellcheck disable=SC2086
    is "$1 compiles" $cc $flags -Wno-unused -I"$include" ${2:-} -o "$scratch/$1.so" tests/policy/variant.c
}
run() { "$heddle" run --quiet --size test "$@"; }

expect 'the example runs' 0 '' run -s "$scratch/mine.so" vectoradd
expect 'the example runs with its parameter' 0 '"scheduler": *"youngest:every=4"' run -s "$scratch/mine.so:every=4" --stats - vectoradd
saw 'its counter is in the results' '"turns": *[1-9]'
(cd "$scratch" && expect 'a path from another folder' 0 '' "$from_anywhere" run --quiet --size test -s ./mine.so vectoradd)
(cd "$scratch" && expect 'a name that ends in .so' 0 '' "$from_anywhere" run --quiet --size test -s mine.so vectoradd)
expect 'an unknown parameter' 2 "youngest has no parameter 'evry'; did you mean 'every'" run -s "$scratch/mine.so:evry=4" vectoradd
saw 'with a caret' '^ +\^$'

expect 'the bundle runs' 0 '"bypassed": *[1-9]' run -m ccws -p "$scratch/favour.so:free=off" --stats - bfs
saw 'with its scheduler' '"scheduler": *"favouring"'
saw 'and its L1 policy' '"l1": *"sparing:free=off"'
expect 'its scheduler is gto' 0 '' run -m ccws -s "$scratch/favour.so" --stats "$scratch/favour.json" bfs
is 'which runs here, too' run -m ccws -s gto --stats "$scratch/gto.json" bfs
cycles() { sed -n '/^  "total": {/,$s/^    "cycles": \([0-9]*\),*$/\1/p' "$1"; }
is 'with the same cycles' test "$(cycles "$scratch/favour.json")" = "$(cycles "$scratch/gto.json")"
expect 'its L1 policy alone' 1 'sparing cannot work on this machine: it needs the scheduler of its bundle' run --l1 "$scratch/favour.so" vectoradd

# A built-in policy as a shared object: the same results.
# shellcheck disable=SC2086
is 'daws compiles by itself' $cc $flags -D_GNU_SOURCE -DHEDDLE_SHARED_OBJECT -I"$include" -o "$scratch/daws.so" src/policy/scheduler/daws.c
results() { run -m ccws -s "$1" --stats - kmeans 2>/dev/null | sed '/"host": {/,/^  }/d; /"scheduler": /d'; }
results daws >"$scratch/built-in.json"
results "$scratch/daws.so" >"$scratch/shared.json"
is 'daws makes predictions' grep -Eq '"predictions": *[1-9]' "$scratch/built-in.json"
is 'daws as a shared object: the same results' cmp "$scratch/built-in.json" "$scratch/shared.json"
expect 'daws without its profile' 1 'daws cannot work on this machine: mode=profiled needs profile=FILE' run -s daws:mode=profiled vectoradd

expect 'no such file' 2 "no file '.*/none.so'" run -s "$scratch/none.so" vectoradd
expect 'not a shared object' 2 'cannot be loaded' run -s "$scratch/mine.c" vectoradd
variant no_entry -DNO_ENTRY
expect 'no symbol' 2 'no symbol heddle_policy_entry' run -s "$scratch/no_entry.so" vectoradd
variant other_version -DENTRY_ABI=99
expect 'another version of the interface' 2 'made for version 99 of the policy interface' run -s "$scratch/other_version.so" vectoradd
variant missing_symbol -DMISSING_SYMBOL
expect 'a function that is nowhere' 2 'heddle_nowhere' run -s "$scratch/missing_symbol.so" vectoradd
variant as_l1 -DAS_L1
expect 'an L1 policy behind -s' 2 'holds an L1 policy, not a scheduler; it goes after --l1' run -s "$scratch/as_l1.so" vectoradd
expect 'an L1 policy behind --l1' 0 '' run --l1 "$scratch/as_l1.so" vectoradd
expect 'a scheduler behind --divergence' 2 'holds a scheduler, not a divergence unit' run --divergence "$scratch/mine.so" vectoradd

# What only shows in the run: any exit code but 0, and the policy's name in the message.
fails() { # NAME PATTERN COMMAND...
    name=$1 pattern=$2
    shift 2
    "$@" >"$out" 2>&1
    got=$?
    if [ "$got" != 0 ] && [ "$got" -lt 124 ] && grep -Eq -- "$pattern" "$out"; then
        echo "ok $name"
    else
        echo "FAILED $name: exit code $got, output to match: $pattern"
        head -c 3000 "$out" | sed 's/^/    | /'
    fi
}
variant bad_pick -DBAD_PICK
fails 'a pick that is not a candidate' 'variant.*pick|pick.*variant' run -s "$scratch/bad_pick.so" vectoradd
variant bad_victim -DBAD_VICTIM
fails 'a victim that may not be taken' 'variant.*(way|victim)|(way|victim).*variant' run --l1 "$scratch/bad_victim.so" vectoradd
variant refuses -DREFUSES
fails 'a policy that cannot work on the machine' 'variant' run -s "$scratch/refuses.so" vectoradd

# The lists, and the page that holds them.
for list in schedulers l1 divergence probes bundles; do
    "$heddle" list "$list" --markdown >"$scratch/$list.md"
    is "list $list is not empty" test -s "$scratch/$list.md"
    while IFS= read -r line; do
        grep -Fxq -- "$line" docs/policies.md && continue
        echo "FAILED docs/policies.md has not the line of 'heddle list $list --markdown': $line"
        continue 2
    done <"$scratch/$list.md"
    echo "ok docs/policies.md has the table of $list"
done
expect 'list schedulers' 0 '^gto$' "$heddle" list schedulers
saw 'its rule' 'greedy then oldest'
saw 'parameters with defaults' 'level=warp'
saw 'the storage card' 'storage: 6 bits per warp, 6 bits per core'
expect 'list l1' 0 'insert=long' "$heddle" list l1
expect 'list divergence' 0 '^pdom$' "$heddle" list divergence
