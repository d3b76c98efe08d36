# shellcheck shell=sh
# Every workload of the papers under the divergence units that compact, with permutations of lanes: none and another one
# in turn, or, with TEST_WORKLOADS=every, all. Its own check passes, its threads execute what they do in their own lanes,
# and under capri as much, or branches again where they waited in vain. None of those has instructions that these units
# refuse; that a kernel with one is refused is checked here too.
# sh tests/policy/permutations.sh BUILD, from the repository's root; counted as the command-line tests are.
# Left out of second builds: it asks for counts, and other tests run the same units.
# Left out of builds with sanitizers: policy/compaction and group mixed run the same units.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
permutations='none odd-even rotate flip xor-half random wid rev-wid balanced'
limit=100000000 # cycles: a workload that hangs is named

# Thread instructions of all kernels of a run, the first of the totals.
threads() { # FILE
    sed -n '/^ *"total"/,$p' "$1" | sed -n 's/^ *"thread_instructions": *\([0-9]*\).*/\1/p' | head -n 1
}
holds() { # NAME EXPRESSION: of the shell's test
    name=$1
    shift
    if [ "$@" ]; then echo "ok $name"; else echo "FAILED $name: $*"; fi
}
run() { # UNIT WORKLOAD PERMUTATION
    is "$2 with $1, $3" "$heddle" run --quiet --size test -m slp --max-cycles $limit --divergence "$1:permutation=$3" \
        --stats "$scratch/$1-$2-$3.json" "$2"
}

# Both units at the same time; what they print is kept apart.
both() { # WORKLOAD PERMUTATION...
    workload=$1
    shift
    (
        out=$scratch/out-tbc # of `is`
        for permutation in "$@"; do run tbc "$workload" "$permutation"; done
    ) >"$scratch/tbc" &
    (
        # shellcheck disable=SC2034 # of `is`
        out=$scratch/out-capri
        for permutation in "$@"; do run capri "$workload" "$permutation"; done
    ) >"$scratch/capri"
    wait $!
    cat "$scratch/tbc" "$scratch/capri"
    for permutation in "$@"; do
        own=$(threads "$scratch/tbc-$workload-$1.json") tbc=$(threads "$scratch/tbc-$workload-$permutation.json")
        capri=$(threads "$scratch/capri-$workload-$permutation.json")
        if [ "$permutation" != "$1" ]; then
            holds "$workload, $permutation: tbc executes what it does with $1" "${tbc:-0}" -eq "${own:-1}"
        fi
        holds "$workload, $permutation: capri as much or more" "${capri:-0}" -ge "${tbc:-1}"
    done
    rm -f "$scratch"/*.json
}

if [ "${TEST_WORKLOADS:-all}" = few ]; then
    # shellcheck disable=SC2086 # a list of words
    set -- $permutations
    for workload in bitonic aossort dxtc mummer backprop lps sobel 3dfd reduct; do
        both $workload "$1"
        shift
    done
else
    count=0
    for workload in $(paper_workloads); do
        tried=none
        # shellcheck disable=SC2086 # a list of words
        tried="$tried $(set -- $permutations && shift $((1 + count % 8)) && echo "$1")" # of the eight others, in turn
        [ "${TEST_WORKLOADS:-all}" != every ] || tried=$permutations
        # shellcheck disable=SC2086 # a list of words
        both "$workload" $tried
        count=$((count + 1))
    done
    holds 'every workload ran' "$count" -ge 34
fi

# The control bit: a kernel that is named keeps its lanes, and no other one does.
cycles() { # UNIT OPTIONS: of reduct, whose paths are compacted under permutation alone
    "$heddle" run --quiet --size test -m slp --max-cycles $limit --divergence "$1:$2" --stats "$scratch/bit.json" reduct \
        >/dev/null && sed -n '/^ *"total"/,$p' "$scratch/bit.json" | sed -n 's/^ *"cycles": *\([0-9]*\).*/\1/p' | head -n 1
}
for unit in tbc capri; do
    none=$(cycles $unit permutation=none) balanced=$(cycles $unit permutation=balanced)
    holds "$unit: permutation moves reduct" "${none:-0}" -ne "${balanced:-0}"
    holds "$unit: a kernel that is named keeps its lanes" \
        "$(cycles $unit permutation=balanced,unpermuted=reduct)" -eq "${none:-0}"
    holds "$unit: another one does not" "$(cycles $unit permutation=balanced,unpermuted=other)" -eq "${balanced:-0}"
done

refused() { # NAME INSTRUCTION
    sed "s/^\( *\)ret;/\1$2\n&/" "$ptx/fine.ptx" >"$scratch/refused.ptx"
    for unit in tbc capri; do
        expect "$1 is refused by $unit" 3 "$1.* has no meaning where divergence unit $unit regroups" \
            "$heddle" run -m slp --divergence $unit "$ptx_run" "$scratch/refused.ptx" k
    done
    is "$1 is not refused by pdom" "$heddle" run -m slp "$ptx_run" "$scratch/refused.ptx" k
}
refused shfl.sync '.reg .b32 %other; mov.u32 %other, %laneid; shfl.sync.bfly.b32 %other, %other, 1, 31, -1;'
refused activemask '.reg .b32 %lanes; activemask.b32 %lanes;'
refused bar.warp.sync 'bar.warp.sync -1;'
