#!/bin/sh
# The runner of the tests (tests/run.sh, one.sh, script.sh) with a list of its own: what fails is red, whatever way it
# fails; what has a tag is left out where the tag says so.
# Left out of builds with sanitizers: it runs no program of the build.
# Left out of second builds: it runs no program of the build.
# shellcheck source=tests/cli/lib.sh
# shellcheck disable=SC2016 # tests that are written here expand later
. tests/cli/lib.sh
unset TEST_QUICK TEST_SHORT TEST_SECOND TEST_WORKLOADS TEST_LIMIT_SECONDS
root=$scratch/root
mkdir -p "$root/tests" "$root/build/tests"
cp tests/run.sh tests/one.sh tests/script.sh "$root/tests/"

# A list: tests are files; a file says what it prints and how it ends.
: >"$root/tests/lines"
echo 'cat tests/lines' >"$root/tests/list.sh"
group() { printf '# %s\tis it so\n' "$1" >>"$root/tests/lines" && current=$1; }
add() { # NAME KIND: the file on stdin
    cat >"$root/tests/$1.sh"
    printf '%s\t%s\t%s\ttests/%s.sh\tsh tests/%s.sh "$build"\t\n' "$current" "$1" "$2" "$1" "$1" >>"$root/tests/lines"
}
tests() { (cd "$root" && sh tests/run.sh build "$@"); }
# Of the output of the last command, which stays as it is.
holds() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >/dev/null 2>&1; then echo "ok $name"; else
        echo "FAILED $name: $*"
        head -c 3000 "$out" | sed 's/^/    | /'
    fi
}
last() { holds "$1" test "$(tail -n 1 "$out")" = "$2"; }
absent() { holds "$1" test "$(grep -c "$2" "$out")" = 0; }

# ---------------------------------------------------------------- what is green, and what is not

group good
echo 'echo "ok one"; echo "ok two"; echo text' | add two script
echo 'test "$1" = build' | add status plain
echo 'echo "7 passed, 0 failed"' | add seven counted
echo 'echo "[  PASSED  ] 3 test(s)."' | add three cmocka
echo 'echo "note it needs what is not here"' | add absent script
expect 'all is well' 0 '^good/two +2 passed$' tests
last 'all is well: the sum of all kinds' '13 passed, 0 failed'
saw 'all is well: how many, how long' '^5 tests in 0 min [0-9]+ s$'
saw 'a script that lacks a program says so' '^    note: it needs what is not here$'

red() { # NAME KIND PATTERN: the file on stdin; alone, it must be red and say so
    current=red
    add "$1" "$2"
    expect "$1 is red" 1 "$3" tests "red/$1"
    saw "$1 is named at the end" "^FAILED: red/$1\$"
    holds "$1 is counted" sh -c "tail -n 1 '$out' | grep -Eq '^[0-9]+ passed, [1-9][0-9]* failed$'"
}
group red
echo 'echo "ok one"; echo "FAILED two: it is not"' | red one_of_two script '\| FAILED two: it is not$'
saw 'one_of_two: which, among the last lines' '^    two: it is not$'
echo 'echo "ok one"; exit 1' | red dies script '^red/dies +1 passed, 1 FAILED$'
echo 'echo "ok one"; nosuchcommand --at-all' | red unknown_command script 'nosuchcommand'
echo 'echo "ok one"; kill -SEGV $$' | red crash script '^    exit status 139$'
echo ': nothing' | red silent_script script 'ended with status 0 and gave no result'
echo ': nothing' | red silent_count counted 'ended with status 0 and gave no result'
echo ': nothing' | red silent_unit cmocka 'ended with status 0 and gave no result'
echo 'echo "5 passed, 1 failed"; exit 1' | red one_of_six counted '^red/one_of_six +5 passed, 1 FAILED$'
echo 'echo "5 passed, 0 failed"; exit 1' | red counts_wrong counted '^red/counts_wrong +5 passed, 1 FAILED$'
echo 'echo "5 passed, 0 failed"; echo more' | red no_last_line counted 'gave no result'
echo 'echo "[  PASSED  ] 3 test(s)."; echo "[  FAILED  ] 1 test(s), listed below:"; exit 1' | red unit cmocka '^red/unit +3 passed, 1 FAILED$'
echo 'echo text; exit 1' | red plain_text plain '\| text$'
: | add missing plain
rm "$root/tests/missing.sh"
expect 'a file that is not there is red' 1 'cannot open tests/missing.sh|tests/missing.sh: No such file' tests missing
echo 'sleep 60' | add slow plain
expect 'a test that never ends is red' 1 'exit status 124' env TEST_LIMIT_SECONDS=1 sh -c "cd '$root' && sh tests/run.sh build slow"
expect 'all of them: the good ones too' 1 '^good/two +2 passed$' env TEST_LIMIT_SECONDS=1 sh -c "cd '$root' && sh tests/run.sh build -j 4"
holds 'all of them: each is named' test "$(grep -c '^FAILED: red/' "$out")" = 14

