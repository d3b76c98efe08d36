/* Meetings within a warp that has come apart: bar.warp.sync, and shfl.sync and its like, which all lanes that they name
 * execute as one, wherever they come from.
 *
 * A lane names those it waits for. Who waits for one another, be it through others, goes on together, when all who are
 * named and have not exited are there. */
#include "exec/lanes.h"
#include "exec/race.h"
#include "exec/strands.h"

/* A path that waits, and the call it is in. */
struct guest {
    struct strand *strand;
    struct simt_entry *path;
    const struct exec_function *function;
    uint32_t registers_offset;
};

static struct guest guest_of(struct strand *s, struct simt_entry *path)
{
    const struct call_frame *frame = path->call_depth < s->at.frame_depth ? &s->at.frames[path->call_depth] : NULL;
    return (struct guest){s, path, frame ? frame->function : s->at.function,
                          frame ? frame->registers_offset : s->at.registers_offset};
}

static bool waits_within_warp(const struct simt_entry *path)
{
    return path->barrier == WARP_BARRIER || path->barrier == MEMBER_BARRIER;
}

/* Where bar.warp.sync stands does not matter; the others exchange values, and must be the same instruction. */
static bool same_meeting(const struct guest *a, const struct guest *b)
{
    return a->path->barrier == b->path->barrier &&
           (a->path->barrier == WARP_BARRIER || (a->function == b->function && a->path->pc == b->path->pc));
}

struct banks {
    uint8_t *frame, *constants;
};

static struct banks use_banks(struct exec_warp *w, const struct guest *g)
{
    struct banks before = {w->bank[BANK_FRAME], w->bank[BANK_CONSTANTS]};
    w->bank[BANK_FRAME] = w->registers + g->registers_offset;
    w->bank[BANK_CONSTANTS] = g->function->constants;
    return before;
}

static void put_banks(struct exec_warp *w, struct banks b)
{
    w->bank[BANK_FRAME] = b.frame;
    w->bank[BANK_CONSTANTS] = b.constants;
}

static uint32_t lanes_named(struct exec_warp *w, const struct guest *g)
{
    const struct exec_inst *in = &g->function->code[g->path->pc];
    struct banks before = use_banks(w, g);
    const uint32_t *members = LANES_OF(uint32_t, w, in->kind == EXEC_SYNC ? in->members : in->src[0]);
    uint32_t named = 0;
    FOR_EACH_LANE(g->path->at_barrier, i)
        named |= members[i];
    put_banks(w, before);
    return named;
}

enum { MOST_GUESTS = WARP_LANES };
struct meeting {
    struct guest guests[MOST_GUESTS];
    uint32_t count, lanes;
};

static void invite(struct meeting *m, const struct guest *g)
{
    if (m->lanes & g->path->at_barrier)
        return;
    m->lanes |= g->path->at_barrier;
    m->guests[m->count++] = *g;
}

/* All that wait at the same meeting; wanted: among those, only such as have lanes in it. */
static void invite_all(struct exec_warp *w, struct meeting *m, const struct guest *first, uint32_t wanted)
{
    for (uint32_t i = 0; i < w->strands->count; i++) {
        struct strand *s = &w->strands->list[i];
        for (uint32_t k = 0; k < s->at.stack_depth; k++) {
            struct guest g = guest_of(s, &s->at.stack[k]);
            if (waits_within_warp(g.path) && same_meeting(first, &g) && (g.path->at_barrier & wanted))
                invite(m, &g);
        }
    }
}

/* True: nobody is missing. */
static bool is_complete(struct exec_warp *w, const struct guest *first, struct meeting *m)
{
    uint32_t wanted = 0, seen = 0;
    *m = (struct meeting){0};
    invite(m, first);
    for (uint32_t next = lanes_named(w, first); next != wanted;) {
        wanted = next;
        invite_all(w, m, first, wanted);
        for (; seen < m->count; seen++)
            next |= lanes_named(w, &m->guests[seen]);
    }
    return !(wanted & w->lanes & ~w->exited & ~m->lanes);
}

/* In the frame of the first; those who made the same call by themselves have frames of their own. */
static void execute_as_one(struct exec_warp *w, const struct meeting *m)
{
    const struct guest *first = &m->guests[0];
    const struct exec_inst *in = &first->function->code[first->path->pc];
    uint8_t *here = w->registers + first->registers_offset;
    for (uint32_t i = 1; i < m->count; i++)
        if (m->guests[i].registers_offset != first->registers_offset)
            registers_copy_lanes(first->function, here, w->registers + m->guests[i].registers_offset,
                                 m->guests[i].path->at_barrier);
    struct banks before = use_banks(w, first);
    uint32_t pc = w->pc;
    w->pc = first->path->pc;
    in->fn(w, in, m->lanes);
    w->pc = w->state == WARP_FAULT ? w->pc : pc;
    put_banks(w, before);
    for (uint32_t i = 1; i < m->count; i++)
        if (m->guests[i].registers_offset != first->registers_offset)
            registers_copy_lanes(first->function, w->registers + m->guests[i].registers_offset, here,
                                 m->guests[i].path->at_barrier);
}

static void hold(struct exec_warp *w, const struct meeting *m)
{
    if (m->guests[0].path->barrier == MEMBER_BARRIER)
        execute_as_one(w, m);
    else if (race_is_watching(w))
        race_warp_sync(w, m->lanes);
    for (uint32_t i = 0; i < m->count; i++) {
        barrier_pass(m->guests[i].path);
        m->guests[i].strand->blocked = false;
    }
}

/* whoever_came: nobody else will. */
static bool pass(struct exec_warp *w, bool whoever_came)
{
    bool passed = false;
    for (uint32_t i = 0; i < w->strands->count; i++) {
        struct strand *s = &w->strands->list[i];
        for (uint32_t k = 0; k < s->at.stack_depth && w->state != WARP_FAULT; k++) {
            if (!waits_within_warp(&s->at.stack[k]))
                continue;
            struct guest first = guest_of(s, &s->at.stack[k]);
            struct meeting m;
            bool complete = is_complete(w, &first, &m);
            if (!complete && !whoever_came)
                continue;
            if (!complete)
                invite_all(w, &m, &first, FULL_MASK);
            hold(w, &m);
            passed = true;
        }
    }
    return passed;
}

void meeting_pass_complete(struct exec_warp *w) { pass(w, false); }

bool meeting_pass_all(struct exec_warp *w) { return pass(w, true); }
