#!/bin/sh
# Runs every fuzzer for some seconds: sh tests/fuzz/run.sh FOLDER SECONDS. What is found is kept in FOLDER/crashes. Last line: 'N passed, N failed'.
set -u
folder=$1
seconds=${2:-60}
passed=0
failed=0
mkdir -p "$folder/crashes"

# What to start from: all PTX of the repository, and the fuzzer's own seeds where it has some.
seeds() {
    mkdir -p "$folder/corpus-$1"
    [ ! -d "tests/fuzz/seeds/$1" ] || cp tests/fuzz/seeds/"$1"/* "$folder/corpus-$1/"
    case $1 in
    fuzz_ptx | fuzz_load) find workloads tests -name '*.ptx' -size -64k -exec cp {} "$folder/corpus-$1/" \; ;;
    fuzz_experiment) cp experiments/*.ini "$folder/corpus-$1/" ;;
    esac
}

for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    log=$folder/$name.log
    seeds "$name"
    "$folder/$name" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$folder/crashes/$name-" "$folder/corpus-$name" >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$status" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        echo "$name: nothing found in $runs runs, $seconds s"
        passed=$((passed + 1))
    else
        echo "$name: FAILED, see $log"
        tail -n 30 "$log" | sed 's/^/    | /'
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
