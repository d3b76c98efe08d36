#!/bin/sh
# The judge of `make bench` (bench/judge.sh), with made-up numbers: a new miss fails, a known one does not and is named, and
# the list of known misses has to be true. Then the benchmark's own scripts, with programs that claim a speed.
# Left out of builds with sanitizers: nothing of the build is run.
# Left out of second builds: nothing of the build is run.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

cat >"$scratch/known" <<'END'
# Made up.

timed slow 400 189 five misses for each instruction
functional other 5000 4000 of the other part
END
judge() { # LINE...: of what was measured
    printf '%s\n' "$@" >"$scratch/measured"
    sh bench/judge.sh timed "$scratch/measured" "$scratch/known"
}
expect 'a known miss: status 0' 0 '^bench: known miss: with time, slow: 200 kWI/s, target 400; listed with 189: five misses' \
    judge 'slow 200.4 400' 'fast 1200 1000' 'free 3 -'
is 'nothing else is said' test "$(wc -l <"$out")" = 1
expect 'a new miss: status 1' 1 '^bench: NEW MISS: with time, fast: 999 kWI/s, target 1000$' judge 'fast 999 1000' 'slow 200 400'
saw 'the known one is still named' '^bench: known miss: with time, slow: '
expect 'a known miss that is met' 0 '^bench: met again: with time, slow: 400 kWI/s, target 400; its line in .*known can go$' \
    judge 'slow 400 400' 'fast 1000 1000'
expect 'another target than in the list' 1 'known gives another target for with time, slow: 400, not 300$' judge 'slow 200 300'
expect 'a line of the list for what is no longer measured' 1 'names what was not measured: with time, slow$' judge 'fast 1200 1000'
: >"$scratch/known"
is 'an empty list' judge 'fast 1200 1000'
is 'an empty list: nothing is said' test ! -s "$out"
expect 'an empty list: all misses are new' 1 'NEW MISS: with time, slow: 399 ' judge 'slow 399 400'
echo 'fast 4999 5000' >"$scratch/measured"
expect 'the other part' 1 'NEW MISS: functional mode, fast: 4999 ' sh bench/judge.sh functional "$scratch/measured" "$scratch/known"

# The list of the tree names targets of the tree.
{
    awk '!/^#/ && NF { print "functional", $1, $2 }' bench/targets
    awk '!/^#/ && $2 != "-" { print "timed", $1, $2 }' bench/kernels
} | sort >"$scratch/targets"
awk '!/^#/ && NF { print $1, $2, $3 }' bench/known-misses | sort >"$scratch/listed"
comm -13 "$scratch/targets" "$scratch/listed" >"$scratch/strange"
is 'each known miss is a target' cmp "$scratch/strange" /dev/null
expect 'each says why' 1 '' awk '!/^#/ && NF && NF < 8 { found = 1 } END { exit !found }' bench/known-misses

# The whole benchmark, but that every program is this one: it claims 100,000 kWI/s, less where $scratch/slow says so.
cat >"$scratch/claim" <<END
#!/bin/sh
speed=\$(awk -v line="\${0##*/} \$*" 'index(line, \$1) == 1 { print \$2; exit }' "$scratch/slow")
to=\$(echo "\$HEDDLE_OPTIONS" | sed -n 's/.*--stats \\([^ ]*\\).*/\\1/p')
{
    printf '{\n  "total": {\n    "cycles": 1000,\n    "warp_instructions": 1000,\n  },\n'
    printf '  "launch_seconds": 1,\n  "kwips": %s\n}\n' "\${speed:-100000}"
} >"\${to:-/dev/stdout}"
END
chmod +x "$scratch/claim"
fake=$scratch/build
mkdir -p "$fake/bin" "$fake/workloads" "$fake/tests/timing" "$fake/bench"
ln -s "$scratch/claim" "$fake/bin/heddle"
ln -s "$scratch/claim" "$fake/tests/timing/calibrate"
ln -s "$scratch/claim" "$fake/bench/spots"
for source in workloads/*/*.cu; do ln -s "$scratch/claim" "$fake/workloads/$(basename "$source" .cu)"; done
bench() { # 'PROGRAM SPEED'...
    printf '%s\n' "$@" >"$scratch/slow"
    env BENCH_RUNS=1 BENCH_CALLGRIND=0 sh bench/run.sh "$fake"
}
slow=$(awk '$1 == "timed" { print $2; exit }' bench/known-misses) # none: the list is empty
if [ -n "$slow" ]; then
    expect 'make bench: known misses alone' 0 "^bench: known miss: with time, $slow: 7 kWI/s" bench 'nothing 0' "$slow 7"
    saw 'its table has the target' "^$slow +1000 +1000 +1\.000 +7 +[0-9]+ "
    is 'its JSON can be read' "$json_check" "$fake/bench.json" timed.0.target_kwips
fi
expect 'make bench: a new miss in functional mode' 1 '^bench: NEW MISS: functional mode, mdbrot: 9 kWI/s' bench 'heddle 9' 'calibrate 8'
saw 'a new miss with time' '^bench: NEW MISS: with time, matmul: 8 kWI/s'
expect 'its part with time: status 1' 1 'NEW MISS: with time, matmul' env BENCH_RUNS=1 BENCH_CALLGRIND=0 sh bench/timed.sh "$fake"
