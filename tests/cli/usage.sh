#!/bin/sh
# What a person types, right and wrong.
. tests/cli/lib.sh

expect 'help' 0 '^Usage: heddle COMMAND' "$heddle" --help
for command in run demo sweep report repro robust correlate compare inspect list machine doctor; do
    expect "help of $command" 0 "^Usage: heddle $command" "$heddle" "$command" --help
    expect "help lists $command" 0 "^  $command " "$heddle" --help
done
expect 'no command' 2 '^Usage: heddle COMMAND' "$heddle"
expect 'a parameter that has gone names what took its place' 2 "the schedulers 'gebhart' and 'narasiman'" "$heddle" run -s two-level:style=gebhart bfs
expect 'unknown command' 2 "no command 'rnu'; did you mean 'run'" "$heddle" rnu
hint() { # WORD PROPOSAL: none where it is empty
    if [ -n "$2" ]; then
        expect "hint: $1" 2 "no command '$1'; did you mean $2\\?" "$heddle" "$1"
    else
        expect "hint: none for $1" 2 "no command '$1'\$" "$heddle" "$1"
    fi
}
for pair in "hlep:'help'" "swep:'sweep'" "rep:'report' or 'repro'" "reprot:'report' or 'repro'" "reprp:'repro'" "doc:'doctor'" "lst:'list'" 'test:' 'build:' \
    'tasks:' 'x:' "replay:'cache'" "list-machines:'list machines'" "machines:'list machines'" "bfs:'run bfs'" "$ptx/endless.ptx:'inspect $ptx/endless.ptx'" \
    "experiments/quick.ini:'sweep experiments/quick.ini'" "$build/workloads/bfs:'run $build/workloads/bfs'"; do
    hint "${pair%%:*}" "${pair#*:}"
done
expect 'unknown option' 2 "unknown option '--frobnicate'" "$heddle" --frobnicate

expect 'run: no program' 2 'which program' "$heddle" run
expect 'run: unknown workload' 2 "did you mean the workload 'bfs'" "$heddle" run bfss
expect 'run: no such file' 2 'No such file' "$heddle" run ./nothing-here
expect 'run: a folder' 2 'a folder, not a program' "$heddle" run ./tests
expect 'run: not executable' 2 'not executable' "$heddle" run ./README.md
expect 'run: PTX' 2 'is PTX, not a program' "$heddle" run "./$ptx/fine.ptx"
expect 'run: unknown option' 2 "unknown option '--functionl'; did you mean --functional" "$heddle" run --functionl bfs
expect 'run: unknown size' 2 "unknown size 'huge'" "$heddle" run --size huge bfs
expect 'run: size for a program' 2 'for workloads' "$heddle" run --size test "$ptx_run"
expect 'run: max-cycles is a number' 2 'needs a number' "$heddle" run --max-cycles many bfs
expect 'run: max-cycles lacks its value' 2 'needs a value' "$heddle" run --max-cycles
expect 'run: unknown machine' 2 'no machine nosuch' "$heddle" run -m nosuch bfs
expect 'run: results cannot be written' 2 'cannot write' "$heddle" run --stats /nonexistent/x.json --size test vectoradd
expect 'run: a trace needs caches' 2 '--functional does not model' "$heddle" run --functional --trace "$scratch/t" bfs
expect 'run: unknown scheduler' 2 "no scheduler 'gtoo'; did you mean 'gto'" "$heddle" run -s gtoo bfs
saw 'run: unknown scheduler: a caret' '^ *\^'
expect 'run: unknown L1 policy' 2 "no L1 policy 'lur'" "$heddle" run --l1 lur bfs
expect 'run: unknown divergence unit' 2 "no divergence unit 'pdm'" "$heddle" run --divergence pdm bfs
expect 'run: a policy of another kind' 2 "'lru' is an L1 policy, not a scheduler" "$heddle" run -s lru bfs
expect 'run: unknown parameter' 2 'gto' "$heddle" run -s gto:nothing=1 bfs
expect 'run: no such shared object' 2 "no file './nothing.so'" "$heddle" run -s ./nothing.so bfs
expect 'run: unknown key' 2 'unknown key' "$heddle" run --set core.warsp=3 bfs
expect 'run: a key without its value' 2 '--set' "$heddle" run --set core.warps bfs
expect 'run: an impossible value' 2 'ways' "$heddle" run --set l1d.ways=0 bfs
expect 'run: an empty value' 2 'empty value' "$heddle" run -s '' bfs
expect 'run: threads' 2 'from 1' "$heddle" run -j 0 bfs
expect 'run: timeline without time' 2 'does not model' "$heddle" run --functional --timeline "$scratch/t" bfs
expect 'run: timeline cannot be written' 2 'cannot write' "$heddle" run --timeline /nonexistent/t.json bfs
for cycles in 5 5:5 9:5 x:5 5: :5; do
    expect "run: timeline cycles $cycles" 2 'two numbers A:B' "$heddle" run --timeline "$scratch/t" --timeline-cycles "$cycles" bfs
