#!/bin/sh
# Contended atomics: a core that sleeps is not run for answers that change nothing. With a timeline it is, for each;
# nothing that is counted may differ.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

run() { # NAME OPTION...
    name_=$1
    shift
    "$heddle" run --quiet --stats "$scratch/$name_.json" "$@" "$ptx_run" "$ptx/contended.ptx" contended 65536 256 30
}

compare() { # OPTION...
    is "$*: runs" run asleep "$@"
    is "$*: runs with a timeline" run awake --timeline "$scratch/timeline" "$@"
    is "$*: counts are the same" "$json_check" --same "$scratch/asleep.json" "$scratch/awake.json"
}

machines='gtx480 c2050 ccws slp gtx480-gs4' schedulers='gto two-level ccws daws'
if [ -n "${TEST_SHORT:-}" ]; then machines=slp schedulers=ccws; fi # sanitizers
for machine in $machines; do
    compare -m "$machine"
done
for scheduler in $schedulers; do
    compare -m gtx480 -s "$scheduler"
done
compare -m gtx480 --set interconnect.input_buffer_flits=4
compare -m gtx480 --set interconnect.flit_bytes=8 --set interconnect.input_buffer_flits=9
