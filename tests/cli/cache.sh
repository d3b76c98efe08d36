#!/bin/sh
# Traces and their replay: the same file on any number of threads and counters as without one; the replay of LRU misses as often as the run did, on a machine on which lines on their way make no
# difference, and Belady never more often than anyone; runs that were cut short leave a file that can be read; mistakes are told.
# Uses zstd: whether another program reads a trace.
# Left out of second builds: no compiler changes what a replay counts.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

trace=$scratch/trace
equal() { # NAME A B
    if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: '$2' and '$3'"; fi
}
value() { "$json_check" "$scratch/$1.json" "$2"; }
cache() { # RESULT OPTION...
    result=$scratch/$1.json
    shift
    "$heddle" cache "$trace" --json "$@" >"$result"
}

"$heddle" run --quiet -m ccws --size test --stats "$scratch/plain.json" bfs >/dev/null 2>&1
for threads in 1 2 3; do
    is "bfs on $threads threads" "$heddle" run --quiet -m ccws --size test -j "$threads" --trace "$trace.$threads" --stats "$scratch/traced.json" bfs
    is "$threads threads: the same counters as without a trace" "$json_check" --same "$scratch/plain.json" "$scratch/traced.json"
    is "$threads threads: the same file" cmp "$trace.1" "$trace.$threads"
done
if command -v zstd >/dev/null 2>&1; then
    is 'zstd can read it' zstd -q -t "$trace.1"
else
    echo 'note skipped: whether zstd reads a trace (it is not installed: apt-get install zstd)'
fi
LD_LIBRARY_PATH=$build/lib HEDDLE_OPTIONS="-m ccws --trace $trace.4" "$build/workloads/bfs" --size test >/dev/null 2>&1
is 'HEDDLE_OPTIONS: the same file' cmp "$trace.1" "$trace.4"

# A machine on which lines that are on their way make next to no difference: few of them, for a short time.
replayed='bfs kmeans memc gc backprop srad'
if [ -n "${TEST_SHORT:-}" ]; then replayed=bfs; fi # sanitizers
for workload in $replayed; do
    "$heddle" run --quiet -m ccws --size test --set l1d.mshr_entries=4 --set l1d.mshr_merge=64 --set l2.rop_cycles=0 --set dram.latency_cycles=0 --set l2.sets=4096 --trace "$trace" \
        --stats "$scratch/run.json" "$workload" >/dev/null 2>&1
    is "$workload: replayed" cache all --policy all
    misses=$(value run total.l1d.misses)
    for policy in lru fifo srrip belady; do eval "$policy=\$(value all policies.$policy.misses)"; done
    # shellcheck disable=SC2154 # by eval
    is "$workload: LRU misses as often as the run did, within 0.1% ($lru, $misses)" test $((1000 * (lru > misses ? lru - misses : misses - lru))) -le "$misses"
    equal "$workload: the run's counts are in the trace" "$(value all run.misses)" "$misses"
    equal "$workload: every access is there" "$(value all policies.lru.accesses)" "$(value run total.l1d.accesses)"
    equal "$workload: instructions too" "$(value all warp_instructions)" "$(value run total.warp_instructions)"
    # shellcheck disable=SC2154 # by eval
    is "$workload: Belady misses least ($belady, $lru, $fifo, $srrip)" test "$belady" -le "$lru" -a "$belady" -le "$fifo" -a "$belady" -le "$srrip"
    for geometry in '--size 4K' '--size 8K --ways 1' '--size 128K --ways 16' '--size 12K --ways 3' '--ways full' '--line 256'; do
        # shellcheck disable=SC2086 # words
        cache other --policy all $geometry
        for policy in lru fifo srrip; do
            is "$workload, $geometry: Belady misses no more than $policy" test "$(value other policies.belady.misses)" -le "$(value other policies.$policy.misses)"
            is "$workload, $geometry: nor do its loads" test "$(value other policies.belady-reads.read_misses)" -le "$(value other policies.$policy.read_misses)"
        done
    done
done

cp "$trace.1" "$trace"
is 'curve' cache curve --policy lru --ways full --size 4K --curve --reuse
# Sizes of 1, 2, ... 16 lines, then 18, ... : 32 lines are the 24th.
equal 'curve: 32 lines' "$(value curve curve.23.lines)" 32
equal 'curve: as a fully associative cache' "$(value curve curve.23.misses)" "$(value curve policies.lru.misses)"
expect 'a table of policies' 0 '^  belady +83,806 ' "$heddle" cache "$trace" --policy all --per-pc --curve --reuse
saw 'the run itself' '^  the run +83,806 '
saw 'instructions with their text' 'bfs_expand +[0-9]+ .*ld.global.u8'
saw 'the curve' '4 KB +32 '
saw 'reuse' 'first use'
expect 'another geometry: no row for the run' 0 '8 KB, 16 sets of 4 ways' "$heddle" cache "$trace" --size 8K --ways 4
if grep -q 'the run' "$out"; then echo 'FAILED the run is not of this geometry'; else echo 'ok the run is not of this geometry'; fi

