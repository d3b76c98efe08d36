/* The timing model as plain data, between the files that make it (timing_make.c), tick it (timing.c), give its cores to
 * launches (timing_launch.c) and count (timing_count.c). */
#ifndef HEDDLE_GPU_TIMING_H
#define HEDDLE_GPU_TIMING_H

#include "base/host_part.h"
#include "gpu/launch.h"
#include "gpu/profile.h"
#include "gpu/sharing.h"
#include "mem/answers.h"
#include "mem/partition.h"
#include "sm/sm.h"

enum { TIMING_PROGRAMS = 16, TIMING_CORE_WORDS = 16 };
enum domain { DOMAIN_CORE, DOMAIN_ICNT, DOMAIN_L2, DOMAIN_DRAM, DOMAIN_COUNT };

/* How far a part of the machine has come. */
struct clocks {
    uint64_t ticks[DOMAIN_COUNT]; /* number of the next tick */
    uint32_t step;                /* the next one of the pattern */
};

struct kept_program {
    uint64_t image;
    const struct exec_function *kernel;
    struct arena arena;
    struct sm_program *program;
    uint64_t used;
};

/* When a core is run, in a line of its own: threads that run others write theirs in each cycle. */
struct core_turn {
    _Alignas(64) uint64_t wake; /* the next cycle in which it must be run */
    uint64_t ahead_wake;        /* of one that has been run further than the others: its wake, once they are there;
                                   meanwhile wake is the next cycle of it that others see. 0: it has not */
    uint64_t next_answer;       /* while memory_moves: as next_answer in timing.c has it */
    uint64_t end;               /* of a run, in a round, of which a turn is missing; 0: none is */
    uint32_t blocked;           /* bytes for which it waits for room in the network */
    uint32_t round;             /* in which it had its first turn last */
};

struct timing {
    struct arena arena;
    const struct gpu_options *options;
    struct l2_policies *l2_policies; /* NULL: least recently used */
    struct address_map map;
    struct kept_program programs[TIMING_PROGRAMS];

    /* What threads read that run cores, and what was written between: in one line of the host's cache. */
    _Alignas(64) uint64_t now;   /* core cycle */
    struct clocks clock;         /* of the way of requests: it may be ahead of the cores, not of the memory side */
    uint64_t horizon;            /* no core is run in this cycle or later before the others are there */
    uint64_t answers_known;      /* of this cycle and those before, and to whom, answers are known that come to cores */
    uint32_t round, round_turns; /* of threads */
    bool may_place;
    bool memory_moves;       /* the memory side is run further ahead while the cores are run */
    bool moves_beside;       /* it may be */
    uint64_t no_lead_before; /* the way of requests is not run ahead of the cores before this cycle */
    uint32_t led_cycles;     /* what that came to in the last tries, the older the less */
    uint64_t settled_until;  /* before this network cycle nothing that they do now matters there */

    /* What they read that never changes. */
    _Alignas(64) struct sm **cores;
    struct core_turn *turns;           /* of each core */
    struct expected_answers *expected; /* of each core */
    struct network *requests, *replies;
    struct answer_queue *answers; /* of each port */
    uint32_t core_count, core_words;
    uint64_t period[DOMAIN_COUNT]; /* of a domain, in a unit in which all are whole */
    uint32_t answer_cycles; /* from a cycle in which an answer is still in its slice to that in which its core has it */
    uint32_t least_delay;   /* cycles from a core's request to the end of the delay in front of its slice, at least */
    uint32_t channels, slices, ports, slices_per_channel, port_words, slice_words, channel_words;
    struct partition **partitions;
    uint8_t *pattern; /* which domains tick together, step after step until that repeats; NULL: it is too long, times
                         are compared */
    uint16_t *core_steps; /* of each core tick of the pattern: its step */
    uint32_t pattern_steps, pattern_cores;

