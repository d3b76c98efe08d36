#!/bin/sh
# Programs of the runtime API: what doctor says of them, what run refuses and with which words, and that Heddle's libraries are the ones that are found.
# Uses nvcc: the static runtime, and machine code, in programs as it links them.
. tests/cli/lib.sh

programs=$build/tests/runtime/13
cc=${CC:-cc}
# Into a program without sanitizers, libraries with them do not come.
sanitized() { grep -q __asan_init "$build/bin/heddle"; }

expect 'doctor: a program of the runtime' 0 'Nothing stands in the way' "$heddle" doctor "$programs/launches"
saw 'doctor: its CUDA version' 'CUDA runtime: libcudart.so.13, of CUDA 13'
saw 'doctor: its kernels' 'kernels: fill, fill'
saw 'doctor: its functions' 'CUDA functions: [0-9]+ imported, all there'
expect 'doctor: an instruction that is not there' 3 'not supported: wgmma.fence' "$heddle" doctor "$programs/images"
expect 'doctor: CUDA 11' 0 'CUDA runtime: libcudart.so.11.0, of CUDA 11' "$heddle" doctor "$build/tests/runtime/11.0/launches"
expect 'doctor: a function that refuses' 3 'cudaGraphicsUnmapResources is called, which Heddle answers with cudaErrorNotSupported' "$heddle" doctor "$programs/missing"

is 'run: functional' "$heddle" run --functional --quiet "$programs/launches"
is 'run: with time' "$heddle" run --quiet "$programs/launches"
# Without --stats, launches are added up while the program runs; the summary is the same.
"$heddle" run --stats "$scratch/each.json" "$programs/launches" 2>&1 | grep -E '^ +fill +[0-9]' >"$scratch/each"
"$heddle" run "$programs/launches" 2>&1 | grep -E '^ +fill +[0-9]' >"$scratch/merged"
is 'run: the summary of launches added up' grep -Eq '^ +fill +([2-9]|[0-9][0-9]) ' "$scratch/merged"
is 'run: the same as that of each' cmp "$scratch/each" "$scratch/merged"

expect 'run: a kernel that does something illegal' 5 'write of 4 bytes at 0x10: a null pointer' "$heddle" run --functional --quiet "$programs/faults"
expect 'run: a function that refuses' 3 'cudaGraphicsUnmapResources is not supported; it was called from .*missing' "$heddle" run --functional --quiet "$programs/missing"
if [ "$(grep -c 'cudaGraphicsUnmapResources is not supported' "$out")" = 1 ]; then echo 'ok run: it is said once'; else echo 'FAILED run: it is said once'; fi

expect 'run: a kernel that cannot run, in a program that does not look' 3 'not supported: wgmma.fence' "$heddle" run --functional --quiet "$programs/ignores_errors"

# Libraries as a program may find them elsewhere: made here, with nothing inside.
if ! command -v "$cc" >/dev/null; then
    echo 'note no C compiler: programs with libraries of their own are not tried'
    exit
fi
elsewhere=$scratch/elsewhere
mkdir "$elsewhere" "$scratch/own"
empty_library() { # soname, version node, function
    printf 'int %s(void);\nint %s(void) { return 77; }\n' "$3" "$3" >"$scratch/lib.c"
    printf '%s { global: *; };\n' "$2" >"$scratch/lib.map"
    "$cc" -shared -fPIC "$scratch/lib.c" -Wl,-soname,"$1" -Wl,--version-script="$scratch/lib.map" -o "$elsewhere/$1"
}
program_calling() { # name, function, linker options
    printf 'int %s(void);\nint main(void) { return %s(); }\n' "$2" "$2" >"$scratch/main.c"
    name=$1
    shift 2
    "$cc" "$scratch/main.c" "$@" -o "$scratch/$name"
}

empty_library libcudart.so.13 libcudart.so.13 cudaNotYetInvented
program_calling absent cudaNotYetInvented "$elsewhere/libcudart.so.13"
expect 'run: a function that is absent' 3 "calls cudaNotYetInvented, which Heddle's CUDA runtime does not have" "$heddle" run --functional "$scratch/absent"
expect 'doctor: a function that is absent' 3 "cudaNotYetInvented is called, which Heddle's CUDA runtime does not have" "$heddle" doctor "$scratch/absent"

empty_library libcudart.so.10.2 libcudart.so.10.2 cudaDeviceSynchronize
program_calling old cudaDeviceSynchronize "$elsewhere/libcudart.so.10.2"
expect 'run: a runtime that is too old' 3 'needs libcudart.so.10.2, the runtime of a CUDA that Heddle does not know' "$heddle" run --functional "$scratch/old"

