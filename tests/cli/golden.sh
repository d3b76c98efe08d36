#!/bin/sh
# Golden results: what a run counts does not change unless somebody means it to. golden.txt has one line per run: size,
# workload, machine, policy, the hash of its whole JSON (json_hash.c says what is left out), and the counters that the
# list's first line names ('.' means as in the line above), so that a run whose hash differs can say what moved and by how
# much. A change that moves simulated numbers on purpose records the list again, and says so in docs/changes.md.
#   sh tests/cli/golden.sh BUILD            every GOLDEN_STEP-th line (default 67), beginning with the GOLDEN_FIRST-th;
#       and every policy with one thrashing workload on a machine of two schedulers
#   GOLDEN_STEP=1 sh tests/cli/golden.sh BUILD      all of them (make golden): 4,678 runs, eleven minutes
#   sh tests/cli/golden.sh BUILD --record   writes the list again (GOLDEN_LIST=FILE: into another file)
# Left out of builds with sanitizers: it asks for numbers, and other tests run the same code.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
list=${GOLDEN_LIST:-tests/cli/golden.txt}
json_hash=$build/tests/cli/json_hash

counters='cycles warp_instructions thread_instructions issue.no_ready'
counters="$counters stalls.scoreboard stalls.memory stalls.pipeline stalls.barrier stalls.held"
counters="$counters l1d.accesses l1d.hits l1d.misses l1d.reservation_fails l1i.misses l2.accesses l2.misses"
counters="$counters dram.reads dram.writes dram.row_hits icnt.stalls icnt.flits branches.divergent"

# One run: its hash and its counters on stdout. caws follows the times of an earlier run, which is made here.
result_of() { # size workload machine policy
    policy=$4
    if [ "$policy" = "-s caws" ]; then
        "$heddle" run --quiet --size "$1" -m "$3" --warps "$scratch/$$.csv" "$2" >/dev/null 2>&1
        policy="-s caws:times=$scratch/$$.csv"
    fi
    # shellcheck disable=SC2086 # an option and its value; names
    "$heddle" run --quiet --size "$1" -m "$3" $policy --stats "$scratch/$$.json" "$2" >/dev/null 2>"$scratch/$$.err" &&
        "$json_hash" "$scratch/$$.json" $counters || echo "failed: $(tail -n 1 "$scratch/$$.err")"
}

# The papers' workloads with every machine and, one at a time, every built-in policy; eight workloads at size small.
all_runs() {
    for workload in $(paper_workloads); do
        for machine in $("$heddle" list machines | awk 'NR > 1 { print $1 }'); do
            for policy in $(policies schedulers); do echo "test $workload $machine -s $policy"; done
            for policy in $(policies l1 | grep -v '^lru$'); do echo "test $workload $machine --l1 $policy"; done
            for policy in $(policies divergence | grep -v '^pdom$'); do echo "test $workload $machine --divergence $policy"; done
        done
    done
    for workload in b+tree bfs dwthaar eigenvalues lps mdbrot reduct streamcluster; do
        echo "small $workload gtx480 -s gto"
        echo "small $workload ccws -s ccws"
    done
}
# shellcheck disable=SC2016 # those are backquotes of Markdown
policies() { "$heddle" list "$1" --markdown | sed -n 's/^| `\([^`]*\)`.*/\1/p'; }

if [ "${2:-}" = --record ]; then
    echo "# $counters" >"$scratch/list"
    all_runs | while read -r size workload machine option policy; do
        result=$(result_of "$size" "$workload" "$machine" "$option $policy" </dev/null)
        case $result in failed*) echo "not recorded: $workload $machine $option $policy: $result" >&2 ;; *)
            echo "$size $workload $machine $option $policy $result" ;;
        esac
    done | awk '{ for (i = 7; i <= NF; i++) { value = $i; if (value == above[i]) $i = "."; above[i] = value } print }' >>"$scratch/list" &&
        cp "$scratch/list" "$list"
    exit
fi

# Counter by counter, what the list has and what this run has.
what_moved() { # NAMES WANTED GOT
    printf '%s\n' "$@" | awk '
        { for (i = 1; i <= NF; i++) value[NR, i] = $i; fields[NR] = NF }
        END {
            for (i = 1; i <= fields[1]; i++) {
                if (value[2, i] == value[3, i]) continue
                by = value[3, i] - value[2, i]
                printf "    | %-24s %s -> %s (%+d%s)\n", value[1, i], value[2, i], value[3, i], by,
                    (value[2, i] != 0 ? sprintf(", %+.2f%%", 100 * by / value[2, i]) : "")
                moved++
            }
            if (!moved) print "    | no counter of the list moved: another one did, or one launch did at the cost of another"
        }'
}

step=${GOLDEN_STEP:-67}
if [ -n "${TEST_QUICK:-}${TEST_SECOND:-}" ]; then step=401; fi
awk -v step="$step" -v first="${GOLDEN_FIRST:-1}" -v few="${TEST_QUICK:-}${TEST_SECOND:-}" '
    /^#/ { print; next }
    { n++; for (i = 7; i <= NF; i++) if ($i == ".") $i = above[i]; else above[i] = $i }
    n % step == first % step || ($2 == "memc" && $3 == "c2050" && !few)' "$list" >"$scratch/part"
while read -r size workload machine option policy wanted recorded; do
    if [ "$size" = '#' ]; then
        names=$(head -n 1 "$list" | cut -c 3-)
        is 'the list has these counters' test "$names" = "$counters"
        continue
    fi
    got=$(result_of "$size" "$workload" "$machine" "$option $policy" </dev/null)
    if [ "${got%% *}" = "$wanted" ]; then
        echo "ok $size $workload $machine $option $policy"
        continue
    fi
    echo "FAILED $size $workload $machine $option $policy: ${got%% *}, the list has $wanted"
    case $got in
    failed*) echo "    | $got" ;;
    *) what_moved "$names" "$recorded" "${got#* }" ;;
    esac
    echo "    | heddle run --size $size -m $machine $option $policy --stats FILE $workload"
done <"$scratch/part"
