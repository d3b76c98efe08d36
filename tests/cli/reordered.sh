#!/bin/sh
# Loops that an assembler unrolls (ptx_unroll) and the order that it would choose (ptx_reorder) change no result: every
# workload, and the kernels that real compilers made, with a driver that loads all functions so.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
reordered=$build/tests/reordered

in_order() { # program...
    LD_LIBRARY_PATH=$reordered HEDDLE_OPTIONS='--functional --quiet' "$@"
}

for workload in $(workloads) $(today_workloads); do
    expect "$workload in another order" 0 PASSED in_order "$build/workloads/$workload" --size test
done
expect 'kernels of real compilers in another order' 0 ', 0 failed' \
    in_order "$build/tests/compiled" check tests/compiled/recorded.txt tests/compiled/ptx
seeds=1000
if [ -n "${TEST_SHORT:-}" ]; then seeds=150; fi # sanitizers
expect 'random kernels in another order' 0 ', 0 failed' \
    in_order "$build/tests/random" check 0 $seeds tests/random/recorded.txt

# Loops of 0 to 9 rounds, other for each thread, up and down, with guards and barriers. And what an instruction counted
# is still counted for its line.
set -- "$ptx_run" "$ptx/loops.ptx" k 8192 64
plain=$("$heddle" run --functional --quiet "$@")
expect 'loops of 0 to 9 rounds, unrolled' 0 "^$plain\$" in_order "$@"
expect 'the same, timed' 0 "^$plain\$" "$heddle" run -m h200 --quiet --pcs --stats "$scratch/unrolled.json" "$@"
"$heddle" run -m gtx480 --quiet --pcs --stats "$scratch/written.json" "$@" >"$out"
loads_of_line() { # result, line: how many instructions, and threads that they were executed for
    awk -v line="$2," '$1 == "\"line\":" { here = $2 == line }
        $1 == "\"thread_executions\":" && here { n++; sum += $2; here = 0 }
        END { print n + 0, sum + 0 }' "$1"
}
unrolled=$(loads_of_line "$scratch/unrolled.json" 34) written=$(loads_of_line "$scratch/written.json" 34)
if [ "${unrolled% *}" = 7 ] && [ "${written% *}" = 1 ] && [ "${unrolled#* }" = "${written#* }" ]; then
    echo 'ok copies count for the line that they were made of'
else
    echo "FAILED copies count for the line that they were made of: $unrolled, $written"
fi
