#!/bin/sh
# The list of all tests, one line each: group, name, kind, file, command, tags (tab between them); a line that begins with
# '#' is a group and the question that it answers. Run as `sh tests/list.sh` from the repository's root, by tests/run.sh.
#
# The kind says how a result is read: cmocka; plain (one test: the exit status); counted (the last line is 'N passed, N
# failed'); script (lines 'ok NAME' and 'FAILED NAME'). The command is evaluated by a shell that knows $build.
#
# A test says in its own file where it is left out, and why. The tags are these sentences:
#   Left out of builds with sanitizers: WHY
#   Left out of second builds: WHY                   where several builds of the same sources are tested
#   Left out of quick: WHY                           of `./heddle test quick`
#   Uses PROGRAM, PROGRAM: WHAT FOR                  what `./heddle test` does not install; the test asks whether it is there
# shellcheck disable=SC2016 # commands are evaluated later
set -u
group() { printf '# %s\t%s\n' "$1" "$2" && current=$1; }
add() { # name, kind, file, command, tags
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$current" "$1" "$2" "$3" "$4" "${5:-}"
}
stem() {
    stem=${1##*/}
    stem=${stem%.*}
}
scripts() { # file...
    for file in "$@"; do
        stem "$file"
        add "$stem" script "$file" "sh $file \"\$build\""
    done
}

few='' every='' short=${TEST_SHORT:-} quick=${TEST_QUICK:-}
case ${TEST_WORKLOADS:-all} in
few) few=1 ;;
every) every=1 ;;
esac

group rooms 'does every include and every call run downward'
add rooms plain tests/rooms.sh 'sh tests/rooms.sh "$build"'

group unit 'does each module do what it says'
for file in tests/unit/test_*.c; do
    stem "$file"
    add "${stem#test_}" cmocka "$file" "\"\$build/tests/$stem\""
done

# What an instruction does is asked of functional mode; that time changes nothing of it is asked, of a part, in group timed.
group driver 'do programs against cuda.h see what they would see on a GPU'
for file in tests/driver/*.c; do
    stem "$file"
    add "$stem" plain "$file" "HEDDLE_OPTIONS=--functional \"\$build/tests/driver/$stem\""
done

group runtime 'does the library of each generation of CUDA do what NVIDIA'\''s does'
for version in 11.0 12 13; do
    for file in tests/runtime/*.c; do
        stem "$file"
        case $stem in missing | ignores_errors) continue ;; esac # tests/cli/runtime.sh runs these
        add "$stem-$version" plain "$file" "HEDDLE_OPTIONS='--functional --quiet' \"\$build/tests/runtime/$version/$stem\""
    done
done

group cuda 'do programs of our own run as nvcc compiles them'
add cuda script tests/cuda/run.sh 'sh tests/cuda/run.sh "$build"'

group semantics 'is each PTX instruction right, against vectors recorded from silicon'
add vectors counted tests/semantics/vectors.c 'HEDDLE_OPTIONS=--functional "$build/tests/vectors" check tests/semantics/spec tests/semantics/vectors'
add vector-table plain tests/semantics/table.c '"$build/tests/vectors" table src/ptx/instructions.def tests/semantics/spec tests/semantics/vectors'

# A second build draws the other half of the seeds.
group random 'do kernels made from seeds give what silicon gave'
random() { # name, options, first seed, how many, tags
    add "$1" counted tests/random/kernels.c "HEDDLE_OPTIONS='$2' \"\$build/tests/random\" check $3 $4 tests/random/recorded.txt" "${5:-}"
}
first=0 seeds=5000
if [ -n "$few" ]; then first=2500 seeds=2500; fi
if [ -n "$short" ]; then first=0 seeds=1500; fi
if [ -n "$quick" ]; then seeds=1000; fi
random any --functional $first $seeds
random no-warp-wide --functional $((1000000 + first / 5)) $seeds # there are a thousand
random in-lockstep '--functional --probe compaction' $first $((seeds / 5))

group compiled 'do kernels in CUDA C++ through nvcc and clang give what silicon gave'
add compiled counted tests/compiled/compiled.c 'HEDDLE_OPTIONS=--functional "$build/tests/compiled" check tests/compiled/recorded.txt tests/compiled/ptx'

group workloads 'do results match their references in functional mode'
for file in workloads/*/*.cu; do
    stem "$file"
    add "$stem" plain "$file" "\"\$build/bin/heddle\" run --functional --quiet --size test $stem"
