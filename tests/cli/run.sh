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
expect 'a machine file with a mistake' 2 'bad.ini:2:1: error: unknown key coers.*did you mean cores' "$heddle" run -m "$scratch/bad.ini" bfs

expect 'summary' 0 'kernel +launches +warp instructions' "$heddle" run --functional --size test bfs
saw 'summary: rate' 'kWI/s'
"$heddle" run --quiet --size test vectoradd >"$scratch/out2" 2>"$scratch/err2"
expect 'quiet: nothing on standard error' 1 '' test -s "$scratch/err2"
expect 'the size stands also behind the program' 0 'match the reference' "$heddle" run --functional vectoradd --size test
expect 'options of the workload are its own' 1 'unrecognized option' "$heddle" run --functional vectoradd --nonsense

expect 'the exit status of the program' 1 '' "$heddle" run --functional "$build/tests/cli/no_cuda" 7
saw 'a program that does not use CUDA is noticed' 'never initialised CUDA'
is 'a program by its path' "$heddle" run --functional "$ptx_run" "$ptx/fine.ptx" k
printf '#!/bin/sh\nexec "%s" "%s" k\n' "$(realpath "$ptx_run")" "$PWD/$ptx/fine.ptx" >"$scratch/script" && chmod +x "$scratch/script"
expect 'a script that starts one' 0 '^42$' "$heddle" run --functional "$scratch/script"
expect 'the library alone, without heddle run' 0 '^42$' env LD_LIBRARY_PATH="$build/lib" HEDDLE_OPTIONS="--functional --stats $scratch/d.json" "$ptx_run" "$ptx/fine.ptx" k
is 'the library alone: results' "$json_check" "$scratch/d.json"
expect 'an unsupported function is named' 0 'cuGreenCtxCreate' "$heddle" run --functional "$build/tests/cli/rare_function"

# With time.
"$heddle" run --stats "$scratch/t1.json" --size test bfs >/dev/null 2>"$scratch/err3"
is 'time: results are complete and add up' "$json_check" "$scratch/t1.json"
is 'time: a summary with cycles' grep -Eq 'cycles +IPC' "$scratch/err3"
is 'time: a summary with the machine' grep -q 'machine gtx480, scheduler lrr' "$scratch/err3"
expect 'time: not functional' 0 '^false$' "$json_check" "$scratch/t1.json" functional
expect 'time: cycles' 0 '^[1-9][0-9]*$' "$json_check" "$scratch/t1.json" total.cycles
expect 'time: the scheduler of the machine' 0 '^"lrr"$' "$json_check" "$scratch/t1.json" scheduler
expect 'time: the keys of the machine' 0 '^48$' "$json_check" "$scratch/t1.json" machine.core.warps
"$heddle" run --quiet --stats "$scratch/t2.json" --size test bfs >/dev/null 2>&1
is 'time: the same run twice gives the same results' "$json_check" --same "$scratch/t1.json" "$scratch/t2.json"
"$heddle" run --quiet -j 2 --stats "$scratch/t3.json" --size test bfs >/dev/null 2>&1
is 'time: and so on two threads' "$json_check" --same "$scratch/t1.json" "$scratch/t3.json"
"$heddle" run --quiet -s gto --l1 fifo --set l1d.ways=2 --stats "$scratch/t4.json" --size test bfs >/dev/null 2>&1
is 'time: other policies' "$json_check" "$scratch/t4.json"
expect 'time: other policies: their names' 0 '^"gto"$' "$json_check" "$scratch/t4.json" scheduler
expect 'time: another key' 0 '^2$' "$json_check" "$scratch/t4.json" machine.l1d.ways
expect 'time: other policies, other results' 1 'differ' "$json_check" --same "$scratch/t1.json" "$scratch/t4.json"
program=$(realpath "$heddle")
(cd "$scratch/with blank" && "$program" run --quiet -m 'my machine.ini' --stats ../t5.json --size test vectoradd >/dev/null 2>&1)
expect 'time: a machine file in the folder' 0 '"my machine"' "$json_check" "$scratch/t5.json" machine.name
expect 'policies do nothing in functional mode' 0 '--scheduler has no effect' "$heddle" run --functional -s gto --size test vectoradd
expect 'progress on demand' 4 'kWI/s, block' env HEDDLE_PROGRESS=1 \
    timeout --preserve-status -k 20 -s INT 3 "$heddle" run "$ptx_run" "$ptx/endless.ptx" k

for file in a t4; do # every field of the results is in the glossary
    "$json_check" --names "$scratch/$file.json" | sort -u >"$scratch/names"
    "$heddle" list metrics | sed -n 's/^\([^ ]*\) (.*/\1/p' | sort -u >"$scratch/glossary"
    comm -23 "$scratch/names" "$scratch/glossary" >"$scratch/missing"
    is "the glossary has every field ($file)" cmp "$scratch/missing" /dev/null
done

# Cut short.
expect 'time: never ends: --max-cycles' 4 'kernel k .*20000 cycles' timeout 60 "$heddle" run --max-cycles 20000 --stats "$scratch/limit.json" "$ptx_run" "$ptx/endless.ptx" k
is 'time: never ends: there are results' "$json_check" "$scratch/limit.json"
expect 'time: never ends: of a part' 0 '^true$' "$json_check" "$scratch/limit.json" kernels.0.partial
expect 'time: never ends: ctrl-C' 4 'interrupted' \
    timeout --preserve-status -k 20 -s INT 1 "$heddle" run --stats "$scratch/interrupted.json" --timeline "$scratch/interrupted.timeline" "$ptx_run" "$ptx/endless.ptx" k
is 'time: ctrl-C leaves results' "$json_check" "$scratch/interrupted.json"
expect 'time: ctrl-C leaves a timeline' 0 'cycle' "$json_check" "$scratch/interrupted.timeline" otherData.time
expect 'time: an illegal address' 5 'out_of_bounds.ptx:16' "$heddle" run --exact-bounds --stats "$scratch/fault.json" "$ptx_run" "$ptx/out_of_bounds.ptx" k 512 160
expect 'time: an illegal address: partial results' 0 '^true$' "$json_check" "$scratch/fault.json" kernels.0.partial

# A crash is told, quiet or not; that CUDA was not used is a remark.
printf '#!/bin/sh\nkill -SEGV $$\n' >"$scratch/crashes"
printf '#!/bin/sh\nexit 0\n' >"$scratch/leaves"
chmod +x "$scratch/crashes" "$scratch/leaves"
expect 'a crash' 1 'ended by signal 11' "$heddle" run --functional "$scratch/crashes"
expect 'a crash, quietly' 1 'ended by signal 11' "$heddle" run --functional --quiet "$scratch/crashes"
expect 'no CUDA' 0 'never initialised CUDA' "$heddle" run --functional "$scratch/leaves"
expect 'no CUDA, quietly' 0 '' "$heddle" run --functional --quiet "$scratch/leaves"
cp "$out" "$scratch/said"
is 'no CUDA, quietly: not a word' cmp "$scratch/said" /dev/null

# Timeline.
is 'timeline' "$heddle" run --timeline "$scratch/timeline.json" --timeline-cycles 100:2000 --size test vectoradd
expect 'timeline: its cycles' 0 '"100:2000"' "$json_check" "$scratch/timeline.json" otherData.cycles
for what in '"ph":"B"' '"ph":"E"' '"ph":"X"' '"ph":"b"' '"ph":"C"' 'core 0' 'scheduler 1' 'outstanding misses' 'vectoradd|vector_add|vecadd'; do
    is "timeline: $what" grep -Eq "$what" "$scratch/timeline.json"
done
