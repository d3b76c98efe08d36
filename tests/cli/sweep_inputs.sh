# shellcheck shell=sh
# heddle sweep of experiments in which runs read what other runs wrote: the order, what is made again and when, failures, a sweep that is killed, and the commands that are shown.
# Left out of builds with sanitizers: sweeps under sanitizers are those of sweep.sh.
# Left out of second builds: no compiler changes what a sweep takes as its inputs.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) top=$build ;; *) top=$PWD/$build ;; esac
heddle=$top/bin/heddle
HEDDLE_SWEEP_JOURNAL=$scratch/journal
export HEDDLE_SWEEP_JOURNAL

is 'a policy that reads a file compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/reader.so" tests/lab/reader.c
cd "$scratch" || exit 1

# experiment NAME PROGRAMS RANGE [LINE...]: the lines are those of its input.
experiment() {
    name=$1 programs=$2 range=$3
    shift 3
    {
        printf '[experiment]\nsize = test\n[programs]\n'
        printf '%b\n' "$programs"
        printf '[schedulers]\ngto\nreads = ./reader.so:file=@trace,every=%s\nBest = best(./reader.so:file=@trace,every=%s)\n[input trace]\n' "$range" "$range"
        printf '%s\n' "$@"
        printf '[figure f]\nx = program\nseries = scheduler\ny = reader.bytes\nwhere = scheduler=Best\n'
    } >"$name.ini"
}
started() { grep -c '^start ' journal; }
files_of() { find "$1.files" -type f | wc -l; }

experiment first 'vectoradd\nbfs' 1..2 'scheduler = lrr' 'option = --trace @'
expect 'a dry run shows the inputs first' 0 '8 runs: 0 in first.db, 8 to do' "$heddle" sweep first.ini --dry-run
saw 'a run that reads it shows the real path' "^heddle run -m gtx480 -s $scratch/reader.so:file=$scratch/first.db.files/[0-9a-f]{32},every=2 bfs --size test$"
head -n 2 "$out" >inputs
is 'the runs that write it' [ "$(grep -c "^heddle run -m gtx480 -s lrr --trace $scratch/first.db.files/[0-9a-f]* .* --size test$" inputs)" = 2 ]
is 'a dry run makes no file' [ ! -e first.db.files ]

: >journal
expect 'the sweep' 0 '^8 runs done in .*; 8 of 8 are in first.db' "$heddle" sweep first.ini -j 2
is 'each program was traced once' [ "$(files_of first.db)" = 2 ]
is 'nothing else was left there' [ -z "$(find first.db.files -name '*.tmp.*')" ]
is 'each was started once' [ "$(started)" = 8 ]
# Files are named after the runs that write them: such a run is recorded before one that reads it is started.
order() {
    for file in first.db.files/*; do
        key=$(basename "$file")
        done_at=$(grep -n "^recorded $key" journal | cut -d : -f 1)
        # shellcheck disable=SC2013 # keys have no blanks
        for run in $(grep "file=[^ ]*/$key" csv/runs.csv | cut -d , -f 1); do
            start_at=$(grep -n "^start $run" journal | cut -d : -f 1)
            [ "$start_at" -gt "$done_at" ] || return 1
            echo "$run"
        done
    done
}
expect 'tables' 0 '' "$heddle" report first.db -o first.html --csv csv
is 'inputs are recorded before those that read them start' order
is 'all four of them' [ "$(order | wc -l)" = 4 ]
bytes() { # of all runs that read the file of a program's trace
    key=$(grep "$1 --size\|,$1," csv/runs.csv | grep 'reader.so' | head -n 1 | cut -d , -f 1)
    grep "^$key,,reader.bytes," csv/metrics.csv | sed 's/.*,//'
}
file=$(grep ',bfs,' csv/runs.csv | grep -o 'first.db.files/[0-9a-f]*' | head -n 1)
# Each core read it at each launch.
is 'the policy read the whole file' [ "$(bytes bfs)" -gt 0 -a "$(($(bytes bfs) % $(wc -c <"$file")))" = 0 ]
grep '^heddle\|heddle run' csv/runs.csv | grep -o 'heddle run.*reader.so.*bfs --size test' | head -n 1 >shown
sed "s|^heddle|$heddle|; s/\"//g" shown >command.sh
expect 'its command can be repeated by hand' 0 '' sh command.sh

: >journal
expect 'again' 0 '^nothing to do: all 8 runs' "$heddle" sweep first.ini
rm "$file"
expect 'a file that nobody needs any more' 0 '^nothing to do: all 8 runs' "$heddle" sweep first.ini
is 'nothing was started' [ ! -s journal ]
experiment first 'vectoradd\nbfs' 1..3 'scheduler = lrr' 'option = --trace @'
expect 'more points: the file that is gone is made again, the other is there' 0 '^3 runs done in .*; 10 of 10' "$heddle" sweep first.ini
is 'it is the same file' [ -s "$file" ]
: >"$file"
experiment first 'vectoradd\nbfs' 1..4 'scheduler = lrr' 'option = --trace @'
expect 'an empty file is made again' 0 '^3 runs done in .*; 12 of 12' "$heddle" sweep first.ini
is 'and is not empty' [ -s "$file" ]

