#!/bin/sh
# Runs with time: every workload gives the right result, the same counters on every run and on any number of threads, and counters that add up; runs that are cut short keep
# what they had; what a machine cannot run is refused with a reason.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

timed() { # RESULT OPTION... WORKLOAD: the workload at its test size on gtx480
    result=$scratch/$1.json
    shift
    "$heddle" run --quiet -m gtx480 --size test --stats "$result" "$@"
}
value() { "$json_check" "$scratch/$1.json" "$2"; }
same() { is "$1" "$json_check" --same "$scratch/$2.json" "$scratch/$3.json"; }
equal() { # NAME A B
    if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: '$2' and '$3'"; fi
}

between() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

for workload in $(workloads); do
    is "$workload: its result is right" timed once -s gto "$workload"
    is "$workload: results are complete and add up" "$json_check" "$scratch/once.json"
    expect "$workload: nothing was left out" 0 '^false$' value once functional
    equal "$workload: every warp instruction was issued once" "$(value once total.issue.issued)" "$(value once total.warp_instructions)"
    third=
    if third_of_workloads 2 | grep -qx "$workload"; then third=1; fi
    if [ -n "$third" ]; then # cli/lockstep has threads for all
        timed threads -s gto -j 2 "$workload" >/dev/null 2>&1
        same "$workload: the same on 2" once threads
    fi
    [ -z "${TEST_SHORT:-}" ] || continue # the code of what follows is run in other tests with sanitizers
    if [ -n "$third" ]; then
        timed threads -s gto -j 3 "$workload" >/dev/null 2>&1
        same "$workload: the same on 3" once threads
        # Every L2 miss that reads is read from DRAM, once; those of stores are where they have their lines fetched, unless a line was on its way.
        timed unread -s gto --set rules.l2_stores_fetch=false "$workload" >/dev/null 2>&1
        misses=$(value unread total.l2.misses) write_misses=$(value unread total.l2.write_misses)
        equal "$workload: DRAM reads cover L2 misses" "$(value unread total.dram.requests_read)" "$((misses - write_misses))"
    fi
    misses=$(value once total.l2.misses) write_misses=$(value once total.l2.write_misses) reads=$(value once total.dram.requests_read)
    is "$workload: DRAM reads cover L2 misses and lines fetched for stores" between "$reads" "$((misses - write_misses))" "$misses"
    # Functional mode takes another order of warps: all but bfs and gc, whose warps race for nodes and objects, execute the same instructions in any.
    case $workload in bfs | gc) continue ;; esac
    timed functional --functional "$workload" >/dev/null 2>&1
    for counter in warp_instructions thread_instructions lanes branches; do
        equal "$workload: $counter as in functional mode" "$(value once "total.$counter")" "$(value functional "total.$counter")"
    done
done

# The workloads of today: shuffles, matrices, asynchronous copies and atomics have their time on a machine of the papers.
for workload in $(today_workloads); do
    is "$workload: its result is right" timed once -s gto "$workload"
    is "$workload: results are complete and add up" "$json_check" "$scratch/once.json"
    timed threads -s gto -j 2 "$workload" >/dev/null 2>&1
    same "$workload: the same on 2 threads" once threads
done

# Sub-cores, and instructions as an assembler leaves them: those that vanish are executed with others, and none too many.
for workload in $(workloads) $(today_workloads); do
    is "$workload: its result is right on h200" "$heddle" run --quiet -m h200 --size test "$workload"
done

# Every machine, every policy.
few='bfs reduct spmv-vector'
[ -z "${TEST_SHORT:-}" ] || few=reduct # sanitizers: other tests have bfs and spmv-vector on such machines
for machine in ccws c2050 slp gtx480-gs4; do
    for workload in $few; do
        is "$machine: $workload: its result is right" "$heddle" run --quiet -m "$machine" --size test --stats "$scratch/machine.json" "$workload"
        is "$machine: $workload: counters add up" "$json_check" "$scratch/machine.json"
        "$heddle" run --quiet -m "$machine" -j 2 --size test --stats "$scratch/threads.json" "$workload" >/dev/null 2>&1
        same "$machine: $workload: the same on 2 threads" machine threads
    done
done
timed times -s lrr --warps "$scratch/times.csv" reduct >/dev/null 2>&1
for scheduler in $("$heddle" list schedulers | sed -n 's/^\([a-z0-9-]*\)$/\1/p'); do
    if [ "$scheduler" = caws ]; then scheduler=caws:times=$scratch/times.csv; fi # an oracle
    is "$scheduler: the result is right" timed policy -s "$scheduler" reduct
    is "$scheduler: counters add up" "$json_check" "$scratch/policy.json"
done
# A group of two levels that holds all warps is its inner policy, cycle for cycle.
for workload in bfs reduct spmv-vector; do
    [ -z "${TEST_SHORT:-}" ] || break # the schedulers above are these
    for inner in lrr gto; do
        timed inner -s "$inner" "$workload" >/dev/null 2>&1
        for scheduler in two-level gebhart narasiman; do
            timed group -s "$scheduler:group=64,inner=$inner" "$workload" >/dev/null 2>&1
            for counter in cycles stalls l1d issue; do
                equal "$workload: $scheduler with all warps in the group are $inner: $counter" "$(value group "total.$counter")" "$(value inner "total.$counter")"
            done
        done
    done
