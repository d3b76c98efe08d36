#!/bin/sh
# Kernels of several streams: do they run together where time is modelled, are their results the same on every run, and do their counters stay their own?
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
streams=$build/tests/cli/streams

run() { # FILE COUNT BLOCKS HOW OPTION...: results go to $scratch/FILE.json, the time to $scratch/FILE.time
    file=$1 count=$2 blocks=$3 how=$4
    shift 4
    "$heddle" run --quiet --stats "$scratch/$file.json" "$@" "$streams" "$count" "$blocks" "$how" >"$scratch/$file.time"
}
value() { "$json_check" "$scratch/$1.json" "$2"; }
kernels() { value "$1" kernels; }
holds() { # NAME EXPRESSION
    if [ "$(awk "BEGIN { print ($2) ? 1 : 0 }")" = 1 ]; then echo "ok $1"; else echo "FAILED $1: $2"; fi
}
time_of() { cat "$scratch/$1.time"; }

for machine in gtx480 c2050; do
    is "$machine: one stream" run one 4 3 one -m "$machine"
    is "$machine: a stream each" run many 4 3 many -m "$machine"
    for which in one many; do is "$machine, $which: results add up" "$json_check" "$scratch/$which.json"; done
    holds "$machine: four small kernels take about as long as one" "$(time_of many) < 0.4 * $(time_of one)"
    expect "$machine: kernels one after another do not say when they began" 1 '' value one kernels.0.start
    expect "$machine: others do" 0 '^0$' value many kernels.0.start
    for i in 0 1 2 3; do
        for counter in warp_instructions launched.blocks launched.warps; do
            holds "$machine: kernel $i: $counter is its own" "$(value one "kernels.$i.$counter") == $(value many "kernels.$i.$counter")"
        done
    done
done

# Kernels that fill the machine: the next ones get the cores that the first leaves idle at its end.
is 'large kernels: one stream' run one 3 400 one
is 'large kernels: a stream each' run many 3 400 many
is 'large kernels: results add up' "$json_check" "$scratch/many.json"
holds 'large kernels: the ends overlap' "$(time_of many) < $(time_of one)"
holds 'large kernels: memory traffic is counted once' "$(value many total.l1d.accesses) == $(value one total.l1d.accesses) && $(value many total.l2.accesses) >= 0.9 * $(value one total.l2.accesses) && $(value many total.l2.accesses) <= 1.1 * $(value one total.l2.accesses)"

# The same on every run, on any number of threads, and whatever else is written.
few=400
if [ -n "${TEST_SHORT:-}" ]; then # sanitizers
    few=40
    run many 3 $few many >/dev/null 2>&1
fi
kernels many >"$scratch/first"
is 'again' run again 3 $few many
kernels again >"$scratch/again"
is 'again: the same' cmp "$scratch/first" "$scratch/again"
is 'two threads' run threads 3 $few many -j 2
kernels threads >"$scratch/threads"
is 'two threads: the same' cmp "$scratch/first" "$scratch/threads"
is 'with counters of instructions and samples' run profile 3 40 many --pcs --interval 300
is 'with counters of instructions and samples: results add up' "$json_check" "$scratch/profile.json"
is 'with a timeline' run timeline 3 40 many --timeline "$scratch/timeline"
is 'with a timeline: readable' "$json_check" "$scratch/timeline" otherData.time
is 'a trace' run trace 3 40 many --trace "$scratch/trace"
expect 'a trace: has one kernel after another' 1 '' value trace kernels.0.start
is 'more kernels than may run together' run most 20 1 many
is 'more kernels than may run together: results add up' "$json_check" "$scratch/most.json"
is 'without time' run functional 5 30 many --functional
is 'without time: results add up' "$json_check" "$scratch/functional.json"

# A program that does not wait for its kernels.
for mode in --functional '-m gtx480'; do
    # shellcheck disable=SC2086 # options are words
    is "$mode: not waited for" "$heddle" run --quiet --stats "$scratch/left.json" $mode "$streams" 3 20 many leave
    expect "$mode: not waited for: they ran" 0 '^false$' value left kernels.2.partial
    # shellcheck disable=SC2086
    expect "$mode: not waited for, and one reads where nothing is" 5 'add_up.*read of 4 bytes' "$heddle" run $mode "$streams" 3 20 many fault
    # shellcheck disable=SC2086
    expect "$mode: one spins for ever" 4 'spin cannot go on' "$heddle" run --stats "$scratch/hang.json" $mode "$streams" 3 20 many hang
    expect "$mode: one spins for ever: it was cut short" 0 '^true$' value hang kernels.0.partial
    saw_whole=$(value hang kernels.2.partial)
    if [ "$saw_whole" = false ]; then echo "ok $mode: one spins for ever: the others were not"; else echo "FAILED $mode: one spins for ever: the others were cut short too"; fi
done

# A call that waits is a call, however long it takes; with sanitizers, it would be longer than that.
[ -z "${TEST_SHORT:-}" ] || exit 0
"$heddle" run -m gtx480 "$streams" 1 3 many long >"$scratch/long" 2>&1
expect 'a kernel that takes long is waited for' 0 '' cat "$scratch/long"
expect 'a kernel that takes long is waited for: no remark about calls' 1 '' grep 'no CUDA call' "$scratch/long"
