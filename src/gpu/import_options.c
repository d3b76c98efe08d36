/* The options of GPGPU-Sim's configurations, one row each: which key of a machine file it becomes, and how.
 *
 * Left out, and remarked when it is met: units, policies and index functions that Heddle does not model. */
#include "gpu/import.h"

#include <string.h>

/* Options whose model is left out, where 0 is what Heddle does. */
static bool take_if_zero(struct import *i, const char *target)
{
    if (strcmp(i->value, "0") != 0)
        import_remark(i, "not carried over: -%s %s: %s", i->option, i->value, target);
    return true;
}

struct option_row {
    const char *option;
    import_handler *take;
    const char *target;
};
static const struct option_row options[] = {
    {"gpgpu_n_clusters", import_take_clusters, NULL},
    {"gpgpu_n_cores_per_cluster", import_take_clusters, "each"},
    {"gpgpu_n_mem", import_take_number, "dram.channels"},
    {"gpgpu_n_sub_partition_per_mchannel", import_take_number, "l2.slices_per_channel"},
    {"gpgpu_clock_domains", import_take_clocks, NULL},
    {"gpgpu_shader_registers", import_take_number, "core.registers"},
    {"gpgpu_shader_core_pipeline", import_take_pipeline, NULL},
    {"gpgpu_shader_cta", import_take_number, "core.blocks"},
    {"gpgpu_shmem_size", import_take_number, "core.shared_bytes"},
    {"gpgpu_pipeline_widths", import_take_widths, NULL},
    {"gpgpu_num_sp_units", import_take_number, "issue.sp_units"},
    {"gpgpu_num_sfu_units", import_take_number, "issue.sfu_units"},
    {"gpgpu_num_dp_units", import_take_number, "issue.dp_units"},
    {"gpgpu_num_int_units", take_if_zero, "integer units; the SP units do their work"},
    {"gpgpu_num_tensor_core_units", take_if_zero, "tensor cores"},
    {"gpgpu_tensor_core_avail", take_if_zero, "tensor cores"},
    {"ptx_opcode_latency_int", import_take_latencies, "latency.integer"},
    {"ptx_opcode_initiation_int", import_take_latencies, "latency.integer_initiation"},
    {"ptx_opcode_latency_fp", import_take_latencies, "latency.single_precision"},
    {"ptx_opcode_initiation_fp", import_take_latencies, "latency.single_precision_initiation"},
    {"ptx_opcode_latency_dp", import_take_latencies, "latency.double_precision"},
    {"ptx_opcode_initiation_dp", import_take_latencies, "latency.double_precision_initiation"},
    {"ptx_opcode_latency_sfu", import_take_number, "latency.sfu"},
    {"ptx_opcode_initiation_sfu", import_take_number, "latency.sfu_initiation"},
    {"gpgpu_cache:dl1", import_take_cache, "l1d"},
    {"gpgpu_cache:dl2", import_take_cache, "l2"},
    {"gpgpu_cache:il1", import_take_cache, "l1i"},
    {"gpgpu_tex_cache:l1", import_take_cache, "l1t"},
    {"gpgpu_const_cache:l1", import_take_cache, "l1c"},
    {"gpgpu_cache:dl2_texture_only", take_if_zero, "an L2 for textures alone"},
    {"gpgpu_gmem_skip_L1D", import_take_number, "rules.l1_skips_global"},
    {"gpgpu_l1_banks", import_take_number, "l1d.banks"},
    {"gpgpu_l1_latency", import_take_number, "l1d.latency_cycles"},
    {"gpgpu_smem_latency", import_take_number, "lsu.shared_latency_cycles"},
    {"gpgpu_n_cluster_ejection_buffer_size", import_take_number, "lsu.cluster_response_queue"},
    {"gpgpu_n_ldst_response_buffer_size", import_take_number, "lsu.response_queue"},
    {"icnt_flit_size", import_take_number, "interconnect.flit_bytes"},
    {"inter_config_file", import_take_network, NULL},
    {"gpgpu_perf_sim_memcpy", import_take_number, "rules.l2_filled_by_copies"},
    {"gpgpu_memory_partition_indexing", take_if_zero, "channels chosen by a hash of the address"},
    {"gpgpu_dram_partition_queues", import_take_partition_queues, NULL},
    {"gpgpu_operand_collector_num_units_sp", import_take_number, "collector.sp_collectors"},
    {"gpgpu_operand_collector_num_units_sfu", import_take_number, "collector.sfu_collectors"},
    {"gpgpu_operand_collector_num_units_mem", import_take_number, "collector.memory_collectors"},
    {"gpgpu_operand_collector_num_units_gen", import_take_generic_collectors, NULL},
    {"gpgpu_operand_collector_num_in_ports_sp", import_take_number, "collector.sp_ports"},
    {"gpgpu_operand_collector_num_in_ports_sfu", import_take_number, "collector.sfu_ports"},
    {"gpgpu_operand_collector_num_in_ports_mem", import_take_number, "collector.memory_ports"},
    {"gpgpu_operand_collector_num_out_ports_sp", import_take_out_ports, "collector.sp_ports"},
    {"gpgpu_operand_collector_num_out_ports_sfu", import_take_out_ports, "collector.sfu_ports"},
    {"gpgpu_operand_collector_num_out_ports_mem", import_take_out_ports, "collector.memory_ports"},
    {"gpgpu_num_reg_banks", import_take_number, "collector.register_banks"},
    {"gpgpu_sub_core_model", take_if_zero, "units and registers that belong to one scheduler; they are shared here"},
    {"gpgpu_shmem_num_banks", import_take_number, "lsu.shared_banks"},
    {"gpgpu_shmem_limited_broadcast", import_take_number, "rules.shared_limited_broadcast"},
    {"gpgpu_shmem_warp_parts", import_take_warp_parts, NULL},
    {"gpgpu_coalesce_arch", import_take_coalescing, NULL},
    {"gpgpu_local_mem_map", import_take_number, "rules.local_by_block"},
    {"gpgpu_flush_l1_cache", import_take_flush, "l1d"},
    {"gpgpu_flush_l2_cache", import_take_flush, "l2"},
    {"gpgpu_flush_cache", import_take_flush, "all"}, /* of 3.0 to 3.2.0 */
    {"gpgpu_max_insn_issue_per_warp", import_take_number, "issue.instructions_per_warp"},
    {"gpgpu_num_sched_per_core", import_take_number, "issue.schedulers"},
    {"gpgpu_scheduler", import_take_scheduler, NULL},
    {"gpgpu_l2_rop_latency", import_take_number, "l2.rop_cycles"},
    {"dram_latency", import_take_number, "dram.latency_cycles"},
    {"gpgpu_dram_scheduler", import_take_dram_scheduler, NULL},
    {"gpgpu_frfcfs_dram_sched_queue_size", import_take_number, "dram.queue"},
    {"gpgpu_dram_sched_queue_size", import_take_number, "dram.queue"},
    {"gpgpu_dram_return_queue_size", import_take_number, "dram.return_queue"},
    {"gpgpu_n_mem_per_ctrlr", import_take_number, "dram.chips"},
    {"gpgpu_dram_buswidth", import_take_number, "dram.chip_bus_bytes"},
    {"gpgpu_dram_burst_length", import_take_number, "dram.burst_length"},
    {"dram_data_command_freq_ratio", import_take_number, "dram.data_rate"},
    {"gpgpu_mem_addr_mapping", import_take_map, NULL},
    {"gpgpu_dram_timing_opt", import_take_timing, NULL},
    {"dram_dual_bus_interface", import_take_number, "rules.dram_row_beside_column"},
    {"dram_bnkgrp_indexing_policy", import_take_number, "rules.dram_group_by_low_bits"},
    {"dram_bnk_indexing_policy", take_if_zero, "banks chosen by a hash of the address"},
};

