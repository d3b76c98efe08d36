#!/bin/sh
# --warps: one row per warp; the rows add up to the counters of their launch, are the same on any number of threads, and
# change nothing else.
# Left out of second builds: it asks for sums that no compiler changes.
# Uses zstd: compressed rows.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
warps_check=$build/tests/cli/warps_check

any() { # NAME OPTION... PROGRAM
    name_=$1
    shift
    "$heddle" run --quiet --stats "$scratch/$name_.json" --warps "$scratch/$name_.csv" "$@"
}
run() { # the same, of a workload
    name_=$1
    shift
    any "$name_" --size test "$@"
}
plain() { "$heddle" run --quiet --size test --stats "$scratch/plain.json" "$@"; }
adds_up() { is "$1: it adds up" "$warps_check" "$scratch/$2.json" "$scratch/$2.csv"; }
same() { is "$1" "$json_check" --same "$scratch/$2.json" "$scratch/$3.json"; }

for workload in $(third_of_workloads 0); do
    is "$workload: it runs" run warps -s gto "$workload"
    adds_up "$workload" warps
    plain -s gto "$workload" >/dev/null 2>&1
    same "$workload: nothing else changes" warps plain
    run threads -s gto -j 2 "$workload" >/dev/null 2>&1
    is "$workload: the same on 2 threads" cmp "$scratch/warps.csv" "$scratch/threads.csv"
done

# A warp that ends in a cycle in which nothing else happens.
is 'bfs, lrr: it runs' run warps -s lrr bfs
adds_up 'bfs, lrr' warps

# Every machine: where hits come late, where the load/store unit takes several steps, where warps end in fetch.
for file in machines/*.ini; do
    machine=$(basename "$file" .ini)
    case ${TEST_SHORT:-}$machine in 1ccws | 1h200 | [!1]*) ;; *) continue ;; esac # two with sanitizers
    is "$machine: it runs" run warps -m "$machine" spmv-scalar
    adds_up "$machine" warps
done
for set in l1d.mshr_entries=2 l1d.latency_cycles=20 l1d.sets=0 issue.instructions_per_warp=2; do
    is "$set: it runs" run warps --set "$set" spmv-vector
    adds_up "$set" warps
done
for scheduler in swl:limit=2 ccws paws two-level; do
    is "$scheduler: it runs" run warps -m ccws -s "$scheduler" --interval 100 bfs
    adds_up "$scheduler" warps
done

# Threads that a divergence unit puts together: rows are of slots.
is 'a unit that regroups compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/compaction.so" \
    tests/policy/compaction.c
is 'threads regrouped' run warps -m slp --divergence "$scratch/compaction.so" bfs
adds_up 'threads regrouped' warps

# Launches that are cut short, and launches that overlap.
expect 'cycle limit' 4 '' run cut --max-cycles 5000 bfs
adds_up 'cycle limit' cut
is 'cycle limit: warps without an end say so' grep -Eq '^[0-9]+,[a-z_]+,([0-9]+,){6}1,' "$scratch/cut.csv"
ptx() { any "$1" "$ptx_run" "$ptx/$2.ptx" k 1024 64; } # NAME FILE
expect 'a fault' 5 '' ptx fault fault_among_loads
adds_up 'a fault' fault
expect 'a hang' 4 '' ptx hang barrier_skipped
adds_up 'a hang' hang
twice() { any twice "$build/tests/cli/launch_twice" "$ptx/fault_among_loads.ptx" "$ptx/fine.ptx"; }
expect 'a launch after a fault' 5 '' twice
adds_up 'a launch after a fault' twice
is 'a launch after a fault: it has rows' grep -q '^1,' "$scratch/twice.csv"
interrupted() {
    timeout --preserve-status -k 20 -s INT 1 "$heddle" run --quiet --stats "$scratch/interrupted.json" \
        --warps "$scratch/interrupted.csv" "$ptx_run" "$ptx/endless.ptx" k
}
expect 'ctrl-C' 4 '' interrupted
adds_up 'ctrl-C' interrupted

# Kernels that run together give cores to one another; they end in any order, and are written in that of their starts.
for shape in '4 3' '3 400'; do
    for threads in 1 2; do
        # shellcheck disable=SC2086 # two words
        is "overlapping, $shape, -j $threads" any "streams$threads" -j $threads "$build/tests/cli/streams" $shape many
        adds_up "overlapping, $shape, -j $threads" "streams$threads"
    done
    is "overlapping, $shape: the same on 2 threads" cmp "$scratch/streams1.csv" "$scratch/streams2.csv"
done

# The region of interest: rows and numbers are those of the launches that the results have.
for steps in lll lslplll slllp lpll lplslp lslplslls lls; do
    is "$steps: it runs" any region "$build/tests/cli/regions" "$ptx/fine.ptx" "$steps"
    adds_up "$steps" region
done

# Compressed, and launch numbers where launches are not kept one by one.
is 'compressed' "$heddle" run --quiet --size test --warps "$scratch/packed.zst" bfs
run warps bfs >/dev/null 2>&1
if command -v zstd >/dev/null 2>&1; then
    zstd -q -d -c "$scratch/packed.zst" >"$scratch/unpacked"
    is 'compressed: the same rows' cmp "$scratch/unpacked" "$scratch/warps.csv"
else
    echo 'note skipped: rows that are compressed (zstd is not installed: apt-get install zstd)'
fi
is 'nothing is left beside the file' sh -c "! ls $scratch/*.part"

# What cannot be.
expect '--warps with --functional' 2 '--warps is of time, which --functional does not model' \
    run bad --functional vectoradd
expect '--warps without a value' 2 '--warps' "$heddle" run --warps
expect 'a name that cannot be written' 2 'cannot write' "$heddle" run --warps /nonexistent/w.csv --size test vectoradd
expect 'help' 0 '--warps FILE' "$heddle" run --help
with_options() { LD_LIBRARY_PATH=$build/lib HEDDLE_OPTIONS=$1 "$build/workloads/vectoradd" --size test; }
is 'HEDDLE_OPTIONS' with_options "--quiet --stats $scratch/env.json --warps=$scratch/env.csv"
adds_up 'HEDDLE_OPTIONS' env
expect 'HEDDLE_OPTIONS: with --functional' 0 '--warps has no effect with --functional' \
    with_options "--functional --warps $scratch/none.csv"
