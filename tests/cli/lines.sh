#!/bin/sh
# heddle run --lines: the source lines of a run, hot ones first, with the text of the source where it is found; sorted by any column, as wide as the terminal.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) absolute=$build ;; *) absolute=$PWD/$build ;; esac

lines() { "$heddle" run --quiet --size test "$@" 2>/dev/null; }
fails() { "$heddle" run --quiet --size test "$@"; }

expect 'lines of bfs' 0 'bfs\.cu:23 .* if \(!visited\[target\]\) \{$' lines --lines -m ccws -s lrr bfs
saw 'titles' '^  line +issues +waited +for +lanes +apart +own hits +others. hits +pending +misses +store misses +per request +text$'
saw 'reasons' ' memory [0-9]+%, [a-z ]+ [0-9]+% '
saw 'device functions have their own file' '^  device\.h:[0-9]+ '
saw 'what has no source is PTX' '^  ptx:[0-9]+ .* ld\.param'
saw 'how many there are' '^  20 of [0-9]+ lines, by cycles that warps waited; --lines=all shows all\.$'
waited=$(sed -n 's/^  [a-z.]*:[0-9]*  *[0-9,]*  *\([0-9,]*\) .*/\1/p' "$out" | tr -d ,)
is 'sorted by cycles waited' test "$(echo "$waited" | wc -l)" = 20 -a "$waited" = "$(echo "$waited" | sort -rn)"
expect 'so many lines' 0 '^  3 of [0-9]+ lines, by misses' lines --lines=3 --sort misses bfs
saw 'by misses' '^  bfs\.cu:22 '
expect 'all lines' 0 'bfs\.cu:44 ' lines --lines=all bfs
expect 'by a reason' 0 'lines, by fetch' lines --lines=1 --sort fetch bfs
expect 'columns of probes' 0 '  loads\.executions .*  loads\.misses  ' lines --lines --probe loads bfs
expect 'sorted by one' 0 'by loads\.misses' lines --lines=1 --sort loads.misses --probe loads bfs
expect 'one that no run has' 2 "no line has anything in the column 'loads.misses'" "$heddle" run --quiet --size test --lines --sort loads.misses bfs
expect 'what if' 0 '  Belady  coalesced accesses  coalesced misses  full issues  text$' lines --lines --what-if --sort belady -m ccws bfs
saw 'what if: sorted' 'lines, by belady'
check_what_if() { # misses, and those under Belady and if coalesced, of a load that is far from both
    lines --lines=all --what-if --sort misses -m ccws --set l1d.ways=2 spmv-scalar >"$scratch/what-if"
    awk '/^  line / { belady = index($0, " Belady") + 7; coalesced = index($0, "coalesced misses") + 16; misses = index($0, "  misses") + 8 }
        /^  spmv-scalar/ && !seen++ { print cell(misses), cell(belady), cell(coalesced) }
        function cell(end, text) { text = substr($0, 1, end - 1); sub(/.* /, "", text); gsub(",", "", text); return text + 0 }' "$scratch/what-if"
}
# shellcheck disable=SC2046 # three numbers
set -- $(check_what_if)
is 'what if: fewer misses under Belady' test "$2" -gt 0 -a "$2" -lt "$1"
is 'what if: fewer misses if coalesced' test "$3" -gt 0 -a "$3" -lt "$1"
temporary() { TMPDIR="$scratch/temporary" "$heddle" run --quiet --size test --lines --what-if bfs >/dev/null 2>&1 && ls -A "$scratch/temporary"; }
mkdir "$scratch/temporary"
is 'what if: nothing is left behind' test -z "$(temporary)"
expect 'what if: without lines' 2 '--what-if is for --lines' "$heddle" run --what-if bfs
expect 'without time' 0 '^  line +issues +lanes +apart +text$' lines --functional --lines bfs
expect 'in another folder' 0 ' if \(!visited\[target\]\) \{$' sh -c "cd '$scratch' && HEDDLE_MACHINES='$PWD/machines' '$absolute/bin/heddle' run --quiet --size test --lines bfs"
expect 'a PTX file without .loc' 0 'ptx:[0-9]+ ' "$heddle" run --quiet --lines "$ptx_run" "$ptx/fine.ptx" k 1024 64
both() { "$heddle" run --quiet --size test --lines --stats - bfs 2>"$scratch/table" >"$scratch/both.json"; }
is 'with --stats -' both
is 'with --stats -: the results' "$json_check" "$scratch/both.json" kernels.0.pcs.0.cycles
is 'with --stats -: the table is on standard error' grep -q 'bfs.cu:23' "$scratch/table"
if has_terminals; then
    on_terminal() { script -qec "stty cols $1; '$heddle' run --quiet --size test --lines -m ccws bfs" /dev/null | tr -d '\r' >"$out"; }
    for width in 60 80 100 132; do
        on_terminal $width
        saw "a terminal of $width columns" '^  bfs\.cu:23 '
        is "a terminal of $width columns: no row is wider" test "$(awk '/^  (line|[a-z.]+:[0-9]+) / { if (length > most) most = length } END { print most }' "$out")" -le $width
    done
    on_terminal 80
    saw 'a narrow one: three digits' ' [0-9.]+k '
    saw 'a narrow one: what is left out is said' 'too narrow for [1-9] of the columns'
else
    echo 'note skipped: terminals (no script, apt-get install bsdutils, or no pseudo-terminals)'
fi
for bad in 0 -3 x 1.5; do
    expect "--lines=$bad" 2 "--lines=N needs a number from 1, or all, not '$bad'" fails --lines=$bad bfs
done
expect 'an unknown column' 2 "lines have no column 'hits_of_mine'" fails --lines --sort hits_of_mine bfs
expect '--sort alone' 2 '--sort is for --lines' fails --sort misses bfs
expect 'help' 0 '--lines\[=N\] .*source lines' "$heddle" run --help
