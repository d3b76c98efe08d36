/* When lanes that wait for others of their warp go on without them. On GPUs since sm_70 a lane that spins until another
 * one of its warp does something gets what it waits for; under a reconvergence stack that other lane may wait, after
 * the loop or on the other side of a branch, for the one that spins. So, for code of such architectures, where lanes of
 * a warp have waited for long for others, and those come back to the same state without having changed anything, the
 * ones that wait are let go, as a strand (strands.c). Where lanes have spun once in a launch, those that come out of
 * the loop later do not wait; and what cannot be shown, since the loop counts or looks at a clock, is believed after a
 * million instructions.
 *
 * A warp is looked at when its turn ends; nothing here depends on the host's time. Code that never spins while lanes
 * wait runs as ever. */
#include "exec/strands.h"

enum {
    FIRST_LOOK = 4096,     /* warp instructions that lanes have waited */
    SOON = 512,            /* the same, where lanes have spun before */
    AT_LAST = 1 << 20,     /* the same, without a proof */
    LOOK_FACTOR = 4,       /* between one look and the next */
    STEPS_SHARE = 8,       /* a look may take this part of the instructions that led to it */
    COPY_BYTES_SHARE = 16, /* and copy this many bytes for each of them */
    MOST_STEPS = 20000,
};

static bool has_spun(const struct exec_warp *w, uint32_t rpc)
{
    const struct exec_launch *l = w->launch;
    for (uint32_t i = 0; i < l->spun_count; i++)
        if (l->spun[i].function == w->at.function && l->spun[i].rpc == rpc)
            return true;
    return false;
}

static bool has_spun_here(const struct exec_warp *w) { return has_spun(w, w->rpc); }

static void note_spun(struct exec_warp *w)
{
    struct exec_launch *l = w->launch;
    if (has_spun_here(w) || l->spun_count == sizeof l->spun / sizeof l->spun[0])
        return;
    l->spun[l->spun_count].function = w->at.function;
    l->spun[l->spun_count++].rpc = w->rpc;
}

static void watch_anew(struct exec_warp *w)
{
    w->at.ran = w->active;
    w->at.look_from = w->executed;
    w->at.look_after = FIRST_LOOK;
}

/* The lanes to be let go, or none. */
static uint32_t look(struct exec_warp *w, uint32_t lanes, uint64_t waited)
{
    uint64_t steps = waited / STEPS_SHARE < MOST_STEPS ? waited / STEPS_SHARE : MOST_STEPS;
    uint64_t copied = w->registers_bytes + (uint64_t)w->launch->local_bytes * WARP_LANES;
    uint32_t spinning = 0;
    if (has_spun_here(w) || waited >= AT_LAST)
        return lanes & ~w->at.ran;
    if (copied > waited * COPY_BYTES_SHARE || !exec_path_spins(w, (struct exec_pending){0}, (uint32_t)steps, &spinning))
        return 0;
    return lanes & ~spinning;
}

/* True: lanes were let go, and it is their turn. */
static bool let_go(struct exec_warp *w)
{
    uint32_t lanes = strands_lanes(w);
    uint64_t waited = w->executed - w->at.look_from;
    if (!(lanes & ~w->at.ran) || !w->at.look_after) {
        watch_anew(w);
        return false;
    }
    if (waited < w->at.look_after && !(waited >= SOON && has_spun_here(w)))
        return false;
    uint32_t waiting = look(w, lanes, waited);
    if (waiting) {
        note_spun(w);
        watch_anew(w);
        strands_part(w, waiting);
        return true;
    }
    w->at.ran = w->active;
    w->at.look_after *= LOOK_FACTOR;
    return false;
}

void let_go_at_once(struct exec_warp *w, uint32_t meet, uint32_t lanes)
{
    lanes &= ~w->active;
    if (!lanes || !has_spun(w, meet) || exec_withheld(w))
        return;
    watch_anew(w);
    strands_part(w, lanes);
    if (w->state == WARP_READY)
        w->state = WARP_PARTED; /* so that whoever runs it takes notice */
}

void exec_end_turn(struct exec_warp *w)
{
    if (w->state != WARP_READY && w->state != WARP_ASLEEP)
        return;
    bool waiting = w->active != strands_lanes(w);
    if (!waiting && w->at.look_after)
        w->at.look_after = 0;
    if (waiting && exec_lanes_are_independent(w->launch) && let_go(w))
        return;
    if (w->strands)
        strands_turn(w);
}
