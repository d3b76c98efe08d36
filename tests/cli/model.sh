#!/bin/sh
# heddle run --model: the core that is written to be read gives the results of the other, and says so in `host`.
# Left out of builds with sanitizers: the model is slow, and other tests run the same kernels.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

run() { # RESULTS OPTION... PROGRAM
    results=$1
    shift
    "$heddle" run --quiet --size test --stats "$scratch/$results.json" "$@" >/dev/null 2>&1
}

same() { # NAME OPTION... PROGRAM: with the model, and without
    name=$1
    shift
    run core "$@"
    is "$name: the model runs it" run model --model "$@"
    is "$name: the same results" "$build/twin/same" "$scratch/core.json" "$scratch/model.json"
}

same 'a kernel' vectoradd
expect 'the model says so' 0 '^true$' "$json_check" "$scratch/model.json" host.model
is 'the fast core does not' sh -c "! grep -q '\"model\": true' '$scratch/core.json'"
"$json_check" --names "$scratch/model.json" | sort -u >"$scratch/names"
"$heddle" list metrics | sed -n 's/^\([^ ]*\) (.*/\1/p' | sort -u >"$scratch/glossary"
comm -23 "$scratch/names" "$scratch/glossary" >"$scratch/missing"
is 'the glossary has every field' cmp "$scratch/missing" /dev/null
same 'other policies and keys' -m ccws -s gto --l1 srrip --set machine.cores=6 reduct
same 'sub-cores' -m h200 --set machine.cores=4 reduct
same 'two threads' -j 2 bfs

"$heddle" run --quiet --size test --warps "$scratch/core.csv" bfs >/dev/null 2>&1
is 'rows of warps' "$heddle" run --quiet --size test --model --warps "$scratch/model.csv" bfs
is 'rows of warps: the same' cmp "$scratch/core.csv" "$scratch/model.csv"
is 'a program of the user, with its own runtime library' "$heddle" run --model --quiet "$build/tests/runtime/12/launches"

expect 'not without time' 2 '--model is a model of time' "$heddle" run --model --functional vectoradd
expect 'not with estimates' 2 '--model times every cycle' "$heddle" run --model --sample vectoradd
expect 'no timeline' 2 '--model writes no timeline' "$heddle" run --model --timeline "$scratch/x" vectoradd
expect 'no issue order' 2 '--model writes no issue order' "$heddle" run --model --issue-order "$scratch/x" vectoradd
expect 'nor by the environment' 1 'the model writes no timeline' env LD_LIBRARY_PATH="$build/lib/model" \
    HEDDLE_OPTIONS="--timeline $scratch/x" "$build/workloads/vectoradd" --size test
expect 'no units that regroup' 2 'divergence unit tbc regroups threads, which the model does not do' \
    "$heddle" run --model --divergence tbc --size test bfs
