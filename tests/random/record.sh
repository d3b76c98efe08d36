#!/bin/sh
# Records random kernels with several processes at once (compiling them is most of the work).
#   record.sh PROGRAM FIRST COUNT OUT [JOBS]
# Leaves OUT/recorded.txt, OUT/differ.txt (what was left out, and why), and OUT/part-N/full.bin (the outputs in full).
set -e
program=$1 first=$2 count=$3 out=$4 jobs=${5:-8}
each=$(((count + jobs - 1) / jobs))
mkdir -p "$out"
export CUDA_CACHE_DISABLE=1
job=0
pids=
while [ $job -lt "$jobs" ]; do
    from=$((job * each))
    number=$each
    [ $((from + number)) -le "$count" ] || number=$((count - from))
    [ $number -gt 0 ] || break
    "$program" record $((first + from)) $number "$out/part-$(printf %02d $job)" &
    pids="$pids $!"
    job=$((job + 1))
done
for pid in $pids; do
    wait "$pid"
done
cat "$out"/part-*/recorded.txt >"$out/recorded.txt"
cat "$out"/part-*/differ.txt >"$out/differ.txt"
wc -l "$out/recorded.txt" "$out/differ.txt"
