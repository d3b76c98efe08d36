#!/bin/sh
# --launch-limit: each launch by itself; the one that takes longer ends, and the next one runs.
. tests/cli/lib.sh
program=$build/tests/cli/launch_limit
limited() { # HOW OPTION...: a kernel that never ends, and one that does
    how=$1
    shift
    timeout 100 "$heddle" run "$@" "$program" "$how" "$ptx/endless.ptx" "$ptx/fine.ptx"
}
value() { "$json_check" "$scratch/$1.json" "$2"; }
first='^first: CUDA_SUCCESS, then CUDA_ERROR_LAUNCH_TIMEOUT, then CUDA_SUCCESS$'
second='^second: CUDA_SUCCESS, 42$'
both() { # NAME: what the program saw, in both rounds
    cp "$out" "$scratch/seen"
    is "$1: the launch is accepted, the error is told once" test "$(grep -Ec "$first" "$scratch/seen")" = 2
    is "$1: the next launch runs" test "$(grep -Ec "$second" "$scratch/seen")" = 2
}

for mode in --functional '-m gtx480' '--lockstep' '-j 2' '--sample'; do
    case $mode in
    --functional) more='; in functional mode a warp instruction is a cycle' ;;
    *) more='' ;;
    esac
    for how in legacy stream graph loop; do
        # shellcheck disable=SC2086 # options are words
        expect "$mode, $how: exit code" 4 "kernel k ran past the limit of 20000 cycles for each launch \(--launch-limit$more\); it had done 0 of 1 blocks" \
            limited $how $mode --launch-limit 20k --stats "$scratch/limit.json"
        both "$mode, $how"
        is "$mode, $how: the results add up" "$json_check" "$scratch/limit.json"
        expect "$mode, $how: in the results" 0 '^"launch-limit"$' value limit outcome.kind
        expect "$mode, $how: the first launch is partial" 0 '^true$' value limit kernels.0.partial
        expect "$mode, $how: the second is whole" 0 '^false$' value limit kernels.1.partial
        expect "$mode, $how: and so on" 0 '^true$' value limit kernels.2.partial
    done
    # shellcheck disable=SC2086 # options are words
    expect "$mode: seconds" 4 'kernel k ran past the limit of 0.3 seconds for each launch \(--launch-limit\); it had done 0 of 1 blocks in [1-9][0-9]+ (cycles|warp instructions)' \
        limited legacy $mode --launch-limit 0.3s
    both "$mode: seconds"
done
limited legacy --launch-limit 20000 --quiet --stats "$scratch/limit.json" >"$out" 2>&1
expect 'time: as many cycles as the limit' 0 '^20000$' value limit kernels.0.cycles
expect 'time: also the second time' 0 '^20000$' value limit kernels.2.cycles
limited legacy -j 2 --launch-limit 20000 --quiet --stats "$scratch/threads.json" >"$out" 2>&1
is 'the same on two threads' "$json_check" --same "$scratch/limit.json" "$scratch/threads.json"
limited legacy --lockstep --launch-limit 20000 --quiet --stats "$scratch/lockstep.json" >"$out" 2>&1
is 'the same in lockstep' "$json_check" --same "$scratch/limit.json" "$scratch/lockstep.json"

# Time goes on after the cut, in files too.
is 'timeline: it runs' test "$(limited stream --quiet --launch-limit 1003 --timeline "$scratch/timeline.json" --warps "$scratch/warps.csv" 2>/dev/null | grep -Ec "$first")" = 2
is 'timeline: it adds up' "$build/tests/cli/timeline_check" "$scratch/timeline.json" "$scratch/warps.csv"
is 'timeline: the second launch begins where the first was cut' grep -q '"ts":1003,"dur":[0-9]*,"name":"k"' "$scratch/timeline.json"

