#!/bin/sh
# What a person types, right and wrong.
. tests/cli/lib.sh

expect 'help' 0 '^Usage: heddle COMMAND' "$heddle" --help
for command in run demo inspect list doctor; do
    expect "help of $command" 0 "^Usage: heddle $command" "$heddle" "$command" --help
    expect "help lists $command" 0 "^  $command " "$heddle" --help
done
expect 'version' 0 '^heddle [0-9]+\.[0-9]+\.[0-9]+$' "$heddle" --version
expect 'no command' 2 '^Usage: heddle COMMAND' "$heddle"
expect 'unknown command' 2 "no command 'rnu'; did you mean 'run'" "$heddle" rnu
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
for option in '-s gto' '--scheduler gto' '--l1 lru' '--divergence pdom' '--set a.b=1' '--timeline t' '--trace t'; do
    # shellcheck disable=SC2086 # an option and its value
    expect "run: $option needs timing" 3 'needs the timing model' "$heddle" run $option bfs
done

expect 'list: what' 2 'what\?' "$heddle" list
expect 'list: unknown' 2 "did you mean 'machines'" "$heddle" list machine
expect 'list workloads' 0 '^vectoradd +[A-Za-z]' "$heddle" list workloads
expect 'list machines' 0 '^gtx480 +15 ' "$heddle" list machines
expect 'list metrics' 0 '^simd_utilization' "$heddle" list metrics
# shellcheck disable=SC2016 # no expansion meant
expect 'list metrics for a document' 0 '^\| `simd_utilization` \| ratio' "$heddle" list metrics --markdown
for policies in schedulers l1 divergence; do expect "list $policies" 0 'in this version' "$heddle" list "$policies"; done

expect 'inspect: no file' 2 'which file' "$heddle" inspect
expect 'inspect' 0 'bfs_expand +kernel' "$heddle" inspect workloads/bfs/bfs.ptx
expect 'inspect: views' 0 'loop' "$heddle" inspect workloads/bfs/bfs.ptx --cfg --loops --registers

# docs/metrics.md holds what the command prints.
"$heddle" list metrics --markdown >"$scratch/metrics"
grep '^|' docs/metrics.md >"$scratch/documented"
is 'docs/metrics.md is up to date' cmp "$scratch/metrics" "$scratch/documented"
