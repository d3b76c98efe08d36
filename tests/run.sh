#!/bin/sh
# Runs the tests of a build: sh tests/run.sh BUILD [OPTION...] [quick | tools | NAME...], from the repository's root; `--help`
# says more. As many tests run at once as there are processors. Failures are shown with what was printed; the last line is
# 'N passed, N failed', and the exit status is 1 when something failed.
set -u
usage() {
    cat <<'END'
Usage: ./heddle test [OPTION...] [quick | tools | NAME...]

  (no name)        all tests
  quick            what finds most in one minute: rooms, units, driver, vectors, random and compiled kernels, some golden runs
  tools            the tests that use a program which ./heddle test does not install (gnuplot, nvcc, a browser)
  NAME...          groups, tests or files: unit, cache, driver/faults, tests/cli/run.sh
  --list           says what there is, with the time that each test took last time
  -j N             how many tests run at once; default: one for each processor
  --second         one more build of sources that are tested already: leaves out what no compiler changes
  --help           this text

A test says in its own file where it is left out and why: the lines 'Left out of ...' that --list shows.
Environment: TEST_LIMIT_SECONDS, after which a test is ended (900).
END
}
fail() {
    echo "heddle test: $1" >&2
    exit 2
}

build='' names='' action=run second=
jobs=$(nproc 2>/dev/null || echo 2)
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage && exit 0 ;;
    --list) action=list ;;
    --second) second=1 ;;
    -j)
        [ $# -gt 1 ] || fail '-j needs a number'
        jobs=$2
        shift
        ;;
    -j*) jobs=${1#-j} ;;
    -*) fail "no option $1; see ./heddle test --help" ;;
    *) if [ -z "$build" ]; then build=$1; else names="$names $1"; fi ;;
    esac
    shift
done
build=${build:-build}
case $jobs in '' | *[!0-9]* | 0*) fail "-j needs a number from 1 on, not '$jobs'" ;; esac

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac # a build elsewhere does not find them by itself
# A build with sanitizers is some ten times slower: what is repeated for other numbers, not for other code, is shorter there.
sanitizers=
if grep -q __asan_init "$build/bin/heddle" 2>/dev/null; then
    sanitizers=1
    export TEST_SHORT=1
fi
if [ -n "$second$sanitizers" ]; then export TEST_SECOND=1 TEST_WORKLOADS=few; fi
case " $names " in *' quick '*) export TEST_QUICK=1 ;; esac
times=$build/tests/times # of last time: a test's name and hundredths of a second

# ---------------------------------------------------------------- which tests

# The list, with the tags of each file and the time of last time. Group, name, kind, file, command, tags, time.
sh tests/list.sh >"$work/lines" || exit 1
[ -e "$times" ] || : >"$work/no_times"
sed -n '/^[^#]/p' "$work/lines" | cut -f 4 | sort -u | xargs grep -oHE '(Left out of [a-z ]+|Uses [^:]+): .*' >"$work/tags"
awk -F '\t' -v OFS='\t' -v names="$names" -v left_out="${sanitizers:+builds with sanitizers,}${second:+second builds,}${TEST_QUICK:+quick,}" \
    -v times_file="${work}/$([ -e "$times" ] || echo no_times)" -v times="$times" -v listing="$([ $action = list ] && echo 1)" '
    BEGIN {
        if (times_file ~ /no_times$/) times = times_file
        while ((getline line <times) > 0) { split(line, part, " "); last[part[1]] = part[2] }
        count = split(names, wanted, " ")
        if (!count) all = 1
        split("rooms unit driver semantics random compiled", words, " ")
        for (i in words) is_quick[words[i]] = 1
        is_quick["cli/golden"] = 1
    }
    FILENAME ~ /tags$/ {
        at = index($0, ":"); file = substr($0, 1, at - 1); tag = substr($0, at + 1)
        sub(/[ *]*\*\/ *$/, "", tag)
        tags[file] = tags[file] (tags[file] ? "; " : "") tag
        next
    }
    /^# / { if (listing) print; next }
    {
        full = $1 "/" $2; mine = all; tag = tags[$4] ($6 ? "; " $6 : "")
        for (i = 1; i <= count; i++) {
            w = wanted[i]
            if (w == "quick" ? is_quick[$1] || is_quick[full] : w == "tools" ? tag ~ /Uses / : w == $1 || w == $2 || w == full || w == $4) { mine = 1; met[w] = 1 }
        }
        if (!mine) next
        $6 = tag; $7 = full in last ? last[full] : -1
        # A test that is asked for by name runs, whatever its tags are.
        parts = split(left_out, from, ",")
        if (!listing && (all || met["quick"] || met["tools"])) for (i = 1; i < parts; i++) if (index(tag, "Left out of " from[i] ":")) next
        print
    }
    END { for (i = 1; i <= count; i++) if (!(wanted[i] in met)) print wanted[i] >"/dev/stderr" }' "$work/tags" "$work/lines" >"$work/chosen" 2>"$work/unknown"
