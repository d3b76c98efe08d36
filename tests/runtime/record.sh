#!/bin/sh
# Makes the fat binaries of tests/runtime/recorded from the CUDA programs of tests/cuda: sh tests/runtime/record.sh, from the repository's root. They hold PTX, packed as nvcc packs
# it, and nothing of a host, so that a C compiler is enough to test how compiled programs start, on any processor.
# Uses nvcc: compiling the programs (that of CUDA 13).
set -eu
to=tests/runtime/recorded
mkdir -p "$to"
record() { # name, source, flags...
    name=$1 source=$2
    shift 2
    nvcc -std=c++17 -arch=compute_75 -fatbin "$@" "tests/cuda/$source.cu" -o "$to/$name.fatbin"
}

for name in launch_forms templates atomics warp_synchronous interleaved_warps constant_memory virtual_functions grid_sync resident_blocks units; do record "$name" "$name"; done
record units_second parts/units_second
for mode in none speed size; do record "compressed_$mode" compressed --compress-mode="$mode"; done
record compressed_debug compressed -G
for part in separate parts/separate_second parts/separate_third; do record "$(basename "$part")" "$part" -rdc=true; done
