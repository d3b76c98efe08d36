/* The importer of GPGPU-Sim's configurations: options of the DRAM and of the interconnect, whose own file is read. */
#include "gpu/import.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool import_take_partition_queues(struct import *i, const char *target)
{
    uint64_t n[4];
    uint32_t count;
    (void)target;
    if (!import_parse_numbers(i, ':', n, 4, 4, &count))
        return false;
    import_set_number(i, "l2", "input_queue", n[0]);
    import_set_number(i, "l2", "dram_queue", n[1]);
    import_set_number(i, "l2", "return_queue", n[2]);
    import_set_number(i, "l2", "reply_queue", n[3]);
    return true;
}

bool import_take_dram_scheduler(struct import *i, const char *target)
{
    (void)target;
    if (strcmp(i->value, "0") && strcmp(i->value, "1"))
        return import_wrong(i, "expected 0 (in order) or 1 (FR-FCFS)");
    import_set_text(i, "rules", "dram_scheduler", *i->value == '0' ? "fifo" : "frfcfs");
    return true;
}

/* nbk=16:CCD=2:... or the numbers alone, in this order, the last ones left out in older releases. */
bool import_take_timing(struct import *i, const char *target)
{
    static const char *const names[][2] = {
        {"nbk", "banks"},   {"CCD", "t_ccd"},   {"RRD", "t_rrd"}, {"RCD", "t_rcd"},
        {"RAS", "t_ras"},   {"RP", "t_rp"},     {"RC", "t_rc"},   {"CL", "t_cl"},
        {"WL", "t_wl"},     {"CDLR", "t_cdlr"}, {"WR", "t_wr"},   {"nbkgrp", "bank_groups"},
        {"CCDL", "t_ccdl"}, {"RTPL", "t_rtpl"},
    };
    enum { NAMES = sizeof names / sizeof *names };
    char copy[VALUE_BYTES], *parts[PARTS_MOST];
    (void)target;
    memcpy(copy, i->value, sizeof copy);
    uint32_t count = import_split(copy, ':', parts);
    if (!strchr(i->value, '=') && (count < 10 || count > NAMES))
        return import_wrong(i, "expected 10 to %d numbers: nbk:CCD:RRD:RCD:RAS:RP:RC:CL:WL:CDLR:WR:nbkgrp:CCDL:RTPL",
                            NAMES);
    for (uint32_t n = 0; n < count; n++) {
        char *equals = strchr(parts[n], '=');
        uint32_t row = n;
        uint64_t number;
        if (equals) {
            *equals = '\0';
            for (row = 0; row < NAMES && strcmp(parts[n], names[row][0]) != 0; row++)
                ;
        }
        if (row == NAMES) {
            import_remark(i, "not carried over: -%s: %.40s=%.40s", i->option, parts[n], equals + 1);
            continue;
        }
        if (!import_parse_whole(equals ? equals + 1 : parts[n], &number))
            return import_wrong(i, "'%.40s' is no whole number", equals ? equals + 1 : parts[n]);
        import_set_number(i, "dram", names[row][1], number);
    }
    return true;
}

/* dramid@8;0000RRRR...: the bit of the channel, then the other bits; zeros in front are bits that no address has. */
bool import_take_map(struct import *i, const char *target)
{
    const char *map = strchr(i->value, ';');
    char letters[64], *to = letters;
    uint64_t bit;
    char digits[16] = "";
    (void)target;
    if (map && sscanf(i->value, "dramid@%15[0-9];", digits) != 1)
        return import_wrong(i, "expected dramid@BIT;MAP");
    map = map ? map + 1 : i->value;
    if (strchr(map, 'D'))
        return import_wrong(i, "channels chosen by D bits of the map are not modelled: expected dramid@BIT;MAP");
    if (*digits && import_parse_whole(digits, &bit))
        import_set_number(i, "dram", "channel_bit", bit);
    for (map += strspn(map, "0. |"); *map && to < letters + sizeof letters - 1; map++)
        if (*map != ' ')
            *to++ = *map == '|' ? '.' : *map;
    *to = '\0';
    import_set_text(i, "dram", "map", letters);
    return true;
}

