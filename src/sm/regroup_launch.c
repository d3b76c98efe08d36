/* Regrouped warps before the first cycle: the units and kernels that are accepted, the lanes that a unit gives its
 * threads, and the state in which a block starts. */
#include "sm/regroup_state.h"

#include <stdio.h>
#include <string.h>

static void set_lanes(struct sm *c)
{
    struct regroup *r = c->regroup;
    r->permuted = false;
    for (uint32_t home = 0; home < c->blocks.warps_each; home++) {
        uint32_t seen = 0;
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            uint32_t to = r->unit->lane ? r->unit->lane(r->state, home, lane) : lane;
            if (to >= WARP_LANES || (seen >> to & 1)) {
                regroup_trouble(c, "lane %u of warp %u is put into lane %u, which does not exist or is taken", lane,
                                home, to);
                to = lane;
            }
            seen |= 1u << to;
            r->permuted |= to != lane;
            r->physical[home][lane] = (uint8_t)to;
            r->logical[home][to] = (uint8_t)lane;
        }
    }
}

static const char *missing_hook(const struct heddle_divergence *d)
{
    const struct {
        bool there;
        const char *name;
    } hooks[] = {{d->services, "services"},
                 {d->block_start, "block_start"},
                 {d->split, "split"},
                 {d->arrived, "arrived"},
                 {d->exited, "exited"}};
    for (uint32_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (!hooks[i].there)
            return hooks[i].name;
    return NULL;
}

struct regroup *regroup_create(struct arena *a, struct sm *c, struct error *e)
{
    const char *missing = missing_hook(c->host.divergence);
    if (missing) {
        error_set(e, ERROR_INVALID, "divergence unit %s regroups warps, but has no hook '%s'",
                  c->host.divergence->policy.name, missing);
        return NULL;
    }
    if (c->host.divergence->keeps_homes && c->host.divergence->lane) {
        error_set(e, ERROR_INVALID,
                  "divergence unit %s keeps threads in the slots of their warps, and permutes their lanes: it may do "
                  "one of the two",
                  c->host.divergence->policy.name);
        return NULL;
    }
    struct regroup *r = arena_new(a, struct regroup);
    r->unit = c->host.divergence;
    r->state = c->host.divergence_state;
    r->services = (struct heddle_divergence_services){c, regroup_by_unit};
    r->unit->services(r->state, &r->services);
    c->mixes = !r->unit->keeps_homes;
    return r;
}

static bool is_block_barrier(const struct ptx_inst *in)
{
    return ptx_has_modifier(in, PTX_MOD_SYNC) && !ptx_has_modifier(in, PTX_MOD_WARP) &&
           !ptx_has_modifier(in, PTX_MOD_CLUSTER) && in->operand_count == 1 &&
           in->operands[0].kind == PTX_OPERAND_INT && in->operands[0].integer == 0;
}

static bool is_supported(const struct ptx_inst *in, const struct exec_inst *x)
{
    uint32_t flags = ptx_flags(in);
    if ((flags & (PTX_F_CALL | PTX_F_WARP)) || in->opcode == PTX_OP_brx || in->opcode == PTX_OP_mbarrier ||
        in->opcode == PTX_OP_cp)
        return false;
    if (flags & PTX_F_BARRIER)
        return is_block_barrier(in);
    return x->kind == EXEC_PLAIN || x->kind == EXEC_CONTROL;
}

static const struct ptx_inst *first_unsupported(const struct sm_program *p)
{
    const struct ptx_function *f = p->kernel->ptx;
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (!is_supported(&f->insts[i], &p->kernel->code[i]))
            return &f->insts[i];
    return NULL;
}

void regroup_begin(struct sm *c)
{
    struct regroup *r = c->regroup;
    const struct ptx_inst *in = c->mixes ? first_unsupported(c->program) : NULL;
    c->view.at_barrier &= ~c->issue.parked;
    c->issue.parked = r->draining = 0;
    set_lanes(c);
    if (!in)
        return;
    c->blocks.limit = 0; /* no block is placed, and the launch ends with this: */
    c->launch.faulted = true;
    c->launch.fault = (struct exec_fault){.kind = ERROR_UNSUPPORTED,
                                          .function = c->program->kernel,
                                          .pc = (uint32_t)(in - c->program->kernel->ptx->insts)};
    snprintf(c->launch.fault.what, sizeof c->launch.fault.what,
             "%s has no meaning where divergence unit %s regroups the threads of a block", in->spelling,
             r->unit->policy.name);
}

void regroup_place(struct sm *c, uint32_t block)
{
    struct regroup *r = c->regroup;
    const struct sm_block *placed = &c->blocks.list[block];
    struct regroup_block *b = &r->blocks[block];
    uint32_t lanes[HEDDLE_PIECES] = {0};
    memset(b, 0, sizeof *b);
    for (uint32_t i = 0; i < placed->warp_count; i++) {
        uint32_t slot = placed->first_warp + i;
        struct exec_warp *home = &placed->cta->warps[i];
        struct regroup_slot *g = &r->slots[slot];
        memset(g, 0, sizeof *g);
        g->face = (struct exec_warp){.at.function = home->at.function,
                                     .code = home->code,
                                     .cta = placed->cta,
                                     .launch = &c->launch,
                                     .index = i,
                                     .lanes = home->lanes,
                                     .state = WARP_READY};
        lanes[i] = home->lanes;
        if (c->mixes) {
            /* The home warp's own stack is out of use: no code may run the warp, or judge by its stack whether it
             * hangs. */
            home->state = WARP_FAULT;
            c->slots[slot].exec = &g->face;
        }
        b->live += (uint32_t)__builtin_popcount(lanes[i]);
        memset(b->slot_of[i], (int)slot, WARP_LANES);
        regroup_park(c, slot);
        g->had[i] = lanes[i];
    }
    r->unit->block_start(r->state, &c->view, block, placed->first_warp, placed->warp_count, lanes);
}
