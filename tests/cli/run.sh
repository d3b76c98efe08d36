#!/bin/sh
# heddle run: results, exit codes, where output goes.
. tests/cli/lib.sh

"$heddle" run --functional --stats - --size test bfs >"$scratch/a.json" 2>"$scratch/err"
is 'results on standard output are the JSON alone' "$json_check" "$scratch/a.json"
is 'and the output of the program on standard error' grep -q 'bfs: PASSED' "$scratch/err"
expect 'the program passed' 0 '^true$' "$json_check" "$scratch/a.json" checks.passed
expect 'its exit status' 0 '^0$' "$json_check" "$scratch/a.json" checks.exit
expect 'its arguments' 0 '"--size", "test"' "$json_check" "$scratch/a.json" arguments
expect 'the version' 0 '"[0-9.]+"' "$json_check" "$scratch/a.json" heddle
expect 'the machine' 0 '"gtx480"' "$json_check" "$scratch/a.json" machine.name
is 'results in a file' "$heddle" run --functional --stats "$scratch/b.json" --size test bfs
is 'the same run twice gives the same results' "$json_check" --same "$scratch/a.json" "$scratch/b.json"
"$heddle" run --functional --quiet --stats "$scratch/c.json" --size test spmv-scalar >/dev/null 2>&1
expect 'another run does not' 1 'differ' "$json_check" --same "$scratch/a.json" "$scratch/c.json"

mkdir "$scratch/with blank"
is "names with blanks and quotes" "$heddle" run --functional --stats "$scratch/with blank/it's.json" --size test vectoradd
is "names with blanks and quotes: results" "$json_check" "$scratch/with blank/it's.json"
cp machines/gtx480.ini "$scratch/with blank/my machine.ini"
is 'a machine file' "$heddle" run --functional -m "$scratch/with blank/my machine.ini" --stats "$scratch/m.json" --size test vectoradd
expect 'a machine file: its name' 0 '"my machine"' "$json_check" "$scratch/m.json" machine.name
printf '[machine]\ncoers = 3\n' >"$scratch/bad.ini"
expect 'a machine file with a mistake' 2 'bad.ini:2:1: error: unknown key coers; did you mean cores' "$heddle" run -m "$scratch/bad.ini" bfs

expect 'summary' 0 'kernel +launches +warp instructions' "$heddle" run --functional --size test bfs
saw 'summary: rate' 'kWI/s'
expect 'without --functional it says so' 0 'running as with --functional' "$heddle" run --size test vectoradd
"$heddle" run --quiet --size test vectoradd >"$scratch/out2" 2>"$scratch/err2"
expect 'quiet: nothing on standard error' 1 '' test -s "$scratch/err2"
expect 'the size stands also behind the program' 0 'match the reference' "$heddle" run --functional vectoradd --size test
expect 'options of the workload are its own' 1 'unrecognized option' "$heddle" run --functional vectoradd --nonsense

expect 'the exit status of the program' 1 '' "$heddle" run --functional "$build/tests/cli/no_cuda" 7
saw 'a program that does not use CUDA is noticed' 'never initialised CUDA'
is 'a program by its path' "$heddle" run --functional "$ptx_run" "$ptx/fine.ptx" k
printf '#!/bin/sh\nexec "%s" "%s" k\n' "$PWD/$ptx_run" "$PWD/$ptx/fine.ptx" >"$scratch/script" && chmod +x "$scratch/script"
expect 'a script that starts one' 0 '^42$' "$heddle" run --functional "$scratch/script"
expect 'the library alone, without heddle run' 0 '^42$' env LD_LIBRARY_PATH="$build/lib" HEDDLE_OPTIONS="--functional --stats $scratch/d.json" "$ptx_run" "$ptx/fine.ptx" k
is 'the library alone: results' "$json_check" "$scratch/d.json"
expect 'an unsupported function is named' 0 'cuGreenCtxCreate' "$heddle" run --functional "$build/tests/cli/rare_function"

expect 'demo' 0 'vectoradd .* correct' "$heddle" demo --size test
saw 'demo: what next' 'Try next'