    /* The memory side, and those that run it. */
    _Alignas(64) struct partition_calendar calendar; /* of all channels */
    struct clocks memory;                            /* its own: it may be ahead of the cores */
    bool lags;                                       /* or, after a jump, some steps behind */
    uint64_t lead_until;    /* but it is not run in this cycle or later before they are there */
    uint64_t taken_until;   /* requests have been taken for all ticks of the L2 before this one */
    uint64_t crowded_until; /* nor at all, up to this cycle: a delay in front of a slice is about to be full */
    uint32_t lead_cycles;   /* at most; 0: it is never ahead */
    uint64_t lead_end;      /* it may be run up to this cycle, but not in it, */
    uint64_t lead_stop;     /* and is run up to this one next */
    uint64_t led_at;        /* the cycle of the cores in which that was last looked at */
    uint64_t warps_to_come; /* of the launch, not on a core yet */
    uint64_t answers_waiting[NETWORK_WORDS];
    uint64_t replying[NETWORK_WORDS]; /* channels with replies that wait for the network */
    uint8_t part;                     /* enum host_part: what is at work; HOST_NOTHING: its cores */
    uint8_t memory_part;              /* beside them; HOST_NOTHING: nothing */

    _Alignas(64) uint64_t awake[TIMING_CORE_WORDS]; /* cores that must be run in the next cycle, a bit each */
    uint64_t awake_next[TIMING_CORE_WORDS];         /* and in the one after it: sleeping cores with an answer */
    uint64_t blocked[TIMING_CORE_WORDS];            /* those that wait for room in the network */
    uint64_t early[TIMING_CORE_WORDS];              /* of awake: those that sleep in it, but need not wait */
    uint64_t ahead[TIMING_CORE_WORDS];              /* those with ahead_wake, when the cycle began */
    uint64_t sleep_until;                           /* none of the others must be run before this cycle */
    struct workers *workers;
    struct sharing sharing;
    struct meetings meetings;
    uint64_t sample_at;                /* the cycle of the next sample of a launch; UINT64_MAX: none */
    uint64_t blocks_done, blocks_seen; /* in all; those that the launches know of */
    uint64_t next_block_at;            /* in thousandths of a cycle, where the machine limits the rate of blocks */
    struct residency **owner;          /* of each core: the launch whose blocks it runs, or NULL */
    uint64_t *owned_since;
    uint32_t last_port;  /* that was given a block */
    uint32_t *last_core; /* of each port */
    struct partition_counters memory_before;
    struct network_counters requests_before, replies_before;
    struct profile_core *profiles; /* of each core; NULL: instructions are not counted */
    struct warp_log *warp_logs;    /* of each core; NULL: warps are not logged */
    bool serial;                   /* one of the launches does what cores may not do at the same time */
    uint64_t suspect_at, patience; /* when it is next looked at for a hang, and how long after that again */
    uint64_t window_start;         /* since when it is known which threads ran (regroup_new_window) */
    struct held_core *held;        /* of each core: whether a policy keeps it from its work (held.c) */
    uint64_t limit;                /* the cycle in which --max-cycles ends all launches; UINT64_MAX means never */
    bool broken; /* a launch did not come to its end: what it left in cores and queues belongs to nobody */
};

/* timing.c. Up to the end of one core cycle; blocks of the launches from `first` on are placed. */
bool timing_step(struct timing *t, struct residency *first, struct error *e);
uint64_t timing_next_cycle(
    const struct timing *t); /* the first from t->now on in which anything can happen; UINT64_MAX: never again */
void timing_jump(struct timing *t, uint64_t cycle);
/* timing_memory.c. The memory side, and when the cores wait for it. */
void timing_memory_step(struct timing *t, uint32_t mask); /* which domains tick; its clock stays as it is */
uint32_t timing_lead_cycles(const struct timing *t,
                            const struct sm_program *p); /* so far, at most, it is run ahead of them */
bool timing_plan_lead(struct timing *t, bool gently);    /* may it be run further ahead of them now? */
void timing_lead(struct timing *t, uint8_t *part);       /* and then this, also beside them; part: as t->part */
/* Where it is not run ahead of the network, because textures pass no delay: may it be run with it, ahead of the cores?
 */
