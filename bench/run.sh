#!/bin/sh
# Speed, in thousand warp instructions per second (kWI/s), of functional mode and with time modelled: sh bench/run.sh BUILD [SIZE], from the repository's root. SIZE is that of the
# functional part; the other has its kernels in bench/kernels. Writes BUILD/bench.json. Exit status 1 when anything is slower than its target,
# unless that is known (bench/known-misses).
set -u
build=${1:-build}
size=${2:-small}
status=0
json=$build/bench.json

echo "functional mode, --size $size, one thread"
{
    printf '{\n  "size": "%s",\n  "workloads": [' "$size"
    sh bench/functional.sh "$build" "$size" || status=1
    printf '  ],\n  "timed": ['
} >"$json"
printf '\nwith time: machine gtx480, scheduler gto, one thread\n'
{
    sh bench/timed.sh "$build" || status=1
    printf '  ]\n}\n'
} >>"$json"
exit "$status"
