# shellcheck shell=sh
# A divergence unit that regroups nothing and lets the core keep the paths of its slots is `pdom`, cycle for cycle, over
# the workloads: everything that is counted is the same, but for warps that have ended. Their slots stay until the block
# has ended, parked, which counts as waiting at a barrier (drain, barrier, occupancy); and a warp whose instruction comes
# in a cycle in which nothing else changes, such as a slot that is given back, counts as waiting for it (fetch, pipeline).
# sh tests/policy/own_paths.sh BUILD, from the repository's root; counted as the command-line tests are.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
cc=${CC:-cc}
is 'the unit compiles' "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -Iinclude -o "$scratch/own.so" tests/policy/own_paths.c

counted() { # FILE
    sed '/"host": {/,/^  }/d; /"divergence":/d; /"occupancy":/d; /"\(barrier\|drain\|fetch\|pipeline\)":/d' "$1"
}
for source in workloads/*/*.cu; do
    workload=$(basename "$source" .cu)
    is "$workload by itself" "$heddle" run --quiet --size test -m slp --stats "$scratch/pdom.json" "$workload"
    is "$workload with paths of slots" "$heddle" run --quiet --size test -m slp --divergence "$scratch/own.so" --stats "$scratch/own.json" "$workload"
    counted "$scratch/pdom.json" >"$scratch/pdom.txt"
    counted "$scratch/own.json" >"$scratch/own.txt"
    is "$workload is the same" cmp "$scratch/pdom.txt" "$scratch/own.txt"
done