done
expect 'run: timeline cycles alone' 2 'is for --timeline' "$heddle" run --timeline-cycles 1:5 bfs
expect 'run: the machine' 0 '^cores *= *15' "$heddle" run --print-machine
expect 'run: another machine with another key' 0 '^ways *= *4$|^ways *= *4 ' "$heddle" run -m ccws --set l1d.ways=4 --print-machine
expect 'run: a machine that is none' 2 'no machine' "$heddle" run -m none --print-machine

expect 'list: what' 2 'what\?' "$heddle" list
expect 'list: unknown' 2 "did you mean 'machines'" "$heddle" list machine
expect 'list workloads' 0 '^vectoradd +[A-Za-z]' "$heddle" list workloads
expect 'list machines' 0 '^gtx480 +15 ' "$heddle" list machines
expect 'list metrics' 0 '^simd_utilization' "$heddle" list metrics
# shellcheck disable=SC2016 # no expansion meant
expect 'list metrics for a document' 0 '^\| `simd_utilization` \| ratio' "$heddle" list metrics --markdown
expect 'list schedulers' 0 '^gto' "$heddle" list schedulers
expect 'list l1' 0 '^srrip' "$heddle" list l1
saw 'list l1: parameters' 'bits=2'
expect 'list divergence' 0 '^pdom' "$heddle" list divergence

expect 'inspect: phases of the PAWS report' 0 '2 phases with the latencies of c2050' "$heddle" inspect tests/cli/ptx/vectoradd_phases.ptx --phases -m c2050
sed -n 's/.*; *\([0-9]*\) *\([12]\) *\(yes\)* *\([0-9]*\)$/\1 \2 \3 \4/p' "$out" | tr -s ' ' | tr '\n' ',' >"$scratch/phases"
expect 'inspect: the table of the report' 0 '^1 1 18,1 1 17,5 1 16,1 1 11,4 1 10,4 1 6,1 1 2,1 1 yes 1,4 2 10,4 2 6,1 2 2,1 2 1,$' cat "$scratch/phases"
expect 'inspect: a machine without phases' 2 'machine is for --phases and --registers' "$heddle" inspect tests/cli/ptx/fine.ptx -m c2050
expect 'inspect: a machine that is not there' 2 'no machine c2051' "$heddle" inspect tests/cli/ptx/fine.ptx --phases -m c2051
expect 'inspect: an order that is not there' 2 'sources or report' "$heddle" inspect tests/cli/ptx/fine.ptx --phases --phase-order x
expect 'inspect: no file' 2 'which file' "$heddle" inspect
expect 'inspect' 0 'bfs_expand +kernel' "$heddle" inspect workloads/bfs/bfs.ptx
expect 'inspect: views' 0 'loop' "$heddle" inspect workloads/bfs/bfs.ptx --cfg --loops --registers
expect 'inspect: machine code' 0 '95 +1 +add.s64 %rd8, %rd3, %rd7;$' \
    "$heddle" inspect workloads/kmeans/kmeans.ptx --machine-code --kernel kmeans_assign
saw 'inspect: machine code: a product that is added' '94 +0 +mul.wide.u32 %rd7, %r28, 4; +fused into line 95$'
saw 'inspect: machine code: the sum' '^  57 of PTX are [0-9]+ of the machine; [0-9]+ vanish$'
expect 'inspect: branches' 0 '0x0090 +56 +bitonic.cu:28 +%p6 +uniform ' \
    "$heddle" inspect workloads/bitonic/bitonic.ptx --branches
