#!/bin/sh
# heddle compare: two runs as files, out of a store, or made on the spot.
# Left out of second builds: no compiler changes what is printed.
# Uses sqlite3: a run of a store that is marked as failed.
# Left out of builds with sanitizers: unit/compare reads and compares the same results there.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

"$heddle" run --quiet --size test -s lrr --pcs --stats "$scratch/lrr.json" spmv-vector >/dev/null 2>&1
"$heddle" run --quiet --size test -s gto --pcs --stats "$scratch/gto.json" spmv-vector >/dev/null 2>&1
"$heddle" run --quiet --size test -s gto --stats "$scratch/plain.json" spmv-vector >/dev/null 2>&1
"$heddle" run --quiet --size test --functional --stats "$scratch/functional.json" spmv-vector >/dev/null 2>&1
"$heddle" run --quiet --size test --stats "$scratch/other.json" vectoradd >/dev/null 2>&1

expect 'help' 0 '^Usage: heddle compare' "$heddle" compare --help
expect 'two files' 0 '^(lrr|gto) takes [0-9.]+% fewer cycles than (lrr|gto): ' "$heddle" compare "$scratch/lrr.json" "$scratch/gto.json" --json "$scratch/out.json"
saw 'two files: where cycles went' '^  waiting for memory +[0-9,]+ +[0-9,]+ +[-+][0-9,]+ +-?[0-9.]+%$'
saw 'two files: they add up' '^  all +[0-9,]+ +[0-9,]+ +[-+][0-9,]+ +100.0%$'
saw 'two files: stalls' '^  scoreboard +[0-9,]+ +[0-9.]+% '
saw 'two files: other counters' '^Other counters, by relative change; they carry no cycles by themselves'
saw 'two files: kernels' '^  spmv_vector +1 '
saw 'two files: instructions' '^  spmv_vector[a-z_]* +[0-9]+ +[a-z]+\.'
said() { "$json_check" "$scratch/out.json" "$1"; }
adds_up() { # SUM...: members of lists add up to a number
    said "$1" | awk -v sum="$2" '{ sum -= $1; n++ } END { exit !(n > 0 && sum < 0.001 && sum > -0.001) }'
}
more=$(awk -v a="$(said a.cycles)" -v b="$(said b.cycles)" 'BEGIN { printf "%.6f", b - a }')
is 'as JSON: the first' test "$(said a.label)" = '"lrr"'
is 'as JSON: the second' test "$(said b.label)" = '"gto"'
is 'as JSON: parts add up to the difference' adds_up 'parts.*.difference' "$more"
is 'as JSON: parts add up to the cycles' adds_up 'parts.*.a' "$(said a.cycles)"
is 'as JSON: launches add up to the difference' adds_up 'kernels.*.difference' "$more"
is 'as JSON: instructions' test "$(said 'instructions.*' | wc -l)" -gt 5
expect 'as JSON: a sentence' 0 'fewer cycles' said sentences.0.text
# docs/compare.md has every field.
grep -oE '"[a-z0-9_]+":' "$scratch/out.json" | tr -d '":' | sort -u >"$scratch/fields"
is 'as JSON: fields' test "$(wc -l <"$scratch/fields")" -gt 20
while read -r field; do
    # shellcheck disable=SC2016 # those are backquotes of Markdown
    grep -q '`'"$field"'`' docs/compare.md || echo "$field"
done <"$scratch/fields" >"$scratch/missing"
is 'docs/compare.md has every field' cmp "$scratch/missing" /dev/null
"$heddle" compare --json - "$scratch/lrr.json" "$scratch/gto.json" >"$scratch/stdout.json" 2>&1
is 'JSON on standard output, and nothing else' cmp "$scratch/stdout.json" "$scratch/out.json"
expect 'a run with itself' 0 '^The two runs are the same: every counter is equal\.$' "$heddle" compare "$scratch/lrr.json" "$scratch/lrr.json"
expect 'the same run with --pcs and without' 0 '^The two runs are the same' "$heddle" compare "$scratch/gto.json" "$scratch/plain.json"
expect 'other programs' 0 '^Note: The programs differ: spmv-vector and vectoradd\.$' "$heddle" compare "$scratch/lrr.json" "$scratch/other.json"

expect 'no results' 2 'is not the results of a run' "$heddle" compare "$scratch/out.json" "$scratch/gto.json"
expect 'no JSON' 2 'README.md is not the results of a run: no JSON' "$heddle" compare "$scratch/gto.json" README.md
expect 'no file' 2 'nothing.json: No such file' "$heddle" compare "$scratch/nothing.json" "$scratch/gto.json"
expect 'no time' 2 'functional run, which has no cycles to compare' "$heddle" compare "$scratch/gto.json" "$scratch/functional.json"
expect 'one result' 2 'two results are expected, not 1' "$heddle" compare "$scratch/gto.json"
expect 'nothing' 2 'which two runs\?' "$heddle" compare
expect 'cannot be written' 2 'cannot write' "$heddle" compare --json /nonexistent/x "$scratch/lrr.json" "$scratch/gto.json"

