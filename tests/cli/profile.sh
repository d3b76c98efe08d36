#!/bin/sh
# --pcs and --interval: counters of each instruction and samples over time add up to those of their launch, are the same on any number of threads, and change nothing else.
# Left out of second builds: it asks for sums that no compiler changes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
profile_check=$build/tests/cli/profile_check

run() { # RESULT OPTION... PROGRAM: at its test size
    result=$scratch/$1.json
    shift
    "$heddle" run --quiet --size test --stats "$result" "$@"
}
value() { "$json_check" "$scratch/$1.json" "$2"; }
same() { is "$1" "$json_check" --same "$scratch/$2.json" "$scratch/$3.json"; }
less() { is "$1" "$profile_check" --less "$scratch/$2.json" "$scratch/$3.json"; }
adds_up() { is "$1: it adds up" "$profile_check" "$scratch/$2.json"; }

for workload in $(third_of_workloads 1); do
    is "$workload: with time" run both -s gto --pcs --interval 100 "$workload"
    adds_up "$workload: with time" both
    is "$workload: results are complete" "$json_check" "$scratch/both.json"
    run plain -s gto "$workload" >/dev/null 2>&1
    less "$workload: nothing else changes" both plain
    run threads -s gto --pcs --interval 100 -j 2 "$workload" >/dev/null 2>&1
    same "$workload: the same on 2 threads" both threads
    is "$workload: functional" run functional --functional --pcs "$workload"
    adds_up "$workload: functional" functional
    run plain --functional "$workload" >/dev/null 2>&1
    less "$workload: functional: nothing else changes" functional plain
done

# The L1 in all its ways, two instructions a cycle, every cycle a sample.
for set in l1d.mshr_entries=2 l1d.latency_cycles=20 l1d.sets=0 issue.instructions_per_warp=2; do
    is "$set: it runs" run both --pcs --interval 1000 --set "$set" spmv-vector
    adds_up "$set" both
    run plain --set "$set" spmv-vector >/dev/null 2>&1
    less "$set: nothing else changes" both plain
done
is 'every cycle' run both --interval 1 vectoradd
adds_up 'every cycle' both
run plain vectoradd >/dev/null 2>&1
less 'every cycle: nothing else changes' both plain
is 'an interval longer than the launch' run long --interval 18446744073709551615 vectoradd
adds_up 'an interval longer than the launch' long
expect 'an interval longer than the launch: one sample' 0 '^\[[0-9]+\]$' value long kernels.0.series.cycles
expect 'one alone: no counters of instructions' 1 'no such key' value both kernels.0.pcs

# A sample has what a run that was cut short at its end has. Some of these cycles lie where all cores sleep.
moments='50 211 500 900 1700'
if [ -n "${TEST_SHORT:-}" ]; then moments=500; fi
for cycles in $moments; do
    run cut --max-cycles "$cycles" spmv-vector >/dev/null 2>&1
    run sampled --interval "$(value cut kernels.0.cycles)" spmv-vector >/dev/null 2>&1
    is "$cycles cycles: as of that moment" "$profile_check" --first "$scratch/cut.json" "$scratch/sampled.json"
done

# Launches that are cut short.
expect 'cycle limit' 4 '' run cut --pcs --interval 64 --max-cycles 5000 bfs
adds_up 'cycle limit' cut
expect 'a fault' 5 '' "$heddle" run --quiet --pcs --interval 64 --stats "$scratch/fault.json" "$ptx_run" "$ptx/fault_among_loads.ptx" k 1024 64
adds_up 'a fault' fault
expect 'a hang' 4 '' "$heddle" run --quiet --pcs --stats "$scratch/hang.json" "$ptx_run" "$ptx/barrier_skipped.ptx" k 1024 64
adds_up 'a hang' hang

# Threads that a divergence unit puts together, and a policy's own counters.
is 'a unit that regroups compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/compaction.so" tests/policy/compaction.c
is 'threads regrouped' run both -m slp --divergence "$scratch/compaction.so" --pcs --interval 100 bfs
adds_up 'threads regrouped' both
is "a policy's counters are sampled" value both kernels.0.compaction.paths
expect "a policy's counters are sampled: under their name" 0 '"compaction\.paths": ?\[' value both kernels.0.series.values
run plain -m slp --divergence "$scratch/compaction.so" bfs >/dev/null 2>&1
less 'threads regrouped: nothing else changes' both plain

