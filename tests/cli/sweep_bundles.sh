# shellcheck shell=sh
# heddle sweep of schedulers that are options and bundles: what is run, that a bundle and its parts are one run, that a
# report needs no bundle any more, and mistakes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) top=$build ;; *) top=$PWD/$build ;; esac
heddle=$top/bin/heddle
is 'a bundle compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/mine.so" tests/policy/bundle.c
is 'a policy that reads a file compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/reader.so" tests/lab/reader.c
cd "$scratch" || exit 1

cat >mine.ini <<'END'
[experiment]
size = test
[programs]
vectoradd
[machines]
ccws
[schedulers]
lrr
Mine = -p ./mine.so:share={0.25,0.75}
Parts = -s ./mine.so --l1 ./mine.so:share=0.75
GTO+SRRIP = -s gto --l1 srrip
best mine = best(Mine | GTO+SRRIP)
[l1]
lru
srrip
[figure f]
x = program
series = scheduler
y = ipc
where = l1=lru scheduler=lrr|Mine|GTO+SRRIP|"best mine"
normalise = scheduler=lrr
END
expect 'a dry run' 0 '5 runs: 0 in mine.db, 5 to do' "$heddle" sweep mine.ini --dry-run
saw 'a bundle is its parts' "^heddle run -m ccws -s $scratch/mine.so --l1 $scratch/mine.so:share=0.75 vectoradd --size test$"
saw 'options' '^heddle run -m ccws -s gto --l1 srrip vectoradd --size test$'
saw 'the axis counts where nothing fixes it' '^heddle run -m ccws -s lrr --l1 srrip vectoradd --size test$'
expect 'the sweep' 0 '^5 runs done in .*; 5 of 5 are in mine.db' "$heddle" sweep mine.ini -j 2
expect 'and again' 0 'nothing to do' "$heddle" sweep mine.ini
sed 's/^Mine = .*/Mine = -s .\/mine.so --l1 .\/mine.so:share={0.25,0.75}/' mine.ini >parts.ini
expect 'the same written out' 0 'nothing to do' "$heddle" sweep parts.ini -o mine.db
mv mine.so gone.so
expect 'a report without the bundle' 0 '' "$heddle" report mine.db -o mine.html
expect 'the labels are those of the file' 0 'Mine 0.25' cat mine.html
saw 'of options, too' 'GTO\+SRRIP'
saw 'and of the choice' 'best mine'
mv gone.so mine.so

# An option's spec may name what another run wrote.
printf '[experiment]\nsize = test\n[programs]\nvectoradd\n[schedulers]\nreads = -s ./reader.so:file=@trace,every={1,2} --l1 fifo\n[input trace]\nscheduler = lrr\noption = --trace @\n' >reads.ini
expect 'files of other runs' 0 '^3 runs done' "$heddle" sweep reads.ini -j 2

printf '[programs]\nvectoradd\n[schedulers]\nx = -p ./mine.so --l1 lru\n' >bad.ini
expect 'a bundle and what it has' 2 'bad.ini:4:8: error: this scheduler cannot be used' "$heddle" sweep bad.ini
saw 'and why' 'this bundle has an L1 policy of its own; --l1 lru cannot be given as well'
printf '[programs]\nvectoradd\n[schedulers]\nx = -s gto --l2 lru\n' >bad.ini
expect 'an unknown option' 2 "bad.ini:4:12: error: unknown option of a scheduler's line '--l2'; did you mean '--l1'" "$heddle" sweep bad.ini
saw 'with a caret' '^ +\^$'
