#!/bin/sh
# On a terminal a kernel that takes its time says how far it is, with time and without; nowhere else, and not with --quiet.
# Uses script: a terminal.
. tests/cli/lib.sh
if ! has_terminals; then
    echo 'note no terminal to test on: script (bsdutils) is not there, or there are no pseudo-terminals'
    exit 0
fi
terminal() { # OPTION...: an endless kernel, for two seconds, whose standard error is a terminal
    script -qec "stty cols 200; timeout -k 20 -s INT 2 '$heddle' run $* '$ptx_run' '$ptx/endless.ptx' k" /dev/null \
        </dev/null >"$scratch/raw" 2>&1
    tr '\r' '\n' <"$scratch/raw" >"$scratch/seen"
    cp "$scratch/seen" "$out"
}

terminal --functional
saw 'without time' 'k: [0-9.]+ [kMG]? ?warp instructions, [0-9]+ kWI/s, block 0/1'
is 'without time: again and again' test "$(grep -c 'kWI/s, block 0/1' "$scratch/seen")" -ge 2
is 'without time: no cycles' test "$(grep -c 'cycles,' "$scratch/seen")" = 0
terminal -m gtx480
saw 'with time' 'k: [0-9.]+ [kMG]? ?cycles, [0-9.]+ [kMG]? ?warp instructions, [0-9.]+ kWI/s, block 0/1'
terminal --kernel other
saw 'of a launch that is not timed' 'k: [0-9.]+ [kMG]? ?warp instructions, [0-9]+ kWI/s, block 0/1'
terminal --functional --quiet
is 'quiet' test "$(grep -c 'kWI/s' "$out")" = 0
timeout -k 20 -s INT 1 "$heddle" run --functional "$ptx_run" "$ptx/endless.ptx" k >"$out" 2>&1
is 'not a terminal' test "$(grep -c 'kWI/s, block' "$out")" = 0
