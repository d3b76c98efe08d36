#!/bin/sh
# Device properties: in the layout of each generation of CUDA, and what the machine file says.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

properties() { # LIBRARY SYMBOL OPTION...
    library=libcudart.so.$1 symbol=$2
    shift 2
    "$heddle" run --quiet "$@" --stats "$scratch/stats.json" "$build/tests/cli/properties" "$library" "$symbol"
}
key() { "$json_check" "$scratch/stats.json" "machine.$1"; }
is_equal() { # NAME FIELD VALUE
    got=$(sed -n "s/^$2 //p" "$out")
    if [ "$got" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: $2 is '$got', the machine says '$3'"; fi
}

for of in '11.0 cudaGetDeviceProperties' '12 cudaGetDeviceProperties' '12 cudaGetDeviceProperties_v2' '13 cudaGetDeviceProperties'; do
    # shellcheck disable=SC2086 # library and symbol
    is "$of: fields are in their places" properties $of --functional
    for machine in gtx480 ccws slp; do
        # shellcheck disable=SC2086
        is "$of: on $machine" properties $of -m "$machine"
        is_equal "$of: $machine: cores" multiProcessorCount "$(key cores)"
        is_equal "$of: $machine: warps" maxThreadsPerMultiProcessor "$(($(key core.warps) * 32))"
        is_equal "$of: $machine: blocks" maxBlocksPerMultiProcessor "$(key core.blocks)"
        is_equal "$of: $machine: registers" regsPerBlock "$(key core.registers)"
        is_equal "$of: $machine: shared memory" sharedMemPerMultiprocessor "$(key core.shared_bytes)"
        is_equal "$of: $machine: shared memory of a block" sharedMemPerBlock "$(key core.shared_bytes)"
        is_equal "$of: $machine: L2" l2CacheSize "$(($(key l2.sets) * $(key l2.ways) * $(key l2.line_bytes) * $(key l2.slices_per_channel) * $(key dram.channels)))"
        is_equal "$of: $machine: bus" memoryBusWidth "$(($(key dram.channels) * $(key dram.chips) * $(key dram.chip_bus_bytes) * 8))"
        case $of in
        13*) ;;
        *) is_equal "$of: $machine: clock" clockRate "$(($(key clock.core_mhz) * 1000))" ;;
        esac
    done
done
is 'the name, with time' properties 13 cudaGetDeviceProperties -m gtx480
is_equal 'the name says whose instructions and whose timing' name 'Heddle (sm_90, timed as gtx480)'
is 'the name, without time' properties 13 cudaGetDeviceProperties -m gtx480 --functional
is_equal 'the name, without time: no machine' name 'Heddle (sm_90, no timing)'
is 'a core for half a block' properties 13 cudaGetDeviceProperties -m gtx480 --set core.warps=16
is_equal 'a core for half a block: threads' maxThreadsPerBlock 512
is 'a block need not fit the core without time' properties 13 cudaGetDeviceProperties --functional --set core.warps=16 --set core.shared_bytes=16K
is_equal 'a block need not fit the core without time: threads' maxThreadsPerBlock 1024
is_equal 'a block need not fit the core without time: shared memory' sharedMemPerBlock 49152
