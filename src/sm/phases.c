/* Makes the steps of the phase analysis from PTX: registers by ptx_visit_regs, latencies by the machine's table, as
 * the core itself uses them. */
#include "sm/phases.h"

#include "sm/program.h"

enum { REGISTERS_MOST = 64 };

struct reading {
    uint32_t sources[REGISTERS_MOST], destinations[REGISTERS_MOST], source_count, destination_count;
};

static void collect(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct reading *r = context;
    if (role == PTX_REG_USE && r->source_count < REGISTERS_MOST)
        r->sources[r->source_count++] = reg->index;
    else if (role == PTX_REG_DEFINE && r->destination_count < REGISTERS_MOST)
        r->destinations[r->destination_count++] = reg->index;
}

static const uint32_t *copied(struct arena *a, const uint32_t *from, uint32_t count)
{
    uint32_t *to = arena_array(a, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        to[i] = from[i];
    return to;
}

static bool takes_long(const struct ptx_inst *in, bool is_entry)
{
    uint32_t flags = ptx_flags(in);
    enum sm_memory memory = sm_memory_of(in, is_entry);
    return (flags & (PTX_F_LOAD | PTX_F_ATOMIC | PTX_F_TEXTURE)) && memory != SM_CONST && memory != SM_NO_MEMORY;
}

uint32_t sm_find_phases(const struct ptx_function *f, const struct sm_config *config, enum ptx_phase_order order,
                        struct ptx_phase *out, uint32_t *latencies)
{
    struct arena scratch = {0};
    struct ptx_phase_step *steps = arena_array(&scratch, struct ptx_phase_step, f->inst_count + 1);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->insts[i];
        struct sm_inst cost = {0};
        struct reading r = {.source_count = 0};
        sm_set_cost(&cost, in, config);
        ptx_visit_regs(f, in, collect, &r);
        steps[i] = (struct ptx_phase_step){.latency_cycles = cost.latency,
                                           .load = takes_long(in, f->is_entry),
                                           .sources = copied(&scratch, r.sources, r.source_count),
                                           .destinations = copied(&scratch, r.destinations, r.destination_count),
                                           .source_count = r.source_count,
                                           .destination_count = r.destination_count};
        if (latencies)
            latencies[i] = cost.latency;
    }
    uint32_t phases = ptx_find_phases(steps, f->inst_count, f->reg_count, order, out);
    arena_free(&scratch);
    return phases;
}
