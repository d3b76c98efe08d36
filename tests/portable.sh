#!/bin/sh
# A build for another processor gives the same results, to the last counter:
#   sh tests/portable.sh BUILD OTHER     (make portable)
# OTHER is a build for x86-64 on an arm64 host, and the other way round; qemu-user runs it. Every workload on two
# machines, all vectors recorded on silicon, and random kernels.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
other=$2
case $(uname -m) in
aarch64) emulator=qemu-x86_64 ;;
*) emulator=qemu-aarch64 ;;
esac
json_hash=$build/tests/cli/json_hash
export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}"

hash_with() { # OPTIONS COMMAND...
    options=$1
    shift
    rm -f "$scratch/one.json"
    HEDDLE_OPTIONS="--quiet $options --stats $scratch/one.json" "$@" >"$scratch/one.out" 2>&1
    "$json_hash" "$scratch/one.json" || tail -n 3 "$scratch/one.out"
}

same() { # WORKLOAD MACHINE
    here=$(LD_LIBRARY_PATH=$build/lib hash_with "-m $2" "$build/workloads/$1" --size test)
    there=$(hash_with "-m $2" "$emulator" -E "LD_LIBRARY_PATH=$other/lib" "$other/workloads/$1" --size test)
    case $here in ????????????????) ;; *) echo "$here" && return 1 ;; esac
    [ "$here" = "$there" ] || { echo "$there, here $here" && return 1; }
}

expect 'the other build runs' 2 'usage' "$emulator" "$other/tests/vectors"
for workload in $(paper_workloads) $(today_workloads); do
    for machine in gtx480 h200; do is "$workload $machine" same "$workload" "$machine"; done
done
expect 'vectors of silicon' 0 ' 0 failed' "$emulator" -E "LD_LIBRARY_PATH=$other/lib" "$other/tests/vectors" check \
    tests/semantics/spec tests/semantics/vectors
expect 'random kernels' 0 '' "$emulator" -E "LD_LIBRARY_PATH=$other/lib" -E HEDDLE_OPTIONS=--functional \
    "$other/tests/random" check 0 200 tests/random/recorded.txt
