#!/bin/sh
# --timeline: what a viewer needs holds, the reasons of each warp add up to the rows of --warps, nothing else changes.
# Left out of builds with sanitizers: tests/unit/test_timeline.c writes the same file.
# Left out of second builds: no compiler changes what the file says.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
timeline_check=$build/tests/cli/timeline_check

run() { # OPTION... PROGRAM
    "$heddle" run --quiet --size test --stats "$scratch/shown.json" --timeline "$scratch/timeline.json" \
        --timeline-cycles 0:1000000000 --warps "$scratch/warps.csv" "$@"
}
adds_up() { is "$1: it adds up" "$timeline_check" "$scratch/timeline.json" "$scratch/warps.csv"; }
try() { # OPTION... PROGRAM
    is "$*: it runs" run "$@"
    adds_up "$*"
    "$heddle" run --quiet --size test --stats "$scratch/plain.json" "$@" >/dev/null 2>&1
    is "$*: nothing else changes" "$json_check" --same "$scratch/shown.json" "$scratch/plain.json"
}

# Atomics; barriers; textures and shared memory.
for workload in gc reduct sobel; do try "$workload"; done
# Where hits come late, where the load/store unit takes several steps, where warps end in fetch, where a policy is asked
# in every cycle, where cycles are counted for samples as well. A small graph: each cycle of each warp
# is read.
for machine in c2050 slp; do try -m "$machine" -s gto bfs --edges 8192; done
for set in l1d.mshr_entries=2 l1d.sets=0; do try --set "$set" bfs --edges 8192; done
for scheduler in ccws two-level; do try -m ccws -s "$scheduler" bfs --edges 8192; done
try --interval 100 --pcs bfs --edges 8192

# A run on several threads writes the same file, though not faster.
run -j 1 bfs >/dev/null 2>&1
mv "$scratch/timeline.json" "$scratch/one.json"
run -j 2 bfs >/dev/null 2>&1
is 'the same on 2 threads' cmp "$scratch/one.json" "$scratch/timeline.json"

# Cut short, and overlapping launches.
expect 'cycle limit' 4 '' run --max-cycles 5000 bfs
adds_up 'cycle limit'
expect 'after a fault, in another context' 5 '^second: CUDA_SUCCESS, 42$' "$heddle" run --quiet --timeline "$scratch/timeline.json" \
    --warps "$scratch/warps.csv" "$build/tests/cli/launch_twice" "$ptx/fault_among_loads.ptx" "$ptx/fine.ptx"
adds_up 'after a fault, in another context'
is 'streams' "$heddle" run --quiet --timeline "$scratch/timeline.json" --timeline-cycles 0:1000000000 \
    --warps "$scratch/warps.csv" "$build/tests/cli/streams" 4 3 many
adds_up 'streams'

# A part of the run: it says so, and so does the file.
part() { "$heddle" run --size test --timeline "$scratch/timeline.json" --timeline-cycles 1000:3000 bfs; }
expect 'a part' 0 'the timeline shows cycles 1000 to 3000 of [0-9]+; --timeline-cycles A:B chooses others' part
is 'a part: readable' "$timeline_check" "$scratch/timeline.json"
is 'a part: in the file' grep -q '"ph":"i".*"ts":3000,"name":"end of the cycles asked for' "$scratch/timeline.json"
for track in 'reasons of warp slot 0' 'load/store unit: accesses to send' 'L1D miss queue' 'DRAM channel 0 queue' \
    'outstanding misses' 'resident warps' 'scheduler 0' 'warp slot 0' kernels; do
    is "there is a track: $track" grep -q "\"$track\"" "$scratch/timeline.json"
done
