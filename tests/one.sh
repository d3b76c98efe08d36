#!/bin/sh
# One test: sh tests/one.sh WORK NUMBER BUILD, from the repository's root; tests/run.sh runs as many at once as there are
# processors. Line NUMBER of WORK/list is run (tests/list.sh says what a line is). WORK/NUMBER.result is then 'PASSED
# FAILED HUNDREDTHS_OF_A_SECOND', and WORK/NUMBER.text what a person should see beside that: notes, and what a test that
# failed printed.
set -u
work=$1 number=$2 build=$3
limit=${TEST_LIMIT_SECONDS:-900}
log=$work/$number.log
IFS='	' read -r _ _ kind _ command _ <<END
$(sed -n "${number}p" "$work/list" | sed 's/\\/\\\\/g')
END

clock() { # hundredths of a second
    read -r up _ </proc/uptime
    now=$((${up%.*}${up#*.}))
}
show() { # lines
    sed 's/^/    | /' "$log.short" | tail -n "$1" >>"$work/$number.text"
}

echo "begin $number $$"
clock
began=$now
case $kind in cmocka) export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1" ;; esac
# timeout puts the test into a process group of its own: ctrl-C does not reach it by itself. The trap stands before the
# test begins, and $! is the test from then on.
trap 'kill "$!" 2>/dev/null; exit 130' INT TERM HUP
build=$build timeout "$limit" sh -c "$command" >"$log" 2>&1 &
wait "$!"
status=$?
trap - INT TERM HUP
clock

# No result at all is a failure, but for a script that says why it has none.
good=0 bad=0 lines=60
sed -n 's/^note /    note: /p' "$log" >"$work/$number.text"
case $kind in
cmocka)
    good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
    ;;
plain) [ "$status" != 0 ] || good=1 ;;
counted)
    good=$(tail -n 1 "$log" | sed -n 's/^\([0-9]*\) passed, [0-9]* failed.*/\1/p')
    bad=$(tail -n 1 "$log" | sed -n 's/^[0-9]* passed, \([0-9]*\) failed.*/\1/p')
    ;;
script)
    good=$(grep -c '^ok ' "$log")
    bad=$(grep -c '^FAILED ' "$log")
    lines=200
    ;;
esac
good=${good:-0} bad=${bad:-0}
if [ "$bad" = 0 ] && [ "$status" != 0 ]; then bad=1; fi
if [ "$good" = 0 ] && [ "$bad" = 0 ] && ! { [ "$kind" = script ] && [ -s "$work/$number.text" ]; }; then
    bad=1
    echo '    it ended with status 0 and gave no result' >>"$work/$number.text"
fi
if [ "$bad" != 0 ]; then
    [ "$status" -lt 124 ] || echo "    exit status $status" >>"$work/$number.text"
    grep -v '^ok \|^\[ RUN      \]\|^\[       OK \]' "$log" >"$log.short"
    show "$lines"
fi
echo "$good $bad $((now - began))" >"$work/$number.result"
rm -f "$log" "$log.short"
echo "end $number $$"
