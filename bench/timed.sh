#!/bin/sh
# Speed with time modelled, one thread (or BENCH_THREADS), machine gtx480 where bench/kernels names no other, there scheduler gto (or BENCH_SCHEDULER): sh bench/timed.sh BUILD, from the repository's root. The kernels are in bench/kernels. Each runs BENCH_RUNS
# times (default 3; 0: callgrind alone), the best counts. The table goes to standard error, JSON objects to standard output; exit status 1 when a kernel is slower than its target,
# unless that is known (bench/judge.sh).
#
# Seconds depend on the machine and on who else uses it. Host instructions for one simulated warp instruction do not: callgrind counts them inside launches, over the first cycles of the
# kernel. bench/baselines/ has what they were, a file for what a library is built for (host.built_for of a result); a difference of more than 5% is marked. BENCH_CALLGRIND=0 leaves
# them out, BENCH_BASELINE=COMPILER writes that file anew.
# Uses valgrind: counting host instructions.
set -u
build=${1:-build}
runs=${BENCH_RUNS:-3}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
separator=
baseline=
callgrind=0
if [ "${BENCH_CALLGRIND:-1}" != 0 ] && command -v valgrind >/dev/null 2>&1; then callgrind=1; fi

# The last of that name in the file: kernels come before the total.
value() { sed -n "s/^ *\"$2\": \([0-9.e+]*\),*\$/\1/p" "$1" | tail -n 1; }
# `cycles` stands also in objects of their own; the total's is the last with four blanks before it.
total() { sed -n "s/^    \"$2\": \([0-9.e+]*\),*\$/\1/p" "$1" | tail -n 1; }
built_for() { sed -n 's/^ *"built_for": "\(.*\)",*$/\1/p' "$1"; }
is_less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

run_once() { # MORE_OPTIONS PREFIX...: the kernel at hand with Heddle's library in front of it
    options=$1
    shift
    rm -f "$scratch/one.json" "$scratch/callgrind" # of the kernel before
    # shellcheck disable=SC2086 # the command is words
    LD_LIBRARY_PATH="$build/lib" HEDDLE_OPTIONS="$machine -j ${BENCH_THREADS:-1} --stats $scratch/one.json $options" "$@" $command >"$scratch/out" 2>&1
}

best_of_runs() {
    best=0 cycles=0 instructions=0 seconds=0
    i=0
    while [ "$i" -lt "$runs" ]; do
        i=$((i + 1))
        if ! run_once '' env; then
            echo "bench: $name failed" >&2
            tail -n 5 "$scratch/out" >&2
            exit 1
        fi
        rate=$(value "$scratch/one.json" kwips)
        if is_less "$best" "$rate"; then
            best=$rate seconds=$(value "$scratch/one.json" launch_seconds)
            cycles=$(total "$scratch/one.json" cycles) instructions=$(total "$scratch/one.json" warp_instructions)
        fi
    done
}

# On x86-64 callgrind counts an instruction with a repeat prefix once for every byte: memory is cleared and copied without.
no_rep=glibc.cpu.x86_rep_stosb_threshold=0x7fffffff:glibc.cpu.x86_rep_movsb_threshold=0x7fffffff
# Host instructions per warp instruction, or nothing. Collected from the driver's launch call on: callgrind loses track of calls further inside on some hosts, and what it then
# collects is next to nothing, which is not taken for a result.
count_host_instructions() {
    host='' change='' mark=''
    [ "$callgrind" = 1 ] || return
    run_once "--max-cycles $limit" env GLIBC_TUNABLES="$no_rep" valgrind --tool=callgrind --callgrind-out-file="$scratch/callgrind" --collect-atstart=no --toggle-collect=cuLaunchKernel
    counted=$(sed -n 's/^summary: //p' "$scratch/callgrind" 2>/dev/null)
    short=$(total "$scratch/one.json" warp_instructions 2>/dev/null)
    [ "${counted:-0}" != 0 ] && [ "${short:-0}" != 0 ] || return
    host=$(awk -v a="$counted" -v b="$short" 'BEGIN { printf "%.0f", a / b }')
    if [ "$host" -lt 100 ]; then
        host=
        return
    fi
    baseline=bench/baselines/$(built_for "$scratch/one.json")
    printf '%-12s %s\n' "$name" "$host" >>"$scratch/counted"
    [ -e "$baseline" ] || return
    before=$(awk -v name="$name" '$1 == name { print $2 }' "$baseline")
    [ -n "$before" ] || return
    change=$(awk -v a="$host" -v b="$before" 'BEGIN { printf "%+.1f%%", 100 * (a - b) / b }')
    if awk -v a="$host" -v b="$before" 'BEGIN { d = (a - b) / b; exit !(d > 0.05 || d < -0.05) }'; then mark=' !'; fi
}

printf '%-12s %12s %18s %9s %9s %7s %14s %10s\n' kernel cycles 'warp instructions' seconds kWI/s target 'host instr./WI' baseline >&2
grep -v '^#' bench/kernels >"$scratch/kernels"
while read -r name target limit command <&3; do
    # shellcheck disable=SC2001 # a word in the middle of words
    command=$(echo "$command" | sed "s|BUILD|$build|g")
    case $name in
    *@*) machine="-m ${name#*@}" ;; # with its own scheduler
    *) machine="-m gtx480 -s ${BENCH_SCHEDULER:-gto}" ;;
    esac
    best_of_runs
    count_host_instructions
    printf '%-12s %12s %18s %9.3f %9.0f %7s %14s %10s%s\n' "$name" "$cycles" "$instructions" "$seconds" "$best" "$target" "${host:--}" "${change:--}" "$mark" >&2
    echo "$name $best $target" >>"$scratch/measured"
    [ "$target" != - ] || target=null
    printf '%s\n    {"name": "%s", "cycles": %s, "warp_instructions": %s, "launch_seconds": %s, "kwips": %s, "target_kwips": %s, "host_instructions_per_warp_instruction": %s}' \
        "$separator" "$name" "$cycles" "$instructions" "$seconds" "$best" "$target" "${host:-null}"
    separator=,
done 3<"$scratch/kernels"
echo
[ "$callgrind" = 1 ] || echo 'host instructions were not counted: that needs valgrind, and BENCH_CALLGRIND not 0' >&2
if [ -n "${BENCH_BASELINE:-}" ] && [ -s "$scratch/counted" ]; then
    {
        echo '# Host instructions for one simulated warp instruction, by callgrind over the first cycles of each kernel (bench/kernels). make bench compares with these;'
        echo '# make bench-baseline writes the file anew, in a commit that says what made them change.'
        echo "# Built by $BENCH_BASELINE, for ${baseline##*/}."
        cat "$scratch/counted"
    } >"$baseline"
elif [ "$callgrind" = 1 ] && [ ! -e "${baseline:-}" ]; then
    echo "host instructions have nothing to be compared with: ${baseline:-none were counted}" >&2
fi
[ "$runs" = 0 ] || sh bench/judge.sh timed "$scratch/measured" >&2
