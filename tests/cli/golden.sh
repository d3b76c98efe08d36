#!/bin/sh
# Golden results: what a run counts does not change unless somebody means it to. golden.txt has one line per run (size,
# workload, machine, policy) with the hash of its whole JSON (json_hash.c says what is left out). A change that moves
# simulated numbers on purpose records the list again, and says so in docs/changes.md.
#   sh tests/cli/golden.sh BUILD            every GOLDEN_STEP-th line (default 41), beginning with the GOLDEN_FIRST-th;
#       and every policy with one thrashing workload on a machine of two schedulers
#   GOLDEN_STEP=1 sh tests/cli/golden.sh BUILD      all of them (make golden): 4,232 runs, ten minutes
#   sh tests/cli/golden.sh BUILD --record   writes the list again (GOLDEN_LIST=FILE: into another file)
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
list=${GOLDEN_LIST:-tests/cli/golden.txt}
json_hash=$build/tests/cli/json_hash

# One run, its hash on stdout. caws follows the times of an earlier run, which is made here.
hash_of() { # size workload machine policy
    policy=$4
    if [ "$policy" = "-s caws" ]; then
        "$heddle" run --quiet --size "$1" -m "$3" --warps "$scratch/$$.csv" "$2" >/dev/null 2>&1
        policy="-s caws:times=$scratch/$$.csv"
    fi
    # shellcheck disable=SC2086 # an option and its value
    "$heddle" run --quiet --size "$1" -m "$3" $policy --stats "$scratch/$$.json" "$2" >/dev/null 2>"$scratch/$$.err" &&
        "$json_hash" "$scratch/$$.json" || echo "failed: $(tail -n 1 "$scratch/$$.err")"
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
    all_runs | while read -r size workload machine option policy; do
        hash=$(hash_of "$size" "$workload" "$machine" "$option $policy" </dev/null)
        case $hash in failed*) echo "not recorded: $workload $machine $option $policy: $hash" >&2 ;; *)
            echo "$size $workload $machine $option $policy $hash" ;;
        esac
    done >"$scratch/list" && cp "$scratch/list" "$list"
    exit
fi

awk -v step="${GOLDEN_STEP:-41}" -v first="${GOLDEN_FIRST:-1}" 'NR % step == first % step || ($2 == "memc" && $3 == "c2050")' "$list" >"$scratch/part"
while read -r size workload machine option policy wanted; do
    got=$(hash_of "$size" "$workload" "$machine" "$option $policy" </dev/null)
    if [ "$got" = "$wanted" ]; then
        echo "ok $size $workload $machine $option $policy"
    else
        echo "FAILED $size $workload $machine $option $policy: $got, the list has $wanted"
    fi
done <"$scratch/part"
