#!/bin/sh
# Builds the microbenchmarks for the GPU of this machine, runs them, and disassembles what was measured:
# sh bench/silicon/record.sh FOLDER, from the repository's root. Needs a C compiler and NVIDIA's driver; ptxas and
# nvdisasm for the disassembly. Leaves FOLDER/measured.tsv, and FOLDER/sass.txt: instructions between the two readings of
# the clock, by chain.
set -u
out=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
library=$(ldconfig -p | awk '/libcuda\.so\.1/ { print $NF; exit }')
"${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude -Ibench/silicon bench/silicon/*.c "$library" -o "$scratch/silicon" || exit 1
"$scratch/silicon" --memory "${SILICON_MEMORY:-68719476736}" >"$out/measured.tsv" || exit 1
command -v ptxas >/dev/null 2>&1 && command -v nvdisasm >/dev/null 2>&1 || exit 0
mkdir "$scratch/ptx"
"$scratch/silicon" --ptx "$scratch/ptx" || exit 1
for file in "$scratch"/ptx/*.ptx; do
    ptxas -arch=sm_90 "$file" -o "$scratch/one.cubin" || continue
    printf '%s\t' "$(basename "$file" .ptx)"
    nvdisasm -c "$scratch/one.cubin" | awk '
        !/^ *\/\*[0-9a-f]+\*\// { next }
        { line = $0; sub(/^ *\/\*[0-9a-f]+\*\/ */, "", line); sub(/^@!?U?P[0-9T]+ */, "", line); split(line, word, /[ ;]/) }
        /SR_CLOCK/ { readings++; next }
        readings == 1 { if (!count[word[1]]++) order[++kinds] = word[1] }
        END { for (i = 1; i <= kinds; i++) printf("%s%s %d", (i > 1 ? ", " : ""), order[i], count[order[i]]); print "" }'
done >"$out/sass.txt"
