#!/bin/sh
# heddle repro all: does its table have every figure and table of a paper, with the verdict that the runs give?
# Left out of builds with sanitizers: sweeps and reports under sanitizers are those of sweep.sh and robust.sh.
# Left out of second builds: no compiler changes what a table says.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# Every file that an experiment names as showing a figure is there.
for file in experiments/*.ini; do
    awk -v experiment="$file" '
        /^\[/ { inside = $0 == "[shown elsewhere]"; next }
        inside && /=/ { sub(/^[^=]*= */, ""); sub(/:.*/, ""); print experiment, $0 }' "$file"
done >"$scratch/named"
: >"$scratch/absent"
while read -r experiment file; do
    [ -f "$file" ] || echo "$experiment names $file, which is not there" >>"$scratch/absent"
done <"$scratch/named"
is 'files that show a figure are there' test ! -s "$scratch/absent"
cat "$scratch/absent"

# ------------------------------------------------------------------ one paper with every verdict

head='[experiment]
size = test
[programs]
vectoradd
reduct
[schedulers]
lrr
gto
swl 1 = swl:limit=1
'
bars='x = program
series = scheduler
y = ipc
'
both='where = scheduler=lrr|gto
normalise = scheduler=lrr
mean = geometric
'
paper='[paper]
name = PA
title = A paper that nobody wrote
figures = 14
tables = 3
'
{
    printf '%s%s' "$head" "$paper"
    # The published values of gto: near, far, and far with an expectation that holds or does not.
    printf '[figure near]\n%s%ssource = PA, Figure 1\nclaim = Near | and far.\npublished.mean = gto 1.05\nexpect = gto > 0.5 * lrr\n' "$bars" "$both"
    printf '[figure far]\n%s%ssource = PA, Figures 2 and 14\npublished.mean = lrr 1, gto 4\nexpect = gto > 0.5 * lrr\n' "$bars" "$both"
    printf '[figure none]\n%s%ssource = PA, Figure 3\nexpect = gto > 0.5 * lrr\n' "$bars" "$both"
    printf '[figure unmet]\n%s%ssource = PA, Figure 4\npublished.mean = gto 1.05\nexpect = gto > 0.5 * lrr, gto > 10 * lrr\n' "$bars" "$both"
    printf '[figure plain far]\n%s%ssource = PA, Figure 5\npublished.mean = gto 4\n' "$bars" "$both"
    printf '[figure shown]\n%swhere = scheduler=lrr|gto\nsource = PA, Figure 6\n' "$bars"
    printf '[figure again]\n%s%ssource = PA, Figure 14\npublished.mean = gto 1.05\n' "$bars" "$both"
    # Five values, two of them far off: the median is near, and the values by themselves are not shown.
    printf '[figure values]\nx = scheduler\nseries = program\ny = ipc\nnormalise = scheduler=lrr\nwhere = scheduler=lrr|gto\nsource = PA, Figure 7\n'
    printf 'published.lrr = vectoradd 1.1, reduct 1.1\npublished.gto = vectoradd 1.1, reduct 50\n'
    printf '[figure ours]\n%swhere = scheduler=lrr|gto\nexpect = gto > 10 * lrr\n' "$bars"
    printf '[table numbers]\nsource = PA, Table 1\ncolumns = a\nrow.b = 1\n'
    printf '[shown elsewhere]\nFigure 8 = tests/cli/repro_all.sh: this test\nTable 2 = docs/experiments.md: a page\n'
    printf '[left out]\nFigure 9 = It is a drawing.\nFigure 1 (b) = No program.\n'
} >"$scratch/pa.ini"
{
    printf '%s' "$head"
    printf '[figure other]\n%s%ssource = PA, Figure 10\npublished.mean = gto 1.05\n' "$bars" "$both"
    printf '[figure nobody]\n%s%ssource = PB, Figure 1\nexpect = gto > 10 * lrr\n' "$bars" "$both"
} >"$scratch/other.ini"