done
for policy in $("$heddle" list l1 | sed -n 's/^\([a-z0-9-]*\)$/\1/p'); do
    is "L1 $policy: the result is right" timed policy --l1 "$policy" spmv-vector
    is "L1 $policy: counters add up" "$json_check" "$scratch/policy.json"
done

# Cut short in the middle of many launches: those before are whole.
expect 'cycle limit: exit code' 4 'ran past the limit of 30000 cycles' "$heddle" run --size test --max-cycles 30000 --stats "$scratch/limit.json" bfs
is 'cycle limit: what there is adds up' "$json_check" "$scratch/limit.json"
expect 'cycle limit: the first launch is whole' 0 '^false$' value limit kernels.0.partial
expect 'cycle limit: in the results' 0 '^"limit"$' value limit outcome.kind
expect 'cycle limit: not a success' 0 '^false$' value limit checks.passed
cycles=$(value limit total.cycles)
is 'cycle limit: it is kept' test "$cycles" -ge 30000 -a "$cycles" -le 30010
"$heddle" run --quiet --size test --max-cycles 30000 --stats "$scratch/limit2.json" bfs >/dev/null 2>&1
same 'cycle limit: the same twice' limit limit2
expect 'ctrl-C: exit code' 4 'interrupted' timeout --preserve-status -k 20 -s INT 1 "$heddle" run --stats "$scratch/interrupted.json" "$ptx_run" "$ptx/endless.ptx" k
is 'ctrl-C: what there is adds up' "$json_check" "$scratch/interrupted.json"
expect 'ctrl-C: a part of a launch' 0 '^true$' value interrupted kernels.0.partial
expect 'ctrl-C: it had run' 0 '^[1-9][0-9]+$' value interrupted kernels.0.warp_instructions
expect 'ctrl-C: in the results' 0 '^"interrupted"$' value interrupted outcome.kind

# Machines that cannot be; the files are in machines.sh, this is --set.
expect 'zero ways' 2 'l1d.ways = 0: expected a whole number from 1 to 64' timed bad --set l1d.ways=0 vectoradd
expect 'a line of 96 bytes' 2 'l1d.line_bytes = 96: expected a power of two' timed bad --set l1d.line_bytes=96 vectoradd
expect '65 warps' 2 'core.warps = 65: expected a whole number from 1 to 64' timed bad --set core.warps=65 vectoradd
saw '65 warps: why' 'mask of 64 bits'
expect 'timing that contradicts itself' 2 'dram.t_rc = 3 is shorter than dram.t_ras' timed bad --set dram.t_rc=3 vectoradd

# Kernels that do not fit. The program hears it from CUDA, and ends as it likes. A person reads why. Where it is the machine that is too small, the exit code is 3, else the program's.
program() { # RESULT OPTION... -- ptx_run's words
    result=$scratch/$1.json
    shift
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # options are words
    "$heddle" run --stats "$result" $options "$ptx_run" "$@"
}
expect 'shared memory: enough' 0 '^42$' program fits -- "$ptx/much_shared.ptx" k
expect 'shared memory: more than a core has' 3 'kernel k: 32768 bytes of shared memory a block; the most is 16384' program unfit --set core.shared_bytes=16K -- "$ptx/much_shared.ptx" k
saw 'shared memory: what would help' '--set core.shared_bytes=32768 would let it run'
saw 'shared memory: what CUDA says' 'CUDA_ERROR_(INVALID_VALUE|LAUNCH_OUT_OF_RESOURCES)'
is 'shared memory: there are results' "$json_check" "$scratch/unfit.json"
expect 'shared memory: the launch counts as refused' 0 '^true$' value unfit outcome.launch_refused
expect 'registers: more than a core has' 3 'kernel k: .*1024 threads .*registers .*does not fit a core.* 1024 registers' program unfit --set core.registers=1K -- "$ptx/fine.ptx" k 1024 1024
saw 'registers: what would help' '--set core.registers=16384 would let it run'
saw 'registers: what CUDA says' 'CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES'
is 'registers: there are results' "$json_check" "$scratch/unfit.json"
expect 'registers: the launch counts as refused' 0 '^true$' value unfit outcome.launch_refused
expect 'warps: more than a core has' 3 'kernel k: .*512 threads .*does not fit a core.* 8 warps' program unfit --set core.warps=8 -- "$ptx/fine.ptx" k 1024 512
saw 'warps: what would help' '--set core.warps=16 would let it run'
expect 'warps: the launch counts as refused' 0 '^true$' value unfit outcome.launch_refused
expect 'a block of 1,024 threads' 0 '^42$' program fits -- "$ptx/fine.ptx" k 1024 1024
expect 'a block of 1,025 threads' 1 'kernel k: .*1025x1x1 threads.*1024' program unfit -- "$ptx/fine.ptx" k 1024 1025
saw 'a block of 1,025 threads: what CUDA says' 'CUDA_ERROR_INVALID_VALUE'
is 'a block of 1,025 threads: there are results' "$json_check" "$scratch/unfit.json"
expect 'registers: what an assembler would spill for' 0 '^496$' program fits --set core.registers=16K -- "$ptx/many_registers.ptx" k 4096 1024
saw 'registers: what an assembler would spill for: a remark' 'kernel k: 16 registers a thread are left on machine gtx480 of about [0-9]+ that it wants'
for mode in --functional '-m gtx480'; do
    # shellcheck disable=SC2086 # options are words
    expect "$mode: five blocks of 1,025 threads" 0 '^5 refused, then 0$' "$heddle" run $mode "$build/tests/cli/refused" "$ptx/fine.ptx"
    is "$mode: five blocks of 1,025 threads: the reason is given once" test "$(grep -c 'kernel k: .*1025x1x1 threads' "$out")" = 1
