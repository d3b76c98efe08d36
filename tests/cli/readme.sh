#!/bin/sh
# The numbers of README.md. Each command that it shows with its output is run, and must print the lines that are shown; the
# numbers of its text are computed again. A number that nothing here has asked for is a failure. Then the output that
# docs/profile.md and docs/schedule.md show.
# Left out of builds with sanitizers: it asks for numbers, and other tests run the same commands.
# Left out of second builds: it asks for numbers that no compiler changes.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $build in /*) top=$build ;; *) top=$PWD/$build ;; esac
export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}"
there=$scratch/there # where ./heddle is the command, and ./program the program that reads too far
mkdir "$there"
ln -s "$top/bin/heddle" "$there/heddle"

# ------------------------------------------------------------------ what is shown

# The commands of the fenced blocks (1.command, ...), and the lines that follow each (1.shown, ...).
awk -v folder="$scratch" '
    /^```/ { inside = !inside; next }
    inside && sub(/^\$ /, "") { count++; print >(folder "/" count ".command"); next }
    inside && count && NF { print >(folder "/" count ".shown") }' README.md

# A line that is shown as a pattern: its cells in their order; between them columns may have been left out, and what comes
# after three dots.
pattern_of() {
    printf '%s\n' "$1" | awk '{
        sub(/^ +/, "")
        cut = sub(/\.\.\.$/, "")
        cells = split($0, cell, /  +/)
        for (i = 1; i <= cells; i++) {
            gsub(/[][\\.*^$()+?{}|]/, "\\\\&", cell[i])
            before = i == 1 ? "" : ".*"
            after = i == cells && cut ? "" : "([[:space:]]|$)"
            printf "%s(^|[[:space:]])%s%s", before, cell[i], after
        }
        print ""
    }'
}

# A kernel that reads the word after a buffer of 31 words, in the line that the README names.
cat >"$there/kernels.ptx" <<'END'
.version 7.0
.target sm_70
.address_size 64

.visible .entry scale(
    .param .u64 values
)
{
    .reg .f32 %f<3>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [values];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r1, [%rd3];
    st.global.u32 [%rd3], %r1;
    ret;
}
END
printf '#!/bin/sh\nexec "%s/tests/cli/ptx_run" kernels.ptx scale 124\n' "$top" >"$there/program"
chmod +x "$there/program"

number=0
while [ -e "$scratch/$((number + 1)).command" ]; do
    number=$((number + 1))
    command=$(cat "$scratch/$number.command")
    (cd "$there" && eval "$command") >"$out" 2>&1
    while IFS= read -r line; do
        saw "$command: $(echo "$line" | sed 's/^ *//' | cut -c 1-50)" "$(pattern_of "$line")"
    done <"$scratch/$number.shown"
done
is 'commands are shown' test "$number" -ge 4

# ------------------------------------------------------------------ what is said

# The text in one line, without code, without where links lead, without what is shown.
# shellcheck disable=SC2016 # backquotes of the page
awk '/^```/ { inside = !inside; next } !inside' README.md | tr '\n' ' ' | tr -s ' ' |
    sed 's/`[^`]*`//g; s/](\([^)]*\))/]/g' >"$scratch/text"
says() { # NAME TEXT: the README has it, with numbers that were computed here; they are accounted for
    awk -v text="$2" '{
        at = index($0, text)
        if (at) print substr($0, 1, at - 1) " " substr($0, at + length(text))
        exit !at
    }' "$scratch/text" >"$scratch/rest" && echo "ok $1" && cp "$scratch/rest" "$scratch/text" && return
    echo "FAILED $1: README.md does not say: $2"
}
word() { # NUMBER
    echo "$1 one two three four five six seven eight nine ten eleven twelve" |
        awk '{ print ($1 > 0 && $1 < NF) ? $($1 + 1) : $1 }'
}
entries() { # SECTION: lines of it in the demo's experiment
    sed -n "/^\[$1\]/,/^\[/p" experiments/demo.ini | grep -c '^[a-z]'
}
misses() { # COMMAND LINE: the column before the text
    awk -v line="$2" -F '  +' '$2 == line { gsub(",", "", $(NF - 1)); print $(NF - 1) }' "$scratch/$1.shown"
}
less() { awk -v before="$(misses 2 "$1")" -v after="$(misses 3 "$1")" 'BEGIN { printf "%.0f", 100 * (1 - after / before) }'; }

