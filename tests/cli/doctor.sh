#!/bin/sh
# heddle doctor: finds what cannot run, and nothing where all is well.
. tests/cli/lib.sh

expect 'a workload' 0 'Nothing stands in the way' "$heddle" doctor bfs
saw 'a workload: its PTX' 'PTX: 2 kernels'
expect 'PTX that is fine' 0 '1 kernel and 0 functions' "$heddle" doctor "$ptx/fine.ptx"
expect 'PTX that is not' 3 '3 problems' "$heddle" doctor "$ptx/unsupported.ptx"
saw 'every instruction: the first' '12:5: error: not supported: wgmma.fence'
saw 'every instruction: the last' '25:5: error: not supported: wgmma.wait_group'
saw 'every instruction: its kernel' 'in kernel second'
expect 'PTX with an error' 3 'undefined label' "$heddle" doctor "$ptx/missing_label.ptx"
expect 'static cudart' 3 'nvcc -cudart shared' "$heddle" doctor "$build/tests/cli/static_runtime"
expect 'machine code only' 3 'machine code only' "$heddle" doctor "$build/tests/cli/machine_code_section"
expect 'a program without CUDA' 0 'not linked with libcuda' "$heddle" doctor "$build/tests/cli/no_cuda"
expect 'an unsupported function' 3 'cuGreenCtxCreate is called, which Heddle answers with CUDA_ERROR_NOT_SUPPORTED' "$heddle" doctor "$build/tests/cli/rare_function"
expect 'nothing given' 2 'which program' "$heddle" doctor
expect 'no such program' 2 'No such file' "$heddle" doctor ./nothing-here
expect 'no such PTX' 2 'cannot read' "$heddle" doctor nothing.ptx
