# shellcheck shell=sh
# heddle sweep: its options, runs that fail in every way, limits, ctrl-C, two sweeps on one store, what counts as the same run. Killing: sweep_kill.sh.
# Uses sqlite3: sums over the instructions and samples of a store.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) top=$build ;; *) top=$PWD/$build ;; esac
here=$PWD
HEDDLE_SWEEP_JOURNAL=$scratch/journal
export HEDDLE_SWEEP_JOURNAL # also how our processes are told from others
limit=1
[ -n "${TEST_SHORT:-}" ] && limit=4 # a good run has to end in it

sweep() { "$heddle" sweep "$@"; }

# experiment NAME PROGRAM...: $scratch/NAME.ini; the schedulers are in $schedulers.
schedulers='gto'
experiment() {
    file=$scratch/$1.ini
    shift
    {
        printf '[experiment]\ntitle = a test\nsize = test\n[programs]\n'
        printf '%s\n' "$@"
        printf '[schedulers]\n'
        printf '%s\n' "$schedulers"
    } >"$file"
}

# script NAME: a program out of standard input, as $scratch/NAME.
script() {
    cat >"$scratch/$1"
    chmod +x "$scratch/$1"
}

# Processes that have our journal in their environment: sweeps, workers, programs, and what these started.
ours() {
    # shellcheck disable=SC2013 # paths of /proc have no blanks
    for file in $(grep -lszxF "HEDDLE_SWEEP_JOURNAL=$HEDDLE_SWEEP_JOURNAL" /proc/[0-9]*/environ); do
        entry=${file%/environ}
        [ -r "$entry/cmdline" ] || continue
        if { tr '\0' ' ' <"$entry/cmdline"; } 2>/dev/null | grep -Eq 'bin/heddle |ptx_run|workloads/|sleep 4321'; then echo "$entry"; fi
    done
}
nobody_left() { # NAME
    for _ in $(seq 100); do
        if [ -z "$(ours)" ]; then
            echo "ok $1"
            return
        fi
        sleep 0.05
    done
    echo "FAILED $1: still there:"
    for entry in $(ours); do tr '\0' ' ' <"$entry/cmdline" | sed 's/^/    | /'; done
}

# ------------------------------------------------------------------ words
expect 'help' 0 'heddle sweep EXPERIMENT' sweep --help
saw 'help says where the store is' 'NAME.db in the current folder'
expect 'no experiment' 2 'which experiment' sweep
expect 'two experiments' 2 'one experiment at a time' sweep a.ini b.ini
expect 'an unknown option' 2 'did you mean --engine' sweep --engien local a.ini
expect 'a missing value' 2 "'-o' needs a value" sweep a.ini -o
expect '-j 0' 2 '-j needs a number from 1' sweep -j 0 a.ini
expect '-j x' 2 "not 'x'" sweep -j x a.ini
expect '-j 3x' 2 '-j needs a number' sweep -j 3x a.ini
expect '-j too large' 2 'from 1 to 1024' sweep -j 5000 a.ini
expect 'a wrong size' 2 "unknown size 'huge'" sweep --size huge a.ini
expect 'a wrong time limit' 2 '--time-limit needs a time' sweep --time-limit 5x a.ini
expect 'no time limit' 2 '--time-limit needs a time' sweep --time-limit 0 a.ini
expect 'a wrong memory limit' 2 '--memory-limit needs an amount' sweep --memory-limit much a.ini
expect 'an unknown engine' 2 "no engine 'cloud'" sweep --engine cloud a.ini
expect 'an option of the other engine' 2 '--partition is for --engine slurm' sweep --partition p a.ini
expect '-j on a cluster' 2 '-j is for runs on this machine' sweep --engine slurm -j 2 a.ini
expect 'an unknown experiment' 2 "no experiment 'nosuch'" sweep nosuch
expect 'no such file' 2 'no experiment \./nosuch.ini: No such file' sweep ./nosuch.ini

