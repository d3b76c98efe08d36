#!/bin/sh
# heddle run --races: three patterns with races as public programs have them are found with both instructions, their like
# without races are not, and of the workloads only those that are known to have one.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

run_races() { # KERNEL, with 8 blocks of 128 threads
    "$heddle" run --functional --races --stats "$scratch/races.json" "$ptx_run" "$ptx/races.ptx" "$1" 8192 128 8
}

expect 'columns: found' 0 'races: 3 pairs of instructions.*may differ' run_races columns
saw 'columns: the kernel, the space, the kind, where' 'kernel columns, global memory: a read after a write, seen [0-9]+ times, first at 0x[0-9a-f]+, [0-9]+ bytes into a 8192-byte allocation'
saw 'columns: the write' 'write, PTX line [0-9]+ \(races.cu:11\): st.global.u32 .*; block \(0,0,0\) thread \(16,0,0\)'
saw 'columns: the read' 'read,  PTX line [0-9]+ \(races.cu:11\): ld.global.u32 .*; block \(0,0,0\) thread \(32,0,0\)'
expect 'columns: in the results' 0 '^"read_after_write"$' "$json_check" "$scratch/races.json" races.pairs.1.kind
expect 'columns: the write, in the results' 0 '^"races.cu:11"$' "$json_check" "$scratch/races.json" races.pairs.1.first.source
expect 'columns: the count' 0 '^2505$' "$json_check" "$scratch/races.json" races.count

expect 'histogram: found' 0 "shared memory: two writes.*shared variable '.*bins'" run_races histogram_unzeroed
saw 'histogram: the zeroing' 'write, PTX line [0-9]+ \(races.cu:24\): st.shared.u32'
saw 'histogram: the counting' 'write, PTX line [0-9]+ \(.*\): atom.shared.add.u32'

expect 'levels: found' 0 'kernel levels, global memory: a read after a write' run_races levels
saw 'levels: the write' 'write, PTX line [0-9]+ \(races.cu:48\): st.global.u32'
saw 'levels: the read' 'read,  PTX line [0-9]+ \(races.cu:44\): ld.global.u32'

for kernel in last_block_unfenced warp_sum_unsynced buffers_early different_values; do
    expect "$kernel: found" 0 'races: [0-9]+ pairs? of instructions' run_races "$kernel"
done
for kernel in columns_atomic histogram_zeroed levels_apart last_block_fenced warp_sum_synced tiles buffers_in_turn flags locked bytes same_value; do
    expect "$kernel: silent" 0 'races: none was seen in 1 launch$' run_races "$kernel"
done
expect 'none, in the results' 0 '^0$' "$json_check" "$scratch/races.json" races.count

# Found or not, results and counts are those of a run without the check.
for workload in $(workloads) $(today_workloads); do
    case $workload in
    gc) seen='ld.global.u32' ;; # looks whether an object is marked before it marks it by an atomic
    *) seen='races: none was seen' ;;
    esac
    expect "$workload: as known" 0 "$seen" "$heddle" run --functional --races --size test "$workload"
done
"$heddle" run --functional --quiet --size test --stats "$scratch/plain.json" gc >/dev/null 2>&1
"$heddle" run --functional --quiet --races --size test --stats "$scratch/checked.json" gc >/dev/null 2>&1
expect 'who does not ask is told nothing' 1 '' grep '"races"' "$scratch/plain.json"
for key in total.warp_instructions total.loads.requests total.branches.divergent; do
    is "the same $key" test "$("$json_check" "$scratch/plain.json" $key)" = "$("$json_check" "$scratch/checked.json" $key)"
done
"$heddle" run --functional --quiet --races --size test --stats "$scratch/again.json" gc >/dev/null 2>&1
is 'twice is the same' "$json_check" --same "$scratch/checked.json" "$scratch/again.json"

expect 'not with time' 2 '--races looks at a run without time; add --functional' "$heddle" run --races vectoradd
expect 'not with probes' 2 '--races and --probe' "$heddle" run --functional --races --probe compaction vectoradd
expect 'quiet says nothing' 1 '' sh -c "'$heddle' run --functional --quiet --races '$ptx_run' $ptx/races.ptx columns 8192 128 2>&1 | grep races"