# All launches together take longer than any.
is 'a limit that no launch reaches' "$heddle" run --launch-limit 15k --size test bfs
"$heddle" run --quiet --size test --stats "$scratch/free.json" bfs >/dev/null 2>&1
"$heddle" run --quiet --size test --launch-limit 15k --stats "$scratch/held.json" bfs >/dev/null 2>&1
is 'and changes nothing' "$json_check" --same "$scratch/free.json" "$scratch/held.json"
is 'all launches together take longer' test "$(value free total.cycles)" -gt 15000
expect 'how far it came' 4 'limit of 500 cycles for each launch .*; it had done [0-9]+ of [0-9]+ blocks' "$heddle" run --size test --launch-limit 500 vectoradd

# A launch may take exactly as long as the limit.
for mode in --functional '-m gtx480'; do
    # shellcheck disable=SC2086 # options are words
    "$heddle" run --quiet $mode --stats "$scratch/whole.json" "$ptx_run" "$ptx/fine.ptx" k 4096 64 >"$out" 2>&1
    length=$(value whole total.cycles)
    [ "$mode" != --functional ] || length=$(value whole total.warp_instructions)
    # shellcheck disable=SC2086 # options are words
    expect "$mode: as long as the limit" 0 '^42$' "$heddle" run --quiet $mode --launch-limit "$length" "$ptx_run" "$ptx/fine.ptx" k 4096 64
    # shellcheck disable=SC2086 # options are words
    [ "$mode" = --functional ] || expect "$mode: a cycle longer" 4 "limit of $((length - 1)) cycles" "$heddle" run --quiet $mode --launch-limit "$((length - 1))" "$ptx_run" "$ptx/fine.ptx" k 4096 64
done

# Kernels of two streams. Without time each has its own end; with time they share the machine.
expect 'two streams, without time' 4 '' limited together --functional --launch-limit 20k
both 'two streams, without time'
is 'two streams, without time: each ran past it' test "$(grep -c 'ran past the limit' "$scratch/seen")" = 4
expect 'two streams, with time' 4 'kernel k ended with one that ran past the limit' limited together --launch-limit 20k
both 'two streams, with time'

# Launches that are not timed have no cycles, but they take time.
expect 'not timed: seconds' 4 'kernel k ran past the limit of 0.3 seconds .* in [0-9]+ warp instructions' \
    limited legacy --launch 1,3 --launch-limit 0.3s
both 'not timed: seconds'

# What comes after a limit that all launches share, or an illegal access, is worse.
expect 'both limits, in numbers' 4 'ran past the limit of 30000 cycles \(--max-cycles' \
    limited legacy --launch-limit 20k --max-cycles 30000
expect 'an illegal access afterwards' 5 'ran past the limit of 20000 cycles' \
    "$heddle" run --launch-limit 20k "$program" legacy "$ptx/endless.ptx" "$ptx/trap.ptx"

# By hand, and with mistakes.
expect 'the library alone: the exit code is the program'\''s' 0 'ran past the limit of 20000 cycles' \
    env LD_LIBRARY_PATH="$build/lib" HEDDLE_OPTIONS='--functional --launch-limit 20k' "$program" legacy "$ptx/endless.ptx" "$ptx/fine.ptx"
both 'the library alone'
for word in 0 -1 5x 5K 5kk 5ms 1.5.5 s '5 s' 99999999999999999999; do
    expect "a limit of '$word'" 2 "--launch-limit needs cycles .* or a time .*, not '" "$heddle" run --launch-limit "$word" bfs
done
expect 'the library alone: a mistake' 1 "HEDDLE_OPTIONS: --launch-limit needs cycles .*, not '5x'" \
    env LD_LIBRARY_PATH="$build/lib" HEDDLE_OPTIONS='--launch-limit 5x' "$program" legacy "$ptx/endless.ptx" "$ptx/fine.ptx"
expect 'help' 0 '--launch-limit N' "$heddle" run --help

# Memory of many launches is in tests/driver/many_launches.c; what is added up is right.
many=$build/tests/driver/many_launches
expect 'many launches: without results' 0 '^  k +(201,000|2,000) +\1 ' "$heddle" run --functional "$many"
