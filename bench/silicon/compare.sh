#!/bin/sh
# The microbenchmarks on a simulated machine beside what was recorded on silicon:
#   sh bench/silicon/compare.sh [-m MACHINE] [-b BUILD] [-s key=value]... [GROUP...]     run, and compare
#   sh bench/silicon/compare.sh -f FILE                                                  compare what was run before
# Columns: row, recorded, simulated, difference, and "ok" where it is within 2 cycles or 3 percent. The last lines count
# the rows of each group. Without groups: all, at sizes that show every plateau (some minutes).
set -eu
here=$(dirname "$0")
machine=h200 build=build file='' set=''
while getopts m:b:f:s: option; do
    case $option in
    m) machine=$OPTARG ;;
    b) build=$OPTARG ;;
    f) file=$OPTARG ;;
    s) set="$set --set $OPTARG" ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
recorded=$here/../../machines/$machine.measured.tsv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -z "$file" ]; then
    file=$scratch/rows
    repeats=1
    run() { # bytes of the largest buffer, groups
        bytes=$1
        shift
        # shellcheck disable=SC2086 # a list of options
        "$build/bin/heddle" run --quiet -m "$machine" $set "$build/bench/silicon" --memory "$bytes" --repeats "$repeats" "$@" \
            >>"$file"
    }
    if [ $# -gt 0 ]; then
        run 536870912 "$@"
    else
        run 1048576 chains barriers order dispatch chase/l1/ chase/l1-stride chase/atom chase/st chase/ld
        repeats=7 # the first launch finds less in the L2; which L1 lines leave depends on where the one before left off
        run 1048576 stores/ chase/l1-carveout
        repeats=1
        run 67108864 chase/l1-sets chase/l2/1024K chase/l2/16384K chase/l2/24576K chase/l2/36864K chase/l2/45056K
        run 83886080 chase/l2/73728K
        run 268435456 chase/l2-stride/262144K/64 chase/l2-stride/262144K/128
        run 67108864 each-load/4M each-load/44M each-load/64M
        run 268435456 bandwidth atomics
    fi
fi
awk -F '\t' '
    FNR == NR { if (!/^#/ && NF > 1) measured[$1] = $2; next }
    /^#/ || !($1 in measured) { next }
    {
        off = $2 - measured[$1]
        share = measured[$1] ? 100 * off / measured[$1] : 0
        cycles = $5 ~ /^cycles/
        good = (cycles && off <= 2 && off >= -2) || (share <= 3 && share >= -3)
        group = $1
        sub(/\/.*/, "", group)
        count[group]++
        fits[group] += good
        printf "%-40s %10.3f %10.3f %+10.3f %+7.1f%%  %s\n", $1, measured[$1], $2, off, share, good ? "ok" : ""
    }
    END {
        for (group in count)
            printf "# %s: %d of %d rows within 2 cycles or 3%%\n", group, fits[group], count[group]
    }' "$recorded" "$file"