# Threads: the same counts on any number of them, of a whole file and of one that was cut off; more threads than cores.
counts() { # RESULT TRACE OPTION...: all that is no time
    result=$scratch/$1
    shift
    "$heddle" cache "$@" --json --policy all --per-pc --curve --reuse 2>/dev/null | grep -v 'seconds"\|per_second"' >"$result"
}
head -c $(($(wc -c <"$trace.1") * 2 / 3)) "$trace.1" >"$trace.cut"
for file in "$trace.1" "$trace.cut"; do
    for geometry in '' '--ways 32' '--ways full'; do
        # shellcheck disable=SC2086 # words
        counts alone "$file" -j 1 $geometry
        is "-j 1, ${file##*.}, $geometry: there are counts" grep -q '"read_misses": [1-9]' "$scratch/alone"
        for threads in '-j 2' '-j 3' '-j 1000' ''; do
            # shellcheck disable=SC2086 # words
            counts together "$file" $threads $geometry
            is "${threads:-as many threads as processors}, ${file##*.}, $geometry: the same counts" cmp "$scratch/alone" "$scratch/together"
        done
    done
done
cp "$trace.1" "$scratch/damaged"
printf 'XXXXXXXX' | dd of="$scratch/damaged" bs=1 seek=$(($(wc -c <"$trace.1") / 2)) conv=notrunc 2>/dev/null
for policy in lru belady; do
    for threads in 1 2; do
        expect "$policy, -j $threads: a damaged file" 1 'no trace that can be read' "$heddle" cache "$scratch/damaged" -j "$threads" --policy "$policy"
        grep . "$out" >"$scratch/told.$policy.$threads"
    done
    is "$policy: the same is told on two threads" cmp "$scratch/told.$policy.1" "$scratch/told.$policy.2"
done

# Cut short
expect 'limit' 4 'ran past the limit' "$heddle" run -m ccws --size test --max-cycles 5000 --trace "$trace" bfs
expect 'limit: what there is' 0 '^  lru +[1-9]' "$heddle" cache "$trace"
expect 'ctrl-C' 4 'interrupted' timeout --preserve-status -k 20 -s INT 1 "$heddle" run --trace "$trace" "$ptx_run" "$ptx/endless.ptx" k
expect 'ctrl-C: what there is' 0 '^  lru ' "$heddle" cache "$trace"
head -c 2000 "$trace.1" >"$trace"
expect 'a file that was cut off' 0 'ends early' "$heddle" cache "$trace"
saw 'cut off: no rate of misses an instruction' '^  lru .* - +- +[0-9.]+$'
expect 'no more room: the run ends' 1 'could not be written to /dev/full: No space left' "$heddle" run -m ccws --size test --trace /dev/full bfs

full_disk() { (trap '' XFSZ && ulimit -f 40 && "$heddle" run --quiet -m ccws --size test --trace "$trace" bfs); }
expect 'no more room later: the run ends' 1 'could not be written to .*: File too large' full_disk
expect 'no more room later: what there is' 0 'ends early' "$heddle" cache "$trace"

# Mistakes
expect 'a trace that cannot be written' 2 'cannot write /nonexistent/t' "$heddle" run --trace /nonexistent/t bfs
expect 'no trace there' 2 'cannot read .*/none: No such file' "$heddle" cache "$scratch/none"
expect 'a folder' 2 'it is a folder' "$heddle" cache "$scratch"
expect 'not a trace' 1 'does not begin as one' "$heddle" cache "$scratch/plain.json"
expect 'which trace' 2 'which trace' "$heddle" cache
expect 'an unknown policy' 2 "unknown policy 'opt'" "$heddle" cache "$trace.1" --policy lru,opt
expect 'a size that is none' 2 "not '3Q'" "$heddle" cache "$trace.1" --size 3Q
expect 'a size that does not fit' 2 'no whole number of sets' "$heddle" cache "$trace.1" --size 1000
expect 'too small a line' 2 'lines of 64 bytes' "$heddle" cache "$trace.1" --line 64
expect 'an index that does not fit' 2 "'fermi' is for 32 or 64 sets" "$heddle" cache "$trace.1" --size 4K --index fermi
expect 'no threads' 2 "-j needs a number from 1 to 1024, not '0'" "$heddle" cache "$trace.1" -j 0
expect 'too many threads' 2 "not '5000'" "$heddle" cache "$trace.1" -j 5000
expect 'threads that are none' 2 "not '2x'" "$heddle" cache "$trace.1" -j 2x
expect 'another index' 0 'index multiplied' "$heddle" cache "$trace.1" --index multiplied
expect 'an unknown index' 2 "unknown index 'hash'" "$heddle" cache "$trace.1" --index hash
expect 'an unknown option' 2 'did you mean --policy' "$heddle" cache "$trace.1" --polic=lru --policyy lru
expect 'help' 0 'belady-reads' "$heddle" cache --help
