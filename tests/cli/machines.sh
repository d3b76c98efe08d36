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
"$heddle" list rules --markdown >"$scratch/rules"
sed -n '/^| rule |/,/^## Keys/p' docs/machine-files.md | sed '$d' | sed '$d' >"$scratch/documented"
is 'docs/machine-files.md has the rules' cmp "$scratch/rules" "$scratch/documented"
expect 'list rules' 0 '^rules = gpgpusim-3: ' "$heddle" list rules
saw 'list rules: every rulebook' '^code_packed: gpgpusim-2 false, gpgpusim-3 true, gpgpusim-4 true, ccws-2012 true$'
saw 'list rules: mistakes' '^    true: a mistake of the reference, copied$'
sed -n '/^## Keys/,$p' docs/machine-files.md >"$scratch/documented"
is 'docs/machine-files.md is up to date' cmp "$scratch/keys" "$scratch/documented"
expect '--keys is for machines' 2 'for machines only' "$heddle" list workloads --keys

# What a machine is, and where that comes from.
cat >"$scratch/mine.ini" <<END
[machine]
based_on = c2050
cores = 3
END
expect 'show' 0 "^machine.cores +3 +$scratch/mine.ini:3\$" "$heddle" machine show "$scratch/mine.ini" --set l1d.ways=2 --set rules.code_packed=false
saw 'show: of the base' '^clock.core_mhz +575 +base machines/c2050.ini:[0-9]+$'
saw 'show: of the base of the base' '^core.warps +48 +base machines/gtx480.ini:[0-9]+$'
saw 'show: a default' '^machine.seed +1 +default$'
saw 'show: a rule of the book' '^rules.ends_in_fetch +true +rulebook gpgpusim-3$'
saw 'show: a rule of a file' '^rules.l1d_index +hashed +base machines/c2050.ini:[0-9]+$'
saw 'show: of --set' '^rules.code_packed +false +command line$'
expect 'diff' 0 '^machine.cores +14 +3$' "$heddle" machine diff c2050 "$scratch/mine.ini"
is 'diff: nothing else' test "$(wc -l <"$out")" = 2
expect 'diff: none' 0 'do not differ' "$heddle" machine diff gtx480 machines/gtx480.ini
expect 'machine: what' 2 'show or diff' "$heddle" machine
expect 'machine: which' 2 'takes one machine' "$heddle" machine show
expect 'machine: which two' 2 'takes two machines' "$heddle" machine diff gtx480
expect 'machine: unknown verb' 2 "did you mean 'show'" "$heddle" machine shwo gtx480
expect 'machine: unknown machine' 2 'did you mean gtx480\?' "$heddle" machine show gtx48
expect 'machine: unknown option' 2 'did you mean --set' "$heddle" machine show gtx480 --sett x
"$heddle" run --set rules.code_packed=false --set machine.rules=gpgpusim-2 --print-machine >"$scratch/printed.ini"
values() { "$heddle" machine show "$@" | awk '{ print $1, $2 }'; } # without where they come from
values gtx480 --set rules.code_packed=false --set machine.rules=gpgpusim-2 >"$scratch/wanted"
values "$scratch/printed.ini" >"$scratch/got"
is 'what is printed: there are values' test "$(wc -l <"$scratch/wanted")" -gt 100
is 'what is printed is the machine again' cmp "$scratch/wanted" "$scratch/got"
expect 'what is printed: against its machine' 0 '^machine.rules +gpgpusim-3 +gpgpusim-2$' "$heddle" machine diff gtx480 "$scratch/printed.ini"

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
bad 'refreshes that leave no time' 'bad.ini:4:8: error: dram.t_refi = 60: from one refresh to the next a row cannot always be opened' '[dram]\nt_refi = 60\nt_rfc = 10\nt_rc = 50\n'
bad 'unknown key' 'bad.ini:2:1: error: unknown key wraps in \[core\]; did you mean warps\?' '[core]\nwraps = 8\n'
bad 'unknown section' 'bad.ini:1:2: error: unknown section \[cores\]; did you mean \[core\]\?' '[cores]\nwarps = 8\n'
bad 'a key that is a rule' 'bad.ini:2:1: error: issue.code_packed is a rule, .*: rules.code_packed$' '[issue]\ncode_packed = true\n'
bad 'unknown rule' 'bad.ini:2:1: error: unknown key code_backed in \[rules\]; did you mean code_packed\?' '[rules]\ncode_backed = true\n'
bad 'unknown rulebook' 'bad.ini:2:9: error: machine.rules = gpgpusim-5: expected gpgpusim-2' '[machine]\nrules = gpgpusim-5\n'
bad 'a rulebook that is gone' 'bad.ini:2:9: error: machine.rules = hopper: expected gpgpusim-2' '[machine]\nrules = hopper\n'
saw 'a rulebook that is gone: what to write' 'write based_on = h200 instead'
bad 'unknown base' 'bad.ini:2:12: error: no machine gtx48' '[machine]\nbased_on = gtx48\n'
saw 'unknown base: a caret' '^             \^$'
bad 'based on itself' 'bad.ini:2:12: error: .*bad.ini is based on itself' '[machine]\nbased_on = ./bad.ini\n'
bad 'a base that comes late' 'bad.ini:3:1: error: based_on stands before' '[machine]\ncores = 3\nbased_on = ccws\n'
expect 'an old spelling' 2 'lsu.local_by_block is a rule, .*: rules.local_by_block' "$heddle" run --set lsu.local_by_block=false --size test vectoradd
bad 'no machine file' 'bad.ini:1:1: error: expected key = value' 'hello\n'
expect 'unknown machine' 2 'did you mean gtx480\?' "$heddle" run --functional -m gtx48 --size test vectoradd
expect 'a folder' 2 'Is a directory' "$heddle" run --functional -m /tmp/ --size test vectoradd

# Sub-cores: what goes with them, and what does not.
expect 'machine code needs sub-cores' 2 'rules.lowers = true: cores with rules.core_kind = collectors fetch PTX' "$heddle" machine show gtx480 --set rules.lowers=true
expect 'sub-cores issue one by one' 2 'a warp issues one instruction in a cycle' "$heddle" machine show h200 --set issue.instructions_per_warp=2
expect 'threads are regrouped there' 0 PASSED "$heddle" run --quiet -m h200 --divergence tbc --size test vectoradd

# A library for wider processors lies below the others, and finds the same machines.
wide=$scratch/tree/build/lib/glibc-hwcaps/wide
mkdir -p "$wide"
cp "$build/lib/libcuda.so.1" "$wide/"
ln -s "$PWD/machines" "$scratch/tree/machines"
expect 'from a folder of glibc-hwcaps' 0 'PASSED' env -u HEDDLE_MACHINES LD_LIBRARY_PATH="$wide" HEDDLE_OPTIONS='--functional -m h200' "$build/workloads/vectoradd" --size test

# The ends of what keys may be.
expect 'clusters, and a network with hops' 0 '' "$heddle" run --quiet -m ccws --set interconnect.hop_cycles=1 --size test vectoradd
expect 'clusters, and a network with hops, in lockstep' 0 '' "$heddle" run --quiet -m ccws --set interconnect.hop_cycles=1 --lockstep --size test vectoradd
expect 'a miss queue of one place' 0 '' "$heddle" run --quiet --set l1d.miss_queue=1 --size test vectoradd