# ------------------------------------------------------------------ an experiment, again, and more of it
schedulers='lrr
gto'
experiment two vectoradd bitonic
cd "$scratch" || exit 1
case $heddle in /*) ;; *) heddle=$here/$heddle ;; esac
expect 'a dry run' 0 'heddle run -m gtx480 -s gto vectoradd --size test' sweep two.ini --dry-run
saw 'it counts' '4 runs: 0 in two.db, 4 to do'
is 'it changes nothing' test ! -e two.db -a ! -e two.db.spool -a ! -e journal
expect 'a sweep' 0 '4 runs done in .*; 4 of 4 are in two.db' sweep two.ini -j 2
saw 'it says what comes next' '^next: heddle report two.db$'
saw 'off a terminal it says how far it is' '^4 of 4 runs done'
is 'the store is there' test -s two.db
is 'and nothing else' test ! -e two.db.spool -a ! -e two.db.lock
# shellcheck disable=SC2016 # for the inner shell
is 'each run was started once' sh -c 'test "$(grep -c ^start journal)" = 4 && test "$(sort -u journal | grep -c ^start)" = 4'
expect 'again' 0 'nothing to do: all 4 runs of this experiment are in two.db' sweep two.ini
is 'nothing was started' test "$(grep -c ^start journal)" = 4
mkdir two.db.spool # as a sweep leaves it that is killed after a repeated run was good
for key in $(awk '$1 == "recorded" { print $2 }' journal) ffffffffffffffffffffffffffffffff; do
    echo failed >"two.db.spool/$key.log"
done
expect 'a sweep after logs were left' 0 'nothing to do' sweep two.ini
is 'removes those of runs that are good now' test "$(ls two.db.spool)" = ffffffffffffffffffffffffffffffff.log
rm -r two.db.spool
expect 'a quiet one' 0 '' sweep two.ini --quiet
is 'says nothing' test ! -s "$out"
schedulers="$schedulers
sticky"
experiment two vectoradd bitonic
expect 'one scheduler more' 0 '6 runs: 4 are in two.db already, 2 to do' sweep two.ini
is 'only its runs were started' test "$(grep -c ^start journal)" = 6
mkdir other.db.spool # with what a worker of a killed sweep was writing that is still alive when the next one begins
before=$(grep -c '^start' journal)
(await 60 sh -c "test \"\$(grep -c '^start' journal)\" -gt $before") &
: >"other.db.spool/0123456789abcdef0123456789abcdef.json.tmp.$(uname -n).$!"
expect 'another file' 0 '6 of 6 are in other.db' sweep two.ini -o other.db -j 3
is 'what nobody writes any more is gone at the end' test ! -e other.db.spool
expect 'another size' 0 '12 runs|6 runs: 0 in two.db, 6 to do' sweep two.ini --size small --dry-run
"$heddle" run --quiet -s gto vectoradd --size test >/dev/null 2>&1 # what the experiment runs is what a person runs
is 'a run by hand ends as the sweep'"'"'s' test $? = 0
schedulers='gto
sticky
sticky:level=warp'
experiment same vectoradd
expect 'the same run under two names is run once' 0 '2 runs done' sweep same.ini

# ------------------------------------------------------------------ replays
# What is counted of the same run by hand is what the store has.
replayed() { # POLICY COUNTER: out of the store's table
    awk -F, -v name="l1d.replay.$1.$2" '$3 == name { print $5 }' replays/metrics.csv
}
printf '[experiment]\nsize = test\n[programs]\nspmv-scalar\n[machines]\nccws\n[schedulers]\ngto\n[variants]\nsmall = l1d.sets=4\n' >plain.ini
sed 's/^size.*/&\nreplay = belady, lru/' plain.ini >replay.ini
expect 'a sweep that replays' 0 '1 of 1 are in replay.db' sweep replay.ini
is 'leaves no trace behind' test ! -e replay.db.spool
is 'its metrics as a table' "$heddle" report replay.db --csv replays
"$heddle" run --quiet -m ccws -s gto --set l1d.sets=4 --trace by-hand.trace spmv-scalar --size test >/dev/null 2>&1
"$heddle" cache by-hand.trace --json >by-hand.json
for policy in lru belady; do
    for counter in misses read_misses; do
        is "$policy $counter as by hand" test "$(replayed "$policy" "$counter")" = "$("$top/tests/cli/json_check" by-hand.json "policies.$policy.$counter")"
    done