/* Of no consequence for the machine: what is printed, traced, charged, or how a program is loaded. */
static const char *const silent_prefixes[] = {
    "gpgpu_ptx_",
    "gpgpu_stack_size",
    "gpgpu_heap_size",
    "gpgpu_runtime_",
    "gpgpu_compute_capability",
    "gpgpu_occupancy_sm",
    "gpgpu_simd_model",
    "gpgpu_shmem_sizeDefault",
    "gpgpu_shmem_size_Pref",
    "gpgpu_shmem_per_block",
    "gpgpu_registers_per_block",
    "gpgpu_mem_address_mask",
    "gpgpu_memlatency_stat",
    "gpgpu_cflog",
    "enable_ptx_file_line",
    "visualizer",
    "power_",
    "gpuwattch",
    "accelwattch",
    "trace_",
    "network_mode",
    "gpgpu_kernel_launch",
    "gpgpu_max_",
    "gpgpu_deadlock",
    "save_embedded",
};

/* Options that lost or gained the prefix gpgpu_ between releases are found by either name. */
static const struct option_row *find_option(const char *option)
{
    for (size_t n = 0; n < sizeof options / sizeof *options; n++) {
        const char *known = options[n].option;
        if (!strcmp(option, known) || (!strncmp(known, "gpgpu_", 6) && !strcmp(option, known + 6)))
            return &options[n];
    }
    if (!strcmp(option, "rop_latency"))
        return find_option("gpgpu_l2_rop_latency");
    if (!strcmp(option, "dual_bus_interface"))
        return find_option("dram_dual_bus_interface");
    return NULL;
}

bool import_option(struct import *i)
{
    const struct option_row *row = find_option(i->option);
    if (i->seeks_release && !(row && row->take == import_take_widths))
        return true;
    if (row && !*i->value)
        return import_wrong(i, "expected a value");
    if (row)
        return row->take(i, row->target);
    for (size_t n = 0; n < sizeof silent_prefixes / sizeof *silent_prefixes; n++)
        if (!strncmp(i->option, silent_prefixes[n], strlen(silent_prefixes[n])))
            return true;
    import_remark(i, "not carried over: -%s %s (line %d)", i->option, i->value, i->value_line);
    return true;
}
