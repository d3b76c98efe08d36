#!/bin/sh
# Runs all tests of a build: sh tests/run.sh BUILD, from the repository's root. Failures are shown with what was printed; the last line is
# 'N passed, N failed', and the exit status is 1 when something failed.
#
# TEST_WORKLOADS=few: of what is asked of every workload, a part (tests/cli/lib.sh). TEST_SKIP: command-line tests to leave
# out, by name. TEST_LAB=0: no daemons, no browser. TEST_SLOW_SECONDS: what takes longer is shown with its seconds.
set -u
build=${1:-build}
limit=${TEST_LIMIT_SECONDS:-900}
slow=${TEST_SLOW_SECONDS:-10}
passed=0
failed=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac # a build elsewhere does not find them by itself
# A build with sanitizers is some ten times slower: what is repeated for other numbers, not for other code, is shorter there.
if grep -q __asan_init "$build/bin/heddle" 2>/dev/null; then export TEST_SHORT=1 TEST_WORKLOADS="${TEST_WORKLOADS:-few}"; fi

group() { printf '%s\n' "== $1"; }
began=$(date +%s)
one() { # passed or failed: counts of one program
    passed=$((passed + $2))
    failed=$((failed + $3))
    ended=$(date +%s)
    took='' counts="$2 passed"
    if [ "$3" != 0 ]; then counts="$counts, $3 FAILED"; fi
    if [ $((ended - began)) -ge "$slow" ]; then took=", $((ended - began)) s"; fi
    began=$ended
    printf '%-32s %s%s\n' "$1" "$counts" "$took"
}
show_log() { sed 's/^/    | /' "$log" | tail -n "${1:-60}"; }

# A program with cmocka, perhaps with several groups of tests.
run_cmocka() {
    name=$(basename "$1")
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1" timeout "$limit" "$1" >"$log" 2>&1
    status=$?
    good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    if [ "$bad" = 0 ] && [ "$status" != 0 ]; then bad=1; fi
    if [ "$good" = 0 ] && [ "$bad" = 0 ]; then bad=1; fi # a test program without tests
    one "$name" "$good" "$bad"
    if [ "$bad" != 0 ]; then
        [ "$status" -lt 124 ] || echo "    exit status $status"
        grep -v '^\[ RUN      \]\|^\[       OK \]' "$log" >"$log.short"
        mv "$log.short" "$log"
        show_log
    fi
}

# A program that is one test.
run_plain() { # name, command...
    name=$1
    shift
    if timeout "$limit" "$@" >"$log" 2>&1; then
        one "$name" 1 0
    else
        status=$?
        one "$name" 0 1
        echo "    exit status $status"
        show_log
    fi
}

