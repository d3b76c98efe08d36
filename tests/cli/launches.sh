#!/bin/sh
# --kernel, --launch, --skip and --region: launches that are chosen are timed, the others run functionally, and the
# program sees the same memory.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
regions=$build/tests/cli/regions

run() { # OPTION... PROGRAM: results go to $scratch/stats.json
    "$heddle" run --quiet --stats "$scratch/stats.json" "$@"
}
value() { "$json_check" "$scratch/stats.json" "$1"; }
equal() { # NAME A B
    if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: '$2' and '$3'"; fi
}
numbers() { # of the launches in the results
    i=0
    for name_ in $(value kernels | grep -o '"partial"'); do
        [ -n "$name_" ] && number_=$(value "kernels.$i.launch" 2>/dev/null) || number_=$i
        printf '%s ' "$number_"
        i=$((i + 1))
    done
}

# All of them: as without a filter, but for what says that there was one.
run --size test bfs >/dev/null 2>&1
value kernels >"$scratch/all"
value total >"$scratch/total"
instructions=$(value kernels.4.warp_instructions) lanes=$(value kernels.4.lanes)
is 'bfs, all launches: it runs' run --size test --launch 0- bfs
value kernels >"$scratch/chosen"
is 'bfs, all launches: nothing changes' cmp "$scratch/all" "$scratch/chosen"
equal 'bfs, all launches: none ran functionally' "$(value launches.functional)" 0

# By number.
is 'bfs, three launches: it runs, and its result is right' run --size test --launch 2,4-5 bfs
equal 'bfs, three launches: those' "$(numbers)" '2 4 5 '
equal 'bfs, three launches: how many' "$(value launches.timed) $(value launches.functional)" '3 13'
equal 'bfs, three launches: what the kernel executes' "$(value kernels.1.warp_instructions)" "$instructions"
equal 'bfs, three launches: and with which lanes' "$(value kernels.1.lanes)" "$lanes"
is 'bfs, three launches: the total is their sum' "$json_check" "$scratch/stats.json"
"$json_check" --names "$scratch/stats.json" | sort -u >"$scratch/names"
"$heddle" list metrics | sed -n 's/^\([^ ]*\) (.*/\1/p' | sort -u >"$scratch/glossary"
comm -23 "$scratch/names" "$scratch/glossary" >"$scratch/missing"
is 'the glossary has every field' cmp "$scratch/missing" /dev/null
value launches | grep -o '"[a-z]*": ' | sed 's/"\(.*\)": /launches.\1/' | sort -u >"$scratch/names"
comm -23 "$scratch/names" "$scratch/glossary" >"$scratch/missing"
is 'the glossary has every field of launches' cmp "$scratch/missing" /dev/null
is 'the glossary has launches.skip' grep -qx launches.skip "$scratch/names"

# By name, and combined.
is 'by name' run --size test --kernel bfs_advance bfs
equal 'by name: every second' "$(numbers)" '1 3 5 7 9 11 13 15 '
is 'by two names' run --size test --kernel bfs_advance --kernel bfs_expand bfs
equal 'by two names: all' "$(value launches.timed) $(value launches.functional)" '16 0'
is 'name, numbers and skip together' run --size test --kernel 'bfs_e*' --launch 0-11 --skip 5 bfs
equal 'name, numbers and skip together: those' "$(numbers)" '6 8 10 '
expect 'what is said' 0 'heddle: 15 of 16 launches ran functionally, without time; the results are of the others' \
    "$heddle" run --size test --skip 15 bfs

# Whichever launches are timed, the result is right: the workloads check it.
second() { "$heddle" run --quiet --size test --launch 1 "$1" || [ $? = 2 ]; }
for workload in $(workloads); do
    is "$workload: the second launch, or none" second "$workload"
    is "$workload: all but the second launch" "$heddle" run --quiet --size test --launch 0,2- "$workload"
done
is 'the same on 2 threads' run --size test --launch 3- -j 2 bfs
value kernels >"$scratch/threads"
run --size test --launch 3- bfs >/dev/null 2>&1
value kernels >"$scratch/one"
is 'the same on 2 threads: it is' cmp "$scratch/threads" "$scratch/one"

# With other files: rows and accesses are those of the launches that are timed.
is 'with --warps and --trace' run --size test --launch 2-3 --warps "$scratch/warps.csv" --trace "$scratch/trace" bfs
is 'with --warps: it adds up' "$build/tests/cli/warps_check" "$scratch/stats.json" "$scratch/warps.csv"
expect 'with --trace: two launches' 0 '"launches": 2' "$heddle" cache --json "$scratch/trace"

# None.
expect 'no such kernel' 2 'no kernel that the program launched is called so' "$heddle" run --size test --kernel nope bfs
saw 'no such kernel: those that there are' 'bfs_advance \(8\)'
expect 'no such launch' 2 'the program has none with such a number' "$heddle" run --quiet --size test --launch 99 bfs
expect 'a program that fails is that' 4 '' "$heddle" run --quiet --max-cycles 10 --launch 0 --size test bfs
expect 'the limit is of cycles' 0 '' "$heddle" run --quiet --max-cycles 5000 --launch 3 --size test bfs

# The region of interest. Without --region, it chooses what is reported, as ever; numbers count all launches.
for steps in 'llslpl 2' 'lslplsllp 1 3 4'; do
    is "$steps: it runs" run --region "$regions" "$ptx/fine.ptx" "${steps%% *}"
    equal "$steps: those inside are timed" "$(numbers)" "${steps#* } "
done
is 'region and number' run --region --launch 3 "$regions" "$ptx/fine.ptx" lslplsllp
equal 'region and number: that' "$(numbers)" '3 '
expect 'a region that never starts' 2 'none that was chosen is between cudaProfilerStart' \
    run --region "$regions" "$ptx/fine.ptx" llp
is 'without --region' run --launch 0-2 "$regions" "$ptx/fine.ptx" lslllpl
equal 'without --region: chosen and inside' "$(numbers)" '1 2 '
is 'a region alone' run "$regions" "$ptx/fine.ptx" lslllpl
equal 'a region alone: true numbers' "$(numbers)" '1 2 3 '

# Kernels of several streams that run together, some with time and some without.
for choice in 0 1-2 3-; do
    is "streams, --launch $choice" run --launch "$choice" "$build/tests/cli/streams" 4 3 many
done

# What cannot be.
expect 'not a list' 2 "--launch needs numbers from 0 and ranges of them, as 0,3-5,9-, not '3-1'" \
    "$heddle" run --launch 3-1 --size test bfs
for list in a '1,' ',1' 1-2-3 -1 1:2 '1 2'; do
    expect "not a list: '$list'" 2 '--launch needs numbers' "$heddle" run --launch="$list" --size test bfs
done
expect 'not a number' 2 "--skip needs a number of launches, not 'x'" "$heddle" run --skip x --size test bfs
expect 'with --functional' 2 '--kernel chooses the launches that are timed' \
    "$heddle" run --functional --kernel bfs_expand --size test bfs
expect 'help' 0 '--launch LIST' "$heddle" run --help
with_options() { LD_LIBRARY_PATH=$build/lib HEDDLE_OPTIONS=$1 "$build/workloads/bfs" --size test; }
is 'HEDDLE_OPTIONS' with_options "--quiet --stats $scratch/stats.json --kernel bfs_expand --launch=0-4 --skip 1"
equal 'HEDDLE_OPTIONS: those' "$(numbers)" '2 4 '
expect 'HEDDLE_OPTIONS: with --functional' 0 '--kernel has no effect with --functional' \
    with_options '--functional --kernel bfs_expand'
