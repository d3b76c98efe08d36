/* Makes a machine file of GPGPU-Sim's gpgpusim.config, of releases 3.x and 4.x.
 *
 * The file is a list of "-option value" with comments after '#'; a value in quotes may go over several lines. Options
 * that it leaves out have GPGPU-Sim's own defaults, which are not ours: those that matter are read first, in the same
 * form. import_options.c knows what the options mean. The rulebook of the release says what no option says. */
#include "gpu/import.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void next_char(struct import *i)
{
    if (*i->at++ == '\n') {
        i->line++;
        i->line_text = i->at;
    }
}

static void skip_space(struct import *i)
{
    while (isspace((unsigned char)*i->at) || *i->at == '#') {
        if (*i->at != '#') {
            next_char(i);
            continue;
        }
        while (*i->at && *i->at != '\n')
            i->at++;
    }
}

static bool at_option(const struct import *i)
{
    return i->at[0] == '-' && (isalpha((unsigned char)i->at[1]) || i->at[1] == '_');
}

/* Reads the words up to the next option, without quotes and the space inside them. */
static bool read_value(struct import *i)
{
    size_t length = 0;
    skip_space(i);
    i->value_line = i->line;
    i->value_column = (int)(i->at - i->line_text) + 1;
    i->value[0] = '\0';
    while (*i->at && !at_option(i)) {
        bool quoted = *i->at == '"';
        int quote_line = i->line, quote_column = (int)(i->at - i->line_text) + 1;
        if (quoted)
            i->at++;
        for (; *i->at && (quoted ? *i->at != '"' : !isspace((unsigned char)*i->at)); next_char(i)) {
            if (isspace((unsigned char)*i->at))
                continue;
            if (length == VALUE_BYTES - 1)
                return import_wrong(i, "a value of more than %d characters", VALUE_BYTES - 1);
            i->value[length++] = *i->at;
            i->value[length] = '\0';
        }
        if (quoted && !*i->at)
            return error_at(i->error, ERROR_SYNTAX, i->source, quote_line, quote_column, "a quote that is not closed");
        if (quoted)
            i->at++;
        skip_space(i);
    }
    return true;
}

static bool read_options(struct import *i, const struct source *s)
{
    i->source = s;
    i->at = i->line_text = s->text;
    i->line = 1;
    if (strlen(s->text) != s->size_bytes)
        return error_set(i->error, ERROR_SYNTAX, "%s is no configuration of GPGPU-Sim: it holds a zero byte", s->name);
    skip_space(i);
    if (!*i->at)
        return error_set(i->error, ERROR_SYNTAX, "%s holds no options: expected GPGPU-Sim's gpgpusim.config", s->name);
    for (; *i->at; skip_space(i)) {
        char option[128];
        if (!at_option(i)) {
            int column = (int)(i->at - i->line_text) + 1;
            return error_at(i->error, ERROR_SYNTAX, s, i->line, column,
                            "expected -option value, as in GPGPU-Sim's gpgpusim.config");
        }
        size_t length = strcspn(++i->at, " \t\r\n#");
        snprintf(option, sizeof option, "%.*s", (int)(length < 120 ? length : 120), i->at);
        i->at += length;
        i->option = option;
        if (!strcmp(option, "icnt_flit_size"))
            i->flit_given = !i->quiet;
        if (!read_value(i) || !import_option(i))
            return false;
    }
    return true;
}

