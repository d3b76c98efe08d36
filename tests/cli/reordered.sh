#!/bin/sh
# The order that an assembler would choose (ptx_reorder) changes no result: every workload, and the kernels that real
# compilers made, with a driver that loads all functions in that order.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
reordered=$build/tests/reordered

in_order() { # program...
    LD_LIBRARY_PATH=$reordered HEDDLE_OPTIONS='--functional --quiet' "$@"
}

for workload in $(workloads); do
    expect "$workload in another order" 0 PASSED in_order "$build/workloads/$workload" --size test
done
expect 'kernels of real compilers in another order' 0 ', 0 failed' \
    in_order "$build/tests/compiled" check tests/compiled/recorded.txt tests/compiled/ptx
expect 'random kernels in another order' 0 ', 0 failed' \
    in_order "$build/tests/random" check 0 1000 tests/random/recorded.txt
