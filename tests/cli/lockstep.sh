#!/bin/sh
# Blocks in lockstep, for --probe compaction: every workload comes to its reference's results, all of its launches are
# counted, and twice is the same. Who does not ask for it does not see it.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

run() { # NAME OPTION... WORKLOAD
    name_=$1
    shift
    "$heddle" run --functional --quiet --size test --stats "$scratch/$name_.json" "$@"
}

for workload in $(workloads); do
    is "$workload: its results are right" run first -m slp --probe compaction "$workload"
    expect "$workload: all launches are counted" 0 '"uncounted_launches": 0' cat "$scratch/first.json"
    saw "$workload: no block left lockstep" '"blocks_left": 0'
done
run first -m slp --probe compaction bfs >/dev/null 2>&1
run second -m slp --probe compaction bfs >/dev/null 2>&1
is 'twice is the same' "$json_check" --same "$scratch/first.json" "$scratch/second.json"

run plain vectoradd >/dev/null 2>&1
expect 'counts nothing without the probe' 1 '' grep compaction "$scratch/plain.json"
expect 'a probe that needs time' 2 "'loads' listens to cores.*work there: compaction" run none --probe loads vectoradd
expect 'a probe that needs none, with time' 2 "'compaction'.*needs --functional" \
    "$heddle" run --quiet --size test --probe compaction vectoradd
is 'a bundle has no effect' run bundle -p cawa vectoradd
