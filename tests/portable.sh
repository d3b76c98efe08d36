#!/bin/sh
# A build for another processor gives the same results, to the last counter:
#   sh tests/portable.sh BUILD OTHER     (make portable)
# OTHER is a build for x86-64 on an arm64 host, and the other way round; qemu-user runs it. Every workload on two
# machines, all vectors recorded on silicon, and random kernels. A build for x86-64 has its libraries twice: where it is
# emulated, with the processor that the loader takes the wide ones for, and with one that has nothing but SSE.
# Uses qemu-x86_64, qemu-aarch64: running programs of the other architecture (one of the two).
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
other=$2
case $(uname -m) in
aarch64) emulator='qemu-x86_64 -cpu max' plain='qemu-x86_64 -cpu Nehalem' built_for='x86-64-v3 x86-64' ;;
*) emulator=qemu-aarch64 plain='' built_for=aarch64 ;;
esac
json_hash=$build/tests/cli/json_hash
if ! command -v "${emulator%% *}" >/dev/null 2>&1; then
    echo "FAILED the other architecture cannot be run: ${emulator%% *} is not installed (apt-get install qemu-user)"
    exit 1
fi

hash_with() { # OPTIONS COMMAND...
    options=$1
    shift
    rm -f "$scratch/one.json"
    HEDDLE_OPTIONS="--quiet $options --stats $scratch/one.json" "$@" >"$scratch/one.out" 2>&1
    "$json_hash" "$scratch/one.json" || tail -n 3 "$scratch/one.out"
}

same() { # WORKLOAD MACHINE EMULATOR...
    workload=$1 machine=$2
    shift 2
    here=$(LD_LIBRARY_PATH=$build/lib hash_with "-m $machine" "$build/workloads/$workload" --size test)
    there=$(hash_with "-m $machine" "$@" -E "LD_LIBRARY_PATH=$other/lib" "$other/workloads/$workload" --size test)
    case $here in ????????????????) ;; *) echo "$here" && return 1 ;; esac
    [ "$here" = "$there" ] || { echo "$there, here $here" && return 1; }
}

libraries() { # what the loader takes: one line a processor
    for cpu in "$emulator" "$plain"; do
        [ -n "$cpu" ] || continue
        HEDDLE_OPTIONS="--functional --stats $scratch/one.json" $cpu -E "LD_LIBRARY_PATH=$other/lib" \
            "$other/workloads/vectoradd" --size test >"$scratch/one.out" 2>&1 || return 1
        "$json_check" "$scratch/one.json" host.built_for
    done | tr -d '"' | paste -s -d ' ' -
}

# shellcheck disable=SC2086 # an emulator is a command with options
{
    expect 'the other build runs' 2 'usage' $emulator "$other/tests/vectors"
    is 'the library for this processor' test "$(libraries)" = "$built_for"
    for workload in $(paper_workloads) $(today_workloads); do
        for machine in gtx480 h200; do is "$workload $machine" same "$workload" "$machine" $emulator; done
        [ -z "$plain" ] || is "$workload plain" same "$workload" gtx480 $plain
    done
    for cpu in "$emulator" "$plain"; do
        [ -n "$cpu" ] || continue
        expect "vectors of silicon, $cpu" 0 ' 0 failed' $cpu -E "LD_LIBRARY_PATH=$other/lib" "$other/tests/vectors" check \
            tests/semantics/spec tests/semantics/vectors
        expect "random kernels, $cpu" 0 '' $cpu -E "LD_LIBRARY_PATH=$other/lib" -E HEDDLE_OPTIONS=--functional \
            "$other/tests/random" check 0 200 tests/random/recorded.txt
    done
}
