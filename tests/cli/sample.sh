#!/bin/sh
# --sample: results and instructions are those of a full run, cycles come close, and what is estimated says so.
# Left out of second builds: how close estimates come is counted, and no compiler changes it.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in
*asan*) machine='--set machine.cores=2' ;;
*) machine='--set machine.cores=4' ;;
esac

number() { "$json_check" "$scratch/$1.json" "$2"; }
# --size SIZE PROGRAM: both ways.
both() {
    # shellcheck disable=SC2086 # options
    "$heddle" run --quiet $machine --stats "$scratch/full.json" "$@" >/dev/null 2>&1
    # shellcheck disable=SC2086
    expect "$3: the program's own check holds" 0 'match the reference' "$heddle" run --quiet $machine --sample --stats "$scratch/part.json" "$@"
}
as_many() { is "$1: as many instructions" test "$(number full total.warp_instructions)" -eq "$(number part total.warp_instructions)"; }
within() { # NAME PERCENT
    is "$1: cycles within $2%" awk -v a="$(number part total.cycles)" -v b="$(number full total.cycles)" -v p="$2" \
        'BEGIN { exit !(a > b * (1 - p / 100) && a < b * (1 + p / 100)) }'
}

both --size small reduct
as_many reduct
within reduct 5
is 'reduct: a part was timed' test "$(number part total.estimate.timed_instructions)" -lt "$(number part total.estimate.instructions)"
is 'reduct: fewer cycles were simulated' test "$(number part total.estimate.timed_cycles)" -lt "$(number part total.cycles)"
is 'reduct: the interval is around the estimate' test "$(number part total.estimate.cycles_low)" -lt "$(number part total.cycles)"
is 'reduct: and has another end' test "$(number part total.estimate.cycles_high)" -gt "$(number part total.cycles)"
expect 'reduct: the full run has no estimate' 1 '' "$json_check" "$scratch/full.json" total.estimate
"$json_check" --names "$scratch/part.json" | sort -u >"$scratch/names"
"$heddle" list metrics | sed -n 's/^\([^ ]*\) (.*/\1/p' | sort -u >"$scratch/glossary"
comm -23 "$scratch/names" "$scratch/glossary" >"$scratch/missing"
is 'the glossary has every field' cmp "$scratch/missing" /dev/null

both --size test vectoradd # too small
as_many vectoradd
is 'vectoradd: timed wholly' test "$(number part total.cycles)" -eq "$(number full total.cycles)"

machine='--set machine.cores=1'
# Blocks that are as long as the launch, with barriers: warps go on without time inside them. The interval holds.
both --size small matmul-tiled
as_many matmul-tiled
within matmul-tiled 10
is 'matmul-tiled: a third of the cycles at most was simulated' test "$((3 * $(number part total.estimate.timed_cycles)))" -lt "$(number part total.cycles)"
is 'matmul-tiled: not below the interval' test "$(number part total.estimate.cycles_low)" -lt "$(number full total.cycles)"
is 'matmul-tiled: nor above it' test "$(number part total.estimate.cycles_high)" -gt "$(number full total.cycles)"

# With sanitizers the runs above have done all of this code.
if [ -z "${TEST_SHORT:-}" ]; then
    # Blocks that wait for blocks before them: those without time for those with.
    both --size small scan
    within scan 5
    is 'scan: a part was timed' test "$(number part total.estimate.timed_instructions)" -lt "$(number part total.estimate.instructions)"

    # Atomics are on their way when cores come to rest.
    both --size small histogram
    as_many histogram
    is 'histogram: a part was timed' test "$(number part total.estimate.timed_instructions)" -lt "$(number part total.estimate.instructions)"

    # However cores are simulated.
    machine='--set machine.cores=4'
    both --size small spmv-vector
    for option in '-j 2' --lockstep; do
        # shellcheck disable=SC2086 # two words
        "$heddle" run --quiet $machine --sample $option --stats "$scratch/other.json" --size small spmv-vector >/dev/null 2>&1
        is "spmv-vector $option: the same estimate" test "$(number part total.cycles)" -eq "$(number other total.cycles)"
    done
fi

expect 'it is said in words' 0 'cycles are estimated: .* of .* warp instructions were timed' "$heddle" run --sample --set machine.cores=2 --size small reduct
for option in '--timeline x' '--trace x' '--warps x' '--issue-order x' --lines '--stats x --pcs' '--probe loads' --functional; do
    # shellcheck disable=SC2086 # two words
    expect "not with $option" 2 '--sample estimates' "$heddle" run --sample $option vectoradd
done
expect 'nor by the environment' 1 '--sample estimates' env LD_LIBRARY_PATH="$build/lib" HEDDLE_OPTIONS="--sample --pcs" "$build/workloads/vectoradd" --size test

# Experiments.
cat >"$scratch/x.ini" <<'INI'
[experiment]
size = small
sample = auto
[programs]
reduct
[machines]
gtx480
[schedulers]
lrr
[figure speed]
kind = bars
x = program
y = ipc
series = scheduler
INI
expect 'an experiment of samples' 0 '1 of 1 are in' "$heddle" sweep "$scratch/x.ini" -o "$scratch/x.db"
expect 'its report' 0 '^report ' "$heddle" report "$scratch/x.db" -o "$scratch/x.html"
is 'the report says that they are' grep -q '"sampled": *true' "$scratch/x.html"
is 'and the run has it among its arguments' grep -q -e 'small --sample"' "$scratch/x.html"
sed 's/sample = auto/sample = no/' "$scratch/x.ini" >"$scratch/full.ini"
expect 'a full run is another run' 0 '1 of 1 are in' "$heddle" sweep "$scratch/full.ini" -o "$scratch/x.db"
saw 'it is made' '1 runs? done'
sed 's/sample = auto/sample = auto\ninterval = 1000/' "$scratch/x.ini" >"$scratch/bad.ini"
expect 'not with an interval' 2 'sample = auto estimates cycles, and interval needs' "$heddle" sweep "$scratch/bad.ini" -o "$scratch/x.db"