mkdir elsewhere
experiment second 'vectoradd\nbfs' 1..4 'scheduler = lrr' 'option = --trace @'
expect 'the same experiment elsewhere' 0 '^12 runs done' "$heddle" sweep second.ini -o elsewhere/second.db
is 'its tables' "$heddle" report elsewhere/second.db -o second.html --csv csv2
is 'the tables of the first' "$heddle" report first.db -o first.html --csv csv
keys() { sed 1d "$1/runs.csv" | cut -d , -f 1 | sort; }
is 'the same keys wherever the files are' [ "$(keys csv)" = "$(keys csv2)" ]
experiment second 'vectoradd\nbfs' 1..4 'scheduler = gto' 'option = --trace @'
expect 'another run behind the file makes other runs' 0 '12 runs: 2 in elsewhere/second.db, 10 to do' "$heddle" sweep second.ini -o elsewhere/second.db --dry-run
experiment second 'vectoradd\nbfs' 1..4 'scheduler = lrr' 'option = --trace @' 'arguments = --size small'
expect 'other arguments, too' 0 '12 runs: 2 in elsewhere/second.db, 10 to do' "$heddle" sweep second.ini -o elsewhere/second.db --dry-run
saw 'behind the own ones' 'bfs --size test --size small$'
expect 'a comma in the path of the store' 2 "where ',' ends it" "$heddle" sweep first.ini -o 'a,b.db' --dry-run

# Inputs that cannot be made.
: >journal
experiment bad 'vectoradd\nbfs' 1..2 'option = --trace @' 'arguments = --nonsense'
expect 'runs whose input fails' 1 '^failed: bfs reads 1: its input trace was not made: exit status 2' "$heddle" sweep bad.ini
saw 'the input itself' '^failed: vectoradd \(input trace\): exit status 2'
saw 'the others went on' '^2 runs done in .*; 2 of 8 are in bad.db'
is 'they were not started' [ "$(started)" = 4 ]
is 'no file is left' [ "$(files_of bad.db)" = 0 ]
expect 'they are tried again' 0 '8 runs: 2 in bad.db, 6 to do' "$heddle" sweep bad.ini --dry-run
experiment wrong 'bfs' 1..2 'option = --trace @' 'scheduler = ltr'
expect 'an unknown policy of an input' 2 '^heddle: wrong.ini:[0-9]+:13: error: this scheduler cannot be used' "$heddle" sweep wrong.ini
saw 'and what is wrong with it' "did you mean 'lrr'"

# A sweep that is killed while an input is made.
# shellcheck disable=SC2016 # for the script that is written
printf '#!/bin/sh\ncase $HEDDLE_OPTIONS in *--trace*) touch began; [ -e go ] || sleep 4321 ;; esac\nexec "%s" --size test\n' "$top/workloads/vectoradd" >slow
chmod +x slow
experiment slow ./slow 1..2 'option = --trace @'
"$heddle" sweep slow.ini -j 1 >killed 2>&1 &
pid=$!
is 'it has begun' await 30 test -e began
kill -9 $pid
wait $pid 2>/dev/null
is 'a killed sweep leaves no file' [ "$(find slow.db.files -type f ! -name '*.tmp.*' | wc -l)" = 0 ]
touch go
expect 'the next one makes it' 0 '^4 runs done in .*; 4 of 4 are in slow.db' "$heddle" sweep slow.ini -j 1
is 'and only that' [ "$(files_of slow.db)" = 1 ]

# On Slurm: inputs go first, what reads them follows as an array of its own. This sbatch runs the tasks at once.
mkdir bin
cat >bin/sbatch <<'END'
#!/bin/sh
for word; do
    case $word in --array=1-*) tasks=${word#--array=1-} ;; esac
    script=$word
done
echo "$tasks" >>submitted
for task in $(seq "$tasks"); do SLURM_ARRAY_TASK_ID=$task sh "$script" >/dev/null 2>&1; done
wc -l <submitted
END
printf '#!/bin/sh\n' >bin/squeue
printf '#!/bin/sh\necho MaxArraySize = 100\n' >bin/scontrol
chmod +x bin/*
slurm() { PATH=$scratch/bin:$PATH "$heddle" sweep "$@" --engine slurm; }
experiment cluster 'vectoradd\nbfs' 1..2 'scheduler = lrr' 'option = --trace @'
expect 'the script of what goes first' 0 '^#SBATCH --array=1-4$' slurm cluster.ini --dry-run
saw 'and how many follow' '^# 8 tasks, 4 of them follow when the files that they read are made. Nothing was submitted'
expect 'the sweep on Slurm' 0 '^8 runs done in .*; 8 of 8 are in cluster.db' slurm cluster.ini
is 'two arrays' [ "$(tr '\n' ' ' <submitted)" = '4 4 ' ]
is 'tables of the sweep on Slurm' "$heddle" report cluster.db -o cluster.html --csv csv3
experiment cluster 'vectoradd\nbfs' 1..2 'scheduler = lrr' 'option = --trace @' 'arguments = --nonsense'
rm submitted
expect 'inputs that fail on Slurm' 1 '^failed: bfs reads 2: its input trace was not made: exit status 2' slurm cluster.ini
is 'nothing was sent for them' [ "$(tr '\n' ' ' <submitted)" = '2 ' ]