done
is 'the policies are told apart' test "$(replayed belady misses)" -lt "$(replayed lru misses)"
is 'what was not asked for is not there' test -z "$(replayed fifo misses)"
cat >cut.sh <<END
#!/bin/sh
# The run, and then a trace that lacks its end.
"$top/workloads/spmv-scalar" --size test || exit
trace=\$(printf '%s\n' "\$HEDDLE_OPTIONS" | tr "'" '\n' | grep '[.]trace')
head -c 1000 "\$trace" >whole && cat whole >"\$trace"
END
chmod +x cut.sh
sed 's|^spmv-scalar|cut = ./cut.sh|' replay.ini >cut.ini
expect 'a replay that fails is a run that failed' 1 'could not be replayed: .*cut off' "$heddle" sweep cut.ini -o failing.db
expect 'what was swept without is run again' 0 '1 runs: 0 in|1 to do' sweep plain.ini -o replay.db --dry-run

# ------------------------------------------------------------------ runs that fail
schedulers='gto'
printf 'echo first\necho no reason at all >&2\nexit 3\n' | sed '1i #!/bin/sh' | script fails
printf 'echo nothing of a GPU\n' | sed '1i #!/bin/sh' | script plain
experiment bad "good = vectoradd" "fails = $scratch/fails" "plain = $scratch/plain" "memory = $top/tests/cli/ptx_run $here/$ptx/far_out_of_bounds.ptx k 512 160" \
    "endless = $top/tests/cli/ptx_run $here/$ptx/endless.ptx k" "more = bitonic"
expect 'runs that fail' 1 '4 of 6 runs failed; the same command tries them again' sweep bad.ini --time-limit "$limit" -j 3
saw 'an exit status and the last line' '^failed: fails.*: exit status 3: no reason at all'
saw 'a program without CUDA' '^failed: plain.*: the program never initialised CUDA'
saw 'an illegal access' '^failed: memory.*: .*read of 4 bytes at 0x'
saw 'an endless one' "^failed: endless.*: not finished after $limit s"
saw 'the others went on' '2 runs done in .*; 2 of 6 are in bad.db'
log=$(sed -n 's/^failed: fails.*(log: \(.*\))$/\1/p' "$out")
is 'the log is where it says' grep -qx first "$log"
nobody_left 'the endless one was ended'
expect 'the failed ones are tried again' 0 '6 runs: 2 in bad.db, 4 to do' sweep bad.ini --dry-run
printf 'exec "%s/workloads/vectoradd" --size test\n' "$top" | sed '1i #!/bin/sh' | script fails
experiment bad "good = vectoradd" "fails = $scratch/fails"
expect 'a program that was mended' 0 '1 run done' sweep bad.ini
experiment bad "good = vectoradd" "memory = $top/tests/cli/ptx_run $here/$ptx/endless.ptx k 600000000"
expect 'too much memory' 1 'failed: memory.*: out of memory: it used [0-9]+ MB, the limit is 250 MB' sweep bad.ini --memory-limit 250M --time-limit 60
printf 'sleep 4321 &\n(setsid sleep 4321 &)\nexec "%s/workloads/vectoradd" --size test\n' "$top" | sed '1i #!/bin/sh' | script leaves
experiment leaves "$scratch/leaves"
expect 'a program that leaves others behind' 0 '1 run done' sweep leaves.ini
nobody_left 'what it left was ended'

