# shellcheck shell=sh
# The core (src/sm) and the model (src/model): the same program must leave the same results, order of issue included.
# sh tests/twin/compare.sh BUILD [all], from the repository's root; counted as the command-line tests are. Without `all`,
# a part that takes a minute on an idle machine: every machine and policy with few workloads, which between them use
# every kind of memory, and some random kernels.
# Left out of builds with sanitizers: a sanitizer need not look at the model, and other tests run the same kernels.
# Left out of second builds: it would compare the same two sources again.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
part=${2:-part}
twin=$build/twin
case $build in /*) here='' ;; *) here=$PWD/ ;; esac
export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}"

run_on() { # LIBRARY RESULTS OPTIONS PROGRAM...
    library=$1 results=$2 options=$3
    shift 3
    HEDDLE_OPTIONS="--quiet $options --probe $twin/order.so --stats $results" LD_LIBRARY_PATH=$here$library "$@"
}

both() { # OPTIONS PROGRAM...
    rm -f "$scratch/core.json" "$scratch/model.json"
    run_on "$build/lib" "$scratch/core.json" "$@" >"$scratch/core.out" 2>&1
    on_core=$?
    run_on "$build/lib/model" "$scratch/model.json" "$@" >"$scratch/model.out" 2>&1
    on_model=$?
    if [ $on_core != $on_model ] || ! cmp -s "$scratch/core.out" "$scratch/model.out"; then
        echo "exit status $on_core on the core, $on_model on the model"
        diff "$scratch/core.out" "$scratch/model.out"
        return 1
    fi
    "$twin/same" "$scratch/core.json" "$scratch/model.json"
}

workload() { # OPTIONS NAME...
    with=$1
    shift
    for name in "$@"; do is "$name $with" both "$with" "$build/workloads/$name" --size test; done
}

random() { # OPTIONS FIRST COUNT: they have few blocks, and most cores of the machine would have none
    shared='--set core.shared_bytes=96K'
    case $1 in *h200*) shared='' ;; esac # which has more
    is "random kernels from $2, $3 of them, $1" both "$1 $shared --set machine.cores=3" "$build/tests/random" check "$2" "$3" \
        tests/random/recorded.txt
}

machines() { # WORKLOAD...: what the papers and validations use
    for options in '-m gtx480 -s lrr' '-m ccws -s ccws' '-m slp -s sticky' '-m gtx480-gs4 -s gto' '-m c2050 -s two-level' \
        '-m h200'; do
        workload "$options" "$@"
    done
}

policies() { # WORKLOAD...: those that have not been met above
    for options in '-s rr' '-s oldest' '-s swl:limit=4' '-s daws' '-s gcaws' '-p cawa' '-s paws' '-m ccws -s daws' \
        '-m c2050 -s gebhart' '-m c2050 -s narasiman' '--l1 srrip' '--l1 ship' '--l1 fifo' \
        '--l1 reuse-back' '--set l2.policy=srrip'; do
        workload "$options" "$@"
    done
}

if [ "$part" = all ]; then
    # shellcheck disable=SC2046 # names are words
    machines $(workloads)
    policies bfs spmv-scalar srad sobel
    for options in '-m gtx480' '-m ccws' '-m gtx480-gs4' '-m h200' '--set issue.instructions_per_warp=2'; do
        random "$options" 40 400
    done
else
    machines vectoradd
    workload '-m ccws -s ccws' bfs
    workload '-m gtx480 -s lrr' reduct sobel b+tree
    workload '-m h200 --set machine.cores=8' reduct sobel bitonic spmv-vector
    workload '-m h200 --set machine.cores=4' histogram # atomics wait for room in the interconnect
    policies dwthaar
    random '-m gtx480' 15 15
    random '-m ccws' 0 15
    random '-m gtx480-gs4' 15 15
    random '-m h200' 0 20
    random '--set issue.instructions_per_warp=2' 60 20
fi
