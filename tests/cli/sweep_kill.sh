# shellcheck shell=sh
# A sweep that is killed with SIGKILL at random moments and started again: nothing that was finished is lost or run again, nobody is left running, and in the end the store has what an undisturbed
# sweep's has. SWEEP_KILL_SEED repeats a test.
# Left out of builds with sanitizers: it is about signals and processes.
# Left out of second builds: it is about signals and processes.
# Uses sqlite3: more columns of what two stores have (else their CSV files are compared).
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
HEDDLE_SWEEP_JOURNAL=$scratch/journal
export HEDDLE_SWEEP_JOURNAL # also how our processes are told from others
seed=${SWEEP_KILL_SEED:-$(date +%s)}
echo "note seed $seed"
experiment=experiments/quick.ini
if [ -n "${TEST_SHORT:-}" ]; then # as much of it as a slow build does in the same time
    experiment=$scratch/few.ini
    printf '[experiment]\nsize = test\n[programs]\nvectoradd\nbitonic\nreduct\nbfs\nspmv-vector\n[schedulers]\nlrr\nrr\nsticky\noldest\ngto\n' >"$experiment"
fi
random() { # N A B: the Nth number of the seed, between A and B
    awk -v seed="$seed" -v n="$1" -v a="$2" -v b="$3" 'BEGIN { srand(seed); for (i = 0; i < n; i++) x = rand(); printf "%.3f\n", a + x * (b - a) }'
}
recorded() { # runs with a record so far
    grep '^recorded' "$HEDDLE_SWEEP_JOURNAL" 2>/dev/null | sort -u | wc -l
}

ours() { # processes of this test's sweeps
    # shellcheck disable=SC2013 # paths of /proc have no blanks
    for file in $(grep -lszxF "HEDDLE_SWEEP_JOURNAL=$HEDDLE_SWEEP_JOURNAL" /proc/[0-9]*/environ); do
        entry=${file%/environ}
        [ -r "$entry/cmdline" ] || continue
        if { tr '\0' ' ' <"$entry/cmdline"; } 2>/dev/null | grep -Eq 'bin/heddle |workloads/'; then echo "$entry"; fi
    done
}
nobody_left() { # NAME
    for _ in $(seq 200); do
        if [ -z "$(ours)" ]; then
            echo "ok $1"
            return
        fi
        sleep 0.05
    done
    echo "FAILED $1: still there: $(ours)"
}

starts() { grep -c '^start' "$HEDDLE_SWEEP_JOURNAL" 2>/dev/null; }
has_started_more() { [ "$(starts)" -gt "$before" ] || [ ! -e "/proc/$sweep" ]; }
has_failed() { grep -q '^failed: ' "$out" || [ ! -e "/proc/$sweep" ]; }
has_recorded() { [ "$(recorded)" -ge "$target" ] || [ ! -e "/proc/$sweep" ]; }
# Kills the youngest worker, when a run has just been started. Fails when the sweep has said so; a worker that had written its record by then is no failure.
workers_killed=0
kill_worker() {
    before=$(starts)
    await 60 has_started_more
    worker=$(awk '{ print $NF }' "/proc/$sweep/task/$sweep/children" 2>/dev/null)
    [ -n "$worker" ] && kill -9 "$worker" 2>/dev/null && workers_killed=$((workers_killed + 1))
    ! await 1 has_failed # it may have been about to end
}

# ------------------------------------------------------------------ undisturbed
begun=$(date +%s.%N)
HEDDLE_SWEEP_JOURNAL=$scratch/undisturbed expect 'an undisturbed sweep' 0 'runs done' "$heddle" sweep "$experiment" -j 2 -o "$scratch/A.db"
runs=$(grep -c '^start' "$scratch/undisturbed")
longest_pause=$(awk -v a="$begun" -v b="$(date +%s.%N)" 'BEGIN { printf "%.3f", (b - a) / 20 }')
is 'it started each run once' test "$(sort -u "$scratch/undisturbed" | grep -c '^start')" = "$runs"