folder="$scratch/a folder"
mkdir "$folder"
table() { # the rows of the page
    expect "$1" 0 "$2" cat "$folder/papers.md"
}
row() { # NAME ITEM PATTERN: what the row of a figure or table says after its name
    saw "$1" "^\\| $2 \\| $3"
}
expect 'nothing has run yet' 0 '^PA +11 of 17 figures and tables are there: 1 shown by a test, 1 shown by a file, 9 not run, 1 quoted, 1 left out, 4 missing; 1 lack a part$' \
    "$heddle" repro all "$scratch/pa.ini" "$scratch/other.ini" --no-run -o "$folder"
is 'and nothing is run' test ! -e "$folder/pa.db"
table 'a figure without runs' '^\| Figure 2 \|  \|  \| not run \| there are no results \| far \|$'

for experiment in pa other; do
    expect "the runs of $experiment" 0 '' "$heddle" sweep "$scratch/$experiment.ini" -o "$folder/$experiment.db"
done
expect 'all' 0 '^PA +11 of 17 figures and tables are there: 3 holds, 3 direction, 2 fails, 1 shown, 1 shown by a test, 1 shown by a file, ' \
    "$heddle" repro all "$scratch/pa.ini" "$scratch/other.ini" --no-run --json "$scratch/all.json" -o "$folder"
saw 'and those that are not there' ', 1 shown by a file, 1 quoted, 1 left out, 4 missing; 1 lack a part$'
saw 'where the table is' '^The table: /.*/a folder/papers.md$'
tr -d ' \n' <"$scratch/all.json" >"$scratch/all.line"
expect 'the table as JSON' 0 '"there":11,"partial":1,"counts":\{"holds":3,"direction":3,' cat "$scratch/all.line"
saw 'a row of it' '"item":"Figure5","claim":"","ours":"gto[0-9.]+\(4.00\)","verdict":"fails","why":"themeanofgtois[67][0-9]%off","sections":\[\{"experiment":"pa","name":"plainfar","table":false,"unknown":false,"missing_runs":0,"expected":0,"unmet":null,"deviation":0.[67][0-9]+,"values":\[\{"label":"gto","ours":[0-9.]+,"published":4'
number='[0-9.]+'
# shellcheck disable=SC2016 # backquotes of Markdown
table 'the paper' '^A paper that nobody wrote. Experiment: `pa`.$'
row 'near the published mean, and a part left out' 'Figure 1' "Near \\\\\\| and far\\. \\| gto $number \\(1.05\\) \\| holds \\| \\(b\\) is left out: No program\\. \\| near \\|\$"
row 'far from it, and the order holds' 'Figure 2' " \\| gto $number \\(4.00\\) \\| direction \\| the mean of gto is [67][0-9]% off \\| far \\|\$"
row 'nothing is published' 'Figure 3' " \\| lrr 1.00, gto $number \\| direction \\| no value is published \\| none \\|\$"
row 'an expectation that is not met' 'Figure 4' " \\| gto $number \\(1.05\\) \\| fails \\| not met: gto \\\\> 10 \\\\\\* lrr \\| unmet \\|\$"
row 'far, and no expectation' 'Figure 5' " \\| gto $number \\(4.00\\) \\| fails \\| the mean of gto is [67][0-9]% off \\| plain far \\|\$"
row 'nothing to judge' 'Figure 6' ' \|  \| shown \|  \| shown \|$'
row 'the median of the values' 'Figure 7' " \\| lrr vectoradd 1.00 \\(1.10\\), lrr reduct 1.00 \\(1.10\\), gto vectoradd $number \\(1.10\\), gto reduct $number \\(50.0\\) \\| holds \\|"
row 'a test' 'Figure 8' ' \|  \| shown by a test \| this test \| tests/cli/repro\\_all.sh \|$'
row 'left out' 'Figure 9' ' \|  \| left out \| It is a drawing. \|  \|$'
row 'a section of another experiment' 'Figure 10' " \\| gto $number \\(1.05\\) \\| holds \\|  \\| other of other \\|\$"
row 'missing' 'Figure 11' ' \|  \| missing \|  \|  \|$'
row 'two sections: one far, one near' 'Figure 14' " \\| far: gto $number \\(4.00\\); again: gto $number \\(1.05\\) \\| direction \\| far: the mean of gto is [67][0-9]% off \\| far, again \\|\$"
row 'the paper'\''s own numbers' 'Table 1' ' \|  \| quoted \|  \| numbers \|$'
row 'a file' 'Table 2' ' \|  \| shown by a file \| a page \| docs/experiments.md \|$'
row 'a table that is missing' 'Table 3' ' \|  \| missing \|  \|  \|$'
expect 'a figure that is ours alone is not in it' 1 '' grep -E '\| (ours|nobody) \|' "$folder/papers.md"
expect 'a file that is as it was swept' 1 '' grep 'another text' "$folder/papers.md"

