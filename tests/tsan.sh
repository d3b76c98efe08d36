#!/bin/sh
# The driver's tests under ThreadSanitizer: sh tests/tsan.sh BUILD TEST..., from the repository's root, for a build with MODE=tsan.
# Those that have threads of their own are run without time, with time, and with time on two threads; the others, in which only the
# driver has threads, in the last way. A report is a failure; there are no suppressions. Failures are shown with what was
# printed; the last line is 'N passed, N failed'.
set -u
build=$1
shift
limit=${TEST_LIMIT_SECONDS:-300}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TEST_FEW_SPINS=1 HEDDLE_ALWAYS_THREADS=1
export TSAN_OPTIONS="${TSAN_OPTIONS:-atexit_sleep_ms=50 second_deadlock_stack=1}"
# Older runtimes of the sanitizer do not stand all of the kernel's random addresses; where that may not be switched off, they try.
plain=
if setarch "$(uname -m)" -R true 2>/dev/null; then plain="setarch $(uname -m) -R"; fi

run() { # name, options
    began=$(date +%s)
    # shellcheck disable=SC2086 # a command of several words, or none
    if HEDDLE_OPTIONS="$2 --stats $work/$1/stats" timeout "$limit" $plain "$build/tests/driver/$1" >"$work/$1/log" 2>&1; then
        printf '%-20s passed, %2d s   %s\n' "$1" $(($(date +%s) - began)) "$2"
    else
        echo "$1 FAILED, exit status $?: HEDDLE_OPTIONS='$2'"
        tail -n 150 "$work/$1/log" | sed 's/^/    | /'
    fi
}

with_time='--set core.shared_bytes=96K' # one of the programs asks for more than a GTX 480 has
one() { # name
    if grep -q pthread_create "tests/driver/$1.c"; then
        run "$1" --functional
        run "$1" "$with_time"
    fi
    run "$1" "$with_time -j 2"
}

# As many at once as there are processors: each worker takes the next that nobody has taken.
worker() {
    for test in $tests; do
        if mkdir "$work/$test" 2>/dev/null; then
            one "$test" >"$work/$test/said" 2>&1
            cat "$work/$test/said"
        fi
    done
}
tests=$*
workers=$(nproc 2>/dev/null || echo 2)
while [ "$workers" -gt 1 ]; do
    worker &
    workers=$((workers - 1))
done
worker
wait
passed=$(cat "$work"/*/said | grep -c '^[a-z0-9_]* *passed, ')
failed=$(cat "$work"/*/said | grep -c '^[a-z0-9_]* FAILED, ')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