# ------------------------------------------------------------------ experiments with mistakes
schedulers='gtoo'
experiment wrong vectoradd
expect 'an unknown scheduler' 2 'wrong.ini:7:1: error: .*cannot be used' sweep wrong.ini
saw 'with the line' '^  gtoo$'
saw 'and a proposal' "did you mean 'gto'"
is 'nothing is made' test ! -e wrong.db -a ! -e wrong.db.spool
schedulers='gto'
experiment wrong vectorad
expect 'an unknown program' 2 'wrong.ini:5:1: error' sweep wrong.ini
saw 'its proposal' "did you mean the workload 'vectoradd'"
experiment wrong vectoradd
printf '[machines]\ngtx48\n' >>wrong.ini
expect 'an unknown machine' 2 'wrong.ini:9:1: error' sweep wrong.ini
saw 'its proposal, too' 'did you mean gtx480'
expect 'not an experiment' 2 'not a text file' sweep two.db
experiment wrong vectoradd
printf '[variants]\nnarrow = l1d.wayss=2\n' >>wrong.ini
expect 'an unknown key of the machine' 2 'wrong.ini:9:' sweep wrong.ini

# ------------------------------------------------------------------ each instruction, and samples over time
schedulers='gto'
experiment profiled vectoradd
expect 'without being asked for them' 0 '1 run done' sweep profiled.ini
sed -i 's/^size = test$/&\npcs = yes\ninterval = 100/' profiled.ini
expect 'instructions and samples' 0 '0 in profiled.db, 1 to do' sweep profiled.ini --dry-run
saw 'the command that repeats it has them' 'heddle run -m gtx480 -s gto --stats stats.json --pcs --interval 100 vectoradd'
expect 'asked for later, they are run for' 0 '1 run done' sweep profiled.ini
"$heddle" report profiled.db --csv csv >/dev/null 2>&1
is 'the table of instructions is filled' test -s csv/pcs.csv
is 'and that of samples' test -s csv/series.csv
if command -v sqlite3 >/dev/null; then
    expect 'executions add up to the instructions of the run' 0 '^1$' sqlite3 profiled.db "SELECT count(*) FROM totals t WHERE name = 'warp_instructions' AND value > 0
        AND value = (SELECT sum(value) FROM pcs p WHERE p.key = t.key AND p.name = 'executions')"
    expect 'and so do the samples' 0 '^1$' sqlite3 profiled.db "SELECT count(*) FROM totals t WHERE name = 'warp_instructions' AND value > 0
        AND value = (SELECT sum(value) FROM samples s WHERE s.key = t.key AND s.name = t.name)"
else
    echo 'note sqlite3 is not installed: the sums of instructions and samples are not looked at'
fi
sed -i 's/^interval = 100$/interval = 0.5/' profiled.ini
expect 'a bad interval' 2 'profiled.ini:5:12: error: expected a whole number of cycles' sweep profiled.ini

