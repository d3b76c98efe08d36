# shellcheck shell=sh
# Probes as a person uses them: built in and from a shared object, what they leave in the results and in files, and
# that results without them are the same.
# sh tests/policy/probe.sh BUILD, from the repository's root; counted as the command-line tests are.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
cc=${CC:-cc}
flags='-std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused -shared -fPIC -Iinclude'
make_probe() { # NAME FLAGS
    # shellcheck disable=SC2086 # flags are words
    is "probe $1 compiles" $cc $flags ${2:-} -o "$scratch/$1.so" tests/policy/probe.c
}
run() { "$heddle" run --quiet --size test "$@"; }
make_probe lines
make_probe silent -DSILENT
make_probe wrong_histogram -DWRONG_HISTOGRAM
make_probe wrong_column -DWRONG_COLUMN

# The results of two runs, but for the host's part and the names of probes.
simulated() { sed -e '/^  "probes": \[\],*$/d' -e '/^  "probes": \[$/,/\]/d' -e '/^  "host": {/,/^  }/d' "$1"; }
for policies in '-s lrr' '-s ccws' '-s swl:limit=4' '-s two-level' '--l1 srrip'; do
    # shellcheck disable=SC2086
    is "$policies without a probe" run $policies --pcs --interval 500 --stats "$scratch/without.json" spmv-scalar
    # shellcheck disable=SC2086
    is "$policies with one" run $policies --pcs --interval 500 --probe "$scratch/silent.so" -j 2 --stats "$scratch/with.json" spmv-scalar
    simulated "$scratch/without.json" >"$scratch/without"
    simulated "$scratch/with.json" >"$scratch/with"
    is "$policies: a probe changes nothing" cmp "$scratch/without" "$scratch/with"
done

expect 'no probes' 0 '"probes": \[\]' run --stats - vectoradd
expect 'a built-in probe' 0 '^    "residency"$' run --probe residency --stats - vectoradd
saw 'its maximum' '"most_warps": [1-9]'
saw 'its histogram' '"warps": \[$'
expect 'two probes' 0 '"lines:file="' run --probe residency --probe "$scratch/lines.so" --stats - vectoradd
saw 'counters of instructions' '"misses": [1-9]'
saw 'in the list of instructions' '"pcs": \['
unseen() { # NAME PATTERN
    if grep -Eq -- "$2" "$out"; then echo "FAILED $1"; else echo "ok $1"; fi
}
unseen 'and nothing that was not asked for' '"executions"'
expect 'with --pcs both' 0 '"executions": [1-9]' run --pcs --probe "$scratch/lines.so" --stats - vectoradd
saw 'side by side' '"misses": [1-9]'
expect 'samples' 0 '"lines.hits": \[' run --interval 100 --probe "$scratch/lines.so" --stats - vectoradd
unseen 'of sums alone' '"lines.most_left"'

expect 'a probe writes' 0 '' run --probe "$scratch/lines.so:file=$scratch/written" bfs
expect 'a line for each kernel' 0 'hits [0-9]+' cat "$scratch/written"
is 'all launches together' test "$(wc -l <"$scratch/written")" -eq "$(sed 's/ .*//' "$scratch/written" | sort -u | wc -l)"
expect 'a probe that cannot write' 1 'probe lines could not write its results: the file cannot be opened' run --probe "$scratch/lines.so:file=$scratch/none/written" vectoradd

expect 'without time' 2 'listens to cores, which --functional does not model.*compaction' run --functional --probe residency vectoradd
expect 'twice' 2 "probe 'residency' is given twice" run --probe residency --probe residency vectoradd
expect 'an unknown one' 2 "no probe 'residenz'; did you mean 'residency'" run --probe residenz vectoradd
expect 'a scheduler' 2 "'gto' is a scheduler, not a probe" run --probe gto vectoradd
expect 'a probe behind -s' 2 'holds a probe, not a scheduler; it goes after --probe' run -s "$scratch/lines.so" vectoradd
expect 'too many buckets' 2 "counter 'left' of lines is neither" run --probe "$scratch/wrong_histogram.so" vectoradd
expect 'a histogram for each instruction' 2 "counter 'hits' of the instructions of lines is neither" run --probe "$scratch/wrong_column.so" vectoradd
expect 'list probes' 0 '^residency$' "$heddle" list probes
saw 'kinds of counters' 'counts residency.most_warps \(warps, maximum\)'

# Times, instructions and waiting of warps, by the probe and by --warps.
disparity() { # OPTION... PROGRAM
    run --probe disparity --stats "$scratch/disparity.json" --warps "$scratch/disparity.csv" "$@"
}
disparity_check=$build/tests/cli/disparity_check
for options in 'bfs' '-s gto backprop' '-s swl:limit=4 srad' '-m ccws -s ccws bfs' '-m slp -s two-level hotspot'; do
    # shellcheck disable=SC2086 # options are words
    is "disparity runs: $options" disparity $options
    is "disparity says what --warps says: $options" "$disparity_check" "$scratch/disparity.json" "$scratch/disparity.csv"
done