if [ -s "$work/unknown" ]; then fail "no test or group $(paste -s -d ' ' "$work/unknown"); see ./heddle test --list"; fi

if [ $action = list ]; then
    awk -F '\t' '
        /^# / { heading = substr($1, 3) ": " $2; next }
        {
            if (heading) { print shown++ ? "\n" heading : heading; heading = "" }
            printf "  %-34s %s\n", $1 "/" $2, $7 < 0 ? "-" : sprintf("%7.1f s", $7 / 100)
            parts = split($6, tag, "; ")
            for (i = 1; i <= parts; i++) if (tag[i] ~ /^(Left|Uses)/) print "      " tag[i]
        }' "$work/chosen"
    exit
fi

# The longest first, so that none is left alone at the end. Without a time of last time, what quick leaves out is long.
awk -F '\t' '{ print ($7 >= 0 ? $7 : $6 ~ /out of quick/ ? 3000 : $3 == "script" ? 500 : 100) "\t" $0 }' "$work/chosen" |
    sort -s -k 1,1nr | cut -f 2-6 >"$work/list"
total=$(wc -l <"$work/list")
[ "$total" -gt 0 ] || fail 'nothing is left to run'

# ---------------------------------------------------------------- running them

passed=0 failed=0 done=0 interrupted='' running=' '
seconds() { # since the start
    read -r up _ </proc/uptime
    echo $((${up%.*} - started))
}
read -r up _ </proc/uptime
started=${up%.*}
progress=
if [ -t 2 ] && [ -t 1 ]; then progress=1; fi
show_progress() {
    [ -n "$progress" ] || return 0
    took=$(seconds)
    printf '\r\033[K%s of %s tests, %s failed, %d:%02d  %.40s' "$done" "$total" "$failed" $((took / 60)) $((took % 60)) "$running" >&2
}
clear_progress() { [ -z "$progress" ] || printf '\r\033[K' >&2; }
name_of() { name=$(sed -n "${1}s/^\([^	]*\)	\([^	]*\)	.*/\1\/\2/p" "$work/list"); }

show_result() { # number
    read -r good bad hundredths <"$work/$1.result"
    passed=$((passed + good)) failed=$((failed + bad)) done=$((done + 1))
    echo "$name $hundredths" >>"$work/times"
    clear_progress
    counts="$good passed" took=
    if [ "$bad" != 0 ]; then
        counts="$counts, $bad FAILED"
        {
            echo "FAILED: $name"
            sed -n 's/^    | FAILED /    /p' "$work/$1.text" | head -n 8 # which of its checks, for whoever sees the last lines alone
        } >>"$work/red"
    fi
    if [ "$hundredths" -ge 100 ]; then took=", $((hundredths / 100)) s"; fi
    printf '%-34s %s%s\n' "$name" "$counts" "$took"
    cat "$work/$1.text"
    rm -f "$work/$1.text"
}

mkfifo "$work/events" || exit 1
export TEST_LIMIT_SECONDS="${TEST_LIMIT_SECONDS:-900}"
# shellcheck disable=SC2016 # expanded by the shell that runs it
awk '{ print NR }' "$work/list" | xargs -n 1 -P "$jobs" sh -c 'exec sh tests/one.sh "$1" "$3" "$2"' sh "$work" "$build" >"$work/events" &
runner=$!
# Ended from outside, it ends what runs, and shows what is known.
pids=' '
trap 'interrupted=1; kill "$runner" $pids 2>/dev/null' INT TERM HUP
while :; do
    if ! read -r event number pid; then
        [ "$interrupted" = 1 ] || break
        interrupted=2 # the signal ended the reading, and not the end of the events
        continue
    fi
    name_of "$number"
    case $event in
    begin)
        running="$running$name " pids="$pids$pid "
        if [ -n "$interrupted" ]; then kill "$pid" 2>/dev/null; fi # the signal came before this line was read
        ;;
    end)
        show_result "$number"
        running="${running%%" $name "*} ${running#*" $name "}" pids="${pids%%" $pid "*} ${pids#*" $pid "}"
        ;;
    esac
    show_progress
done <"$work/events"
wait "$runner"
clear_progress

if [ -d "$build/tests" ] && [ -s "$work/times" ]; then
    { cat "$work/times" && cat "$times"; } 2>/dev/null | awk '!seen[$1]++' >"$work/times.new" && cp "$work/times.new" "$times"
fi
took=$(seconds)
if [ "$done" = 1 ]; then noun='test'; else noun='tests'; fi
echo "$done $noun in $((took / 60)) min $((took % 60)) s"
if [ -e "$work/red" ]; then cat "$work/red"; fi
if [ "$done" != "$total" ]; then
    echo "$((total - done)) of $total tests did not run to their end${interrupted:+: interrupted}"
    failed=$((failed + (interrupted ? 0 : 1)))
fi
echo "$passed passed, $failed failed"
[ -z "$interrupted" ] || exit 130
[ "$failed" = 0 ]