# ------------------------------------------------------------------ a shared object's bytes are part of the key
# shellcheck disable=SC2016 # backticks of the page
sed -n '/^```c$/,/^```$/{/^```$/q;p;}' "$here/docs/add-a-policy.md" | sed '/^```/d' >mine.c # its first example
compile() { "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -I"$here/include" "$@" -o mine.so mine.c; }
is 'a policy compiles' compile
schedulers='./mine.so'
experiment mine vectoradd
expect 'a policy of one'"'"'s own' 0 '1 run done' sweep mine.ini
expect 'is known' 0 'nothing to do' sweep mine.ini
mkdir -p mine elsewhere
expect 'paths start from the folder of the experiment file' 0 'nothing to do' sh -c "cd elsewhere && '$heddle' sweep ../mine.ini -o ../mine.db"
expect 'a folder of the same name is not in the way' 2 'no experiment .mine., and no file of that name' sweep mine
expect 'a folder is no experiment' 2 'is a folder, not an experiment file' sweep ./mine
sed 's/^\[schedulers\]/[machines]\nmine = .\/tiny.ini\n&/' mine.ini >tiny-mine.ini
printf '[machine]\nbased_on = gtx480\ncores = 2\n' >tiny.ini
expect 'machine files as well' 0 '1 run done' sh -c "cd elsewhere && '$heddle' sweep ../tiny-mine.ini"
compile -DOTHER -O0
expect 'changed, it is run again' 0 '1 run done' sweep mine.ini

# ------------------------------------------------------------------ ctrl-C, and two at once
schedulers='gto
lrr'
experiment spins vectoradd "endless = $top/tests/cli/ptx_run $here/$ptx/endless.ptx k"
: >journal
# at_work STARTED RECORDED SIGNAL...: when so many runs have been started and recorded, a second sweep is tried, and the first gets the signals.
at_work() {
    await 30 sh -c "test \"\$(grep -c ^start journal)\" -ge $1 && test \"\$(grep -c ^recorded journal)\" -ge $2" || echo 'FAILED the sweep does its runs'
    shift 2
    first=$(cut -d' ' -f1 spins.db.lock)
    "$heddle" sweep spins.ini >second 2>&1
    echo $? >>second
    for signal in "$@"; do kill "-$signal" "$first"; done
}
at_work 4 2 INT &
expect 'ctrl-C' 4 'interrupted: 2 of 4 runs are left; the same command goes on from here' sweep spins.ini -j 4
wait
is 'a second sweep was refused' grep -q "spins.db is being written by process" second
is 'with exit code 2' sh -c 'tail -n 1 second | grep -qx 2'
nobody_left 'after ctrl-C nobody is left'
expect 'what was done is kept' 0 '4 runs: 2 in spins.db, 2 to do' sweep spins.ini --dry-run
is 'and no scratch file is left' sh -c '! ls spins.db.spool 2>/dev/null | grep -q tmp'
: >journal
at_work 2 0 TERM &
expect 'SIGTERM' 4 'interrupted: 2 of 2 runs are left' sweep spins.ini -j 4
wait
nobody_left 'after SIGTERM nobody is left'
: >journal
at_work 2 0 INT INT &
expect 'ctrl-C twice' 4 '' sweep spins.ini -j 4
wait
nobody_left 'after ctrl-C twice nobody is left'
: >journal
at_work 2 0 KILL &
expect 'kill -9' 137 '' sweep spins.ini -j 4
wait
nobody_left 'after kill -9 nobody is left'

# ------------------------------------------------------------------ one line of a manifest, as a cluster runs it
key=0123456789abcdef0123456789abcdef
job() { # PATH WORDS
    printf '{"key":"%s","program":"x","path":"%s","words":["x"%s],"machine":"gtx480","scheduler":"gto","l1":"","divergence":"","sets":[],"label":"x","time_limit_seconds":0.0,"memory_limit_bytes":0,"expected_seconds":0.0}\n' \
        "$key" "$1" "$2"
}
{
    echo 'not a job'
    job "$top/workloads/vectoradd" ',"--size","test"'
    job "$scratch/plain" ''
} >manifest
mkdir spool
expect 'a task' 0 '' "$heddle" task manifest 2 spool
is 'leaves its record' grep -q '"failure":null' "spool/$key.json"
: >journal
expect 'a task that is run again' 0 '' "$heddle" task manifest 2 spool
is 'has nothing to do' test ! -s journal
rm "spool/$key.json"
expect 'a task that fails' 0 '' "$heddle" task manifest 3 spool
is 'leaves a record, too' grep -q '"failure":"the program never initialised CUDA' "spool/$key.json"
expect 'a line that is no job' 1 'line 1 is not JSON' "$heddle" task manifest 1 spool
expect 'a line that is not there' 2 'has no line 4' "$heddle" task manifest 4 spool
expect 'a spool that is not there' 2 'cannot write nowhere/' "$heddle" task manifest 2 nowhere
is 'it is not in the list of commands' sh -c "! '$heddle' --help | grep -q task"
