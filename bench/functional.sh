#!/bin/sh
# Speed of functional mode, one thread: sh bench/functional.sh BUILD [SIZE], from the repository's root. Each workload,
# and each kernel of bench/spots.c that is about results alone, runs BENCH_RUNS times (default 3), the best counts. The
# table goes to standard error, JSON objects to standard output; exit status 1 when a workload is slower than its target
# in bench/targets, unless that is known (bench/judge.sh).
set -u
build=${1:-build}
size=${2:-small}
runs=${BENCH_RUNS:-3}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
one=$scratch/one.json
separator=

value() { sed -n "s/^ *\"$1\": \([0-9.e+]*\),*\$/\1/p" "$one" | tail -n 1; }

# NAME PROGRAM-AND-ARGUMENTS...
measure() {
    name=$1
    shift
    best=0 seconds=0 instructions=0
    i=0
    while [ "$i" -lt "$runs" ]; do
        i=$((i + 1))
        if ! "$build/bin/heddle" run --functional --quiet --stats - "$@" >"$one" 2>/dev/null; then
            echo "bench: $name failed" >&2
            exit 1
        fi
        rate=$(value kwips)
        if [ "$(awk "BEGIN { print ($rate > $best) }")" = 1 ]; then
            best=$rate seconds=$(value launch_seconds) instructions=$(value warp_instructions)
        fi
    done
    target=$(awk -v name="$name" '$1 == name { print $2 }' bench/targets)
    printf '%-14s %18s %10.3f %10.0f %10s\n' "$name" "$instructions" "$seconds" "$best" "${target:--}" >&2
    printf '%s\n    {"name": "%s", "warp_instructions": %s, "launch_seconds": %s, "kwips": %s, "target_kwips": %s}' "$separator" "$name" "$instructions" \
        "$seconds" "$best" "${target:-null}"
    separator=,
    echo "$name $best ${target:--}" >>"$scratch/measured"
}

printf '%-14s %18s %10s %10s %10s\n' workload 'warp instructions' seconds kWI/s target >&2
for source in workloads/*/*.cu; do
    name=$(basename "$source" .cu)
    measure "$name" --size "$size" "$name"
done
for name in tex-linear tex-float4 tex-bytes tex-point directed directed-div; do # bench/spots.c
    measure "$name" "$build/bench/spots" "$name" bench
done
echo
sh bench/judge.sh functional "$scratch/measured" >&2
