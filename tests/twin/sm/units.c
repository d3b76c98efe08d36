/* SP, SFU and DP pipelines and their writeback. */
#include "sm/sm.h"

enum { WRITEBACK_CYCLES = 2 }; /* from the end of execution to the register file */

void twin_units_init(struct sm *c)
{
    const struct sm_config *g = c->config;
    for (uint32_t i = 0; i < g->sp_units + g->sfu_units + g->dp_units && c->unit_count < UNITS; i++)
        c->units[c->unit_count++].kind = i < g->sp_units ? KIND_SP : KIND_SFU;
}

/* Results of this cycle: in the order in which their instructions began. */
void twin_writeback(struct sm *c)
{
    uint32_t kept = 0, count = c->executing_count;
    for (uint32_t i = 0; i < count; i++) {
        struct executing x = c->executing[i];
        if (x.end != c->now) {
            c->executing[kept++] = x;
            continue;
        }
        const struct instruction *f = &c->inflight[x.id];
        for (uint32_t k = f->inst->check_count - f->inst->destination_count; k < f->inst->check_count; k++)
            twin_write_bank(c, f->slot, f->inst->banks[k]);
        twin_release(c, x.id);
        twin_finish(c, x.id);
    }
    c->executing_count = kept;
}

/* May an instruction begin in the unit, to end in cycle `end`? The unit's other results end in other cycles, and a
 * result bus is free. */
static bool has_room_at(const struct sm *c, uint32_t unit, uint64_t end)
{
    uint32_t results = 0;
    for (uint32_t i = 0; i < c->executing_count; i++) {
        if (c->executing[i].end != end)
            continue;
        if (c->executing[i].unit == unit)
            return false;
        results++;
    }
    return results < c->config->writeback_width;
}

void twin_start_units(struct sm *c)
{
    for (uint32_t i = 0; i < c->unit_count; i++) {
        struct unit *u = &c->units[i];
        int32_t id = twin_collected(c, u->kind);
        if (id == NOTHING || u->free_at > c->now)
            continue;
        const struct sm_inst *in = c->inflight[id].inst;
        uint64_t end = c->now + in->latency + WRITEBACK_CYCLES;
        if (!has_room_at(c, i, end))
            continue;
        u->free_at = c->now + in->initiation;
        c->executing[c->executing_count++] = (struct executing){.id = (uint32_t)id, .unit = i, .end = end};
        twin_take_collected(c, u->kind);
    }
}