done

# Kernels that never end.
expect 'a barrier that a warp skips' 4 'kernel k cannot go on: 2 warps wait' program hang -- "$ptx/barrier_skipped.ptx" k 1024 64
saw 'a barrier that a warp skips: who waits where' 'block \(0,0,0\) warp 1, PTX line 13 \(bar.sync\): barrier 1, where 32 of 64 threads have arrived'
saw 'a barrier that a warp skips: and the other' 'block \(0,0,0\) warp 0, PTX line 15 \(bar.sync\): barrier 2, where 32 of 64 threads have arrived'
expect 'a barrier that a warp skips: partial results' 0 '^true$' value hang kernels.0.partial
is 'a barrier that a warp skips: they add up' "$json_check" "$scratch/hang.json"
expect 'a warp that has ended is not waited for' 0 '^42$' program fits -- "$ptx/barrier_left.ptx" k 1024 64
expect 'lanes spin on one another' 4 'lanes of one warp spin' timeout 60 "$heddle" run --stats "$scratch/spin.json" "$ptx_run" "$ptx/spin_lock.ptx" k
expect 'lanes spin on one another: partial results' 0 '^true$' value spin kernels.0.partial
expect 'lanes spin on one another, for sm_70' 0 '^64$' program apart -- "$ptx/spin_lock_apart.ptx" k 1024 64
is 'lanes spin on one another, for sm_70: the results add up' "$json_check" "$scratch/apart.json"
# Divergence units that mix the warps of a block: threads that wait for others of their block.
for unit in tbc capri; do
    for threads in 32 256; do
        expect "$unit: $threads threads spin on one another" 4 "kernel k cannot go on under divergence unit $unit: threads spin on a value that others of their block" \
            timeout 60 "$heddle" run -m slp --divergence "$unit" --stats "$scratch/spin.json" "$ptx_run" "$ptx/spin_lock.ptx" k 1024 "$threads"
        saw "$unit: $threads threads spin on one another: where" "block \(0,0,0\), core [0-9]+: $((threads - 1)) threads spin, lane [0-9]+ of warp [0-9]+ at PTX line 1[45] .*; 1 wait for them"
        expect "$unit: $threads threads spin on one another: partial results" 0 '^true$' value spin kernels.0.partial
    done
    expect "$unit: a lock that is opened before paths meet" 0 '^128$' timeout 60 "$heddle" run -m slp --divergence "$unit" "$ptx_run" "$ptx/lock_progress.ptx" k 1024 128
done
expect 'tbc: warps spin for one on the other side of a branch' 4 '96 threads spin, .*; 32 wait for them' \
    timeout 60 "$heddle" run -m slp --divergence tbc "$ptx_run" "$ptx/spin_warps.ptx" k 1024 128
expect 'pdom: they get it' 0 '^42$' timeout 60 "$heddle" run -m slp --divergence pdom "$ptx_run" "$ptx/spin_warps.ptx" k 1024 128
[ -n "${TEST_SHORT:-}" ] || expect 'tbc: so many spin that an atomic gets no answer' 4 'and so many do that an atomic of these gets no answer' \
    timeout 100 "$heddle" run -m slp --divergence tbc "$ptx_run" "$ptx/spin_lock.ptx" k 1024 32 60
expect 'an endless loop' 4 'kernel k ran past the limit of 20000 cycles' program endless --max-cycles 20000 -- "$ptx/endless.ptx" k
is 'an endless loop: partial results add up' "$json_check" "$scratch/endless.json"

# A launch that ends in the middle leaves nothing behind for the next one.
expect 'after a fault: the next launch' 5 '^second: CUDA_SUCCESS, 42$' "$heddle" run "$build/tests/cli/launch_twice" "$ptx/fault_among_loads.ptx" "$ptx/fine.ptx"
saw 'after a fault: the first launch' '^first: CUDA_ERROR_LAUNCH_FAILED$'
expect 'after a cycle limit: the next launch ends as well' 4 '^second: CUDA_ERROR_LAUNCH_TIMEOUT' \
    "$heddle" run --max-cycles 600 --stats "$scratch/second.json" "$build/tests/cli/launch_twice" "$ptx/endless.ptx" "$ptx/fine.ptx"
is 'after a cycle limit: the results add up' "$json_check" "$scratch/second.json"