# A program whose last line is 'N passed, N failed'.
run_counted() {
    name=$1
    shift
    timeout "$limit" "$@" >"$log" 2>&1
    count_log "$name" $?
}
count_log() { # name, exit status
    last=$(tail -n 1 "$log")
    good=$(echo "$last" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed.*/\1/p')
    bad=$(echo "$last" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed.*/\1/p')
    if [ "${bad:-0}" = 0 ] && [ "$2" != 0 ]; then bad=1; fi
    one "$1" "${good:-0}" "${bad:-1}"
    sed -n 's/^note /    note: /p' "$log"
    [ "${bad:-1}" = 0 ] || show_log
}

run_cli() {
    case " ${TEST_SKIP:-} " in *" $(basename "$1" .sh) "*) return ;; esac
    timeout "$limit" sh "$1" "$build" >"$log" 2>&1
    status=$?
    good=$(grep -c '^ok ' "$log")
    bad=$(grep -c '^FAILED ' "$log")
    if [ "$bad" = 0 ] && [ "$status" != 0 ]; then bad=1; fi
    one "$(basename "$1" .sh)" "$good" "$bad"
    sed -n 's/^note /    note: /p' "$log"
    if [ "$bad" != 0 ]; then
        grep -v '^ok ' "$log" >"$log.short"
        mv "$log.short" "$log"
        show_log 200
    fi
}

group 'rooms: does every include and every call run downward'
run_plain rooms sh tests/rooms.sh "$build"

group 'unit: does each module do what it says'
for test in tests/unit/test_*.c; do
    [ -e "$test" ] && run_cmocka "$build/tests/$(basename "$test" .c)"
done

# What an instruction does is asked of functional mode; that time changes nothing of it, of a part, further down.
group 'driver: programs against cuda.h'
for test in tests/driver/*.c; do
    [ -e "$test" ] && run_plain "$(basename "$test" .c)" env HEDDLE_OPTIONS=--functional "$build/tests/driver/$(basename "$test" .c)"
done

group 'runtime: the library of each generation of CUDA'
for version in 11.0 12 13; do
    for test in tests/runtime/*.c; do
        name=$(basename "$test" .c)
        case $name in missing | ignores_errors) continue ;; esac # of the command-line tests
        run_plain "$name, libcudart.so.$version" env HEDDLE_OPTIONS='--functional --quiet' "$build/tests/runtime/$version/$name"
    done
done

group 'cuda: programs of our own, as nvcc compiles them'
run_cli tests/cuda/run.sh

group 'semantics: is each PTX instruction right, against vectors recorded from silicon'
if ls tests/semantics/vectors/*.vec >/dev/null 2>&1; then
    run_counted vectors env HEDDLE_OPTIONS=--functional "$build/tests/vectors" check tests/semantics/spec tests/semantics/vectors
    run_plain 'every instruction has a vector' "$build/tests/vectors" table src/ptx/instructions.def tests/semantics/spec tests/semantics/vectors
else
    echo 'no recorded vectors in tests/semantics/vectors' >"$log"
    one vectors 0 1
    show_log
fi

group 'random: kernels made from seeds, against what silicon gave'
run_counted random env HEDDLE_OPTIONS=--functional "$build/tests/random" check 0 5000 tests/random/recorded.txt
run_counted 'random, without warp-wide instructions' env HEDDLE_OPTIONS=--functional "$build/tests/random" check 1000000 5000 tests/random/recorded.txt
run_counted 'random, blocks in lockstep' env HEDDLE_OPTIONS='--functional --probe compaction' "$build/tests/random" check 0 1000 tests/random/recorded.txt

group 'compiled: kernels in CUDA C++ through nvcc and clang, against outputs recorded from silicon'
run_counted compiled env HEDDLE_OPTIONS=--functional "$build/tests/compiled" check tests/compiled/recorded.txt tests/compiled/ptx

group 'workloads: functional mode, results against their references'
for source in workloads/*/*.cu; do
    name=$(basename "$source" .cu)
    run_plain "$name" "$build/bin/heddle" run --functional --quiet --size test "$name"
done
original() { run_plain "kmeans original, $*" "$build/bin/heddle" run --quiet --size test "$@" kmeans --original 1; }
original --functional
original -m gtx480
original -m ccws
run_plain 'sortnw odd-even' "$build/bin/heddle" run --functional --quiet --size test sortnw --odd-even 1

group 'with time: the same memory contents'
with_time='--set core.shared_bytes=96K' # one of the programs asks for more than a GTX 480 has
for test in tests/driver/*.c; do
    [ -e "$test" ] && run_plain "$(basename "$test" .c)" env HEDDLE_OPTIONS="$with_time" "$build/tests/driver/$(basename "$test" .c)"
done
seeds=2000 dual_seeds=300
if [ "${TEST_WORKLOADS:-all}" = few ]; then seeds=500; fi
if [ -n "${TEST_SHORT:-}" ]; then seeds=150 dual_seeds=60; fi
run_counted random env HEDDLE_OPTIONS="$with_time" "$build/tests/random" check 0 "$seeds" tests/random/recorded.txt
run_counted 'random, two instructions a pick' env HEDDLE_OPTIONS="$with_time --set issue.instructions_per_warp=2" "$build/tests/random" check 0 "$dual_seeds" tests/random/recorded.txt
# Clusters of blocks have no timing model: their kernels are refused, which is not counted.
compiled_with_time() {
    HEDDLE_OPTIONS="$with_time" timeout "$limit" "$build/tests/compiled" check tests/compiled/recorded.txt tests/compiled/ptx 2>&1 | awk '
        /^FAILED .* cluster_/ && refused { known++; refused = 0; next }
        /clusters of thread blocks have no timing model/ { refused = 1 }
        /^[0-9]+ passed, [0-9]+ failed/ { bad = $3 - known; printf "%d passed, %d failed\n", $1, bad; done = 1; next }
        { print }
        END { exit !done || bad > 0 }'
}
compiled_with_time >"$log"
count_log compiled $?

# Divergence units that mix the warps of a block refuse most of the first kernels, for what those do as warps, and run all
# of the others (seeds from 1000000 on). The last number: how many must pass, so that a refusal too many is seen.
group 'with time, warps mixed by a divergence unit: the same memory contents'
mixed='-m slp --set core.shared_bytes=96K --set core.registers=64K' # so that every kernel fits a core
random_mixed() { # unit, first seed, seeds, how many must pass
    HEDDLE_OPTIONS="$mixed --divergence $1" timeout "$limit" "$build/tests/random" mixed "$2" "$3" tests/random/recorded.txt "$4" >"$log.out" 2>"$log.err"
    status=$?
    { sed '/has no meaning where divergence unit/,+2d' "$log.err" && cat "$log.out"; } >"$log" # a refusal is three lines
    rm -f "$log.out" "$log.err"
    count_log "random, $1" $status
}
for unit in tbc capri; do
    if [ "${TEST_WORKLOADS:-all}" = few ]; then
        random_mixed $unit 0 300 5
        random_mixed $unit 1000000 60 57
        random_mixed $unit:permutation=balanced 1000060 30 25
    else
        random_mixed $unit 0 5000 84
        random_mixed $unit 1000000 5000 987
        random_mixed $unit:permutation=balanced 1000000 400 370
    fi
done

group 'timing: cycles and misses against another simulator'
for test in tests/timing/*.sh; do run_cli "$test"; done

group 'twin: a slow core, written to be read, gives the same results'
run_cli tests/twin/compare.sh

group 'policy: shared objects as a person makes them'
for test in tests/policy/*.sh; do run_cli "$test"; done

group 'cli: what a person types, what they see'
for test in tests/cli/*.sh; do
    [ "$test" = tests/cli/lib.sh ] || run_cli "$test"
done

# Daemons and browsers of their own: once is enough where several builds are tested (TEST_LAB=0 leaves them out).
if [ "${TEST_LAB:-1}" != 0 ]; then
    group 'lab: sweeps on a real cluster, the report in a real browser'
    for test in slurm browser compare_page source_page correlate_page; do run_cli "tests/lab/$test.sh"; done
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
