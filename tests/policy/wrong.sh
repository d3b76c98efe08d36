# shellcheck shell=sh disable=SC2016 # sh -c expands for itself
# Policies that are wrong: one that lets nothing go on is found within a million cycles, in its name and with exit code 4; a
# bad pick and a crash name the policy, and the crash its hook.
# sh tests/policy/wrong.sh BUILD, from the repository's root; counted as the command-line tests are.
# Left out of second builds: the checks are those of the first build.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
cc=${CC:-cc}
wrong() { # NAME FLAG...: $scratch/NAME.so
    so=$scratch/$1.so
    shift
    # shellcheck disable=SC2086 # flags are words
    is "$* compiles" $cc -std=gnu11 -O2 -g0 -Wall -Wextra -Werror -Wno-unused -Wno-infinite-recursion -shared -fPIC \
        -Iinclude "$@" -o "$so" tests/policy/wrong.c
}
# Two cores are as wrong as fifteen.
run() { timeout -k 5 100 "$heddle" run --size test --set machine.cores=2 --stats "$scratch/stats" "$@"; }
in_time() { # of a million cycles
    cycles=$("$json_check" "$scratch/stats" total.cycles)
    is "$1: within a million cycles" test "${cycles:-1000001}" -le 1000000
    expect "$1: in the results" 0 'deadlock' "$json_check" "$scratch/stats" outcome.kind
}

for flag in NEVER_PICKS NEVER_PICKS_LATER; do
    wrong "$flag" "-D$flag"
    expect "$flag" 4 'kernel .* cannot go on: scheduler wrong has let no warp of core [0-9]+ issue for [0-9]+ cycles' \
        run -s "$so" bitonic
    saw "$flag: how" 'warps 0x[0-9a-f]+ wait for it: its pick answers HEDDLE_NO_WARP'
    in_time "$flag"
done
wrong PICKS_READY_ONLY -DPICKS_READY_ONLY
expect 'PICKS_READY_ONLY' 4 'scheduler wrong has let no warp of core [0-9]+ issue for [0-9]+ cycles' run -s "$so" bitonic
saw 'PICKS_READY_ONLY: how' 'its pick answers HEDDLE_NO_WARP'
in_time PICKS_READY_ONLY
wrong HOLDS -DHOLDS
expect 'HOLDS' 4 'scheduler wrong has let no warp of core [0-9]+ issue for [0-9]+ cycles' run -s "$so" bitonic
saw 'HOLDS: how' 'its hold keeps all of them back'
in_time HOLDS
expect 'HOLDS, on threads' 4 'scheduler wrong has let no warp of core [0-9]+ issue for [0-9]+ cycles' run -j 2 -s "$so" bitonic
wrong HOLDS_STEADY -DHOLDS_STEADY
expect 'HOLDS_STEADY' 4 'scheduler wrong has let no warp of core [0-9]+ issue and never will again' run -s "$so" bitonic
saw 'HOLDS_STEADY: how' 'its hold keeps all of them back'
in_time HOLDS_STEADY
expect 'HOLDS_STEADY, with warps put together' 4 'scheduler wrong has let no warp' run -s "$so" --divergence tbc bitonic
wrong HOLDS_LOADS -DHOLDS_LOADS
expect 'HOLDS_LOADS' 4 'scheduler wrong has let no warp of core [0-9]+ issue for [0-9]+ cycles' run -s "$so" bitonic
saw 'HOLDS_LOADS: how' 'its hold_loads keeps their loads back'
in_time HOLDS_LOADS
wrong NO_WAY -DNO_WAY
expect 'NO_WAY' 4 'L1 policy wrong has given no access of core [0-9]+ a way (and never|for [0-9]+ cycles)' run --l1 "$so" bitonic
in_time NO_WAY
wrong PARKS -DPARKS
expect 'PARKS' 4 'divergence unit wrong, core [0-9]+, cycle [0-9]+: warps 0x[0-9a-f]+ are parked, and nothing is left' \
    run --divergence "$so" bitonic
