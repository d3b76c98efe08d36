/* Barriers (PTX ISA 9.7.13.1-4): the sixteen named ones of a block, with reductions, and the cluster's. A warp arrives
 * as a whole, as if all its threads had executed the instruction; where its paths have diverged, when each of them
 * waits at a barrier or where paths meet (simt_block). bar.warp.sync waits only then. */
#include "exec/decode.h"
#include "exec/lanes.h"
#include "exec/race.h"
#include "exec/strands.h"

#include <stdio.h>

enum barrier_action { ACTION_SYNC, ACTION_ARRIVE, ACTION_RED_POPC, ACTION_RED_AND, ACTION_RED_OR };

static uint32_t live_warps(const struct exec_cta *cta) { return cta->warp_count - cta->warps_done; }

/* The path may wait in a function while others of its warp wait in the caller: each has the registers of its own
 * frame. */
static void deliver(struct exec_warp *w, const struct simt_entry *path, const struct exec_barrier *b)
{
    const struct call_frame *frame = path->call_depth < w->at.frame_depth ? &w->at.frames[path->call_depth] : NULL;
    const struct exec_inst *in = &(frame ? frame->function : w->at.function)->code[path->pc];
    uint8_t *registers = w->bank[BANK_FRAME];
    if (frame)
        w->bank[BANK_FRAME] = w->registers + frame->registers_offset;
    if (in->sub[0] == ACTION_RED_POPC) {
        uint32_t *d = LANES_OF(uint32_t, w, in->dst), value = b->count_true;
        FOR_EACH_LANE(path->at_barrier, i)
            d[i] = value;
    } else if (in->sub[0] == ACTION_RED_AND || in->sub[0] == ACTION_RED_OR) {
        bool result = in->sub[0] == ACTION_RED_AND ? b->all_true : b->any_true;
        write_pred(w, in->dst, path->at_barrier, result ? FULL_MASK : 0);
    }
    w->bank[BANK_FRAME] = registers;
}

static void reset(struct exec_barrier *b) { *b = (struct exec_barrier){.all_true = true}; }

bool barrier_release_paths(struct exec_warp *w, uint32_t id, const struct exec_barrier *complete)
{
    bool any = false;
    for (uint32_t k = 0; k < w->at.stack_depth; k++) {
        struct simt_entry *path = &w->at.stack[k];
        if (path->barrier != id + 1 || !path->arrived)
            continue;
        deliver(w, path, complete);
        barrier_pass(path);
        any = true;
    }
    return any;
}

static void release_if_complete(struct exec_cta *cta, uint32_t id)
{
    struct exec_barrier *b = &cta->barriers[id];
    uint32_t expected = b->expected ? b->expected : live_warps(cta) * WARP_LANES;
    if (!b->arrived || b->arrived < expected)
        return;
    struct exec_barrier complete = *b;
    reset(b); /* a warp that goes on may arrive again at once */
    if (cta->race)
        race_barrier_open(cta, id);
    for (uint32_t i = 0; complete.waiting && i < cta->warp_count; i++) {
        struct exec_warp *w = &cta->warps[i];
        bool goes_on = w->strands ? strands_release(w, id, &complete) : barrier_release_paths(w, id, &complete);
        if (goes_on && cta->race)
            race_barrier_pass(w);
        if (goes_on && w->state == WARP_AT_BARRIER) {
            w->state = WARP_READY;
            if (w->strands)
                strands_resume(w);
            else
                simt_resume(w);
        }
    }
}

bool barrier_await_members(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const uint32_t *members = LANES_OF(uint32_t, w, in->members);
    uint32_t named = members[__builtin_ctz(mask)];
    if (w->strands)
        FOR_EACH_LANE(mask, i)
            named |= members[i];
    if (!(named & w->lanes & ~w->exited & ~w->active))
        return false;
    simt_block(w, MEMBER_BARRIER, mask);
    return true;
}

/* Paths that wait at the same shfl.sync (or its like) execute it as one, in the frame that it belongs to. */
static void execute_together(struct exec_warp *w, uint32_t first)
{
    uint32_t pc = w->at.stack[first].pc, depth = w->at.stack[first].call_depth, mask = 0;
    for (uint32_t i = first; i < w->at.stack_depth; i++) {
        struct simt_entry *path = &w->at.stack[i];
        if (path->barrier != MEMBER_BARRIER || path->pc != pc || path->call_depth != depth)
            continue;
        mask |= path->at_barrier;
        barrier_pass(path);
    }
    const struct call_frame *frame = depth < w->at.frame_depth ? &w->at.frames[depth] : NULL;
    const struct exec_function *function = frame ? frame->function : w->at.function;
    uint8_t *registers = w->bank[BANK_FRAME], *constants = w->bank[BANK_CONSTANTS];
    w->bank[BANK_FRAME] = frame ? w->registers + frame->registers_offset : registers;
    w->bank[BANK_CONSTANTS] = function->constants;
    w->pc = pc;
    function->code[pc].fn(w, &function->code[pc], mask);
    w->bank[BANK_FRAME] = registers;
    w->bank[BANK_CONSTANTS] = constants;
}

