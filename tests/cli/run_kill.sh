# shellcheck shell=sh
# A run and a sweep that are ended in every way: INT, TERM, HUP, QUIT and KILL, of the one who started the program, of the
# process between, of the program, and of all of them. After two seconds nobody is left; what was counted is written
# wherever somebody lives to write it.
# Left out of builds with sanitizers: it is about signals and processes.
# Left out of second builds: it is about signals and processes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
HEDDLE_RUN_KILL=$scratch
export HEDDLE_RUN_KILL # how our processes are told from others
TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$TMPDIR"
limit=20 # tenths of a second
if [ -n "${TEST_SHORT:-}" ]; then limit=100; fi

ours() { # processes of this test: those that are, or were started by, heddle
    # shellcheck disable=SC2013 # paths of /proc have no blanks
    for file in $(grep -lszxF "HEDDLE_RUN_KILL=$HEDDLE_RUN_KILL" /proc/[0-9]*/environ 2>/dev/null); do
        entry=${file%/environ}
        if { tr '\0' ' ' <"$entry/cmdline"; } 2>/dev/null | grep -Eq 'bin/heddle |tests/cli/ptx_run|no_cuda_child|sleep 98765'; then echo "${entry#/proc/}"; fi
    done
}
nobody_left() { # NAME
    for _ in $(seq "$limit"); do
        left=$(ours)
        if [ -z "$left" ]; then
            echo "ok $1: nobody is left"
            return
        fi
        sleep 0.1
    done
    echo "FAILED $1: still there: $left"
    for process in $left; do kill -9 "$process" 2>/dev/null; done
}
# env --default-signal below: a shell starts what runs in the background with INT and QUIT ignored.
child_of() { awk '{ print $1 }' "/proc/$1/task/$1/children" 2>/dev/null; }
find_program() { # the program's process: $program, and the one between: $keeper
    keeper=$(child_of "$run")
    program=${keeper:+$(child_of "$keeper")}
    [ -n "$program" ]
}
# Hundredths of a second that the program has computed.
computed() { awk '{ print $14 + $15 }' "/proc/$program/stat" 2>/dev/null || echo 0; }
has_computed() { [ -n "${program:-}" ] && [ "$(computed)" -ge "$1" ]; }
# Until a kernel runs: the program's processor time grows.
await_program() { await 60 find_program && await 60 has_computed 20 || echo 'FAILED the program does not start'; }
# SIGINT (bit 1 of the masks) is not on its way any more: the process has had it, or is gone.
has_had_int() { ! grep -E '^(SigPnd|ShdPnd):.*[2367abef]$' "/proc/$1/status" 2>/dev/null; }
start() { # PROGRAM...
    rm -f "$scratch/stats"
    env --default-signal setsid "$heddle" run --functional --stats "$scratch/stats" "$@" >"$out" 2>&1 &
    run=$!
    await_program
}
ended() { # waits for heddle itself: $code
    wait "$run" # nobody_left was before: it has ended
    code=$?
}

# ------------------------------------------------------------------ a run
for signal in INT TERM HUP QUIT; do
    for whom in run keeper program group; do
        start "$ptx_run" "$ptx/endless.ptx" k
        case $whom in
        run) kill "-$signal" "$run" ;;
        keeper) kill "-$signal" "$keeper" ;;
        program) kill "-$signal" "$program" ;;
        group) kill "-$signal" "-$run" ;;
        esac
        nobody_left "$signal of $whom"
        ended
        is "$signal of $whom: exit code" test "$code" = 4
        expect "$signal of $whom: results of what ran" 0 '^true$' "$json_check" "$scratch/stats" kernels.0.partial
    done
done
for whom in run keeper program; do
    start "$ptx_run" "$ptx/endless.ptx" k
    case $whom in
    run) kill -KILL "$run" ;;
    keeper) kill -KILL "$keeper" ;;
    program) kill -KILL "$program" ;;
    esac
    nobody_left "KILL of $whom"
    ended
    case $whom in run) expected=137 ;; *) expected=1 ;; esac
    if [ $whom != run ]; then saw "KILL of $whom is reported" 'ended by signal 9'; fi
    is "KILL of $whom: exit code" test "$code" = $expected
done
is 'no temporary file is left' test -z "$(ls "$TMPDIR")"

# ------------------------------------------------------------------ between kernels, and what a program starts
cat >"$scratch/no_cuda_child" <<END
#!/bin/sh
sleep 98765 &
"$ptx_run" "$ptx/endless.ptx" k
END
chmod +x "$scratch/no_cuda_child"
five_are_there() { [ "$(ours | wc -l)" -ge 5 ]; }
for signal in INT TERM HUP QUIT KILL; do
    for whom in run keeper program; do
        env --default-signal setsid "$heddle" run --functional "$scratch/no_cuda_child" >"$out" 2>&1 &
        run=$!
        is 'a script and what it started run' await 30 five_are_there
        find_program
        case $whom in
        run) kill "-$signal" "$run" ;;
        keeper) kill "-$signal" "$keeper" ;;
        program) kill "-$signal" "$program" ;;
        esac
        if [ "$signal" = INT ]; then # a shell waits for its child, which has not got it
            case $whom in run) int=$run ;; keeper) int=$keeper ;; program) int=$program ;; esac
            await 10 has_had_int "$int"
            kill -TERM "$run"
        fi
        nobody_left "$signal of $whom, a script"
        wait "$run"
    done
done

# A process that was started with signals ignored stays: nohup.
sh -c 'trap "" HUP; exec "$@"' sh "$heddle" run --functional "$ptx_run" "$ptx/endless.ptx" k >"$out" 2>&1 &
run=$!
await_program
kill -HUP "$run"
before=$(computed)
is 'nohup: it goes on' await 60 has_computed $((before + 30))
kill -TERM "$run"
nobody_left 'nohup, TERM'
wait "$run"

# ------------------------------------------------------------------ a sweep
cat >"$scratch/endless.ini" <<END
[experiment]
size = test
[programs]
endless = $PWD/$ptx_run $PWD/$ptx/endless.ptx k
[schedulers]
gto
lrr
END
for signal in INT TERM HUP QUIT KILL; do
    for whom in sweep worker program; do
        rm -rf "$scratch"/s.db*
        env --default-signal "$heddle" sweep "$scratch/endless.ini" -j 2 -o "$scratch/s.db" >"$out" 2>&1 &
        sweep=$!
        run=$sweep # its child is the worker, and the program that one's
        await 60 find_program && await 60 five_are_there
        worker=$keeper
        case $whom in
        sweep) kill "-$signal" "$sweep" ;;
        worker) kill "-$signal" "$worker" ;;
        program) kill "-$signal" "$program" ;;
        esac
        if [ $whom != sweep ]; then
            await 30 grep -q '^failed: ' "$out"
            saw "$signal of a $whom is a failed run" '^failed: .*(signal|interrupted)'
            is "$signal of a $whom: the sweep goes on" test -e "/proc/$sweep"
            kill -TERM "$sweep"
        fi
        nobody_left "a sweep, $signal of $whom"
        wait $sweep
        code=$?
        if [ "$signal" = KILL ] && [ $whom = sweep ]; then expected=137; else expected=4; fi
        is "a sweep, $signal of $whom: exit code" test $code = $expected
        expect "a sweep, $signal of $whom: the store is whole" 0 'to do' "$heddle" sweep "$scratch/endless.ini" -o "$scratch/s.db" --dry-run
    done
done
