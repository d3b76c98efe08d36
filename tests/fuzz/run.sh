#!/bin/sh
# Runs every fuzzer for some seconds, as many at once as there are processors: sh tests/fuzz/run.sh FOLDER SECONDS [NAME...].
# Those that run kernels get five times as long as those that only read. What is found is kept in FOLDER/crashes, what was
# learned in FOLDER/corpus-NAME, from which the next run goes on. Last line: 'N passed, N failed'.
set -u
folder=$1
seconds=${2:-60}
shift 2
mkdir -p "$folder/crashes"

# What to start from: all PTX of the repository, and the fuzzer's own seeds where it has some.
seeds() {
    mkdir -p "$folder/corpus-$1"
    [ ! -d "tests/fuzz/seeds/$1" ] || cp tests/fuzz/seeds/"$1"/* "$folder/corpus-$1/"
    case $1 in
    fuzz_ptx | fuzz_load) find workloads tests -name '*.ptx' -size -64k -exec cp {} "$folder/corpus-$1/" \; ;;
    fuzz_run | fuzz_agree)
        find workloads tests/cli tests/compiled tests/fuzz/seeds/fuzz_run -name '*.ptx' -size -20k -exec cp {} "$folder/corpus-$1/" \;
        ;;
    fuzz_experiment) cp experiments/*.ini "$folder/corpus-$1/" ;;
    esac
}

fuzz() { # name, title, seconds, options of libFuzzer
    name=$1 title=$2 time=$3 log=$folder/$2.log
    shift 3
    seeds "$name"
    "$folder/$name" -max_total_time="$time" -max_len=65536 -rss_limit_mb=3000 -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$folder/crashes/$title-" "$@" "$folder/corpus-$name" >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$status" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        echo "$title: nothing found in $runs runs, $time s"
    else
        echo "$title: FAILED, see $log"
        tail -n 30 "$log" | sed 's/^/    | /'
    fi
}

fuzz_driver() { # mode, options of the driver; what it leaves behind there is no leak
    HEDDLE_OPTIONS="$2 --quiet --set machine.memory_bytes=64M"
    export HEDDLE_OPTIONS
    fuzz fuzz_driver "fuzz_driver-$1" $((seconds * 5 / 2)) -max_len=1200 -len_control=0 -detect_leaks=0 -close_fd_mask=1
}

one() { # name
    case $1 in
    fuzz_run | fuzz_agree) fuzz "$1" "$1" $((seconds * 5)) -max_len=20000 ;;
    fuzz_schedules) fuzz "$1" "$1" $((seconds * 5)) -max_len=12 -len_control=0 ;;
    fuzz_driver) # twice
        fuzz_driver functional --functional
        fuzz_driver timed '-m gtx480 --set machine.cores_per_cluster=1 --set machine.cores=2'
        ;;
    *) fuzz "$1" "$1" "$seconds" ;;
    esac
}

# Each worker takes the next that nobody has taken, the long ones first.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
worker() {
    for name in ${names:-fuzz_run fuzz_agree fuzz_schedules fuzz_driver $(basename -s .c -a tests/fuzz/fuzz_*.c)}; do
        if mkdir "$work/$name" 2>/dev/null; then
            one "$name" >"$work/$name/said" 2>&1
            cat "$work/$name/said"
        fi
    done
}
names=$*
workers=$(nproc 2>/dev/null || echo 2)
while [ "$workers" -gt 1 ]; do
    worker &
    workers=$((workers - 1))
done
worker
wait
passed=$(cat "$work"/*/said | grep -c ': nothing found in ')
failed=$(cat "$work"/*/said | grep -c ': FAILED, see ')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
