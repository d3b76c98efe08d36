# shellcheck shell=sh
# A divergence unit that regroups threads, as a person makes it: thread block compaction in one file, compiled outside the repository, runs whole workloads. Their own checks pass, every thread executes
# what it does without the unit, and warps are at least as full.
# sh tests/policy/compaction.sh BUILD, from the repository's root; counted as the command-line tests are.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
cc=${CC:-cc}
is 'the unit compiles' "$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -Iinclude -o "$scratch/compaction.so" tests/policy/compaction.c

# The first number under a name; totals stand behind the list of kernels.
total() { # FILE NAME
    sed -n '/^ *"total"/,$p' "$1" | sed -n "s/^ *\"$2\": *\([0-9.e+-]*\).*/\1/p" | head -n 1
}
holds() { # NAME EXPRESSION: of awk
    if awk "BEGIN { exit !($2) }"; then echo "ok $1"; else echo "FAILED $1: $2"; fi
}
run() { # WORKLOAD FILE UNIT
    is "$1 with ${3##*/}" "$heddle" run --quiet --size test -m slp --divergence "$3" --stats "$2" "$1"
}

compacted='bitonic mdbrot bfs reduct dwthaar binomial quasirandom eigenvalues'
if [ "${TEST_WORKLOADS:-all}" = few ]; then compacted='bitonic bfs reduct dwthaar'; fi # one of each kind below
for workload in $compacted; do
    run $workload "$scratch/pdom.json" pdom
    for lanes in home balanced; do
        run $workload "$scratch/$lanes.json" "$scratch/compaction.so:lanes=$lanes"
        holds "$workload, $lanes: every thread executes the same" "$(total "$scratch/$lanes.json" thread_instructions) == $(total "$scratch/pdom.json" thread_instructions)"
        holds "$workload, $lanes: warps are as full" "$(total "$scratch/$lanes.json" simd_utilization) >= $(total "$scratch/pdom.json" simd_utilization)"
    done
    run $workload "$scratch/tbc.json" tbc
    holds "$workload: the built-in unit takes the same cycles" "$(total "$scratch/tbc.json" cycles) == $(total "$scratch/home.json" cycles)"
    run $workload "$scratch/tbc.json" tbc:permutation=balanced
    holds "$workload: with balanced lanes too" "$(total "$scratch/tbc.json" cycles) == $(total "$scratch/balanced.json" cycles)"
    run $workload "$scratch/capri.json" capri
    holds "$workload: capri waits at fewer branches" "$(total "$scratch/capri.json" paths) <= $(total "$scratch/home.json" paths)"
    holds "$workload: and is right more often than not" "$(total "$scratch/capri.json" right) > $(total "$scratch/capri.json" wrong)"
    run $workload "$scratch/warp.json" "$scratch/compaction.so:scope=warp"
    holds "$workload: a stack a warp is the core's own" "$(total "$scratch/warp.json" warp_instructions) == $(total "$scratch/pdom.json" warp_instructions)"
    case $workload in
    reduct) # whose active threads lie in the same lanes of all warps
        holds 'reduct is not compacted as it is' "$(total "$scratch/home.json" warp_instructions) == $(total "$scratch/pdom.json" warp_instructions)"
        holds 'reduct is, with its lanes permuted' "$(total "$scratch/balanced.json" compacted) > 0 && $(total "$scratch/balanced.json" warp_instructions) < $(total "$scratch/pdom.json" warp_instructions)"
        ;;
    dwthaar | binomial) # whose active threads are the first ones of the block, without gaps
        holds "$workload has divergent branches" "$(total "$scratch/balanced.json" paths) > 0"
        holds "$workload cannot be compacted" "$(total "$scratch/home.json" compacted) + $(total "$scratch/balanced.json" compacted) == 0"
        ;;
    bitonic | quasirandom)
        holds "$workload gains by permuted lanes" "$(total "$scratch/balanced.json" simd_utilization) > $(total "$scratch/home.json" simd_utilization)"
        ;;
    bfs | mdbrot | eigenvalues) # branches on data: threads in other lanes
        holds "$workload is compacted" "$(total "$scratch/home.json" compacted) > 0 && $(total "$scratch/home.json" simd_utilization) > $(total "$scratch/pdom.json" simd_utilization)"
        ;;
    esac
done

is 'cores on several threads' "$heddle" run --quiet --size test -m slp -j 4 --divergence "$scratch/compaction.so" --stats "$scratch/threads.json" bfs
is 'the same run on one' "$heddle" run --quiet --size test -m slp --divergence "$scratch/compaction.so" --stats "$scratch/one.json" bfs
holds 'give the same cycles' "$(total "$scratch/threads.json" cycles) == $(total "$scratch/one.json" cycles)"

# Of the warps that may issue none may be parked for good.
is 'a limit of one warp does not count parked ones' "$heddle" run --quiet --size test -m slp -s swl:limit=1 --max-cycles 2000000 --divergence "$scratch/compaction.so" bfs
