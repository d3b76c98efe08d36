# shellcheck shell=sh
# heddle sweep of experiments in which runs read what other runs wrote: the order, what is made again and when, failures, a sweep that is killed, and the commands that are shown.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) top=$build ;; *) top=$PWD/$build ;; esac
heddle=$top/bin/heddle
HEDDLE_SWEEP_JOURNAL=$scratch/journal
export HEDDLE_SWEEP_JOURNAL

# A scheduler that reads a file, and counts its bytes.
cat >"$scratch/reader.c" <<'END'
#include "heddle/policy.h"
#include <stdio.h>
struct state { uint64_t bytes, *counters; };
static bool init(void *memory, const struct heddle_setup *setup)
{
    struct state *s = memory;
    FILE *f = fopen(setup->values[0].text, "rb");
    if (!f)
        return heddle_refuse(setup, "there is no such file");
    while (getc(f) != EOF)
        s->bytes++;
    fclose(f);
    s->counters = setup->counters;
    return true;
}
static int pick(void *memory, const struct heddle_core *core, uint64_t candidates)
{
    struct state *s = memory;
    (void)core;
    s->counters[0] = s->bytes;
    return __builtin_ctzll(candidates);
}
static const struct heddle_param params[] = {
    {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "what to read"},
    {.name = "every", .type = HEDDLE_INTEGER, .default_value = "1", .help = "nothing", .least = 1, .most = 9},
    {0},
};
static const struct heddle_counter counters[] = {{.name = "bytes", .unit = "bytes", .help = "of the file, in each core"}, {0}};
static const struct heddle_scheduler reader = {
    .policy = {.abi = HEDDLE_POLICY_ABI, .name = "reader", .help = "a test", .params = params, .counters = counters, .state_bytes = sizeof(struct state), .init = init},
    .pick = pick,
};
HEDDLE_EXPORT_SCHEDULER(reader);
END
is 'a policy that reads a file compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/reader.so" "$scratch/reader.c"
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
grep '^heddle\|heddle run' csv/runs.csv | grep -o 'heddle run.*reader.so.*bfs --size test' | head -n 1 >command
sed "s|^heddle|$heddle|; s/\"//g" command >command.sh
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
printf '#!/bin/sh\ncase $HEDDLE_OPTIONS in *--trace*) touch began; [ -e go ] || sleep 4321 ;; esac\nexec "%s" --size test\n' "$top/workloads/vectoradd" >slow
chmod +x slow
experiment slow ./slow 1..2 'option = --trace @'
"$heddle" sweep slow.ini -j 1 >killed 2>&1 &
pid=$!
for _ in $(seq 200); do
    [ ! -e began ] || break
    sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
is 'a killed sweep leaves no file' [ "$(find slow.db.files -type f ! -name '*.tmp.*' | wc -l)" = 0 ]
touch go
expect 'the next one makes it' 0 '^4 runs done in .*; 4 of 4 are in slow.db' "$heddle" sweep slow.ini -j 1
is 'and only that' [ "$(files_of slow.db)" = 1 ]
