#!/bin/sh
# Bad input: each kind gets a message of its own and the exit code of its class.
. tests/cli/lib.sh

expect 'truncated PTX' 1 "truncated.ptx:13:1: error: expected '}' at the end of the function" run_ptx truncated
saw 'truncated PTX: what CUDA says' 'CUDA_ERROR_INVALID_PTX'
expect 'wrong type' 1 'wrong_type.ptx:13:18: error: register %rd1 is .b64, but add.f32 needs .f32' run_ptx wrong_type
saw 'wrong type: the line with a caret' '^ +add.f32 %f1, %rd1, %f1;'
saw 'wrong type: the kernel' 'kernel k'
expect 'undefined register' 1 "undefined_register.ptx:12:23: error: undefined register '%count'" run_ptx undefined_register
expect 'missing label' 1 "missing_label.ptx:12:13: error: undefined label 'nowhere'" run_ptx missing_label
expect 'duplicate symbol' 1 "duplicate_symbol.ptx:15:17: error: duplicate symbol 'k': first defined on line 5" run_ptx duplicate_symbol

head -c 100000000 /dev/urandom >"$scratch/noise.ptx"
expect '100 MB of noise: run' 1 'noise.ptx:([0-9]+:[0-9]+: error| neither PTX nor a fat binary)' timeout 20 "$heddle" run --functional "$ptx_run" "$scratch/noise.ptx" k
expect '100 MB of noise: inspect' 1 'noise.ptx:([0-9]+:[0-9]+: error| neither PTX nor a fat binary)' timeout 20 "$heddle" inspect "$scratch/noise.ptx"
expect '100 MB of noise: doctor' 3 'noise.ptx:([0-9]+:[0-9]+: error| neither PTX nor a fat binary)' timeout 20 "$heddle" doctor "$scratch/noise.ptx"
chmod +x "$scratch/noise.ptx"
mv "$scratch/noise.ptx" "$scratch/noise"
expect '100 MB of noise as a program' 2 'not a program' "$heddle" run --functional "$scratch/noise"
rm -f "$scratch/noise"
awk 'BEGIN { for (i = 0; i < 1600000; i++) print "add.s32 %r1, %r2, (((((([[[[[[{{{{{{ .reg .entry -1;" }' >"$scratch/words.ptx"
expect '100 MB of words' 1 'words.ptx:1:1: error' timeout 20 "$heddle" inspect "$scratch/words.ptx"
rm -f "$scratch/words.ptx"

expect 'reads past its buffer' 5 'kernel k: read of 4 bytes at 0x[0-9a-f]+' "$heddle" run --functional --exact-bounds "$ptx_run" "$ptx/out_of_bounds.ptx" k 124
saw 'reads past its buffer: the PTX line' 'out_of_bounds.ptx:16'
saw 'reads past its buffer: block and thread' 'block \(0,0,0\), thread \(31,0,0\)'
saw 'reads past its buffer: what is nearby' '124-byte allocation'
saw 'reads past its buffer: what CUDA says' 'CUDA_ERROR_ILLEGAL_ADDRESS'
expect 'writes beside its buffer, where a GPU allows it' 0 '4 accesses outside of allocations, next to one, were allowed.*kernel k, PTX line 12: write of 4 bytes at 0x[0-9a-f]+, 256 bytes before a 512-byte allocation' "$heddle" run --functional "$ptx_run" "$ptx/beside.ptx" k 512 1
expect 'the same with time' 0 '4 accesses outside of allocations, next to one, were allowed' "$heddle" run "$ptx_run" "$ptx/beside.ptx" k 512 1
expect 'writes beside its buffer, exact bounds' 5 'write of 4 bytes at 0x[0-9a-f]+: 256 bytes before a 512-byte allocation' "$heddle" run --functional --exact-bounds "$ptx_run" "$ptx/beside.ptx" k 512 1
is 'reads all of its buffer' "$heddle" run --functional --exact-bounds "$ptx_run" "$ptx/out_of_bounds.ptx" k 128
expect 'reads past its buffer, where a GPU allows it' 0 '^1$' run_ptx out_of_bounds 124
saw 'reads past its buffer, where a GPU allows it: a remark' '2 accesses outside of allocations, next to one, were allowed.*The first: kernel k, PTX line 16: read of 4 bytes at 0x[0-9a-f]+, right at the end of a 124-byte allocation'
expect 'reads past its buffer, where a GPU allows it: quietly' 0 '^1$' "$heddle" run --functional --quiet "$ptx_run" "$ptx/out_of_bounds.ptx" k 124
is 'reads past its buffer, where a GPU allows it: no remark' test "$(wc -l <"$out")" = 1
expect 'reads past all of its buffer' 5 'right at the end of a 512-byte allocation' "$heddle" run --functional --exact-bounds "$ptx_run" "$ptx/out_of_bounds.ptx" k 512 160
saw 'reads past all of its buffer: the thread' 'block \(0,0,0\), thread \(128,0,0\)'
expect 'reads past all of its buffer, where a GPU allows it' 0 'The first: .* right at the end of a 512-byte allocation' run_ptx out_of_bounds 512 160
sed 's/+512/+1048576/' "$ptx/beside.ptx" >"$scratch/far.ptx"
expect 'writes far behind its buffer' 5 'far.ptx:13: st.global.u32' "$heddle" run --functional "$ptx_run" "$scratch/far.ptx" k 512 1
expect 'misaligned' 5 'not a multiple of 4' run_ptx misaligned
saw 'misaligned: what CUDA says' 'CUDA_ERROR_MISALIGNED_ADDRESS'
expect 'trap' 5 'kernel k: trap' run_ptx trap
expect 'divides by zero' 0 '^4294967295$' run_ptx divide_by_zero