# On the spot: the same numbers as of two runs.
expect 'on the spot' 0 '^(lrr|gto) takes' "$heddle" compare -s lrr -s gto --size test --json "$scratch/here.json" spmv-vector
without_names() { grep -v '^ *"from": ' "$1"; }
without_names "$scratch/out.json" >"$scratch/files"
without_names "$scratch/here.json" >"$scratch/here"
is 'on the spot: the same as of files' cmp "$scratch/files" "$scratch/here"
"$heddle" compare --json - -s lrr --scheduler gto --size test spmv-vector 2>/dev/null >"$scratch/only.json"
expect 'on the spot: the program does not print into the results' 0 '^false$' "$json_check" "$scratch/only.json" same
expect 'on the spot: sizes' 0 '^test takes [0-9]+% fewer cycles than small' "$heddle" compare --size test --size small vectoradd
saw 'on the spot: sizes: the cause' 'test has [0-9]+% fewer thread'
expect 'on the spot: machines' 0 'The machines differ' "$heddle" compare -m gtx480 -m c2050 --size test vectoradd
expect 'on the spot: a key of the machine' 0 'l1d.ways=2' "$heddle" compare --set l1d.ways=2 --set core.warps=24 --set l1d.ways=4 --size test spmv-vector
expect 'on the spot: the same twice' 0 '^The two runs are the same' "$heddle" compare -s gto -s gto --size test vectoradd
expect 'on the spot: three' 2 'two runs at a time' "$heddle" compare -s lrr -s gto -s rr vectoradd
expect 'on the spot: two pairs' 2 'two runs at a time' "$heddle" compare -s lrr -s gto -m gtx480 -m c2050 vectoradd
expect 'on the spot: no pair' 2 'one option twice' "$heddle" compare -s lrr vectoradd
expect 'on the spot: no program' 2 'which program' "$heddle" compare -s lrr -s gto
expect 'on the spot: a file of one run' 2 '--stats is for' "$heddle" compare -s lrr -s gto --stats x vectoradd
expect 'on the spot: no time' 2 '--functional is for' "$heddle" compare -s lrr -s gto --functional vectoradd
expect 'on the spot: unknown scheduler' 2 "no scheduler 'gtoo'" "$heddle" compare -s lrr -s gtoo vectoradd
expect 'on the spot: unknown workload' 2 "did you mean the workload 'bfs'" "$heddle" compare -s lrr -s gto bfss
expect 'unknown option' 2 "did you mean --json" "$heddle" compare --jsn x a b

# Out of a store, by key.
cat >"$scratch/two.ini" <<'INI'
[experiment]
size = test
pcs = yes
[programs]
spmv-vector
[machines]
gtx480
[schedulers]
lrr
gto
INI
"$heddle" sweep "$scratch/two.ini" -o "$scratch/two.db" >/dev/null 2>&1
"$heddle" report "$scratch/two.db" -o "$scratch/two.html" --csv "$scratch/two" >/dev/null 2>&1
key() { awk -F , -v scheduler="$1" '$6 == scheduler { print $1 }' "$scratch/two/runs.csv"; }
expect 'of a store' 0 '^(lrr|gto) takes' "$heddle" compare "$scratch/two.db:$(key lrr)" "$scratch/two.db:$(key gto | cut -c 1-8)" --json "$scratch/store.json"
without_names "$scratch/store.json" >"$scratch/stored"
is 'of a store: the same as of files' cmp "$scratch/files" "$scratch/stored"
expect 'of a store: no such key' 2 'two.db has no run, or several' "$heddle" compare "$scratch/two.db:x" "$scratch/lrr.json"
saw 'of a store: which there are' "$(key lrr | cut -c 1-12) spmv-vector gtx480 lrr"
expect 'of a store: no key' 2 'which run of it' "$heddle" compare "$scratch/two.db" "$scratch/lrr.json"
expect 'of a store that is none' 2 'no-such.db' "$heddle" compare "$scratch/no-such.db:1" "$scratch/lrr.json"
if command -v sqlite3 >/dev/null 2>&1; then
    sqlite3 "$scratch/two.db" "UPDATE run SET failure = 'made to fail' WHERE scheduler = 'gto'"
    expect 'of a store: a run that failed' 2 'failed: made to fail' "$heddle" compare "$scratch/two.db:$(key gto)" "$scratch/lrr.json"
else
    echo 'note skipped: a run that failed (sqlite3 is not installed: apt-get install sqlite3)'
fi
