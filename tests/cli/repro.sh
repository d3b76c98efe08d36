#!/bin/sh
# heddle repro: sweep, page, and the published values beside ours; and the demo, which ends with a page.
# Left out of builds with sanitizers: sweeps and reports under sanitizers are those of sweep.sh and robust.sh.
# Left out of second builds: no compiler changes what a report says.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
[ -e "${HEDDLE_VEGA:-/usr/share/javascript/vega}/vega-util.min.js" ] || {
    echo 'note skipped: the Vega modules (Debian: libjs-vega) are not installed'
    exit 0
}
mkdir "$scratch/a folder" || exit 1
cat >"$scratch/paper.ini" <<'INI'
[experiment]
title = A paper
size = test
[programs]
vectoradd
reduct
[schedulers]
lrr
gto
[figure speed]
title = Speed
kind = bars
x = program
y = ipc
series = scheduler
normalise = scheduler=lrr
mean = geometric
source = Figure 1 of a paper that nobody wrote
published.vectoradd = lrr 1, gto 100
published.reduct = lrr 1, gto 0.99
expect = gto > 0.5 * lrr, gto > 10 * lrr
[figure misses]
title = Misses
kind = bars
x = program
y = l1d.misses
series = scheduler
[table printed]
title = What it printed
source = Table 2 of the same paper
columns = lrr, gto
row.vectoradd = 1.00, "1,234"
INI
expect 'repro runs what is asked for' 0 'speed: Speed' "$heddle" repro "$scratch/paper.ini" -o "$scratch/a folder"
saw 'repro names the source' 'Figure 1 of a paper that nobody wrote'
saw 'repro shows published and ours' 'vectoradd +gto +100 +[0-9.]+ +-9[0-9.]+%'
saw 'repro: medians and rankings' 'of 4 values the median deviation is .*direction holds for [0-9] of [0-9].*ranking'
saw 'an expectation that holds' 'expected gto > 0.5 \* lrr: holds'
saw 'one that does not' 'expected gto > 10 \* lrr: does NOT hold'
saw 'repro shows the tables of the experiment' '^printed: What it printed$'
saw 'with the word and the source' '^published: Table 2 of the same paper$'
saw 'and their text' '^  vectoradd +1\.00 +1,234$'
saw 'repro says where the page is' 'The page: /.*/a folder/paper.html'
is 'the page is there' test -s "$scratch/a folder/paper.html"
mkdir "$scratch/paper"
expect 'repro makes the folder' 0 'The page: /.*/new/paper.html' "$heddle" repro "$scratch/paper.ini" misses -o "$scratch/new"
expect 'but not in the place of a file' 2 'cannot make the folder' "$heddle" repro "$scratch/paper.ini" misses -o "$scratch/paper.ini"
expect 'repro again runs nothing' 0 'expected gto' env HEDDLE_SWEEP_JOURNAL="$scratch/journal" "$heddle" repro "$scratch/paper.ini" -o "$scratch/a folder"
is 'no program was started' test ! -s "$scratch/journal"
expect 'one figure only' 0 'The page' "$heddle" repro "$scratch/paper.ini" misses -o "$scratch/a folder"
if grep -q 'speed: Speed\|printed:' "$out"; then echo 'FAILED one figure only: the other one is there, too'; else echo 'ok one figure only: no other'; fi
expect 'unknown figure' 2 "no figure 'sped'" "$heddle" repro "$scratch/paper.ini" sped
saw 'unknown figure: the nearest' "did you mean 'speed'"
expect 'unknown experiment' 2 "no experiment 'quik'" "$heddle" repro quik
saw 'unknown experiment: the nearest' "did you mean 'quick'"
expect 'no experiment' 2 'which experiment' "$heddle" repro
expect 'bad size' 2 "unknown size 'huge'" "$heddle" repro quick --size huge
expect 'bad -j' 2 "-j needs a number" "$heddle" repro quick -j 0
expect 'too many words' 2 "unexpected argument 'c'" "$heddle" repro a b c
expect 'folder in one that is not there' 2 'cannot make the folder' "$heddle" repro "$scratch/paper.ini" -o "$scratch/none/at all"
expect 'list of experiments' 0 '^quick +[0-9]+ +[0-9]+ +test' "$heddle" list experiments
listed=$(sed -n 's/^ccws  *\([0-9]*\) .*/\1/p' "$out")
expect 'it counts runs as a sweep does' 0 "^${listed:-none} runs: 0 in " "$heddle" sweep ccws --dry-run -o "$scratch/never.db"

expect 'demo' 0 'Try next' "$heddle" demo --size test -o "$scratch/demo"
saw 'demo: a table of schedulers' 'lrr +gto +two-level +paws +ccws'
saw 'demo: all workloads' '^  vectoradd +[0-9.]+ +[0-9.]+'
tail -n 1 "$out" >"$scratch/last"
expect 'demo: the last line says where the page is' 0 '^The report.*/demo/report.html$' cat "$scratch/last"
is 'demo: the page is there' test -s "$scratch/demo/report.html"
is 'demo: at least four figures' test "$(grep -o '"kind"' "$scratch/demo/report.html" | wc -l)" -ge 4
expect 'demo in a folder that cannot be made' 2 'cannot make the folder' "$heddle" demo -o "$scratch/paper.ini/x"
