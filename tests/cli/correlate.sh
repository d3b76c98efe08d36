#!/bin/sh
# heddle correlate: a recording of Nsight Compute (made up) beside runs that are made here, kept, interrupted and taken
# up again; the halves and what must not be seen of the other; results that are there already; what is no recording.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac
HEDDLE_SWEEP_JOURNAL=$scratch/journal
export HEDDLE_SWEEP_JOURNAL
csv=tests/data/silicon/test.csv
page=$scratch/page.html
correlate() { "$heddle" correlate "$csv" -m gtx480 --set l1d.sector_bytes=32 -j 2 -o "$page" "$@"; }
recorded() { grep -c '^recorded' "$HEDDLE_SWEEP_JOURNAL" 2>/dev/null; }
data() { sed -n 's/.*id="data">\(.*\)<\/script>$/\1/p' "$page"; }

# ------------------------------------------------------------------ what would be run
expect 'a dry run says what' 0 \
    '^heddle run -m gtx480 .*rules.launch_empties=caches.* --launch 0-1 bitonic --size test' correlate --dry-run
is 'and leaves nothing' test ! -e "$page" -a ! -e "$scratch/page.db" -a ! -e "$scratch/page.dry.ini"

# ------------------------------------------------------------------ interrupted, and again
"$heddle" correlate "$csv" -m gtx480 --set l1d.sector_bytes=32 -j 1 -o "$page" >"$out" 2>&1 &
pid=$!
enough() { [ "$(recorded)" -ge 1 ]; }
await 120 enough
kill -TERM "$pid"
wait "$pid"
is 'interrupted: exit code 4' test "$?" = 4
before=$(recorded)
expect 'runs go on' 0 '^gtx480 against silicon: 3 kernels of 3 programs, 3 points, 3 launches$' correlate
saw 'a program that is no workload' '^note: mine of .* is no workload'
saw 'a launch that we do not have' '^note: reduct test: 1 launch of reduct, grid 2x1x1, block 128x1x1, on silicon only$'
saw 'or silicon has not' '^note: reduct test: 1 launch of reduct, grid 1x1x1, block 128x1x1, in our run only$'
saw 'the test half first' '^The test half: 2 kernels$'
saw 'the other apart' '^The fitting half, apart: 1 kernel$'
saw 'requests are those of silicon' '^  load requests +2 +0.0% +0.0% +- +100% +exact$'
saw 'the farthest kernels' '^  vectoradd test +vectoradd +1 +1,777 +[0-9,]+ +[0-9.]+'
saw 'where the page is' '^The page: .*page.html$'
is 'each program was run once' test "$(recorded)" = 3 -a "$before" -ge 1
expect 'what is in the store is not run again' 0 'against silicon' correlate --csv "$scratch/points.csv"
is 'not once' test "$(recorded)" = 3
expect 'another machine is' 0 'against silicon' correlate --set l1d.sets=16 --workload vectoradd
is 'once' test "$(recorded)" = 4

# ------------------------------------------------------------------ files
is 'one row per point' test "$(wc -l <"$scratch/points.csv")" = 4
expect 'with both counts' 0 '^"bitonic",test,"bitonic",fit,16x1x1,256x1x1,1,8888,[0-9]+,60001,[0-9]+,128,128,512,512,' \
    cat "$scratch/points.csv"
correlate -j 1 >/dev/null 2>&1
data >"$scratch/data.json"
page_has() { "$json_check" "$scratch/data.json" "$1"; }
halves() { # kernels and their halves, by name
    page_has 'points.*.kernel' >"$scratch/kernels"
    page_has 'points.*.half' | paste -d ' ' "$scratch/kernels" - | sort | tr '\n' ' '
}
is 'the page has all counters' test "$(page_has 'compared.*.name' | wc -l)" = 11
is 'and its machine' test "$(page_has machine)" = '"gtx480"'
is 'and each point with its half' test "$(halves)" = '"bitonic" "fit" "reduct" "test" "vectoradd" "test" '
expect 'and asks nobody for anything' 1 '' grep -Eq '(src|href)="?https?:' "$page"

# ------------------------------------------------------------------ halves
expect 'the fitting half alone' 0 '^The fitting half: 1 kernel$' correlate --half fit --csv "$scratch/fit.csv"
data | cat "$out" - "$scratch/fit.csv" >"$scratch/all"
for secret in 1,777 1777 3,511 3511 2,121 2121; do
    expect "nothing of the other: $secret" 1 '' grep -q "$secret" "$scratch/all"
done
expect 'the test half alone' 0 '^The test half: 2 kernels$' correlate --half test
expect 'nothing of the fitting half' 1 '' grep -Eq '8,?888|[Ff]itting half:' "$out"
expect 'both together' 0 '^Both halves together:$' correlate --half all
expect 'one kernel' 0 '^gtx480 against silicon: 1 kernel of 1 program, 1 point' correlate --kernel 'vector*'

# ------------------------------------------------------------------ results that are there
"$heddle" run --quiet --size test -m gtx480 --stats "$scratch/run.json" vectoradd >/dev/null 2>&1
expect 'a run that was made before' 0 '^gtx480 against silicon: 1 kernel of 1 program, 1 point, 1 launch$' \
    "$heddle" correlate "$csv" "$scratch/run.json" -o "$page"
saw 'an L1 without sectors has none to compare' '^  load sectors +0 '
expect 'a run of another size' 2 'nothing to compare' \
    "$heddle" correlate "$csv" "$scratch/run.json" --size small -o "$page"
saw 'is named' 'run.json, a run of vectoradd test, was not recorded'

# ------------------------------------------------------------------ mistakes
expect 'no recording' 2 'which recording' "$heddle" correlate
expect 'no file' 2 'No such file' "$heddle" correlate "$scratch/none.csv"
echo 'a,b' >"$scratch/other.csv"
expect 'another file' 2 'no launches' "$heddle" correlate "$scratch/other.csv"
cp "$csv" "$scratch/recording.csv"
expect 'of which size?' 2 'of which input' "$heddle" correlate "$scratch/recording.csv"
expect 'an unknown size' 2 "unknown size 'big'" correlate --size big
expect 'an unknown half' 2 "unknown half 'left'" correlate --half left
expect 'an unknown machine' 2 "no machine 'gtx481'|gtx481" "$heddle" correlate "$csv" -m gtx481 -o "$page"
expect 'an unknown option' 2 "unknown option '--kernels'" correlate --kernels x
expect 'not a number' 2 '-j needs a number' correlate -j 0
expect 'no such kernel' 2 'nothing to compare' correlate --kernel none