grep -q 'heddle demo' README.md && sed -n 's/.*# builds, \(runs .*\)/\1/p' README.md >>"$scratch/demo"
expect 'what the demo runs' 0 \
    "^runs $(word "$(entries programs)") workloads under $(word "$(entries schedulers)") warp schedulers" cat "$scratch/demo"
says 'how many machines there are' "[$(word "$(find machines -name '*.ini' | wc -l)") to start from]"
says 'which line misses most, and how CCWS changes that' "The look-up of a neighbour (line 23) misses most. Under CCWS it \
still does, $(less bfs.cu:23)% less often; the edge list (line 22) misses $(less bfs.cu:22)% less."

# How far h200 is from silicon is too slow for a test: docs/h200.md has the result, and the command that gives it. How many
# kernels there are is counted: those whose name has a SHA-1 that begins with an odd digit.
page=docs/h200.md
recorded='bench/silicon/h200/small.csv bench/silicon/h200/today-small.csv'
# shellcheck disable=SC2086 # two files
held_out=$(cut -d '"' -f 4,6 $recorded | tr '"' ' ' | sort -u | grep '^[^ ]' | grep -v '^Process Name' |
    while read -r _ kernel; do printf %s "$kernel" | sha1sum; done | grep -c '^[13579bdf]')
row() { awk -F ' *[|] *' -v column="$1" '$2 == "cycles" { print $column; exit }' $page; }
says 'how far h200 is from silicon' "$held_out kernels that nothing was fitted on take $(row 3) more or fewer cycles there \
in the mean, half of them less than $(row 4)."
is 'docs/h200.md: as many kernels' grep -q "^| | held-out: $held_out kernels |" $page
is 'docs/h200.md: the command' grep -q "^    heddle correlate $recorded\$" $page
is 'README.md: the same command' grep -q "heddle correlate $recorded" README.md

compilers=$(sed -n 's/.*\(nvcc [0-9]* to [0-9]*\) and \(clang [0-9]* to [0-9]*\) write it.*/\1 or \2/p' docs/ptx-support.md)
says 'compilers, as docs/ptx-support.md has them' "PTX from $compilers"

tr -c 'A-Za-z0-9.,%\n-' '\n' <"$scratch/text" | sed 's/[.,]*$//' | grep -E '^[0-9][0-9.,]*%?$' >"$scratch/left"
is 'every number of README.md is computed here' cmp "$scratch/left" /dev/null

# ------------------------------------------------------------------ pages

# all_shown NAME: the lines of $scratch/lines are in $out.
all_shown() {
    while IFS= read -r line; do
        saw "$1: $(echo "$line" | sed 's/^ *//' | cut -c 1-50)" "$(pattern_of "$line")"
    done <"$scratch/lines"
    is "$1 shows output" test -s "$scratch/lines"
}
awk '/^```/ { inside = !inside; next } inside && NF' docs/schedule.md >"$scratch/lines"
expect 'docs/schedule.md: the command' 0 '' "$heddle" schedule -s lrr -s gto --size test bfs
all_shown docs/schedule.md
grep -E '^      (line|bfs\.cu:[0-9]*) ' docs/profile.md >"$scratch/lines"
expect 'docs/profile.md: the command' 0 '' "$heddle" run --quiet --lines -m ccws -s lrr --size test bfs
all_shown docs/profile.md

is 'docs/profile.md: instructions' \
    "$heddle" run --quiet -s gto --stats "$scratch/bfs.json" --pcs --interval 1000 --size test bfs
sed -n '/^    { "pc": /,/} }$/p' docs/profile.md >"$scratch/page.json"
"$json_check" "$scratch/bfs.json" 'kernels.0.pcs.*' |
    grep "^{\"pc\": $("$json_check" "$scratch/page.json" pc)," >"$scratch/run.json"
is 'docs/profile.md: an instruction' "$json_check" --same "$scratch/page.json" "$scratch/run.json"
sed -n '/^    { "interval": /,/} }$/p' docs/profile.md | sed 's/, \.\.\. } }/ } }/' >"$scratch/page.json"
for key in interval cycles 'values.*'; do
    "$json_check" "$scratch/page.json" "$key"
done >"$scratch/lines"
"$json_check" "$scratch/bfs.json" kernels.0.series >"$scratch/series"
is 'docs/profile.md: samples' test "$(wc -l <"$scratch/lines")" -ge 5
while IFS= read -r values; do
    is "docs/profile.md: samples $values" grep -qF ": $values" "$scratch/series"
done <"$scratch/lines"
