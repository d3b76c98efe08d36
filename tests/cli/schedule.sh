#!/bin/sh
# heddle schedule: where the issue orders of two runs part.
# Left out of second builds: no compiler changes what is printed.
# Uses xmllint: whether pictures are well-formed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

order() { # NAME OPTION... PROGRAM
    name_=$1
    shift
    "$heddle" run --quiet --size test --stats "$scratch/$name_.json" --issue-order "$scratch/$name_" "$@"
}
is 'an order' order lrr -s lrr bfs
is 'a third' order reduct reduct
is 'another' order gto -s gto bfs
order again -s lrr -j 2 bfs >/dev/null 2>&1
is 'the same on 2 threads' cmp "$scratch/lrr" "$scratch/again"
"$heddle" run --quiet --size test --stats "$scratch/plain.json" -s lrr bfs >/dev/null 2>&1
is 'nothing else changes' "$json_check" --same "$scratch/lrr.json" "$scratch/plain.json"

expect 'equal' 0 'The two issue orders are equal: the same instructions in the same cycles, on all 15 cores' \
    "$heddle" schedule "$scratch/lrr" "$scratch/again"
expect 'different' 0 'The issue orders differ on 15 of 15 cores; first on core [0-9]+, after [0-9]+ common issues:' \
    "$heddle" schedule "$scratch/lrr" "$scratch/gto"
saw 'different: all issues are there' "scheduler lrr.*$("$json_check" "$scratch/lrr.json" total.warp_instructions |
    sed 's/\([0-9]\{3\}\)$/,\1/') issues"
saw 'different: the last in common' 'last common in B +cycle [0-9,]+: block [0-9]+, warp [0-9]+, pc [0-9]+  [a-z@]'
saw 'different: the first that is not' 'then in A +cycle [0-9,]+: block [0-9]+, warp [0-9]+, pc [0-9]+  [a-z@]'
saw 'different: every core' '^ +14 .*: block [0-9]+, warp [0-9]+, pc [0-9]+'
saw 'different: how it grows' '^ +up to 2,000 +[0-9.]+% +[+-][0-9]+ +[0-9]+ +[+-][0-9]+ +[+-][0-9]+$'

# Two runs on the spot are the same as two files.
here() { "$heddle" schedule --quiet --size test "$@"; }
"$heddle" schedule "$scratch/lrr" "$scratch/gto" | sed 1,2d >"$scratch/of_files"
here -s lrr -s gto bfs 2>/dev/null | sed 1,2d >"$scratch/of_runs"
is 'two runs: the same' cmp "$scratch/of_files" "$scratch/of_runs"
expect 'two machines' 0 'issue orders' here -m gtx480 -m c2050 vectoradd
expect 'two values of a key' 0 'issue orders' here --set l1d.ways=4 --set l1d.ways=2 bfs
expect 'another program' 0 'do not launch the same kernels' "$heddle" schedule "$scratch/lrr" "$scratch/reduct"

# Pictures.
is 'a picture' here -s lrr -s gto -o "$scratch/a.svg" bfs
is 'a picture: it is one' grep -q '</svg>' "$scratch/a.svg"
is 'a picture: with what was issued' grep -q 'issued, cycles [0-9]* to [0-9]*: [a-z@]' "$scratch/a.svg"
is 'a picture: with the difference' grep -q 'first difference: cycle' "$scratch/a.svg"
two() { "$heddle" schedule "$@" "$scratch/lrr" "$scratch/gto"; }
is 'of a core and of cycles' two -o "$scratch/b.svg" --core 3 --cycles 0:30000
is 'of a core and of cycles: those' grep -q 'core 3, cycles 0 to 30000' "$scratch/b.svg"
if command -v xmllint >/dev/null 2>&1; then
    is 'pictures are XML' xmllint --noout "$scratch/a.svg" "$scratch/b.svg"
else
    echo 'note skipped: whether pictures are XML (xmllint is not installed: apt-get install libxml2-utils)'
fi

# Launches that are cut short, and those that were chosen.
expect 'a run that fails' 4 '' here --max-cycles 3000 -s lrr -s gto bfs
expect 'a run that fails: its order' 4 '' order cut --max-cycles 3000 bfs
expect 'a run that fails: can be compared' 0 'no more issues' "$heddle" schedule "$scratch/lrr" "$scratch/cut"
expect 'chosen launches' 0 '\(launch 4\)' here --launch 4-5 -s lrr -s gto bfs

# What cannot be.
expect 'one file' 2 'which two runs' "$heddle" schedule "$scratch/lrr"
expect 'no file' 2 'No such file' "$heddle" schedule "$scratch/lrr" "$scratch/nowhere"
expect 'no order' 2 'is no issue order' "$heddle" schedule "$scratch/lrr" "$scratch/lrr.json"
head -c 20000 "$scratch/lrr" >"$scratch/half"
expect 'half a file' 0 'ends in the middle' "$heddle" schedule "$scratch/lrr" "$scratch/half"
expect 'no such core' 2 '--core 99: the runs have cores 0 to 14' two --core 99
expect 'no cycles' 2 '--cycles needs two numbers A:B' two --cycles 5:5
expect 'two options twice' 2 'one option is given twice, not more' here -s lrr -s gto -m ccws -m gtx480 bfs
expect 'with a timeline' 2 'do not go together' order bad --timeline "$scratch/t" bfs
expect 'with --functional' 2 'does not model' order bad --functional bfs
expect 'a picture that cannot be written' 2 'cannot write' \
    two -o /nonexistent/a.svg
expect 'help' 0 'Usage: heddle schedule' "$heddle" schedule --help