/* Whoever could come to a meeting within the warp is there. */
static bool pass_within_warp(struct exec_warp *w)
{
    bool passed = false;
    uint32_t met = 0;
    for (uint32_t i = 0; i < w->at.stack_depth; i++) {
        uint8_t barrier = w->at.stack[i].barrier;
        if (barrier == WARP_BARRIER) {
            met |= w->at.stack[i].at_barrier;
            barrier_pass(&w->at.stack[i]);
        } else if (barrier == MEMBER_BARRIER) {
            execute_together(w, i);
        }
        passed |= barrier == WARP_BARRIER || barrier == MEMBER_BARRIER;
    }
    if (met && race_is_watching(w))
        race_warp_sync(w, met);
    return passed;
}

void barrier_gather(struct exec_warp *w)
{
    uint32_t reached = 0;
    if (pass_within_warp(w)) {
        if (w->state != WARP_FAULT)
            simt_resume(w);
        return;
    }
    if (exec_withheld(w))
        return;
    for (uint32_t i = 0; i < w->at.stack_depth; i++)
        reached |= barrier_reach(&w->at.stack[i]);
    barrier_arrive(w, reached);
}

void barrier_arrive(struct exec_warp *w, uint32_t ids)
{
    w->state = WARP_AT_BARRIER;
    w->barrier = w->at.stack[w->at.stack_depth - 1].barrier - 1u;
    w->barrier_pc = w->at.stack[w->at.stack_depth - 1].pc;
    for (uint32_t id = 0; id < CTA_BARRIERS; id++)
        if (ids >> id & 1) {
            w->cta->barriers[id].arrived += WARP_LANES;
            w->cta->barriers[id].waiting++;
            if (w->cta->race)
                race_barrier_arrive(w, id);
            release_if_complete(w->cta, id);
        }
}

void barrier_warp_done(struct exec_warp *w)
{
    struct exec_cta *cta = w->cta;
    if (exec_withheld(w))
        return;
    cta->warps_done++;
    if (cta->race)
        race_warp_done(w);
    for (uint32_t id = 0; id < CTA_BARRIERS; id++)
        if (cta->barriers[id].arrived && !cta->barriers[id].expected)
            release_if_complete(cta, id);
}

static void note_predicate(struct exec_barrier *b, const struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t bits = read_pred(w, in->src[2], in->sub[1]) & mask;
    b->count_true += (uint32_t)__builtin_popcount(bits);
    b->any_true |= bits != 0;
    b->all_true &= bits == mask;
}

static void barrier_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (!mask) {
        simt_next(w);
        return;
    }
    if (exec_withheld(w))
        return;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    uint32_t id = LANES_OF(uint32_t, w, in->src[0])[lane];
    uint32_t expected = in->sub[2] ? LANES_OF(uint32_t, w, in->src[1])[lane] : 0;
    if (id >= CTA_BARRIERS) {
        exec_raise(w, ERROR_INSTRUCTION, lane, id, 4, "barrier %u: a block has barriers 0 to 15", id);
        return;
    }
    if (expected % WARP_LANES || expected > w->cta->warp_count * WARP_LANES || (in->sub[2] && !expected)) {
        exec_raise(w, ERROR_INSTRUCTION, lane, expected, 4,
                   "barrier for %u threads: the count must be a multiple of 32 within the block's threads", expected);
        return;
    }
    struct exec_barrier *b = &w->cta->barriers[id];
    if (in->sub[0] >= ACTION_RED_POPC)
        note_predicate(b, w, in, mask);
    b->expected = expected;
    if (in->sub[0] != ACTION_ARRIVE) {
        simt_block(w, (uint8_t)(id + 1), mask);
        return;
    }
    bool all_here =
        !w->strands || strands_all_came(w, id, mask); /* lanes that have come apart count when the last one is here */
    b->arrived += all_here ? WARP_LANES : 0;
    simt_next(w);
    if (all_here && w->cta->race)
        race_barrier_arrive(w, id);
    if (all_here)
        release_if_complete(w->cta, id);
}

void barrier_describe(const struct exec_warp *w, char *out, uint32_t out_bytes)
{
    const struct exec_barrier *b = &w->cta->barriers[w->barrier];
    uint32_t expected = b->expected ? b->expected : live_warps(w->cta) * WARP_LANES;
    snprintf(out, out_bytes, "barrier %u, where %u of %u threads have arrived", w->barrier, b->arrived, expected);
}

/* The cluster's barrier */

static uint32_t cluster_warps(const struct exec_cluster *c)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < c->block_count; i++)
        if (c->blocks[i])
            warps += live_warps(c->blocks[i]);
    return warps;
}