# What an instruction is called.
run both --pcs bfs >/dev/null 2>&1
expect 'text' 0 '^"ld\.param\.u32 %r[0-9]+, \[bfs_expand_param_[0-9]\]"$' value both kernels.0.pcs.0.text
expect 'source' 0 '/bfs\.cu:[0-9]+"$' value both kernels.0.pcs.0.source
expect 'line' 0 '^[1-9][0-9]*$' value both kernels.0.pcs.0.line
line=$(value both kernels.0.pcs.0.line)
is 'line: it stands there' sh -c "sed -n ${line}p workloads/bfs/bfs.ptx | grep -q ld.param.u32"

# Every name is in the glossary: fields of launches and of instructions, and what is sampled.
run both --pcs --interval 1000 bfs >/dev/null 2>&1
"$heddle" list metrics | sed -n 's/^\([^ ]*\) (.*/\1/p' | sort -u >"$scratch/glossary"
{
    "$json_check" --names "$scratch/both.json"
    value both kernels.0.pcs | sed 's/"cycles": {[^}]*}//g' | grep -o '"[a-z0-9_]*": ' | sed 's/"\(.*\)": /kernels.pcs.\1/'
    value both kernels.0.pcs | grep -o '"cycles": {[^}]*}' | sed 's/.*{//' | grep -o '"[a-z_]*": ' | sed 's/"\(.*\)": /kernels.pcs.cycles.\1/'
    value both kernels.0.series | grep -o '"[a-z]*": ' | sed 's/"\(.*\)": /kernels.series.\1/' | grep -v '\.ipc$'
    value both kernels.0.series.values | grep -o '"[a-z0-9_.]*": ' | sed 's/"\(.*\)": /\1/'
} | sort -u >"$scratch/names"
is 'the glossary: there are names' grep -q '^kernels.pcs.stalled$' "$scratch/names"
comm -23 "$scratch/names" "$scratch/glossary" >"$scratch/missing"
is 'the glossary has all' cmp "$scratch/missing" /dev/null

# What cannot be.
for bad in 0 -1 ten 1.5 10k 99999999999999999999; do
    expect "--interval $bad" 2 "--interval needs a number of cycles from 1, not '$bad'" run bad --interval "$bad" vectoradd
done
expect '--interval without a value' 2 '--interval' run bad --interval
expect '--interval with --functional' 2 '--interval samples time, which --functional does not model' run bad --functional --interval 100 vectoradd
expect '--pcs without --stats' 2 '--pcs is for --stats FILE' "$heddle" run --pcs --size test vectoradd
expect '--interval without --stats' 2 '--interval is for --stats FILE' "$heddle" run --interval 100 --size test vectoradd
expect 'help' 0 '--pcs .*instruction' "$heddle" run --help
saw 'help: --interval' '--interval N .*every N cycles'
with_options() { LD_LIBRARY_PATH=$build/lib HEDDLE_OPTIONS=$1 "$build/workloads/vectoradd" --size test; }
is 'HEDDLE_OPTIONS' with_options "--quiet --stats $scratch/env.json --pcs --interval=100"
adds_up 'HEDDLE_OPTIONS' env
expect 'HEDDLE_OPTIONS: no interval' 1 "HEDDLE_OPTIONS: --interval needs a number of cycles from 1, not '0'" with_options '--interval 0'
expect 'HEDDLE_OPTIONS: --interval with --functional' 0 '--interval has no effect with --functional' with_options '--functional --interval 100'

# A graph with as many edges at every node: all lanes leave the loop over the edges together.
loop_ends_apart() { # OPTION...
    "$heddle" run --quiet --pcs --stats - bfs --size test "$@" 2>/dev/null | awk '
        /"text": "@.* bra LBB0_4"/ { back = 1 }
        back && /"divergent":/ { apart += $2; back = 0 }
        END { print apart + 0 }'
}
is 'bfs: nodes with more and fewer edges' test "$(loop_ends_apart)" -gt 0
is 'bfs --balanced 1: every node has as many' test "$(loop_ends_apart --balanced 1)" -eq 0
is 'an odd number of them' test "$(loop_ends_apart --balanced 1 --degree 5)" -eq 0
expect 'bfs --balanced 1: the result' 0 'all 4916 costs match' "$heddle" run --functional bfs --size test --balanced 1 --degree 5
