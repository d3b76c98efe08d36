#!/bin/sh
# Runs every fuzzer for some seconds: sh tests/fuzz/run.sh FOLDER SECONDS [NAME...]. Those that run kernels get five times as
# long as those that only read. What is found is kept in FOLDER/crashes, what was learned in FOLDER/corpus-NAME, from which the
# next run goes on. Last line: 'N passed, N failed'.
set -u
folder=$1
seconds=${2:-60}
shift 2
passed=0
failed=0
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

fuzz() { # name, seconds, options of libFuzzer
    name=$1 time=$2 log=$folder/$1.log
    shift 2
    seeds "$name"
    "$folder/$name" -max_total_time="$time" -max_len=65536 -rss_limit_mb=3000 -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$folder/crashes/$name-" "$@" "$folder/corpus-$name" >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$status" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        echo "$name: nothing found in $runs runs, $time s"
        passed=$((passed + 1))
    else
        echo "$name: FAILED, see $log"
        tail -n 30 "$log" | sed 's/^/    | /'
        failed=$((failed + 1))
    fi
}

names=$*
for name in ${names:-$(basename -s .c -a tests/fuzz/fuzz_*.c)}; do
    case $name in
    fuzz_run | fuzz_agree) fuzz "$name" $((seconds * 5)) -max_len=20000 ;;
    fuzz_schedules) fuzz "$name" $((seconds * 5)) -max_len=12 -len_control=0 ;;
    fuzz_driver) # twice; what it leaves behind in the driver is no leak
        for mode in --functional '-m gtx480 --set machine.cores_per_cluster=1 --set machine.cores=2'; do
            HEDDLE_OPTIONS="$mode --quiet --set machine.memory_bytes=64M"
            export HEDDLE_OPTIONS
            fuzz "$name" $((seconds * 5 / 2)) -max_len=1200 -len_control=0 -detect_leaks=0 -close_fd_mask=1
        done
        unset HEDDLE_OPTIONS
        ;;
    *) fuzz "$name" "$seconds" ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