expect 'never ends: --max-cycles' 4 'kernel k ran past the limit of 100000 cycles' \
    timeout 60 "$heddle" run --functional --max-cycles 100000 "$ptx_run" "$ptx/endless.ptx" k
expect 'never ends: ctrl-C' 4 'kernel k was interrupted after [0-9]+ warp instructions' \
    timeout --preserve-status -k 20 -s INT 1 "$heddle" run --functional --stats "$scratch/interrupted.json" "$ptx_run" "$ptx/endless.ptx" k
is 'never ends: ctrl-C leaves results' "$json_check" "$scratch/interrupted.json"
expect 'never ends: ctrl-C in the results' 0 'interrupted' "$json_check" "$scratch/interrupted.json" outcome.kind
expect 'lanes spin on one another' 4 'lanes of one warp spin' timeout 60 "$heddle" run --functional "$ptx_run" "$ptx/spin_lock.ptx" k
expect 'lanes spin on one another, for sm_70' 0 '^64$' timeout 60 "$heddle" run --functional "$ptx_run" "$ptx/spin_lock_apart.ptx" k 1024 64

expect 'unsupported instruction' 3 'unsupported.ptx:12:5: error: not supported: wgmma.fence.sync.aligned' \
    "$heddle" run --functional "$ptx_run" "$ptx/unsupported.ptx" first
saw 'unsupported instruction: the kernel' 'in kernel first'
expect 'program without PTX' 3 'holds GPU machine code only and no PTX' "$heddle" run --functional "$build/tests/cli/machine_code_section"
expect 'program with an empty fat binary' 0 'no kernel was launched' "$heddle" run --functional "$build/tests/cli/empty_fat_binary"
expect 'program that loads machine code' 3 'fat binary with machine code and no PTX; Heddle runs PTX' "$heddle" run --functional "$build/tests/cli/machine_code_only"
expect 'program with static cudart' 3 'nvcc -cudart shared' "$heddle" run --functional "$build/tests/cli/static_runtime"

head -c 3000 "$ptx_run" >"$scratch/cut" && chmod +x "$scratch/cut"
expect 'truncated program' 2 'cut off' "$heddle" run "$scratch/cut"
: >"$scratch/empty" && chmod +x "$scratch/empty"
expect 'empty program' 2 'not a program' "$heddle" run "$scratch/empty"
: >"$scratch/empty.ptx"
expect 'empty PTX' 1 'empty.ptx' "$heddle" inspect "$scratch/empty.ptx"
expect 'scheduler that refuses its parameters' 1 'policy ccws .*: vta_entries is not a multiple of vta_ways' "$heddle" run --size test -s ccws:vta_entries=16,vta_ways=3 bfs

# What a user can reach ends with a message: base/out_of_memory.h.
expect 'no bare abort in a library' 1 '' grep -rn 'abort()' src include
