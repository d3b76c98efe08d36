/* SP, SFU and DP pipelines, and the writing of their results: after GPGPU-Sim's.
 *
 * A unit takes an instruction that has its operands, one initiation interval after the one before at the earliest. No
 * two instructions of a unit end in the same cycle, and at most writeback_width of all units do. */
#include "model/model.h"

enum { WRITEBACK_CYCLES = 2 }; /* from the end of execution to the register file */

void model_units_init(struct sm *c)
{
    const struct sm_config *g = c->config;
    for (uint32_t i = 0; i < g->sp_units + g->sfu_units + g->dp_units && c->unit_count < UNITS; i++)
        c->units[c->unit_count++].kind = i < g->sp_units ? KIND_SP : KIND_SFU;
}

/* The banks of sub-cores have room for results. */
static void write_banks(struct sm *c, const struct instruction *f)
{
    const struct sm_inst *in = f->inst;
    if (c->has_subcores)
        return;
    for (uint32_t i = in->check_count - in->destination_count; i < in->check_count; i++)
        model_write_bank(c, f->slot, in->banks[i]);
}

/* Results of this cycle, in the order in which their instructions began. */
void model_write_results(struct sm *c)
{
    uint32_t left = 0, count = c->executing_count;
    for (uint32_t i = 0; i < count; i++) {
        struct executing x = c->executing[i];
        if (x.end == c->now) {
            write_banks(c, &c->inflight[x.id]);
            model_end(c, x.id);
        } else {
            c->executing[left++] = x;
        }
    }
    c->executing_count = left;
}

void model_end_at(struct sm *c, uint32_t id, uint32_t unit, uint64_t end)
{
    c->executing[c->executing_count++] = (struct executing){.id = id, .unit = unit, .end = end};
}

/* May an instruction begin in the unit, to end in the cycle `end`? */
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

void model_start_units(struct sm *c)
{
    for (uint32_t i = 0; i < c->unit_count; i++) {
        struct unit *u = &c->units[i];
        int32_t id = model_collected(c, u->kind);
        if (id == NOTHING || u->free_at > c->now)
            continue;
        const struct sm_inst *in = c->inflight[id].inst;
        uint64_t end = c->now + in->latency + WRITEBACK_CYCLES;
        if (!has_room_at(c, i, end))
            continue;
        u->free_at = c->now + in->initiation;
        model_end_at(c, (uint32_t)id, i, end);
        model_take_collected(c, u->kind);
    }
}
