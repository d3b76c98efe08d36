#!/bin/sh
# `heddle sweep --engine slurm` on a real Slurm: sh tests/lab/slurm.sh BUILD, from the repository's root. slurm_cluster.sh starts munged, slurmctld and three slurmd here; a node, a task and the
# sweep itself are killed in mid-run, and everything must end up in the store, once, with the numbers of a sweep without Slurm.
# Left out of builds with sanitizers: daemons and browsers are asked once.
# Left out of second builds: daemons and browsers are asked once.
# Uses munged, munge, slurmctld, slurmd, sbatch, squeue, sinfo, scontrol: a cluster on this machine.
. tests/cli/lib.sh
. tests/lab/slurm_cluster.sh
sweep_pid=
finish() {
    [ -z "$sweep_pid" ] || kill -9 "$sweep_pid" 2>/dev/null
    cluster_stop
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

if ! cluster_start; then
    echo "note skipped: sweeps on Slurm: $cluster_problem"
    exit 0
fi

# Paths with blanks and with what Slurm gives a meaning to in the names of logs.
lab="$scratch/a lab of 100%"
mkdir "$lab"
store="$lab/results.db" journal=$scratch/journal experiment="$scratch/twenty four.ini"
export HEDDLE_SWEEP_JOURNAL="$journal"
# Some runs take a few seconds: long enough to be hit.
if [ -n "${TEST_SHORT:-}" ]; then long=spmv-scalar two='spmv-scalar spmv-vector' size='test'; else long=kmeans two='kmeans bitonic' size='small'; fi
cat >"$experiment" <<EOF
[experiment]
title = Twenty-four runs
size = test
time_limit = 300s
[programs]
long = $long --size $size
bfs
mdbrot
bitonic
vectoradd
reduct
[machines]
gtx480
[schedulers]
lrr
gto
[variants]
usual =
small L1 = l1d.sets=4
EOF
printf '[experiment]\ntitle = Two runs\nsize = %s\n[programs]\n%s\n%s\n[machines]\ngtx480\n[schedulers]\ngto\n' "$size" "${two% *}" "${two#* }" >"$scratch/two.ini"

: >"$journal"

# must NAME SECONDS COMMAND...: comes true in time; without it the rest says nothing.
must() {
    name=$1
    shift
    if await "$@"; then
        echo "ok $name"
        return
    fi
    echo "FAILED $name: not after $1 s; the sweep said:"
    sed 's/^/    | /' "$scratch/sweep"
    exit 1
}

# The sweep in the background: its output is in $scratch/sweep.
sweep_start() {
    "$heddle" sweep "$@" --engine slurm >"$scratch/sweep" 2>&1 &
    sweep_pid=$!
}
ended() { ! kill -0 "$sweep_pid" 2>/dev/null; }
# Its exit status; 124 where it does not end in time, and it is killed.
sweep_wait() {
    if await "$1" ended; then
        wait "$sweep_pid"
        status=$?
    else
        kill -9 "$sweep_pid"
        status=124
    fi
    sweep_pid=
    return $status
}
queue() { timeout 20 squeue -h -r -t all "$@"; }
arrays() { queue -o %F | sort -u | wc -l; }
recorded() { grep -c '^recorded ' "$journal"; }

expect 'the script is shown' 0 '^#SBATCH --array=1-20%5$' "$heddle" sweep "$experiment" -o "$store" --engine slurm --throttle 5 --partition short --dry-run
saw 'a dry run says how many tasks there would be' '^# 24 tasks, in 2 arrays of up to 20'
saw 'the partition is in the script' '^#SBATCH --partition=short$'
is 'a dry run submits nothing' [ "$(arrays)" = 0 ]
is 'a dry run leaves nothing behind' [ -z "$(ls "$lab")" ]
expect 'an unknown partition is refused in Slurm'\''s own words' 2 'invalid partition specified: nosuch' "$heddle" sweep "$experiment" -o "$store" --engine slurm --partition nosuch
expect 'no sbatch' 2 'sbatch is not in PATH' env PATH=/nowhere "$heddle" sweep "$experiment" -o "$store" --engine slurm

# A node that runs one of the long programs.
find_busy_node() {
    for busy in $nodes; do
        for pid in $(job_processes "$busy"); do
            if command_line "$pid" | grep -q "/workloads/$long .*--size $size"; then return 0; fi
        done
    done
    return 1
}
some_recorded() { [ "$(recorded)" -ge "$1" ]; }

# The node dies under a run; a little later the sweep does, too. The next sweep takes up the array, in which Slurm itself has put the node's tasks back.
sweep_start "$experiment" -o "$store" --throttle 5
must 'runs are under way' 60 find_busy_node
kill_node "$busy"
must 'other nodes go on' 60 some_recorded 5
kill -9 "$sweep_pid"
wait "$sweep_pid" 2>/dev/null
is 'one array is in the queue' [ "$(arrays)" = 1 ]
sweep_start "$experiment" -o "$store" --throttle 5
sweep_wait 240
got=$?
cp "$scratch/sweep" "$out"
is 'the sweep that came after takes up the array and ends well' [ $got = 0 ]
[ $got = 0 ] || sed 's/^/    | /' "$scratch/sweep"
is 'an array that is too long was cut in two' [ "$(arrays)" = 2 ]
is 'nothing was submitted twice' [ "$(queue -o %i | wc -l)" = 24 ]
timeout 20 sinfo -h -N -n "$busy" -o '%N %t' >"$out" 2>&1
saw 'Slurm saw that the node was dead' 'down'
is 'each run was recorded once' sh -c "[ \$(grep -c '^recorded ' '$journal') = 24 ] && [ \$(grep '^recorded ' '$journal' | sort -u | wc -l) = 24 ]"
again=$(grep '^start ' "$journal" | sort | uniq -d | wc -l)
is 'only runs of the dead node were started again' [ "$again" -ge 1 -a "$again" -le 2 ]
expect 'all of it is in the store' 0 '^nothing to do: all 24 runs' "$heddle" sweep "$experiment" -o "$store" --engine slurm
is 'the spool is empty' [ ! -e "$store.spool" ]

# The same without Slurm.
expect 'the same sweep on this machine' 0 '24 of 24 are in' "$heddle" sweep "$experiment" -o "$lab/local.db" -j 2
is 'tables of both' sh -c "'$heddle' report '$store' -o '$scratch/slurm.html' --csv '$scratch/slurm' && '$heddle' report '$lab/local.db' -o '$scratch/local.html' --csv '$scratch/local'"
is 'the numbers are the same' cmp "$scratch/slurm/metrics.csv" "$scratch/local/metrics.csv"
is 'there are numbers' [ "$(wc -l <"$scratch/slurm/metrics.csv")" -gt 1000 ]

# Runs that read what others wrote: two arrays, and the numbers of a sweep without Slurm.
is 'a policy that reads a file compiles' "${CC:-cc}" -std=gnu11 -O2 -shared -fPIC -Iinclude -o "$scratch/reader.so" tests/lab/reader.c
{
    printf '[experiment]\nsize = test\n[programs]\nbfs\nvectoradd\n[schedulers]\ngto\nreads = %s/reader.so:file=@trace,every=1..2\n' "$scratch"
    printf '[input trace]\nscheduler = lrr\noption = --trace @\n'
} >"$scratch/inputs.ini"
before=$(arrays)
sweep_start "$scratch/inputs.ini" -o "$lab/inputs.db"
sweep_wait 120
is 'runs that read what others wrote' [ $? = 0 ]
is 'as an array behind the first' [ "$(arrays)" = $((before + 2)) ]
is 'the files are there' [ "$(find "$lab/inputs.db.files" -type f | wc -l)" = 2 ]
expect 'the same without Slurm' 0 '8 of 8 are in' "$heddle" sweep "$scratch/inputs.ini" -o "$lab/inputs-local.db" -j 2
is 'their tables' sh -c "'$heddle' report '$lab/inputs.db' -o '$scratch/slurm.html' --csv '$scratch/slurm' && '$heddle' report '$lab/inputs-local.db' -o '$scratch/local.html' --csv '$scratch/local'"
is 'with the same numbers' cmp "$scratch/slurm/metrics.csv" "$scratch/local/metrics.csv"

# A task is killed and its node lives: Slurm calls it failed and does not queue it again.
find_task() {
    for task in $(job_processes 'n[1-3]'); do
        if command_line "$task" | grep -q ' task .*/manifest '; then return 0; fi
    done
    return 1
}
before=$(arrays)
sweep_start "$scratch/two.ini" -o "$lab/two.db"
must 'a task is under way' 60 find_task
kill -9 "$task"
sweep_wait 120
is 'a run whose task was killed is sent again' [ $? = 0 ]
is 'as an array of its own' [ "$(arrays)" = $((before + 2)) ]
expect 'and is in the store' 0 '^nothing to do: all 2 runs' "$heddle" sweep "$scratch/two.ini" -o "$lab/two.db"

# Ctrl-C: the array goes on, and the next sweep gathers it.
before=$(arrays)
sweep_start "$scratch/two.ini" -o "$lab/left.db"
must 'a task is under way again' 60 find_task
kill "$sweep_pid"
sweep_wait 60
is 'an interrupted sweep says so' [ $? = 4 ]
cp "$scratch/sweep" "$out"
saw 'and how to cancel' 'to cancel them: scancel [0-9]+$'
nothing_queued() { [ "$(timeout 20 squeue -h -r | wc -l)" = 0 ]; }
must 'its array goes on' 60 nothing_queued
expect 'and is gathered by the next' 0 '^nothing to do: all 2 runs' "$heddle" sweep "$scratch/two.ini" -o "$lab/left.db" --engine slurm
is 'without another array' [ "$(arrays)" = $((before + 1)) ]
