#!/bin/sh
# What the test of golden results says when a run counts otherwise than its list has it: which counters moved, by how much,
# and from which run. The list is made here, of two runs, and then changed.
# Left out of builds with sanitizers: it asks for numbers, and other tests run the same code.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
list=$scratch/list
{
    head -n 1 tests/cli/golden.txt
    grep -m 1 '^test bfs gtx480 -s gto ' tests/cli/golden.txt
    grep -m 1 '^test bfs ccws -s ccws ' tests/cli/golden.txt
} >"$scratch/names"
golden() { GOLDEN_LIST=$list GOLDEN_STEP=1 sh tests/cli/golden.sh "$build"; }

# Every counter anew, so that the list is right whatever stood above these lines.
"$heddle" run --quiet --size test -m gtx480 -s gto --stats "$scratch/one.json" bfs >/dev/null 2>&1
counters=$(head -n 1 "$scratch/names" | cut -c 3-)
# shellcheck disable=SC2086 # names
result=$("$build/tests/cli/json_hash" "$scratch/one.json" $counters)
is 'the list has the hash of this run' test "${result%% *}" = "$(sed -n '2p' "$scratch/names" | cut -d ' ' -f 6)"
{
    echo "# $counters"
    echo "test bfs gtx480 -s gto $result"
} >"$list"
expect 'nothing moved' 0 '^ok test bfs gtx480 -s gto$' golden
is 'nothing moved: nothing is red' test "$(grep -c FAILED "$out")" = 0

# The hash differs, and of the counters cycles (two fewer in the list) and L1 hits (half as many).
awk '/^#/ { print; next }
    { $6 = "0123456789abcdef"; $7 -= 2; $17 = int($17 / 2); print }' "$list" >"$list.new" && mv "$list.new" "$list"
cycles=$(echo "$result" | cut -d ' ' -f 2) hits=$(echo "$result" | cut -d ' ' -f 12)
expect 'two moved' 0 "^FAILED test bfs gtx480 -s gto: ${result%% *}, the list has 0123456789abcdef\$" golden
saw 'two moved: cycles' "^ *[|] cycles +$((cycles - 2)) -> $cycles \(\+2, \+[0-9.]+%\)\$"
saw 'two moved: hits' "^ *[|] l1d.hits +$((hits / 2)) -> $hits \(\+$((hits - hits / 2)), \+[0-9.]+%\)\$"
is 'two moved: no other' test "$(grep -c -- '->' "$out")" = 2
golden >"$out" 2>&1
saw 'two moved: the command that repeats the run' '^ *[|] heddle run --size test -m gtx480 -s gto --stats FILE bfs$'

# The hash alone.
echo "# $counters" >"$list"
echo "test bfs gtx480 -s gto 0123456789abcdef ${result#* }" >>"$list"
expect 'none of these moved' 0 'no counter of the list moved' golden

# A run that fails has its message.
sed 's/ bfs / nosuchworkload /' "$list" >"$list.new" && mv "$list.new" "$list"
expect 'a run that fails' 0 '^FAILED test nosuchworkload gtx480 -s gto: failed' golden
saw 'a run that fails: why' 'nosuchworkload'
