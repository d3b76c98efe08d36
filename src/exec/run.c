/* The interpreter: fetch the record, find the lanes, call the handler. */
#include "exec/lanes.h"
#include "exec/strands.h"

static inline uint32_t guarded(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (in->guard_mode) {
        uint32_t guard = *(const uint32_t *)lane_data(w, in->guard);
        mask &= in->guard_mode == 1 ? guard : ~guard;
    }
    return mask;
}

static inline uint32_t lanes_of(const struct exec_warp *w, const struct exec_inst *in)
{
    return guarded(w, in, w->active);
}

/* Instructions one after another with the same lanes, yet to be counted: counting lanes takes longer than many an
 * instruction. */
struct tally {
    uint64_t *counts; /* by number of lanes */
    uint32_t mask, instructions;
};

static inline void tally_flush(struct tally *t)
{
    t->counts[__builtin_popcount(t->mask)] += t->instructions;
    t->instructions = 0;
}

static inline void tally_note(struct tally *t, uint32_t mask)
{
    if (mask != t->mask) {
        tally_flush(t);
        t->mask = mask;
    }
    t->instructions++;
}

static inline void execute(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    w->executed++;
    if (in->kind == EXEC_CONTROL) {
        in->fn(w, in, mask);
        return;
    }
    if (in->kind == EXEC_SYNC && mask && w->active != (w->lanes & ~w->exited) && barrier_await_members(w, in, mask))
        return;
    if (mask)
        in->fn(w, in, mask);
    simt_next(w);
}

uint32_t exec_lanes(const struct exec_warp *w) { return lanes_of(w, &w->code[w->pc]); }

uint32_t exec_lanes_of(const struct exec_warp *w, const struct exec_inst *in, uint32_t lanes)
{
    return guarded(w, in, lanes);
}

uint32_t exec_advance(struct exec_warp *w)
{
    uint32_t mask = lanes_of(w, &w->code[w->pc]);
    w->executed++;
    w->launch->counters.lanes[__builtin_popcount(mask)]++;
    simt_next(w);
    return mask;
}

void exec_perform(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (w->strands && mask) {
        strands_perform(w, in, mask);
        return;
    }
    uint32_t pc = w->pc;
    w->pc = (uint32_t)(in - w->code); /* for a fault's message */
    if (mask)
        in->fn(w, in, mask);
    if (w->state != WARP_FAULT)
        w->pc = pc;
}

static inline void after_step(struct exec_warp *w)
{
    if (w->state == WARP_PARTED)
        w->state = WARP_READY;
    strands_meet(w);
}

void exec_step(struct exec_warp *w)
{
    const struct exec_inst *in = &w->code[w->pc];
    uint32_t mask = lanes_of(w, in);
    w->launch->counters.lanes[mask == FULL_MASK ? WARP_LANES : __builtin_popcount(mask)]++;
    execute(w, in, mask);
    if (unlikely(w->strands))
        after_step(w);
}

/* As long as the warp is apart. */
static uint32_t run_apart(struct exec_warp *w, uint32_t budget)
{
    uint32_t done = 0;
    while (done < budget && w->state == WARP_READY && w->strands) {
        exec_step(w);
        done++;
    }
    return done;
}

uint32_t exec_run(struct exec_warp *w, uint32_t budget)
{
    struct tally t = {.counts = w->launch->counters.lanes};
    uint32_t done = 0;
    for (bool parted = true; parted;) {
        if (w->strands)
            done += run_apart(w, budget - done);
        while (done < budget && w->state == WARP_READY) {
            const struct exec_inst *in = &w->code[w->pc];
            uint32_t mask = lanes_of(w, in);
            tally_note(&t, mask);
            execute(w, in, mask);
            done++;
        }
        parted = w->state == WARP_PARTED;
        if (parted)
            after_step(w);
    }
    tally_flush(&t);
    exec_end_turn(w);
    return done;
}

const char *exec_built_for(void)
{
#if defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__)
    return "x86-64-v3";
#elif defined(__x86_64__)
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "unknown";
#endif
}
