#!/bin/sh
# Uses nvcc: real cubins and fat binaries
# heddle inspect of what is GPU code but not PTX; tests/driver/images.c asks the same of the driver.
. tests/cli/lib.sh

# The header of an ELF file: its ABI, its machine, its flags, as printf takes them.
elf() {
    printf '\177ELF\002\001\001\101%b\000\000\000\000\000\000\000\002\000%b\001\000\000\000' "$1" "$2"
    head -c 24 /dev/zero
    printf '%b' "$3"
    head -c 12 /dev/zero
}

elf '\0010' '\0276\0000' '\0004\0120\0000\0006' >"$scratch/k.cubin"
expect 'a cubin' 3 'k.cubin: this is a cubin, machine code for sm_80; Heddle runs PTX' "$heddle" inspect "$scratch/k.cubin"
saw 'a cubin: NVRTC' 'compile with --gpu-architecture=compute_80 .*nvrtcGetPTX'
saw 'a cubin: nvcc' 'nvcc: use -ptx, or -fatbin -gencode arch=compute_80,code=compute_80'
expect 'a cubin from standard input' 3 '<stdin>: this is a cubin' sh -c "'$heddle' inspect - <'$scratch/k.cubin'"
printf '\355CN\177\001' >"$scratch/k.ltoir"
expect 'LTO IR' 3 'this is LTO IR' "$heddle" inspect "$scratch/k.ltoir"
printf '!<arch>\nk.o/' >"$scratch/k.a"
expect 'an archive' 1 'this is an archive of object files' "$heddle" inspect "$scratch/k.a"
printf '\001\002' >"$scratch/bytes"
expect 'bytes' 1 'it begins with the bytes 01 02$' "$heddle" inspect "$scratch/bytes"
elf '\0000' '\0076\0000' '\0000\0000\0000\0000' >"$scratch/host.o"
expect 'an object file of the host' 2 'host.o' "$heddle" inspect "$scratch/host.o"

if ! command -v nvcc >/dev/null 2>&1; then
    echo 'note no nvcc: real cubins and fat binaries were not tried'
    exit 0
fi
echo 'extern "C" __global__ void k(int *p) { *p = 3; }' >"$scratch/k.cu"
nvcc -cubin -arch=sm_86 -o "$scratch/nvcc.cubin" "$scratch/k.cu"
expect 'nvcc -cubin' 3 'a cubin, machine code for sm_86' "$heddle" inspect "$scratch/nvcc.cubin"
nvcc -fatbin -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
    -o "$scratch/code.fatbin" "$scratch/k.cu"
expect 'nvcc -fatbin, machine code' 3 'machine code .sm_80, sm_90. and no PTX' "$heddle" inspect "$scratch/code.fatbin"
nvcc -fatbin -dc -gencode arch=compute_80,code=lto_80 -o "$scratch/lto.fatbin" "$scratch/k.cu"
expect 'nvcc -fatbin, LTO IR' 3 'LTO IR .-dlto. and no PTX' "$heddle" inspect "$scratch/lto.fatbin"
nvcc -fatbin -gencode arch=compute_80,code=compute_80 -o "$scratch/ptx.fatbin" "$scratch/k.cu"
expect 'nvcc -fatbin, PTX' 0 '^k +kernel' "$heddle" inspect "$scratch/ptx.fatbin"
