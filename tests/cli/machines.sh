#!/bin/sh
# Machines: what there is, files of one's own, GPGPU-Sim's files, and what is wrong with them.
. tests/cli/lib.sh

expect 'list machines' 0 '^gtx480 +15 +48 +2 +32768 +48 +16 +768 +700 ' "$heddle" list machines
mkdir "$scratch/own"
printf '[machine]\ncores = 7\n' >"$scratch/own/mine.ini"
sed 's/^cores = .*/cores = 9/' machines/ccws.ini >"$scratch/own/ccws.ini"
expect 'list machines: those of HEDDLE_MACHINES, too' 0 '^mine +7 ' env HEDDLE_MACHINES="$scratch/own" "$heddle" list machines
saw 'list machines: they come first' '^ccws +9 '
saw 'list machines: the others are still there' '^gtx480 +15 '
is 'list machines: each once' test "$(grep -c '^ccws ' "$out")" = 1
expect 'list machines again' 0 '^gtx480 +15 ' "$heddle" list machines
for machine in ccws c2050 slp gtx480-gs4; do saw "list machines: $machine" "^$machine +[0-9]"; done

# docs/machine-files.md ends in what the command prints.
"$heddle" list machines --keys >"$scratch/keys"
sed -n '/^## Keys/,$p' docs/machine-files.md >"$scratch/documented"
is 'docs/machine-files.md is up to date' cmp "$scratch/keys" "$scratch/documented"
expect '--keys is for machines' 2 'for machines only' "$heddle" list workloads --keys

expect 'import' 0 '^cores = 8 ' "$heddle" list machines --import tests/data/import/gpgpusim.config
saw 'import: what is not carried over, at the end' '^; not carried over: -gpgpu_invented_option 7'
"$heddle" list machines --import tests/data/import/gpgpusim.config >"$scratch/imported.ini" 2>"$out"
saw 'import: what is not carried over, on stderr' '^not carried over: -gpgpu_invented_option 7'
is 'import: its machine runs' "$heddle" run --functional --quiet -m "$scratch/imported.ini" --size test vectoradd
expect 'import: no such file' 2 'No such file' "$heddle" list machines --import /nonexistent/gpgpusim.config
expect 'import: not such a file' 2 'README.md:[0-9]+:[0-9]+: error: expected -option value' "$heddle" list machines --import README.md
expect 'import: which file' 2 'needs a value' "$heddle" list machines --import

bad() { # NAME PATTERN TEXT: a machine file of this text is refused
    printf '%b' "$3" >"$scratch/bad.ini"
    expect "$1" 2 "$2" "$heddle" run --functional -m "$scratch/bad.ini" --size test vectoradd
}
bad 'zero ways' 'bad.ini:2:8: error: l1d.ways = 0: expected a whole number from 1 to 64' '[l1d]\nways = 0\n'
saw 'zero ways: the line with a caret' '^  ways = 0$'
bad 'a line size that is no power of two' 'bad.ini:2:14: error: l1d.line_bytes = 96: expected a power of two' '[l1d]\nline_bytes = 96\n'
bad 'more warps than mask bits' 'bad.ini:2:9: error: core.warps = 65: expected a whole number from 1 to 64' '[core]\nwarps = 65\n'
saw 'more warps than mask bits: why' 'a set of warps is one mask of 64 bits'
bad 'timing that contradicts itself' 'bad.ini:3:8: error: dram.t_rc = 20 is shorter than dram.t_ras = 28' '[dram]\nt_ras = 28\nt_rc = 20\n'
bad 'unknown key' 'bad.ini:2:1: error: unknown key wraps in \[core\]; did you mean warps\?' '[core]\nwraps = 8\n'
bad 'unknown section' 'bad.ini:1:2: error: unknown section \[cores\]; did you mean \[core\]\?' '[cores]\nwarps = 8\n'
bad 'no machine file' 'bad.ini:1:1: error: expected key = value' 'hello\n'
expect 'unknown machine' 2 'did you mean gtx480\?' "$heddle" run --functional -m gtx48 --size test vectoradd
expect 'a folder' 2 'Is a directory' "$heddle" run --functional -m /tmp/ --size test vectoradd
