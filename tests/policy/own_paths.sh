# shellcheck shell=sh
# A divergence unit that regroups nothing and lets the core keep the paths of its slots is `pdom`, cycle for cycle, over
# the workloads: everything that is counted is the same, but for warps that have ended. Their slots stay until the block
# has ended, parked, which counts as waiting at a barrier (drain, barrier, occupancy); and a warp whose instruction comes
# in a cycle in which nothing else changes, such as a slot that is given back, counts as waiting for it (fetch,
# pipeline, and of that pipeline.decode).
# sh tests/policy/own_paths.sh BUILD, from the repository's root; counted as the command-line tests are.
# Left out of second builds: it asks for counts that no compiler changes.
# Left out of builds with sanitizers: unit/regroup_paths and policy/compaction run the same code there.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
cc=${CC:-cc}
is 'the unit compiles' "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -Iinclude -o "$scratch/own.so" tests/policy/own_paths.c

is 'and one that keeps threads in the slots of their warps' "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -Iinclude -DKEEPS_HOMES=true -o "$scratch/keeps.so" \
    tests/policy/own_paths.c

counted() { # FILE
    sed '/"host": {/,/^  }/d; /"divergence":/d; /"occupancy":/d; /"\(barrier\|drain\|fetch\|pipeline\|decode\)":/d' "$1"
}
for workload in $(third_of_workloads 0); do
    is "$workload by itself" "$heddle" run --quiet --size test -m slp --stats "$scratch/pdom.json" "$workload"
    is "$workload with paths of slots" "$heddle" run --quiet --size test -m slp --divergence "$scratch/own.so" --stats "$scratch/own.json" "$workload"
    counted "$scratch/pdom.json" >"$scratch/pdom.txt"
    counted "$scratch/own.json" >"$scratch/own.txt"
    is "$workload is the same" cmp "$scratch/pdom.txt" "$scratch/own.txt"
done

# On sub-cores too. There a warp that is over gives its slot back in its turn of fetch, but at once under a unit.
for workload in bitonic mdbrot hashtable lps; do
    is "$workload on sub-cores" "$heddle" run --quiet --size test -m h200 --stats "$scratch/pdom.json" "$workload"
    is "$workload on sub-cores, paths of slots" "$heddle" run --quiet --size test -m h200 --divergence "$scratch/own.so" --stats "$scratch/own.json" "$workload"
    counted "$scratch/pdom.json" | sed '/"\(no_ready\|idle\)":/d' >"$scratch/pdom.txt"
    counted "$scratch/own.json" | sed '/"\(no_ready\|idle\)":/d' >"$scratch/own.txt"
    is "$workload on sub-cores is the same" cmp "$scratch/pdom.txt" "$scratch/own.txt"
done

# Under a unit that never mixes warps nothing at all is different, and kernels may do everything.
whole() { # FILE
    sed '/"host": {/,/^  }/d; /"divergence":/d' "$1" >"$1.txt"
}
for workload in bfs bitonic mdbrot gc; do
    for machine in slp gtx480 h200; do
        is "$workload on $machine" "$heddle" run --quiet --size test -m $machine --stats "$scratch/pdom.json" $workload
        is "$workload on $machine, warps kept" "$heddle" run --quiet --size test -m $machine --divergence "$scratch/keeps.so" --stats "$scratch/keeps.json" $workload
        whole "$scratch/pdom.json"
        whole "$scratch/keeps.json"
        is "$workload on $machine is the same" cmp "$scratch/pdom.json.txt" "$scratch/keeps.json.txt"
    done
done
is 'random kernels' env HEDDLE_OPTIONS="--set core.shared_bytes=96K --stats $scratch/pdom.json" "$build/tests/random" check 0 150 tests/random/recorded.txt
is 'random kernels, warps kept' env HEDDLE_OPTIONS="--set core.shared_bytes=96K --divergence $scratch/keeps.so --stats $scratch/keeps.json" "$build/tests/random" check 0 150 \
    tests/random/recorded.txt
whole "$scratch/pdom.json"
whole "$scratch/keeps.json"
is 'random kernels are the same' cmp "$scratch/pdom.json.txt" "$scratch/keeps.json.txt"
