/* Instructions without time, inside a launch whose cores stand still.
 *
 * Each core executes as many as it would have in a number of cycles, at its speed in the last timed stretch, and each
 * of its warps its share of these: a scheduler that prefers some warps has them ahead of the others here as well.
 * Blocks that end make room for the next of the grid. The work is done in turns, so that warps and blocks that wait for
 * each other go on together. */
#include "base/out_of_memory.h"
#include "gpu/sample_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURNS = 64,      /* turns of a core in a gap */
    LEAST_SLICE = 8, /* instructions of a warp at a time */
    LARGEST_SLICE = 1 << 20,
    LAST_SLICE = 16, /* in the last turn: shorter, so that blocks do not all stand at barriers when time goes on */
};
static const double lost_most = 0.1; /* the share of the resident blocks that may end without others following */

struct core_rates {
    double per_cycle;               /* instructions */
    uint32_t warps;                 /* resident at the end of the stretch */
    uint64_t age[CORE_WARPS_MOST];  /* of the warp in a slot at the beginning of the stretch; UINT64_MAX means none */
    uint64_t from[CORE_WARPS_MOST]; /* instructions that it had executed by then */
    double owed;                    /* instructions that the core has still to execute */
    double credit[CORE_WARPS_MOST]; /* and the warps in its slots */
};

struct sample_rates {
    uint32_t cores;
    uint64_t since;
    double cycles;                 /* of the stretch */
    double share[CORE_WARPS_MOST]; /* the share of its oldest warp in a core's instructions, of the next oldest, ... */
    struct core_rates list[];
};

struct sample_rates *sample_rates_create(uint32_t cores)
{
    struct sample_rates *s = calloc(1, sizeof *s + cores * sizeof *s->list);
    if (!s)
        out_of_memory();
    s->cores = cores;
    return s;
}

void sample_rates_free(struct sample_rates *s) { free(s); }

void sample_rates_begin(struct sample_rates *s, const struct timing *t, const struct residency *r)
{
    s->since = t->now;
    for (uint32_t i = 0; i < s->cores; i++) {
        struct core_rates *c = &s->list[i];
        c->per_cycle = -sample_instructions(&sm_launch(t->cores[i])->counters);
        for (uint32_t slot = 0; slot < CORE_WARPS_MOST; slot++) {
            struct sm_progress p;
            bool there = t->blocks.owner[i] == r && sm_warp_progress(t->cores[i], slot, &p);
            c->age[slot] = there ? p.age : UINT64_MAX;
            c->from[slot] = there ? p.executed : 0;
        }
    }
}

/* The warps of a core, from the oldest to the youngest. */
struct ranking {
    uint32_t count;
    uint32_t slot[CORE_WARPS_MOST];
    struct sm_progress warp[CORE_WARPS_MOST];
};

static void rank(const struct sm *core, struct ranking *out)
{
    out->count = 0;
    for (uint32_t slot = 0; slot < CORE_WARPS_MOST; slot++) {
        struct sm_progress p;
        if (!sm_warp_progress(core, slot, &p))
            continue;
        uint32_t at = out->count++;
        for (; at && out->warp[at - 1].age > p.age; at--) {
            out->warp[at] = out->warp[at - 1];
            out->slot[at] = out->slot[at - 1];
        }
        out->warp[at] = p;
        out->slot[at] = slot;
    }
}

/* That a core was faster than others with as many warps is mostly chance: over n times as long it adds up to sqrt(n)
 * times as much. */
static void level(struct sample_rates *s, double times)
{
    double sum[CORE_WARPS_MOST + 1] = {0}, count[CORE_WARPS_MOST + 1] = {0};
    for (uint32_t i = 0; i < s->cores; i++) {
        sum[s->list[i].warps] += s->list[i].per_cycle;
        count[s->list[i].warps]++;
    }
    for (uint32_t i = 0; i < s->cores; i++) {
        struct core_rates *c = &s->list[i];
        double mean = sum[c->warps] / count[c->warps];
        c->per_cycle = mean + (c->per_cycle - mean) / sqrt(times > 1 ? times : 1);
    }
}

/* Warps of one age: how many cores had one, the sum of the instructions that these executed, and of their squares. */
struct age_sums {
    double count[CORE_WARPS_MOST], sum[CORE_WARPS_MOST], squares[CORE_WARPS_MOST];
};

/* Warps of an age count as faster or slower than the others only where most cores agree. */
static void set_shares(struct sample_rates *s, const struct age_sums *a)
{
    double all = 0, count = 0;
    for (uint32_t k = 0; k < CORE_WARPS_MOST; k++) {
        all += a->sum[k];
        count += a->count[k];
    }
    all = count > 0 ? all / count : 1;
    for (uint32_t k = 0; k < CORE_WARPS_MOST; k++) {
        double n = a->count[k], mean = n > 0 ? a->sum[k] / n : all, by = mean - all;
        double error = n > 1 ? (a->squares[k] / n - mean * mean) / (n - 1) : 0, known = by * by - 4 * error;
        s->share[k] = 1 + (known > 0 ? all + by * known / (by * by) : all);
    }
}