done
original() { # name, options
    add "kmeans-original-$1" plain workloads/kmeans/kmeans.cu "\"\$build/bin/heddle\" run --quiet --size test $2 kmeans --original 1"
}
original functional --functional
original gtx480 '-m gtx480'
original ccws '-m ccws'
add sortnw-odd-even plain workloads/sortnw/sortnw.cu '"$build/bin/heddle" run --functional --quiet --size test sortnw --odd-even 1'

group timed 'does a run with time leave the same memory contents'
with_time='--set core.shared_bytes=96K' # one of the programs asks for more than a GTX 480 has
once='Left out of second builds: group driver has these programs, and random kernels have time.'
for file in tests/driver/*.c; do
    stem "$file"
    add "$stem" plain "$file" "HEDDLE_OPTIONS='$with_time' \"\$build/tests/driver/$stem\"" "$once"
done
first=0 seeds=1000 dual_seeds=300 # other seeds for each build
if [ -n "$few" ]; then first=1000 seeds=500; fi
if [ -n "$short" ]; then first=1500 seeds=150 dual_seeds=60; fi
if [ -n "$every" ]; then seeds=5000; fi
random any "$with_time" $first $seeds
random dual-issue "$with_time --set issue.instructions_per_warp=2" $first $dual_seeds
add compiled counted tests/compiled/timed.sh "HEDDLE_OPTIONS='$with_time' sh tests/compiled/timed.sh \"\$build\"" "$once"

# Divergence units that mix the warps of a block refuse most of the first kernels, for what those do as warps, and run all
# of the others (seeds from 1000000 on). The last number: how many must pass, so that one refusal too many is seen.
once='Left out of second builds: machines from the ends of all keys have these units.'
group mixed 'does a divergence unit that mixes warps leave the same memory contents'
mixed() { # unit, first seed, seeds, how many must pass, machine where it is not slp
    add "$1-$2${5:+-$5}" counted tests/random/mixed.sh "sh tests/random/mixed.sh \"\$build\" $1 $2 $3 $4 ${5:-}" "$once"
}
if [ -n "$every" ]; then
    for unit in tbc capri; do
        mixed $unit 0 5000 84
        mixed $unit 1000000 5000 987
        mixed $unit:permutation=balanced 1000000 400 370
        mixed $unit 1000520 600 485 h200
    done
elif [ -n "$few" ]; then
    for unit in tbc capri; do
        mixed $unit 1000000 60 57
        mixed $unit:permutation=balanced 1000060 30 25
    done
else # each unit one half
    mixed tbc 0 1250 42
    mixed capri 1250 3750 42
    mixed tbc 1000000 520 502
    mixed capri 1000520 4480 485
    mixed capri 1000520 600 485 h200
    mixed tbc:permutation=balanced 1000000 200 195
    mixed capri:permutation=balanced 1000600 200 189
fi

# Other seeds for each build. make soak draws 10,000.
group machines 'do machines from the ends of all keys run, and count the same in three ways'
first=0 machines=50
if [ -n "$few" ]; then first=200 machines=25; fi
if [ -n "$short" ]; then first=300 machines=10; fi
for part in 0 1 2 3; do
    add "from-$((first + part * machines))" counted tests/machines/machines.c "\"\$build/tests/machines\" $((first + part * machines)) $machines -j 1"
done

# What one in ten thousand found, and no hand-written kernel: the write-back that a fill sends, by a core that runs ahead.
add fills-in-a-narrow-port plain tests/machines/machines.c '"$build/tests/machines" with machines/gtx480.ini machine.cores=1 interconnect.input_buffer_flits=8 rules.l1d_allocate=fill'

group timing 'do cycles and misses agree with another simulator'
scripts tests/timing/*.sh

group twin 'does the model, written to be read, give the same results'
scripts tests/twin/*.sh

group policy 'do shared objects work as a person makes them'
scripts tests/policy/*.sh

group cli 'what a person types, what they see'
for file in tests/cli/*.sh; do
    [ "$file" = tests/cli/lib.sh ] || scripts "$file"
done

group lab 'do sweeps run on a real cluster, and reports in a real browser'
scripts tests/lab/slurm.sh tests/lab/browser.sh tests/lab/compare_page.sh tests/lab/source_page.sh tests/lab/correlate_page.sh
