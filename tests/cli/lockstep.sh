#!/bin/sh
# Cores that run ahead of each other, and threads: the same results, to the last counter, as with --lockstep.
#   sh tests/cli/lockstep.sh BUILD          every workload, each on one of the machines; some random kernels
#   sh tests/cli/lockstep.sh BUILD all      every workload on all machines, 500 random kernels (make lockstep)
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
part=${2:-part}
export HEDDLE_ALWAYS_THREADS=1 # these runs are too short for threads to be tried much
json_hash=$build/tests/cli/json_hash
machines='gtx480 h200 gtx480-gs4 c2050 ccws slp'
case $build in /*) here='' ;; *) here=$PWD/ ;; esac
export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}"

hash_with() { # OPTIONS PROGRAM...
    options=$1
    shift
    rm -f "$scratch/one.json"
    HEDDLE_OPTIONS="--quiet $options --stats $scratch/one.json" LD_LIBRARY_PATH=$here$build/lib "$@" >"$scratch/one.out" 2>&1
    "$json_hash" "$scratch/one.json" || tail -n 3 "$scratch/one.out"
}

same() { # OPTIONS PROGRAM...
    options=$1
    shift
    wanted=$(hash_with "$options -j 1 --lockstep" "$@")
    case $wanted in ????????????????) ;; *) echo "$wanted" && return 1 ;; esac
    for threads in 1 2 3; do
        got=$(hash_with "$options -j $threads" "$@")
        [ "$got" = "$wanted" ] || { echo "-j $threads: $got, with --lockstep: $wanted" && return 1; }
    done
}

# Small machines: the few blocks of these kernels meet on each core.
random() { # MACHINE FIRST COUNT
    is "random kernels from $2, $3 of them, $1" same "-m $1 --set core.shared_bytes=96K --set machine.cores=3" \
        "$build/tests/random" check "$2" "$3" tests/random/recorded.txt
}

if [ "$part" = all ]; then
    for workload in $(paper_workloads) $(today_workloads); do
        for machine in $machines; do is "$workload $machine" same "-m $machine" "$build/workloads/$workload" --size test; done
    done
    for machine in gtx480 gtx480-gs4; do random $machine 0 250; done
    exit
fi

number=0
for workload in $(workloads); do
    number=$((number + 1))
    [ -z "${TEST_SHORT:-}" ] || [ $((number % 8)) = 1 ] || continue # sanitizers
    # shellcheck disable=SC2086 # names are words
    machine=$(set -- $machines && shift $((number % 6)) && echo "$1")
    is "$workload $machine" same "-m $machine" "$build/workloads/$workload" --size test
done

[ -n "${TEST_SHORT:-}" ] || random gtx480 0 20
