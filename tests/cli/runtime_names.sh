#!/bin/sh
# Do the runtime libraries export every name that programs of their generation may ask for, under the version that they ask for, and nothing that is not CUDA's? Is the table of
# functions in docs/cuda.md the one that the sources give?
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
export LC_ALL=C

for version in 11.0 12 13; do
    library=$build/lib/libcudart.so.$version
    nm -D --defined-only "$library" | awk '$2 ~ /[TWi]/ { print $3 }' | sort >"$scratch/versioned"
    sed 's/@.*//' "$scratch/versioned" | sort -u >"$scratch/exported"
    sort "tests/cuda/names-$version.txt" tests/cuda/names-older.txt >"$scratch/names"
    comm -23 "$scratch/names" "$scratch/exported" >"$scratch/absent"
    expect "libcudart.so.$version exports all names" 0 '^$' sh -c "tr '\n' ' ' <'$scratch/absent'; echo; test ! -s '$scratch/absent'"
    expect "libcudart.so.$version: all bear its version" 1 '' grep -v "@@libcudart.so.$version\$" "$scratch/versioned"
    expect "libcudart.so.$version: all are CUDA's" 1 '' grep -Ev '^(__)?cuda[A-Z]' "$scratch/exported"
    expect "libcudart.so.$version: its soname" 0 "soname: \[libcudart.so.$version\]" readelf -d "$library"
done

sed -n '/^<!-- functions: made by/,/^<!-- functions: end/{ /^<!--/d; p; }' docs/cuda.md >"$scratch/page"
sh tests/cuda/function-table.sh "$build" >"$scratch/table"
expect 'docs/cuda.md has the table of functions' 0 '^\| .cudaMalloc. \| works \|' cat "$scratch/page"
expect 'the table is up to date (sh tests/cuda/function-table.sh BUILD --write)' 0 '' diff "$scratch/page" "$scratch/table"
expect 'nothing is absent' 1 '' grep '| absent |' "$scratch/table"