saw 'inspect: a branch on the position' '0x0130 +88 +%p2 +P +0x0140'
saw 'inspect: a branch on data' '0x0148 +94 +bitonic.cu:37 +%p3 +D +0x00c8'
saw 'inspect: why: the condition' '^ +0x0130 +P +83 +setp.ne.s32 %p2, %r3, 0;$'
saw 'inspect: why: on the way' '^ +60 +and.b32 %r3, %r2, %r1;$'
saw 'inspect: why: the thread' '^ +28 +mov.u32 %r1, %tid.x; +special register$'
saw 'inspect: why: the load' '^ +84 +ld.shared.u32 %r8, \[%rd2\]; +load$'
expect 'inspect: branches as JSON' 0 '"class": "P", "because": \[\{"pc": 264, "ptx_line": 83, .*"ptx_line": 28, ' \
    "$heddle" inspect workloads/bitonic/bitonic.ptx --json

# docs/metrics.md names every group of counters.
"$heddle" list metrics --markdown | awk -F'`' '/\| (sum|mean) \|/ { split($2, word, "."); print word[1] }' | sort -u | grep -v '^resident_warps$' >"$scratch/groups"
is 'the metrics have groups' grep -qx stalls "$scratch/groups"
# shellcheck disable=SC2016 # those are backquotes of Markdown
grep '^|' docs/metrics.md | grep -o '`[a-z0-9_]*`' | tr -d '`' | sort -u >"$scratch/documented"
comm -23 "$scratch/groups" "$scratch/documented" >"$scratch/missing"
is 'docs/metrics.md has every group' cmp "$scratch/missing" /dev/null

# Options that come too late.
expect 'run: options after a workload' 2 "heddle run -m ccws -s gto --stats=x bfs --size test 'a b'\$" \
    "$heddle" run -m ccws bfs -s gto --size test 'a b' --stats=x
expect 'run: a workload has options of its own' 0 'match the reference' "$heddle" run --functional vectoradd --size test
expect 'run: a program may have the same option' 1 'heddle run --functional -s gto .*ptx_run nothing' "$heddle" run --functional "$ptx_run" nothing -s gto

# PTX inside a program.
expect 'inspect: a workload' 0 '^bfs <PTX at byte [0-9]+>: PTX' "$heddle" inspect bfs
saw 'inspect: its kernels' '^bfs_expand +kernel'
expect 'inspect: an executable' 0 '^bfs_advance +kernel' "$heddle" inspect "$build/workloads/bfs"
expect 'inspect: one kernel of it' 0 '^kernel bfs_expand: .*1 loop$' "$heddle" inspect bfs --kernel bfs_expand --loops
expect 'inspect: no such kernel' 2 "did you mean 'bfs_expand'" "$heddle" inspect bfs --kernel bfs_expnd
expect 'inspect: a program without PTX' 2 'holds no PTX' "$heddle" inspect /bin/sh
expect 'inspect: no such file' 2 "cannot read 'nosuch'" "$heddle" inspect nosuch

# Names for scripts; completion and the manual page are made of what the command says.
for list in workloads machines experiments metrics schedulers l1 divergence probes bundles; do
    expect "list $list --names" 0 '^[A-Za-z0-9+_.-]+$' "$heddle" list "$list" --names
done
expect 'list --names of nothing' 2 "no list of 'nothing'" "$heddle" list nothing --names
complete() { # WORD...: what bash would propose for the last
    bash -c '. completion/heddle.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _heddle "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$heddle" "$@"
}
if command -v bash >/dev/null 2>&1; then
    expect 'completion: commands' 0 '^sweep$' complete sw
    expect 'completion: schedulers' 0 '^gto$' complete run -s gt
    expect 'completion: options' 0 '^--timeline-cycles$' complete run --timel
    expect 'completion: workloads' 0 '^spmv-scalar$' complete run spm
    expect 'completion: all papers' 0 '^all$' complete repro al
fi
expect 'the manual page' 0 '^\.SH HEDDLE RUN$' sh mk/man.sh "$heddle" 1.2.3
saw 'the manual page: options' '^.fB.-., .-.-scheduler SPEC.fR$'

# What the run waited for, after it.
expect 'run: the largest stall reasons' 0 'warps issued in [0-9.]+% of their cycles; they waited most for [a-z_]+ [0-9.]+%, [a-z_]+ [0-9.]+%, [a-z_]+ [0-9.]+%$' \
    "$heddle" run --size test bfs