/* A number of the network's file ("name = 8;"), or a default where there is none or none that a buffer could have. */
static double network_number(const char *text, const char *name, double otherwise)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (strncmp(line, name, length) == 0) {
            const char *value = line + length + strspn(line + length, " \t");
            double number = *value == '=' ? strtod(value + 1, NULL) : -1;
            if (number >= 0 && number <= 4096)
                return number;
        }
    }
    return otherwise;
}

enum { NETWORK_HOP_CYCLES = 4 }; /* its links to and from a router, each a cycle to send and one to receive */

/* The text of the network's file, which lies beside the configuration. NULL: it cannot be read, and that is remarked.
 */
static char *network_text(struct import *i, char path[PATH_MAX])
{
    struct source s = {0};
    struct error unread = {0};
    const char *slash = strrchr(i->source->name, '/');
    int folder = slash ? (int)(slash - i->source->name) + 1 : 0;
    int length = snprintf(path, PATH_MAX, "%.*s%s", folder, i->source->name, i->value);
    if (length >= 0 && length < PATH_MAX && machine_read_text(path, "network file", &s, &unread))
        return (char *)s.text;
    import_remark(i,
                  "not carried over: -%s %s: the file is not beside this one; the interconnect's buffers are the "
                  "defaults",
                  i->option, i->value);
    free((char *)s.text);
    return NULL;
}

/* The buffers of BookSim: in front of the network and in the router's virtual channel; after it for ejection and
 * between the clock domains. A size of 0 stands for that of the first or of the virtual channel. The network of 3.2.2
 * and later has links and a pipelined router; the older one names some sizes otherwise, and works in one cycle. */
static void take_buffers(struct import *i, const char *text, bool routed)
{
    static const char *const names[][3] = {{"input_buf_size", "ejection_buf_size", "boundary_buf_size"},
                                           {"input_buffer_size", "ejection_buffer_size", "boundary_buffer_size"}};
    double channel = network_number(text, "vc_buf_size", 8), input = network_number(text, names[routed][0], 0),
           ejection = network_number(text, names[routed][1], 0), boundary = network_number(text, names[routed][2], 16);
    if (!(input > 0))
        input = 9;
    if (!(ejection > 0))
        ejection = channel;
    import_set_number(i, "interconnect", "input_buffer_flits", (uint64_t)(input + channel));
    import_set_number(i, "interconnect", "output_buffer_flits", (uint64_t)(ejection + boundary));
    import_set_number(i, "interconnect", "hop_cycles", routed ? NETWORK_HOP_CYCLES : 0);
    if (!routed)
        return;
    import_set_number(i, "interconnect", "injection_flits", (uint64_t)input);
    import_set_number(i, "interconnect", "ejection_flits", (uint64_t)boundary);
}

bool import_take_network(struct import *i, const char *target)
{
    char path[PATH_MAX], *text = network_text(i, path);
    (void)target;
    if (!text)
        return true;
    /* Of the ports of an input a virtual channel uses one. */
    double vcs = network_number(text, "num_vcs", 1), ports = network_number(text, "input_speedup", 1);
    double speedup = network_number(text, "internal_speedup", 1) * (ports < vcs ? ports : vcs);
    if (!i->flit_given)
        import_set_number(i, "interconnect", "flit_bytes", (uint64_t)network_number(text, "flit_size", 32));
    import_set_number(i, "interconnect", "speedup", speedup < 1 ? 1 : (uint64_t)speedup);
    take_buffers(i, text, network_number(text, "subnets", 0) > 0);
    if (vcs != 1)
        import_remark(i, "not carried over: %s: %g virtual channels; an input has one queue", path, vcs);
    free(text);
    return true;
}