static void cluster_arrive_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    struct exec_cluster *c = mask ? w->cta->cluster : NULL;
    if (c && exec_withheld(w))
        return;
    if (c && w->strands && !strands_all_came(w, CLUSTER_BARRIER, mask)) {
        w->cluster_phase = c->phase;
        w->cluster_arrived = true;
    } else if (c) {
        w->cluster_phase = c->phase;
        w->cluster_arrived = true;
        if (++c->arrived_warps >= cluster_warps(c)) {
            c->arrived_warps = 0;
            c->phase++;
        }
    }
    simt_next(w);
}

static void cluster_wait_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    struct exec_cluster *c = mask ? w->cta->cluster : NULL;
    if (c && c->arrived_warps && c->arrived_warps >= cluster_warps(c)) { /* the rest has ended */
        if (exec_withheld(w))
            return;
        c->arrived_warps = 0;
        c->phase++;
    }
    if (c && w->cluster_arrived && c->phase == w->cluster_phase) {
        w->state = WARP_ASLEEP; /* tried again on the warp's next turn */
        return;
    }
    if (mask)
        w->cluster_arrived = false;
    simt_next(w);
}

/* Nothing to wait for, unless lanes that are named are on another path. */
static void warp_barrier_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t named = mask ? LANES_OF(uint32_t, w, in->src[0])[__builtin_ctz(mask)] : 0;
    if (named & w->lanes & ~w->exited & ~w->active) {
        simt_block(w, WARP_BARRIER, mask);
        return;
    }
    if (mask && race_is_watching(w))
        race_warp_sync(w, mask);
    simt_next(w);
}

/* Decoding */

static bool decode_cluster_barrier(struct decoder *d)
{
    bool arrive = decode_take(d, PTX_MOD_ARRIVE), wait = decode_take(d, PTX_MOD_WAIT);
    decode_take_memory_hints(d);
    if (arrive == wait || !decode_count(d, 0, 0))
        return decode_wrong(d, NULL, "expected barrier.cluster.arrive or barrier.cluster.wait");
    d->out->kind = EXEC_CONTROL;
    d->out->fn = arrive ? cluster_arrive_handler : cluster_wait_handler;
    return true;
}

static bool decode_reduction(struct decoder *d)
{
    static const enum ptx_modifier operations[] = {PTX_MOD_POPC, PTX_MOD_AND, PTX_MOD_OR};
    int operation = decode_take_one(d, operations, 3);
    if (operation < 0)
        return decode_wrong(d, NULL, "a reducing barrier needs .popc, .and or .or");
    d->out->sub[0] = (uint8_t)(ACTION_RED_POPC + operation);
    if (!decode_count(d, 3, 4))
        return false;
    bool has_count = d->in->operand_count == 4, negated = false;
    d->out->sub[2] = has_count;
    bool ok = operation == 0 ? decode_dst(d, 0, PTX_U32, &d->out->dst)
                             : decode_pred_dst(d, decode_operand(d, 0), &d->out->dst);
    ok = ok && decode_src(d, 1, PTX_U32, &d->out->src[0]) &&
         (!has_count || decode_src(d, 2, PTX_U32, &d->out->src[1])) &&
         decode_pred_src(d, decode_operand(d, has_count ? 3 : 2), &d->out->src[2], &negated);
    d->out->sub[1] = negated;
    return ok;
}

bool decode_barrier(struct decoder *d)
{
    decode_take(d, PTX_MOD_ALIGNED);
    if (decode_take(d, PTX_MOD_CLUSTER))
        return decode_cluster_barrier(d);
    decode_take(d, PTX_MOD_CTA);
    if (decode_take(d, PTX_MOD_WARP)) {
        decode_take(d, PTX_MOD_SYNC);
        d->out->kind = EXEC_CONTROL;
        d->out->fn = warp_barrier_handler;
        return decode_count(d, 1, 1) && decode_src(d, 0, PTX_B32, &d->out->src[0]);
    }
    d->out->kind = EXEC_CONTROL;
    d->out->fn = barrier_handler;
    if (decode_take(d, PTX_MOD_RED))
        return decode_reduction(d);
    if (decode_take(d, PTX_MOD_ARRIVE)) {
        d->out->sub[0] = ACTION_ARRIVE;
        if (!decode_count(d, 2, 2))
            return false;
    } else if (!decode_take(d, PTX_MOD_SYNC)) {
        return decode_wrong(d, NULL, "a barrier needs .sync, .arrive or .red");
    }
    if (!decode_count(d, 1, 2))
        return false;
    d->out->sub[2] = d->in->operand_count == 2;
    return decode_src(d, 0, PTX_U32, &d->out->src[0]) &&
           (!d->out->sub[2] || decode_src(d, 1, PTX_U32, &d->out->src[1]));
}