/* GPGPU-Sim's own defaults. */
static const char defaults[] =
    "-gpgpu_n_clusters 10 -gpgpu_n_cores_per_cluster 3 -gpgpu_n_mem 8 -gpgpu_n_sub_partition_per_mchannel 1 "
    "-gpgpu_clock_domains 500:2000:2000:2000\n"
    "-gpgpu_shader_registers 8192 -gpgpu_shader_core_pipeline 1024:32 -gpgpu_shader_cta 8 -gpgpu_shmem_size 16384 "
    "-gpgpu_pipeline_widths 1,1,1,1,1,1,1\n"
    "-gpgpu_num_sp_units 1 -gpgpu_num_sfu_units 1 -gpgpu_num_dp_units 0\n"
    "-ptx_opcode_latency_int 1,1,19,25,145 -ptx_opcode_latency_fp 1,1,1,1,30 -ptx_opcode_latency_dp 8,8,8,8,335\n"
    "-ptx_opcode_initiation_int 1,1,4,4,32 -ptx_opcode_initiation_fp 1,1,1,1,5 -ptx_opcode_initiation_dp 8,8,8,8,130\n"
    "-gpgpu_cache:dl1 none -gpgpu_const_cache:l1 64:64:2,L:R:f:N,A:2:32,4 -gpgpu_tex_cache:l1 "
    "8:128:5,L:R:m:N,F:128:4,128:2 -gpgpu_cache:il1 4:256:4,L:R:f:N,A:2:32,4\n"
    "-gpgpu_cache:dl2 64:128:8,L:B:m:N,A:16:4,4 -gpgpu_gmem_skip_L1D 0 -gpgpu_n_cluster_ejection_buffer_size 8 "
    "-gpgpu_n_ldst_response_buffer_size 2\n"
    "-icnt_flit_size 32 -gpgpu_perf_sim_memcpy 0 -gpgpu_dram_partition_queues 8:8:8:8\n"
    "-gpgpu_operand_collector_num_units_sp 4 -gpgpu_operand_collector_num_units_sfu 4 "
    "-gpgpu_operand_collector_num_units_mem 2\n"
    "-gpgpu_operand_collector_num_in_ports_sp 1 -gpgpu_operand_collector_num_in_ports_sfu 1 "
    "-gpgpu_operand_collector_num_in_ports_mem 1 -gpgpu_num_reg_banks 8\n"
    "-gpgpu_shmem_num_banks 16 -gpgpu_shmem_limited_broadcast 1 -gpgpu_shmem_warp_parts 2 "
    "-gpgpu_max_insn_issue_per_warp 2 -gpgpu_num_sched_per_core 1 -gpgpu_scheduler gto\n"
    "-gpgpu_local_mem_map 1 -gpgpu_flush_l1_cache 0\n"
    "-gpgpu_l2_rop_latency 85 -dram_latency 30 -dram_bnkgrp_indexing_policy 0 -gpgpu_dram_scheduler 1 "
    "-gpgpu_dram_return_queue_size 0\n"
    "-gpgpu_n_mem_per_ctrlr 1 -gpgpu_dram_buswidth 4 -gpgpu_dram_burst_length 4 -dram_data_command_freq_ratio 2\n"
    "-gpgpu_mem_addr_mapping dramid@8;RRRR.RRRRRRRR.RRBBCCCC.CCCSSSSS -gpgpu_dram_timing_opt "
    "4:2:8:12:21:13:34:9:4:5:13:1:0:0\n";

static void write_remarks(const char *text, const char *prefix, FILE *to)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(to, "%s%.*s\n", prefix, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* The machine is named after the file's folder, which says which GPU it is: all files have the same name. */
static void set_name(struct machine *m, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return;
    char *slash = strrchr(real, '/');
    *slash = '\0';
    slash = strrchr(real, '/');
    snprintf(m->name, sizeof m->name, "%.63s", slash && slash[1] ? slash + 1 : "imported");
}

static bool finish(struct import *i, const char *path, const char *remarks, FILE *to, FILE *notes)
{
    struct error clash = {0};
    set_name(&i->machine, path);
    fprintf(to, "; From GPGPU-Sim's %s.\n", path);
    machine_print(&i->machine, to);
    if (*remarks)
        fprintf(to, "\n");
    write_remarks(remarks, "; ", to);
    write_remarks(remarks, "", notes);
    if (!machine_check(&(struct machine_checker){&i->machine, i->places, &clash})) {
        fprintf(notes, "to be mended before it can be used:\n%s\n", clash.text);
        fprintf(to, "; to be mended before it can be used:\n");
        write_remarks(clash.text, "; ", to);
    }
    return !ferror(to);
}

bool machine_import(const char *path, FILE *to, FILE *notes, struct error *e)
{
    struct error own = {0};
    struct source file = {0}, built_in = {"GPGPU-Sim's defaults", defaults, sizeof defaults - 1};
    char *remarks = NULL;
    size_t size = 0;
    struct import *i = calloc(1, sizeof *i);
    e = e ? e : &own;
    if (!i || !(i->remarks = open_memstream(&remarks, &size))) {
        free(i);
        return error_set(e, ERROR_NO_MEMORY, "out of memory");
    }
    i->error = e;
    machine_set_defaults(&i->machine);
    i->quiet = i->seeks_release = true;
    bool good =
        machine_read_text(path, "configuration", &file, e) && read_options(i, &built_in) && read_options(i, &file);
    i->seeks_release = false;
    import_release(i);
    good = good && read_options(i, &built_in);
    memset(i->places, 0, sizeof i->places);
    i->quiet = false;
    good = good && read_options(i, &file);
    fclose(i->remarks);
    good = good && (finish(i, path, remarks, to, notes) || error_set(e, ERROR_IO, "cannot write the machine file"));
    free(remarks);
    free((char *)file.text);
    free(i);
    return good;
}
