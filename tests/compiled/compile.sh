#!/bin/sh
# Compiles the kernels again: sh tests/compiled/compile.sh OUT [all] (OUT: an absolute path). Without `all` the builds
# that are committed in ptx/ are made; with it, many more, for a look beyond.
# Uses nvcc, clang-14, clang-19: compiling the kernels (nvcc is that of CUDA 13).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
nvcc=${NVCC:-nvcc}
mkdir -p "$out"
# Debug information names the folder of the sources: always the same one.
work=/tmp/heddle-compiled
mkdir -p "$work"
cp "$here"/*.cu "$here/../../workloads/common/device.h" "$work"
cd "$work"

build() { # source, build, options...
    source=$1
    name=$2
    shift 2
    "$nvcc" -ptx -w "$@" "$source.cu" -o "$out/$source.$name.ptx"
}
build_clang() { # version, target, PTX version
    "clang-$1" -x cuda -nocudainc -nocudalib --cuda-path=/nonexistent --cuda-device-only --cuda-gpu-arch="$2" -Xclang -target-feature \
        -Xclang "+$3" -O2 -S -ffp-contract=off plain.cu -o "$out/plain.clang$1-$2.ptx"
}

build_clang 14 sm_70 ptx64
build_clang 19 sm_80 ptx78
for source in math64 math32_approx half integer groups warp async tensor control cub_block; do
    build "$source" sm_80 -O3 -arch=compute_80
done
build math32 sm_75 -O3 -arch=compute_75
build shared sm_75 -O3 -arch=compute_75
build atomics sm_90 -O3 -arch=compute_90
build cluster sm_90 -O3 -arch=compute_90
build plain lineinfo-sm_90 -lineinfo -fmad=false -arch=compute_90
for source in link link_second; do
    build "$source" rdc-sm_75 -O3 -rdc=true -arch=compute_75
    build "$source" rdc-debug-sm_80 -G -rdc=true -arch=compute_80
done
[ "${2:-}" = all ] || exit 0

for source in math64 math64_more math32 math32_approx half integer groups warp atomics shared control cub_block plain tensor; do
    for target in 75 80 90; do
        build "$source" sm_$target -O3 -arch=compute_$target
    done
    build "$source" debug-sm_80 -G -arch=compute_80
    build "$source" plain-sm_80 -O0 -Xcicc -O0 -arch=compute_80
    build "$source" separate-sm_90 -fmad=false -lineinfo -arch=compute_90
done
for source in async cluster; do
    build "$source" debug-sm_90 -G -arch=compute_90
    build "$source" lineinfo-sm_90 -lineinfo -arch=compute_90
done
for target in 80 90; do
    for source in link link_second; do
        build "$source" rdc-debug-sm_$target -G -rdc=true -arch=compute_$target
        build "$source" rdc-sm_$target -O3 -rdc=true -arch=compute_$target
    done
done
build_clang 14 sm_60 ptx50
build_clang 19 sm_90 ptx80
