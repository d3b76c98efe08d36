#!/bin/sh
# Programs that embed the simulator: do the examples of docs/embed.md run, does the page show them as they are, do they
# count what the command counts, and does an installation carry what they need?
# Uses pkg-config: compiling with what was installed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
examples=$build/examples vectoradd=workloads/vectoradd/vectoradd.ptx

# The page shows each example, whole.
for example in embed two_machines; do
    awk -v name="examples/$example.c" 'index($0, "](../" name ")") { found = 1 }
        /^```$/ { shown = 0 } shown { print } found && /^```c$/ { shown = 1; found = 0 }' docs/embed.md >"$scratch/$example.c"
    is "docs/embed.md shows $example.c" cmp "$scratch/$example.c" "examples/$example.c"
done

for kind in static shared; do
    expect "embed, $kind" 0 '^0 of 5000 sums are wrong$' "$examples/embed-$kind" "$vectoradd" "$scratch/embed.json"
    saw "embed, $kind: time" '^[1-9][0-9]* cycles, [0-9.]* instructions per cycle, [1-9][0-9]* L1 misses$'
    expect "two machines, $kind" 0 '^gtx480: [1-9][0-9]* cycles$' "$examples/two_machines-$kind" "$vectoradd"
    saw "two machines, $kind: the second" '^ccws: [1-9][0-9]* cycles$'
done
expect 'embed: no such file' 1 'none.ptx' "$examples/embed-shared" none.ptx
expect 'embed: no PTX' 1 'machines/ccws.ini:1:' "$examples/embed-shared" machines/ccws.ini

# The same launch by the command.
"$heddle" run --quiet -s gto --set l1d.ways=8 --stats "$scratch/run.json" --size test vectoradd >/dev/null
for part in machine scheduler kernels total checks outcome; do
    "$json_check" "$scratch/embed.json" "$part" >"$scratch/embedded"
    "$json_check" "$scratch/run.json" "$part" >"$scratch/commanded"
    is "embed counts what the command counts: $part" cmp "$scratch/embedded" "$scratch/commanded"
done

# An installation, with the compiler and pkg-config alone.
case $build in
build | build-ci)
    if command -v pkg-config >/dev/null 2>&1; then
        make -s BUILD="$build" WERROR=1 PREFIX="$scratch/usr" install >/dev/null 2>&1
        export PKG_CONFIG_PATH="$scratch/usr/lib/pkgconfig"
        cp examples/two_machines.c "$vectoradd" "$scratch/"
        # shellcheck disable=SC2046 # words
        is 'installed: it compiles' "${CC:-cc}" "$scratch/two_machines.c" -o "$scratch/two" $(pkg-config --cflags --libs heddle)
        expect 'installed: it runs' 0 '^ccws: [1-9][0-9]* cycles$' "$scratch/two" "$scratch/vectoradd.ptx"
        is 'installed: the table of metrics' test -s "$scratch/usr/include/heddle/metrics.def"
    else
        echo 'note skipped: compiling with what was installed (pkg-config is not there: apt-get install pkg-config)'
    fi
    ;;
esac
