#!/bin/sh
# The probes of DAWS in real runs: what they count agrees with the machine's own counters, and with each other; they
# change no simulated number; the profile has what the results have.
# Left out of builds with sanitizers: other tests run the same probes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
check=$build/tests/cli/daws_probes_check

run() { # RESULT OPTION... PROGRAM: at its test size
    result=$scratch/$1.json
    shift
    "$heddle" run --quiet --size test -m ccws --stats "$result" "$@"
}
with_probes() { # RESULT OPTION... PROGRAM
    result=$1
    shift
    run "$result" --pcs --probe loads --probe threads --probe trips --probe lost --probe "daws-profile:file=$scratch/profile" "$@"
}
compare() { # NAME OPTION... PROGRAM
    what=$1
    shift
    rm -f "$scratch/profile"
    is "$what: it runs" with_probes probed "$@"
    is "$what: counters agree" "$check" "$scratch/probed.json"
    is "$what: the profile" "$check" --profile "$scratch/probed.json" "$scratch/profile"
    run plain "$@" >/dev/null 2>&1
    is "$what: nothing else changes" "$check" --less "$scratch/probed.json" "$scratch/plain.json"
}

for workload in spmv-scalar bfs; do
    for scheduler in gto ccws daws; do
        compare "$workload, $scheduler" -s "$scheduler" "$workload"
    done
done
compare 'a small cache' -s ccws:k_throttle=100 --set l1d.sets=4 spmv-scalar # loses much, holds often
compare 'a cache of 8 MB' -s gto --set l1d.sets=8192 bfs
with_probes threads -s ccws -j 2 bfs >/dev/null 2>&1
with_probes one -s ccws bfs >/dev/null 2>&1
is 'the same on 2 threads' "$json_check" --same "$scratch/one.json" "$scratch/threads.json"

# Lines that a thread walks along are used again in the next trip (figure 4: .99 of spmv-scalar's hits).
with_probes walk -s gto --set l1d.sets=8192 spmv-scalar >/dev/null 2>&1
last=$("$json_check" "$scratch/walk.json" total.trips.last_trip)
hits=$("$json_check" "$scratch/walk.json" total.l1d.intra_warp_hits)
is 'spmv-scalar: nearly all hits are of the last trip' test "$((last * 100))" -gt "$((hits * 90))"

# Each thread walks along a row there, and short rows share lines; on bfs threads of a warp also meet on lines.
same=$("$json_check" "$scratch/walk.json" total.threads.same_thread)
is 'spmv-scalar: most hits are of the same thread' test "$((same * 100))" -gt "$((hits * 70))"
is 'spmv-scalar: not all of them are' test "$same" -lt "$hits"
other=$("$json_check" "$scratch/one.json" total.threads.same_warp)
is 'bfs: threads use what others of their warp brought' test "$other" -gt 0

# What holds warps in loops, and what comes of it.
with_probes held -s ccws:k_throttle=100 --set l1d.sets=4 spmv-scalar >/dev/null 2>&1
is 'held in a loop, then lost' test "$("$json_check" "$scratch/held.json" total.lost.after_held)" -gt 0
is 'held, evicted, then lost' test "$("$json_check" "$scratch/held.json" total.lost.evicted_held)" -gt 0

# Profiled-DAWS reads the profile, and loses nothing after a hold in the loop of spmv-scalar (section 7.1).
with_probes profile -s gto spmv-scalar >/dev/null 2>&1
is 'the profile is read' run profiled -s "daws:mode=profiled,profile=$scratch/profile" --probe lost spmv-scalar
is 'Profiled-DAWS: something is held' test "$("$json_check" "$scratch/profiled.json" total.daws.held_warp_cycles)" -gt 0
is 'Profiled-DAWS: nothing is lost after it' test "$("$json_check" "$scratch/profiled.json" total.lost.after_held)" = 0

# What cannot be.
expect 'daws-profile without a file' 1 'file=NAME' run bad -s gto --probe daws-profile vectoradd
expect 'daws-profile into no folder' 1 'No such file or directory' \
    run bad -s gto --probe "daws-profile:file=$scratch/no/profile" vectoradd
expect 'tags that do not fill their sets' 1 'vta_entries is not a multiple of vta_ways' \
    run bad -s gto --probe lost:vta_entries=12 vectoradd
