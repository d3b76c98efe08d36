# shellcheck shell=sh
# heddle robust on a small experiment: the plan before anything runs, an interruption and what is done after it, the
# shares, the page's data, CSV and PDF; what is written without gnuplot; and what cannot be judged.
# Uses gnuplot: plots as PDF.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac
HEDDLE_SWEEP_JOURNAL=$scratch/journal
export HEDDLE_SWEEP_JOURNAL

cat >"$scratch/tiny.ini" <<'INI'
[experiment]
size = test
interval = 1000
[programs]
vectoradd
spmv-scalar
reduct
[schedulers]
lrr
gto
rr
swl = swl:limit={2,8}
Best-SWL = best(swl:limit={2,8})
[figure over time]
kind = lines
x = cycle
series = scheduler
y = ipc
where = program=reduct scheduler=lrr|gto
[figure speed]
title = Speed
x = program
series = scheduler
y = ipc
where = program=vectoradd|reduct scheduler=lrr|gto|rr
normalise = scheduler=lrr
mean = geometric
expect = lrr > rr, gto > rr
INI
robust() { "$heddle" robust "$scratch/tiny.ini" -o "$scratch/tiny.db" -j 2 "$@"; }
few='L1 size, DRAM bandwidth, block order'

# ------------------------------------------------------------------ the plan
expect 'the number of runs is said first' 0 '^174 runs: 6 on each machine' robust --dry-run
saw 'and on which machines' '^figure speed on 29 machines: as it is, 16 with one factor changed, 12 with all'
saw 'a machine and what it sets' '^  L1 size: 8 KB +l1d.sets=4$'
saw 'one of the sample' '^  sample 12 -{9} '
is 'a dry run writes nothing' test ! -e "$scratch/tiny.db" -a ! -e "$scratch/tiny-speed-robust.ini"
expect 'a part of it' 0 '^8 runs: 2 on each machine' \
    robust --dry-run --factors 'L1 size,block order' --sample 0 --where 'program=spmv-scalar scheduler=lrr|rr'
saw 'says which claims cannot be asked' "note: the claim 'gto > rr' is left out: gto is not shown"

# ------------------------------------------------------------------ interrupted, and again
"$heddle" robust "$scratch/tiny.ini" -o "$scratch/tiny.db" -j 2 --factors "$few" >"$out" 2>&1 &
pid=$!
enough() { [ "$(grep -c '^recorded' "$HEDDLE_SWEEP_JOURNAL" 2>/dev/null)" -ge 5 ]; }
await 120 enough
kill -TERM "$pid"
wait "$pid"
is 'interrupted: exit code 4' test "$?" = 4
before=$(grep -c '^recorded' "$HEDDLE_SWEEP_JOURNAL")
is 'it was not through' test "$before" -lt 84
expect 'the same command goes on' 0 'runs done' robust --factors "$few" --csv "$scratch/tiny.csv"
saw 'an expectation' '^  lrr > rr +holds +14 of 14'
saw 'an order, its ratio, and on how many machines it holds' '^  lrr > rr +[0-9]\.[0-9]{2} +14 of 14'
saw 'and where the page is' '^The page: .*/tiny.html$'
recorded=$(grep -c "^recorded" "$HEDDLE_SWEEP_JOURNAL")
once=$(grep "^recorded" "$HEDDLE_SWEEP_JOURNAL" | sort -u | wc -l)
is 'no run was recorded twice' test "$recorded" = "$once"

# ------------------------------------------------------------------ what is left
expect 'the experiment it ran is a file' 0 'nothing to do: all 84 runs' \
    "$heddle" sweep "$scratch/tiny-speed-robust.ini" -o "$scratch/tiny.db"
is 'one row for each order and machine' test "$(wc -l <"$scratch/tiny.csv")" = $((1 + 5 * 14))
row='^"speed",pair,"lrr > rr","L1 size: 8 KB","L1 size","8 KB",,[0-9.]*,holds,yes$'
is 'a row of it' grep -q "$row" "$scratch/tiny.csv"
sed -n 's/.*id="data">\(.*\)<\/script>$/\1/p' "$scratch/tiny.html" >"$scratch/data.json"
members() { "$json_check" "$scratch/data.json" "experiments.0.figures.0.robust.$1" | wc -l; }
is 'the page has the machines' test "$(members 'machines.*')" = 14
expect 'two claims and three pairs' 0 '^"claim" "claim" "pair" "pair" "pair" $' sh -c \
    "'$json_check' '$scratch/data.json' 'experiments.0.figures.0.robust.judgements.*.kind' | tr '\n' ' '"
