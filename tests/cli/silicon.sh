#!/bin/sh
# The microbenchmarks (bench/silicon) on a simulated machine: every chain runs, and the names are those that were recorded
# on silicon.
# Left out of builds with sanitizers: other tests run the same instructions.
# Left out of second builds: it asks for numbers that no compiler changes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
silicon=$build/bench/silicon
"$silicon" --list | sort >"$scratch/ours"
sed -n 's/^latency\/\([^	]*\)	.*/\1/p' machines/h200.measured.tsv | grep -v '^bar\.sync\.' | sort >"$scratch/recorded"
is 'the names that were recorded' cmp "$scratch/ours" "$scratch/recorded"
expect 'chains without time' 0 '^rate/mma.m16n8k16.f32.f16	' "$heddle" run --functional --quiet "$silicon" mma.m16n8k16.f32.f16 ldmatrix.x4 div.rn.f64
# A dependent multiply-add on the GTX 480 of the models takes 18 cycles and some for the register file.
expect 'latencies of a simulated machine' 0 '^latency/fma.rn.f32	18\.' "$heddle" run --quiet "$silicon" fma.rn.f32
expect 'caches and the whole machine' 0 '^chase/l1/8K/128	' "$heddle" run --functional --quiet "$silicon" --memory 16384 chases bandwidth order
saw 'bandwidth' '^bandwidth/dram.read	'
is 'the PTX of the chains' sh -c "mkdir '$scratch/ptx' && '$silicon' --ptx '$scratch/ptx' && test -s '$scratch/ptx/fma.rn.f32.ptx'"
