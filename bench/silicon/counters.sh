#!/bin/sh
# Nsight Compute's counters of every workload on the GPU of this machine: sh bench/silicon/counters.sh FOLDER SIZE..., from
# the repository's root. Leaves FOLDER/SIZE.csv: one row per launch, at most 80 launches of a program.
set -u
out=$1
shift
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
    for folder in workloads/*/; do
        name=$(basename "$folder")
        [ -e "workloads/$name/$name.c" ] || continue
        program=$scratch/$name
        [ -x "$program" ] || "${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE -ffp-contract=off -Iinclude -Iworkloads/common \
            -DPTX_FILE="\"workloads/$name/$name.ptx\"" "workloads/$name/$name.c" workloads/common/*.c workloads/common/embed.S \
            "$library" -lm -o "$program" || continue
        timeout "${COUNTERS_SECONDS:-60}" ncu --clock-control none --launch-count 80 --page raw --csv --metrics "$metrics" \
            "$program" --size "$size" >"$scratch/log" 2>&1
        echo "$name $size: exit status $?, $(grep -c '^"[0-9]' "$scratch/log") launches" >&2
        grep '^"' "$scratch/log" | columns
    done >"$out/$size.csv"
done