in_time PARKS

for pick in 63 64 1000000 -2 -2147483647; do
    wrong pick "-DPICK=($pick)"
    expect "a pick of $pick" 1 "scheduler wrong picked warp $pick, which is not among its candidates" run -s "$so" bitonic
done

# A hook that does not come back. One second is the limit here; one that takes long and comes back is left alone.
stays() { HEDDLE_HOOK_SECONDS=1 run "$@"; }
for hook in PICK=pick ISSUED=on.issued ASLEEP=pick INIT=init; do
    wrong stays "-DSTAYS_${hook%%=*}"
    expect "one that stays: $hook" 4 "scheduler wrong does not come back from its ${hook#*=} \(.*stays.so\): it has been there for 1 s" \
        stays -s "$so" bitonic
done
wrong stays -DSTAYS_PICK
expect 'one that stays, on threads' 4 'scheduler wrong does not come back from its pick ' stays -j 3 -s "$so" bitonic
expect 'one that stays: in the results' 0 'deadlock' "$json_check" "$scratch/stats" outcome.kind
expect 'one that stays, with a timeline' 4 'does not come back from its pick ' stays -s "$so" --timeline "$scratch/timeline" bitonic
is 'one that stays: the timeline is whole' "$json_check" "$scratch/timeline" otherData.time
wrong stays -DSTAYS_PROBE
expect 'one that stays in its write' 4 'probe wrong does not come back from its write ' stays --probe "$so" bitonic
is 'one that stays in its write: what was simulated is in the results' test "$("$json_check" "$scratch/stats" total.cycles)" -gt 0
wrong slow -DSLOW
expect 'one that is slow' 4 'ran past the limit of 300 cycles' stays --max-cycles 300 -s "$so" bitonic
expect 'a limit that is no number' 4 "HEDDLE_HOOK_SECONDS is 'soon', which is no number of seconds; it is 20" \
    env HEDDLE_HOOK_SECONDS=soon "$heddle" run --size test --max-cycles 5 -s "$so" bitonic

case $build in *asan* | *tsan*) exit 0 ;; esac # sanitizers report crashes themselves
for hook in PICK=pick ISSUED=on.issued INIT=init HELPER=pick DEEP=pick; do
    wrong crash "-DCRASH_${hook%%=*}"
    expect "a crash: $hook" 1 "heddle: a crash in scheduler wrong, in its ${hook#*=} \(.*crash.so\): signal 11, Segm" \
        run -s "$so" bitonic
    saw "a crash: $hook ends the program" 'ended by signal 11'
done
wrong crash -DCRASH_PICK
expect 'a crash on threads' 1 'heddle: a crash in scheduler wrong, in its pick ' run -j 2 -s "$so" bitonic
wrong crash -DCRASH_VICTIM
expect 'a crash of an L1 policy' 1 'heddle: a crash in L1 policy wrong, in its victim ' run --l1 "$so" bitonic
wrong crash -DCRASH_PROBE
expect 'a crash of a probe' 1 'heddle: a crash in probe wrong, in its on.launched .*signal 6, Aborted' run --probe "$so" bitonic
# A crash of the program's own is its own.
wrong right
cat >"$scratch/crashes.c" <<'END'
#include <stddef.h>
#include <stdlib.h>
int cuInit(unsigned int flags);
int main(int argc, char **argv) { (void)argv; cuInit(0); if (argc) abort(); return 0; }
END
is 'a program that crashes' "$cc" -o "$scratch/crashes" "$scratch/crashes.c" "$build/lib/libcuda.so.1"
expect 'a crash of the program' 1 'ended by signal 6' timeout 100 "$heddle" run -s "$so" "$scratch/crashes"
is 'is not the policy' sh -c '! grep -q "a crash in" "$1"' sh "$out"