empty_library libcublas.so.13 libcublas.so.13 cublasCreate_v2
program_calling closed cublasCreate_v2 "$elsewhere/libcublas.so.13"
expect 'run: a closed library' 3 'needs cuBLAS \(libcublas.so.13\), a closed library' "$heddle" run --functional "$scratch/closed"
expect 'doctor: a closed library' 3 'cuBLAS \(libcublas.so.13\) is needed' "$heddle" doctor "$scratch/closed"
saw 'doctor: a closed library, what is called' 'asked for cublasCreate_v2'
program_calling linked getpid -Wl,--no-as-needed "$elsewhere/libcublas.so.13" -Wl,-rpath,"$elsewhere"
sanitized || expect 'run: a closed library that is linked and not called' 1 'never initialised CUDA' "$heddle" run --functional "$scratch/linked"
expect 'doctor: a closed library that is linked and not called' 0 'note +linked with cuBLAS \(libcublas.so.13\)' "$heddle" doctor "$scratch/linked"
empty_library libcurand.so.10 libcurand.so.10 curandGetDirectionVectors32
program_calling tables curandGetDirectionVectors32 "$elsewhere/libcurand.so.10" -Wl,-rpath,"$elsewhere"
sanitized || expect 'run: tables of a closed library' 1 'never initialised CUDA' "$heddle" run --functional "$scratch/tables"
empty_library libcurand.so.10 libcurand.so.10 curandCreateGenerator
program_calling generator curandCreateGenerator "$elsewhere/libcurand.so.10"
expect 'run: a generator of a closed library' 3 'it calls curandCreateGenerator' "$heddle" run --functional "$scratch/generator"

# A library of the program's own that needs a closed one, and one with a function that only looks like CUDA's.
printf 'int cublasCreate_v2(void);\nint cudaOfMyOwn(void);\nint cudaOfMyOwn(void) { return cublasCreate_v2() != 77; }\n' >"$scratch/own.c"
"$cc" -shared -fPIC "$scratch/own.c" -Wl,-soname,libown.so "$elsewhere/libcublas.so.13" -o "$scratch/own/libown.so"
# shellcheck disable=SC2016 # for the loader
program_calling behind cudaOfMyOwn "$scratch/own/libown.so" -Wl,-rpath,'$ORIGIN/own' -Wl,-rpath-link,"$elsewhere"
expect 'run: a closed library behind one of its own' 3 'libown.so needs cuBLAS' "$heddle" run --functional "$scratch/behind"
printf 'int cudaOfMyOwn(void);\nint cudaOfMyOwn(void) { return 0; }\n' >"$scratch/own.c"
"$cc" -shared -fPIC "$scratch/own.c" -Wl,-soname,libown.so -o "$scratch/own/libown.so"
expect 'run: a function that looks like CUDA' 0 '' "$heddle" run --functional "$scratch/behind"

# DT_RPATH goes before LD_LIBRARY_PATH: the library that it leads to must not be the one that answers.
empty_library libcudart.so.13 libcudart.so.13 cudaDeviceSynchronize
program_calling rpath cudaDeviceSynchronize "$elsewhere/libcudart.so.13" -Wl,--disable-new-dtags -Wl,-rpath,"$elsewhere"
if sanitized; then
    echo 'note a build with sanitizers: a search path inside a program is not tried'
else
    expect 'run: a search path inside the program' 0 '' "$heddle" run --functional --quiet "$scratch/rpath"
fi
"$scratch/rpath"
if [ $? = 77 ]; then echo 'ok run: without Heddle the other library answers'; else echo 'FAILED run: without Heddle the other library answers'; fi

# The same of real programs.
if ! command -v nvcc >/dev/null; then
    echo 'note no nvcc: static runtime and machine code are tried with stand-ins alone'
    exit
fi
cat >"$scratch/tiny.cu" <<'END'
#include <cstdio>
__global__ void tiny(int *p) { *p = 42; }
int main()
{
    int *p, got = 0;
    cudaMalloc(&p, sizeof *p);
    tiny<<<1, 1>>>(p);
    cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost);
    std::printf("%d %s\n", got, cudaGetErrorName(cudaGetLastError()));
    return got != 42;
}
END
tiny() { nvcc "$@" "$scratch/tiny.cu" -o "$scratch/tiny"; }
tiny -cudart shared
sanitized || expect 'nvcc: run' 0 '^42 cudaSuccess' "$heddle" run --functional --quiet "$scratch/tiny"
tiny
expect 'nvcc: static runtime' 3 "holds a static copy of the CUDA runtime.*" "$heddle" run --functional --quiet "$scratch/tiny"
saw 'nvcc: static runtime, the remedy' 'nvcc -cudart shared'
printf '#include <cuda_runtime.h>\nint main() { void *p; return cudaMalloc(&p, 64); }\n' >"$scratch/host.cpp"
nvcc -cudart shared "$scratch/host.cpp" -o "$scratch/host"
sanitized || expect 'nvcc: host code alone' 0 'no kernel was launched' "$heddle" run --functional "$scratch/host"
expect 'nvcc: host code alone, doctor' 0 'Nothing stands in the way' "$heddle" doctor "$scratch/host"
tiny -cudart shared -gencode arch=compute_75,code=sm_75
expect 'nvcc: machine code only' 3 'holds GPU machine code only and no PTX' "$heddle" run --functional --quiet "$scratch/tiny"
saw 'nvcc: machine code only, the remedy' 'code=compute_75'
"$heddle" doctor "$scratch/tiny" >"$out" 2>&1
saw 'nvcc: machine code only, doctor' 'holds GPU machine code only and no PTX'
