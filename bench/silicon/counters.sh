#!/bin/sh
# Nsight Compute's counters of workloads on the GPU of this machine: sh bench/silicon/counters.sh FOLDER SIZE..., from
# the repository's root. Leaves FOLDER/SIZE.csv: one row per launch, at most 80 launches of a program.
#   COUNTERS_WORKLOADS="matmul-mma scan"   those alone, "today" those of workloads/today.txt; else all
#   COUNTERS_SECONDS=60                    for each program
set -u
out=$1
shift
mkdir -p "$out" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
library=$(ldconfig -p | awk '/libcuda\.so\.1/ { print $NF; exit }')
metrics=sm__cycles_elapsed.max,smsp__inst_executed.sum,smsp__thread_inst_executed_pred_on.sum
metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
metrics=$metrics,lts__t_sectors.sum,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_tex_lookup_hit.sum
metrics=$metrics,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,dram__bytes_read.sum,dram__bytes_write.sum
metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active,gpu__time_duration.sum
metrics=$metrics,launch__registers_per_thread,launch__shared_mem_per_block_static,launch__shared_mem_config_size
metrics=$metrics,launch__waves_per_multiprocessor,launch__occupancy_limit_blocks,launch__occupancy_limit_registers
metrics=$metrics,launch__occupancy_limit_shared_mem,launch__occupancy_limit_warps
# Those that not every Nsight has for every chip: an unknown name would cost the run.
known=$(ncu --query-metrics 2>/dev/null | awk '{ print $1 }')
for metric in sm__cycles_active.avg smsp__cycles_active.avg \
    l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum \
    l1tex__t_requests_pipe_lsu_mem_global_op_red.sum l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum \
    l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum \
    l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum \
    lts__t_sectors_op_atom.sum lts__t_sectors_op_red.sum; do
    if echo "$known" | grep -qxF "${metric%%.*}"; then metrics=$metrics,$metric; else echo "not known here: $metric" >&2; fi
done
case ${COUNTERS_WORKLOADS:-} in
'') names=$(for source in workloads/*/*.cu; do basename "$source" .cu; done) ;;
today) names=$(cat workloads/today.txt) ;;
*) names=$COUNTERS_WORKLOADS ;;
esac
# Of Nsight's columns those that were asked for, and what the launch was: names in the first row, then units, then launches.
columns() {
    awk -v wanted="ID,Process Name,Kernel Name,Block Size,Grid Size,$metrics" '
        BEGIN { split(wanted, names, ","); for (i in names) keep[names[i]] = 1 }
        {
            sub(/^"/, ""); sub(/"$/, "")
            count = split($0, field, /","/)
            if (field[1] == "ID")
                for (i = 1; i <= count; i++) take[i] = field[i] in keep
            line = ""
            for (i = 1; i <= count; i++) if (take[i]) line = line (line == "" ? "" : ",") "\"" field[i] "\""
            print line
        }'
}

for size in "$@"; do
    for name in $names; do
        program=$scratch/$name
        [ -x "$program" ] || "${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE -ffp-contract=off -Iinclude -Iworkloads/common \
            -DPTX_FILE="\"workloads/$name/$name.ptx\"" "workloads/$name/$name.c" workloads/common/*.c workloads/common/embed.S \
            "$library" -lm -o "$program" || continue
        timeout "${COUNTERS_SECONDS:-60}" ncu --clock-control none --launch-count 80 --page raw --csv --metrics "$metrics" \
            "$program" --size "$size" >"$scratch/log" 2>&1
        echo "$name $size: exit status $?, $(grep -c '^"[0-9]' "$scratch/log") launches, $(grep -o 'PASSED\|FAILED' "$scratch/log")" >&2
        grep '^"' "$scratch/log" | columns
    done >"$out/$size.csv"
done
