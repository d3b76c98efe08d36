#!/bin/sh
# The functions of the runtime library and their state, as a table for docs/cuda.md, from the libraries of a build and the sources: sh tests/cuda/function-table.sh BUILD prints it,
# and with --write puts it into the page, between its marks.
#
# works: exported, and not one of those below. refuses: in missing.def, or written as a call of something that is in the driver's unsupported.def. absent: not exported.
set -eu
build=${1:-build}
page=docs/cuda.md
first='<!-- functions: made by tests/cuda/function-table.sh -->' last='<!-- functions: end -->'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

for version in 11.0 12 13; do
    nm -D --defined-only "$build/lib/libcudart.so.$version" | awk -v version="${version%.0}" '{ sub(/@.*/, "", $3); print "exported", version, $3 }'
    awk -v version="${version%.0}" '{ print "named", version, $1 }' "tests/cuda/names-$version.txt"
done >"$work/facts"
awk '{ print "named", "older", $1 }' tests/cuda/names-older.txt >>"$work/facts"
sed -n 's/^MISSING(\(.*\))$/missing - \1/p' src/cudart/missing.def >>"$work/facts"
# Calls of the driver that it refuses, by the function of the runtime they stand in.
sed -n 's/^UNSUPPORTED(\(.*\))$/\1/p' src/cuda/unsupported.def >"$work/unsupported"
cat src/cudart/*.c src/cudart/versioned/*.c | awk -v list="$work/unsupported" '
    BEGIN { while ((getline name <list) > 0) unsupported[name] = 1 }
    /^RTAPI .*cuda[A-Za-z0-9_]*\(/ { match($0, /_*cuda[A-Z][A-Za-z0-9_]*\(/); inside = substr($0, RSTART, RLENGTH - 1); rest = substr($0, RSTART + RLENGTH) }
    !/^RTAPI / { rest = $0 }
    inside {
        while (match(rest, /cu[A-Z][A-Za-z0-9_]*\(/)) {
            if (substr(rest, RSTART, RLENGTH - 1) in unsupported)
                print "missing", "-", inside
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    /^}/ || /^RTAPI .*}$/ || /^RTAPI .*\);$/ { inside = "" }' >>"$work/facts"

# The forms for per-thread default streams and the compiler's own entry points are left out: the former are as the functions they belong to.
{
    echo '| function | state | CUDA |'
    echo '|---|---|---|'
    # shellcheck disable=SC2016 # backquotes of the page
    awk '
        $3 ~ /^__|_ptsz$|_ptds$/ { next }
        $1 == "named" { names[$3] = names[$3] (names[$3] ? ", " : "") $2 }
        $1 == "exported" { exported[$3, $2] = 1; any[$3] = 1 }
        $1 == "missing" { missing[$3] = 1 }
        END {
            for (name in names) {
                there = any[name]
                count = split(names[name], versions, ", ")
                for (i = 1; i <= count; i++)
                    there = there && (versions[i] == "older" || (name, versions[i]) in exported)
                print name, !there ? "absent" : name in missing ? "refuses" : "works", names[name]
            }
        }' "$work/facts" | sort | sed 's/^\([^ ]*\) \([^ ]*\) \(.*\)$/| `\1` | \2 | \3 |/'
} >"$work/table"

if [ "${2:-}" = --write ]; then
    awk -v first="$first" -v last="$last" -v table="$work/table" '
        $0 == last { skip = 0 }
        !skip { print }
        $0 == first { skip = 1; while ((getline line <table) > 0) print line }' "$page" >"$work/page"
    cp "$work/page" "$page"
else
    cat "$work/table"
fi