for pair in 2 3 4; do
    is "a ratio on each machine, pair $pair" test "$(members "judgements.$pair.ratios.*")" = 14
done
expect 'a report made later' 0 'report' "$heddle" report "$scratch/tiny.db" -o "$scratch/later.html"
is 'has them, too' grep -q '"turned_by"' "$scratch/later.html"

# ------------------------------------------------------------------ plots
if command -v gnuplot >/dev/null 2>&1; then
    is 'with plots' robust --factors "$few" --pdf "$scratch/pdf"
    is 'a plot of the figure' test -s "$scratch/pdf/speed.pdf"
    is 'plots of pairs' test -s "$scratch/pdf/speed-robust-1.pdf" -a -s "$scratch/pdf/speed-robust-2.pdf"
else
    echo 'note skipped: plots as PDF (gnuplot is not installed: apt-get install gnuplot-nox)'
fi

# Without gnuplot all else is written. This PATH has none, whatever is installed.
mkdir "$scratch/bin"
ln -s "$(command -v sh)" "$scratch/bin/sh"
rm -f "$scratch/tiny.html"
without_gnuplot() {
    env PATH="$scratch/bin" "$heddle" robust "$scratch/tiny.ini" -o "$scratch/tiny.db" --factors "$few" \
        --csv "$scratch/bare.csv" --pdf "$scratch/bare" 2>"$scratch/errors"
}
expect 'without gnuplot: exit code 2, as that of heddle report, and the page' 2 '^The page: .*/tiny.html$' without_gnuplot
is 'without gnuplot: the page' grep -q '"turned_by"' "$scratch/tiny.html"
is 'without gnuplot: the CSV file' cmp "$scratch/bare.csv" "$scratch/tiny.csv"
expect 'without gnuplot: scripts and data of all plots' 0 \
    '^speed-robust-1.dat speed-robust-1.gp speed-robust-2.dat speed-robust-2.gp .*speed.dat speed.gp $' \
    sh -c "LC_ALL=C ls '$scratch/bare' | tr '\n' ' '"
is 'without gnuplot: nothing else' test -z "$(find "$scratch/bare" -type f ! -name '*.gp' ! -name '*.dat')"
expect 'without gnuplot: what is missing' 0 '^heddle: no PDF files: gnuplot, which draws them, is not installed$' \
    cat "$scratch/errors"
saw 'without gnuplot: what to install' 'apt-get install gnuplot-nox.*in .*/bare$'
expect 'heddle report: the same' 2 'apt-get install gnuplot-nox' \
    env PATH="$scratch/bin" "$heddle" report "$scratch/tiny.db" -o "$scratch/bare.html" --pdf "$scratch/bare"
saw 'heddle report: says where the page is' '^report +.*/bare.html$'

# Paths start from the experiment's folder, wherever the store is.
mkdir -p "$scratch/there/machines" "$scratch/here"
cp machines/gtx480.ini "$scratch/there/machines/mine.ini"
printf '[experiment]\nsize = test\n[programs]\nvectoradd\n[machines]\nmine = ./machines/mine.ini\n[schedulers]\nlrr\nrr\n[figure f]\n%s\n' \
    'x = program
series = scheduler
y = ipc' >"$scratch/there/paths.ini"
expect 'paths of the experiment, and what is too close' 0 'not judged, since too close .*: vectoradd: lrr ~ rr$' \
    "$heddle" robust "$scratch/there/paths.ini" -o "$scratch/here/r.db" --factors 'block order' --sample 0

# ------------------------------------------------------------------ what cannot be done
expect 'no experiment' 2 'which experiment' "$heddle" robust
expect 'an unknown figure' 2 "has no figure 'sped'" robust --figure sped
expect 'a figure over time' 2 'cannot be judged on other machines: it is of another kind' robust --figure 'over time'
expect 'an unknown label' 2 "unknown scheduler 'gtoo'; did you mean 'gto'" robust --where scheduler=gtoo
expect 'an unknown factor' 2 "unknown factor 'L3 size'" robust --factors 'L3 size'
expect 'an odd sample' 2 "sample needs 0, 12 or 24, not '7'" robust --sample 7
expect 'a mistake in --set' 2 'cores' robust --set machine.cors=3 --dry-run
expect 'a program that is not there' 2 "shows no program 'bfs'" robust --program 'bfs = bfs --edges 10' --dry-run
expect 'options of sweep are passed on' 2 'no engine' robust --engine cloud