# ---------------------------------------------------------------- choosing

expect 'a name that is nobody'\''s' 2 'no test or group nobody; see ./heddle test --list' tests nobody
expect 'an option that is none' 2 'no option --nonsense' tests --nonsense
for number in 0 x '' -1; do expect "-j '$number'" 2 '-j needs a number from 1 on' tests -j "$number"; done
expect 'help' 0 '^Usage: ./heddle test ' tests --help
expect 'a group' 0 '^5 tests' tests good
expect 'a file' 0 '^good/seven' tests tests/seven.sh
last 'a file: nothing else' '7 passed, 0 failed'
expect 'a test and another' 0 '^2 tests' tests seven good/two
expect 'the list' 0 '^  good/seven +[0-9]+\.[0-9] s$' tests --list
saw 'the list: what a group asks' '^red: is it so$'

# Tags: alone by its name, a test runs all the same.
rm "$root/tests/lines"
group cli
echo 'echo "ok always"' | add always script
printf '# Left out of second builds: no compiler changes it.\necho "ok one build"\n' | add one_build script
printf '# Left out of quick: it is slow.\n# Uses seven, eight: to count.\necho "ok slow"\n' | add counting script
printf '# Left out of builds with sanitizers: it is about signals.\necho "ok signals"\n' | add signals script
expect 'no tag matters' 0 '^4 tests' tests
expect 'a second build' 0 '^3 tests' tests --second
absent 'a second build: which is left out' one_build
expect 'by its name it runs' 0 '^cli/one_build +1 passed' tests --second one_build
expect 'tools' 0 '^1 test in' tests tools
saw 'tools: which' '^cli/counting +1 passed'
expect 'the list has the reasons' 0 '^      Left out of second builds: no compiler changes it' tests --list
mkdir -p "$root/build/bin" && echo '__asan_init' >"$root/build/bin/heddle"
expect 'a build with sanitizers' 0 '^3 tests' tests
absent 'a build with sanitizers: which is left out' signals
rm "$root/build/bin/heddle"

# ---------------------------------------------------------------- ended from outside

# What is known is shown, and the status says that it is not all.
rm "$root/tests/lines"
group cli
echo 'echo "ok first"' | add first script
echo ': >"$1/began"; exec sleep 60' | add waits script
echo 'echo "ok never"' | add never script
ended() { # NAME PATH: what the runner calls is found in PATH
    rm -f "$root/build/began" "$root/build/tests/times"
    (cd "$root" && PATH=$2 exec sh tests/run.sh build -j 1) >"$out" 2>&1 &
    runner=$!
    await 30 test -e "$root/build/began"
    kill "$runner"
    wait "$runner"
    holds "$1: the status" test $? = 130
    saw "$1: what is known" '^cli/first +1 passed'
    saw "$1: what is not" '^2 of 3 tests did not run to their end: interrupted$'
    last "$1: the last line" '1 passed, 0 failed'
}
ended 'ended' "$PATH"
# On a machine that is busy, the signal comes before the runner has read that the test began.
mkdir "$scratch/slow"
printf '#!/bin/sh\nsleep 0.2\nexec %s "$@"\n' "$(command -v sed)" >"$scratch/slow/sed"
chmod +x "$scratch/slow/sed"
ended 'ended while the runner is busy' "$scratch/slow:$PATH"

# ---------------------------------------------------------------- one script by itself (tests/script.sh)

alone() { sh tests/script.sh "$@"; }
echo 'echo "ok one"' >"$scratch/fine"
expect 'a script alone' 0 '^1 passed, 0 failed$' alone "$scratch/fine" build
expect 'a script alone: missing' 1 '^0 passed, 1 failed$' alone "$scratch/nowhere" build
: >"$scratch/empty"
expect 'a script alone: empty' 1 'gave no result' alone "$scratch/empty" build
echo 'echo "ok one"; exit 3' >"$scratch/dies"
expect 'a script alone: it dies' 1 'exit status 3' alone "$scratch/dies" build
echo 'echo "ok one"; echo "FAILED two"' >"$scratch/two"
expect 'a script alone: one of two' 1 '^1 passed, 1 failed$' alone "$scratch/two" build
echo 'echo "ok one"; kill -KILL $$' >"$scratch/killed"
expect 'a script alone: it is killed' 1 'exit status 137' alone "$scratch/killed" build
