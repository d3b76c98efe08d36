#!/bin/sh
# A test script by itself: sh tests/script.sh SCRIPT BUILD [ARGUMENT...], from the repository's root. What is not in order is
# shown as it comes; the last line is 'N passed, N failed'. The exit status is 0 only if something passed and nothing
# failed: a script that is missing, that dies or that has no result has failed.
set -u
script=$1
[ -t 2 ] && terminal=1
{
    sh "$@" 2>&1
    printf '\n%s\n' "$?" # whatever the script ended with, this is a line
} | awk -v script="$script" -v terminal="${terminal:-}" '
    NR > 1 { take(line) }
    { line = $0 }
    function take(text) {
        if (text == "") return
        if (text ~ /^ok /) {
            good++
            if (terminal) { printf "\r%s: %d passed, %d failed", script, good, bad >"/dev/stderr"; shown = 1 }
            return
        }
        if (shown) { printf "\r\033[K" >"/dev/stderr"; shown = 0 }
        if (text ~ /^FAILED /) bad++
        print text
        fflush()
    }
    END {
        if (shown) printf "\r\033[K" >"/dev/stderr"
        if (line != 0) { print script ": exit status " line; if (!bad) bad = 1 }
        if (!good && !bad) { print script ": ended with status 0 and gave no result"; bad = 1 }
        printf "%d passed, %d failed\n", good, bad
        exit bad > 0
    }'