# ------------------------------------------------------------------ what the results lack

# One limit of the best has no run: what is the best of the others is not the best.
sed 's/^swl 1 = .*/swl = swl:limit={1,2}\nbest = best(swl:limit={1,2})/; s/lrr|gto/lrr|best/; s/gto/best/g; s/^best$/gto/' "$scratch/pa.ini" >"$scratch/best.ini"
cp "$folder/pa.db" "$folder/best.db"
expect 'a best that lacks a run' 0 '^PA .* 8 not run' "$heddle" repro all "$scratch/best.ini" --no-run -o "$folder"
table 'how many are missing' '^\| Figure 4 \|  \|  \| not run \| [0-9]+ runs are missing \| unmet \|$'
sed 's/^title = A paper.*/title = The same paper/' "$scratch/pa.ini" >"$scratch/changed.ini"
mkdir "$scratch/changed"
mv "$scratch/changed.ini" "$scratch/changed/pa.ini"
expect 'a file that is not as it was swept' 0 '' "$heddle" repro all "$scratch/changed/pa.ini" --no-run -o "$folder"
table 'the table says so' '^The runs were made with another text of the experiment.s file than it has now\.$'

# ------------------------------------------------------------------ mistakes

expect 'no paper' 2 'none of these experiments has a section \[paper\]' "$heddle" repro all "$scratch/other.ini" --no-run -o "$folder"
expect 'one paper twice' 1 'pa and best both have a section \[paper\] with name = PA' "$heddle" repro all "$scratch/pa.ini" "$scratch/best.ini" --no-run -o "$folder"
expect 'an experiment that is not there' 2 "no experiment 'quik'" "$heddle" repro all quik --no-run -o "$folder"
expect 'JSON of one experiment' 2 "--json is for the table of 'heddle repro all'" "$heddle" repro "$scratch/pa.ini" --json x
expect 'JSON that cannot be written' 2 'cannot write .*/none/all.json' "$heddle" repro all "$scratch/pa.ini" --no-run --json "$scratch/none/all.json" -o "$folder"
expect 'one experiment, nothing run' 0 'far: far' "$heddle" repro "$scratch/pa.ini" --no-run -o "$folder"
expect 'and no results' 2 'cannot open|cannot read|no such|not there' "$heddle" repro "$scratch/pa.ini" --no-run -o "$scratch/empty"

[ -e "${HEDDLE_VEGA:-/usr/share/javascript/vega}/vega-util.min.js" ] || {
    echo 'note left out: repro all with runs; the Vega modules (Debian: libjs-vega) are not installed'
    exit 0
}
expect 'all, with what has run' 0 '^pa \(1 of 2\)$' env HEDDLE_SWEEP_JOURNAL="$scratch/journal" "$heddle" repro all "$scratch/pa.ini" "$scratch/other.ini" -o "$folder"
is 'no program was started' test ! -s "$scratch/journal"
is 'the pages are there' test -s "$folder/pa.html" -a -s "$folder/other.html"
sed 's/^vectoradd$/vectoradd = vectoradd --no-such-option/' "$scratch/other.ini" >"$scratch/failing.ini"
expect 'a run that fails does not keep the rest from running' 1 '^pa \(2 of 2\)$' "$heddle" repro all "$scratch/failing.ini" "$scratch/pa.ini" -o "$scratch/failed"
expect 'and the table says which figure lacks it' 0 '^\| Figure 10 \|  \|  \| not run \| 2 runs are missing \|' cat "$scratch/failed/papers.md"