void timing_plan_join(struct timing *t);
bool timing_memory_may_join(const struct timing *t, uint32_t mask);
/* Where it is not run far ahead: its next step, up to which nobody sends it anything, while the cores are in the cycle
 * before. Requests have been taken for it, if the L2 ticks in it. */
bool timing_plan_step(const struct timing *t);
bool timing_step_has_l2(const struct timing *t);
void timing_lead_step(struct timing *t, uint8_t *part);
uint64_t
timing_memory_next(const struct timing *t); /* the first cycle before which it has nothing to do, or an earlier one */
/* timing_launch.c. One block a port and a cycle, of one launch a cycle: the first that can place any. */
bool timing_place_blocks(struct timing *t, struct residency *first, struct error *e);
/* The next one of the launch, on a core of its own that has room. */
bool timing_place_block(struct timing *t, struct residency *r, struct sm *c, struct error *e);
/* timing_count.c */
void timing_add_core(struct sm *core, struct gpu_counters *c);
void timing_add_tables(struct sm *core, struct policy_tables *t); /* what policies counted for each instruction */
void timing_settle_memory(
    struct timing *t,
    struct residency *r); /* what the memory system has counted since this was last called goes to the launch */
struct residency *timing_eldest(struct gpu *g); /* of those that run: who is counted what the memory system counts */
void timing_take_samples(struct timing *t, struct gpu *g,
                         uint64_t until); /* those due up to a cycle before which nothing happens */
void timing_begin_profile(
    struct timing *t, struct residency *r); /* what is asked for beyond the counters of the launch (gpu/profile.h) */
void timing_end_profile(struct timing *t, struct residency *r);

/* Of a domain's next tick. */
static inline uint64_t clocks_time(const struct timing *t, const struct clocks *c, enum domain d)
{
    return c->ticks[d] * t->period[d];
}

/* Which domains tick next. */
static inline uint32_t clocks_next(const struct timing *t, const struct clocks *c)
{
    if (t->pattern)
        return t->pattern[c->step];
    uint64_t first = clocks_time(t, c, DOMAIN_CORE);
    uint32_t mask = 0;
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        first = clocks_time(t, c, d) < first ? clocks_time(t, c, d) : first;
    for (enum domain d = DOMAIN_CORE; d < DOMAIN_COUNT; d++)
        mask |= (uint32_t)(clocks_time(t, c, d) == first) << d;
    return mask;
}

static inline uint64_t clocks_time_of_step(const struct timing *t, const struct clocks *c)
{
    return clocks_time(t, c, (enum domain)__builtin_ctz(clocks_next(t, c)));
}

/* They have. */
static inline void clocks_advance(const struct timing *t, struct clocks *c, uint32_t mask)
{
    static const uint64_t one[1 << DOMAIN_COUNT][DOMAIN_COUNT] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0},
        {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
    for (enum domain d = DOMAIN_CORE; d < DOMAIN_COUNT; d++)
        c->ticks[d] += one[mask][d];
    c->step = c->step + 1 == t->pattern_steps ? 0 : c->step + 1;
}

/* Has the memory side been run in the step in which these tick next for the cores? */
static inline bool timing_memory_leads(const struct timing *t, uint32_t mask)
{
    enum domain d = (enum domain)__builtin_ctz(mask);
    return t->memory.ticks[d] > t->clock.ticks[d];
}

/* Sets of cores and channels, as words of 64 bits. */

static inline void bits_add(uint64_t *words, uint32_t i) { words[i / 64] |= 1ull << i % 64; }
static inline bool bits_has(const uint64_t *words, uint32_t i) { return words[i / 64] >> i % 64 & 1; }
static inline uint64_t bits_with(uint64_t word, uint64_t bit, bool in) { return in ? word | bit : word & ~bit; }

static inline uint64_t bits_any(const uint64_t *words, uint32_t count)
{
    uint64_t any = words[0];
    for (uint32_t i = 1; i < count; i++)
        any |= words[i];
    return any;
}

#endif
