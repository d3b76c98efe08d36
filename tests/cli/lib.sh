# shellcheck shell=sh
# Shared by the command-line tests, which are run as `sh tests/cli/NAME.sh BUILD` from the repository's root. Each check prints 'ok NAME', or
# 'FAILED NAME' and what was seen; tests/run.sh counts those lines.
set -u
build=$1
# shellcheck disable=SC2034 # for the tests
heddle=$build/bin/heddle ptx_run=$build/tests/cli/ptx_run json_check=$build/tests/cli/json_check ptx=tests/cli/ptx
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out

# expect NAME EXIT_CODE PATTERN COMMAND...: both streams together must match the extended pattern.
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$out" 2>&1
    got=$?
    if [ "$got" = "$code" ] && { [ -z "$pattern" ] || grep -Eq -- "$pattern" "$out"; }; then
        echo "ok $name"
        return
    fi
    echo "FAILED $name: exit code $got (expected $code), output to match: $pattern"
    head -c 3000 "$out" | sed 's/^/    | /'
}

# saw NAME PATTERN: one more thing in the output of the last command.
saw() {
    if grep -Eq -- "$2" "$out"; then
        echo "ok $1"
    else
        echo "FAILED $1: no match of: $2"
        head -c 3000 "$out" | sed 's/^/    | /'
    fi
}

# is NAME COMMAND...: the command succeeds.
is() {
    name=$1
    shift
    expect "$name" 0 '' "$@"
}

# await SECONDS COMMAND...: until it succeeds. What a test waits for is waited for so, and not by the clock: the limit is
# for what will never happen, and may be long.
await() {
    await_until=$(($(date +%s) + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$await_until" ] || return 1
        sleep 0.02
    done
}

run_ptx() { # kernel k of a file of tests/cli/ptx
    file=$1
    shift
    "$heddle" run --functional "$ptx_run" "$ptx/$file.ptx" k "$@"
}

# Can a program be run on a terminal? It takes script, and pseudo-terminals, which a bare chroot does not have.
has_terminals() { script -qec true /dev/null >/dev/null 2>&1 </dev/null; }

# Names of the papers' workloads, for what is asked of each of them. TEST_WORKLOADS=few (sanitizers, the second
# compiler): ten, chosen by what their kernels use, so that each feature is there once: bfs (launch after launch, branches
# and loads on data), gc (atomics that fail and are tried again), kmeans (constants, textures), particlefilter (double
# precision), quasirandom (warps that end while others go on), reduct (barriers), sobel (textures and shared memory),
# srad (special functions), tpacf (atomics in shared memory), spmv-vector (volatile loads, warps that rely on
# lockstep). Sanitizers have five of them here, and all in group workloads.
workloads() {
    if [ -n "${TEST_SHORT:-}" ]; then # sanitizers
        printf '%s\n' bfs gc reduct sobel spmv-vector
    elif [ "${TEST_WORKLOADS:-all}" = few ]; then
        printf '%s\n' bfs gc kmeans particlefilter quasirandom reduct sobel spmv-vector srad tpacf
    else
        paper_workloads
    fi
}
# For a test that runs a workload several times for one question: every third of them, each test another third, and all
# with TEST_WORKLOADS=every, as in make soak.
third_of_workloads() { # FIRST: 0 to 2
    if [ "${TEST_WORKLOADS:-all}" = every ]; then paper_workloads; else workloads | awk -v first="$1" 'NR % 3 == first'; fi
}
paper_workloads() {
    for source_ in workloads/*/*.cu; do basename "$source_" .cu; done | grep -vxF -f workloads/today.txt |
        grep -vxF -f workloads/held-out.txt
}
# The workloads of today, and those that are held out: what they have beside those of the papers is instructions, or inputs
# for the papers' mechanisms, so that little is asked of each. A
# few: tensor cores and asynchronous copies, warps that wait for other blocks, shuffles.
today_workloads() {
    if [ "${TEST_WORKLOADS:-all}" = few ]; then echo attention scan topk nestbranch; else cat workloads/today.txt workloads/held-out.txt; fi
}