# ------------------------------------------------------------------ killed
# Each time after up to a tenth of the runs and a twentieth of the time that all take, so that each kill finds it at work on a machine of any speed.
killed=0
for round in 1 2 3 4 5; do
    more=$(random "$round" 0 "$((runs / 10)).99")
    target=$(($(recorded) + ${more%.*})) pause=$(random $((round + 5)) 0 "$longest_pause")
    "$heddle" sweep "$experiment" -j 2 -o "$scratch/B.db" >"$out" 2>&1 &
    sweep=$!
    await 120 has_recorded
    sleep "$pause" # at random: where it is killed is what the test is about
    if [ $round = 3 ]; then # a worker alone first
        kill_worker && kill_worker && kill_worker && kill_worker
        saw 'a killed worker is a failed run' '^failed: .*: the run was killed by signal 9'
    fi
    if kill -9 $sweep 2>/dev/null; then killed=$((killed + 1)); fi
    wait $sweep 2>/dev/null
    echo "killed $pause s after $target records; now $(recorded) of $runs"
    case $round in 2 | 4) nobody_left "nobody is left after kill $round" ;; esac # the others are resumed at once
done
is 'it was killed five times while at work' test $killed = 5
echo "$(find "$scratch/B.db.spool" -name '*.json' 2>/dev/null | wc -l) records in the spool"
expect 'a dry run in between' 0 'this was a dry run' "$heddle" sweep "$experiment" -o "$scratch/B.db" --dry-run
left=$(sed -n 's/.* \([0-9]*\) to do; .*/\1/p' "$out")
is 'what was recorded is known' test "$left" -le $((runs - $(recorded)))
expect 'the last sweep' 0 "$runs of $runs are in" "$heddle" sweep "$experiment" -j 2 -o "$scratch/B.db"
nobody_left 'nobody is left at the end'
is 'nothing is left in the spool' test ! -e "$scratch/B.db.spool"
expect 'nothing is left to do' 0 'nothing to do' "$heddle" sweep "$experiment" -j 2 -o "$scratch/B.db"

# ------------------------------------------------------------------ compared
# No run is started after its record was written.
again=$(awk '$1 == "recorded" { recorded[$2] = 1 } $1 == "start" && recorded[$2] { print $2 }' "$HEDDLE_SWEEP_JOURNAL")
is 'no run was executed again after it was recorded' test -z "$again"
# Beyond one start a run, only what was in flight when it was killed: two runs a kill, and those of killed workers.
is 'only what was in flight was lost' test "$(starts)" -le $((runs + 2 * killed + workers_killed))
is 'some of it was' test "$(starts)" -gt "$runs"

contents() { # STORE: keys and metrics, one per line
    if command -v sqlite3 >/dev/null; then
        sqlite3 "$1" 'SELECT key, program, arguments, machine, sets, scheduler, l1, divergence, ifnull(failure, ""), exit, command FROM run ORDER BY key' &&
            sqlite3 "$1" 'SELECT key, kernel, name, unit, value FROM metrics ORDER BY key, kernel, name' &&
            sqlite3 "$1" 'SELECT key, number, k.name, cycles FROM kernel k JOIN run r ON k.run = r.id ORDER BY key, number' &&
            sqlite3 "$1" 'SELECT * FROM point ORDER BY experiment, number'
    else
        rm -rf "$1.csv"
        "$heddle" report "$1" --csv "$1.csv" >/dev/null 2>&1 && sort "$1.csv/metrics.csv" "$1.csv/points.csv"
    fi
}
contents "$scratch/A.db" >"$scratch/A.txt"
contents "$scratch/B.db" >"$scratch/B.txt"
is 'there is something to compare' test "$(wc -l <"$scratch/A.txt")" -gt $((20 * runs))
is 'both stores have the same keys and metrics' cmp "$scratch/A.txt" "$scratch/B.txt"
