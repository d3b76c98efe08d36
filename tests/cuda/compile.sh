#!/bin/sh
# Compiles one variant of a CUDA program of this folder: sh tests/cuda/compile.sh PROGRAM.cu NUMBER OUTPUT, from the repository's root. The lines '// nvcc: FLAGS' of a source
# are its variants, '// parts: FILES' are linked to it, and '// library: FILE' is made the shared library OUTPUT.so. What the compiler says is kept in OUTPUT.log.
set -u
source=$1 number=$2 output=$3
folder=$(dirname "$source")
values() { sed -n "s|^// $1: *||p" "$source"; }

flags=$(sed -n 's|^// nvcc:||p' "$source" | sed -n "${number}p")
parts=
for part in $(values parts); do parts="$parts $folder/$part"; done
mkdir -p "$(dirname "$output")"
# shellcheck disable=SC2086 # flags and parts are words
{
    for library in $(values library); do
        nvcc -cudart shared -shared -Xcompiler -fPIC $flags "$folder/$library" -o "$output.$$" && mv "$output.$$" "$output.so" || exit 1
    done
    nvcc -cudart shared -std=c++17 $flags "$source" $parts -o "$output.$$" -lpthread -ldl && mv "$output.$$" "$output"
} >"$output.log" 2>&1