/* Warps that began in the stretch count from their beginning. */
void sample_rates_end(struct sample_rates *s, const struct timing *t, const struct residency *r)
{
    double cycles = s->cycles = (double)(t->now - s->since);
    struct age_sums ages = {0};
    for (uint32_t i = 0; i < s->cores; i++) {
        struct core_rates *c = &s->list[i];
        struct ranking now = {.count = 0};
        c->per_cycle = (c->per_cycle + sample_instructions(&sm_launch(t->cores[i])->counters)) / cycles;
        if (t->blocks.owner[i] == r)
            rank(t->cores[i], &now);
        c->warps = now.count;
        for (uint32_t k = 0; k < now.count; k++) {
            uint64_t from = now.warp[k].age == c->age[now.slot[k]] ? c->from[now.slot[k]] : 0;
            double executed = (double)(now.warp[k].executed - from);
            ages.count[k]++;
            ages.sum[k] += executed;
            ages.squares[k] += executed * executed;
        }
    }
    set_shares(s, &ages);
}

static bool replace_block(struct timing *t, struct residency *r, struct sm *core, struct error *e)
{
    t->blocks.done += sm_head(core)->blocks_ended;
    sm_head(core)->blocks_ended = 0;
    return r->blocks.next == r->blocks.count || timing_place_block(t, r, core, e);
}

/* Gives warps their shares of the instructions that the core owes; those that wait have none. */
static void divide(const struct sample_rates *s, struct core_rates *c, const struct ranking *now)
{
    double shares = 0, owed = c->owed;
    for (uint32_t k = 0; k < now->count; k++)
        owed -= c->credit[now->slot[k]];
    for (uint32_t k = 0; k < now->count; k++)
        shares += now->warp[k].can_go_on ? s->share[k] : 0;
    for (uint32_t k = 0; k < now->count && shares > 0 && owed > 0; k++)
        c->credit[now->slot[k]] += now->warp[k].can_go_on ? owed * s->share[k] / shares : 0;
}

/* Lets each of the core's warps execute a slice. *done: instructions. False: an error, *e. */
static bool go_around(const struct sample_rates *s, struct core_rates *c, struct timing *t, struct residency *r,
                      struct sm *core, uint32_t most, double *done, struct error *e)
{
    struct ranking now;
    rank(core, &now);
    divide(s, c, &now);
    *done = 0;
    for (uint32_t k = 0; k < now.count; k++) {
        uint32_t slot = now.slot[k];
        double slice = c->credit[slot] < most ? c->credit[slot] : most;
        if (slice < LEAST_SLICE)
            continue;
        uint32_t executed = sm_skip(core, slot, (uint32_t)slice);
        *done += executed;
        c->credit[slot] = executed < (uint32_t)slice ? 0 : c->credit[slot] - executed;
        if (sm_launch(core)->faulted)
            return sm_check(core, e);
        if (sm_end_block(core, slot) && !replace_block(t, r, core, e))
            return false;
    }
    return true;
}

static bool run_core(const struct sample_rates *s, struct core_rates *c, struct timing *t, struct residency *r,
                     struct sm *core, double instructions, uint32_t most, struct error *e)
{
    double done = 1;
    c->owed += instructions;
    while (c->owed >= 1 && done > 0) {
        if (!go_around(s, c, t, r, core, most, &done, e))
            return false;
        c->owed -= done;
    }
    if (c->owed > instructions) /* its warps wait, and do not make up for it later */
        c->owed = instructions;
    return true;
}

static uint32_t resident(const struct timing *t, const struct residency *r)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        sum += t->blocks.owner[i] == r ? (uint32_t)__builtin_popcountll(sm_blocks_used(t->cores[i])) : 0;
    return sum;
}

bool sample_gap(struct sample_rates *s, struct timing *t, struct residency *r, double cycles)
{
    uint32_t least = (uint32_t)((1 - lost_most) * resident(t, r));
    level(s, cycles / s->cycles);
    for (uint32_t i = 0; i < s->cores; i++) {
        s->list[i].owed = 0;
        memset(s->list[i].credit, 0, sizeof s->list[i].credit);
    }
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < s->cores; i++)
            if (t->blocks.owner[i] == r &&
                !run_core(s, &s->list[i], t, r, t->cores[i], s->list[i].per_cycle * cycles / TURNS,
                          turn + 1 < TURNS ? LARGEST_SLICE : LAST_SLICE, &r->error))
                return false;
        if (r->blocks.next == r->blocks.count && resident(t, r) < least)
            return true;
    }
    return true;
}
