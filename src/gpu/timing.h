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

/* How far the machine has come. */
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

/* When a core is run. Threads that run cores write theirs in each cycle: so each has a line of the host's cache. */
struct core_turn {
    _Alignas(64) uint64_t wake; /* the next cycle in which the core must be run */
    uint64_t next_wake;         /* The core has been run ahead, and in the cycle `wake` it did something that others
                                   see, which takes effect then; afterwards this is its wake. 0 means that it has not */
    uint32_t blocked;           /* bytes for which the core waits for room in the network */
};

struct timing {
    struct arena arena;
    const struct gpu_options *options;
    struct l2_policies *l2_policies; /* NULL: least recently used */
    struct address_map map;
    struct kept_program programs[TIMING_PROGRAMS];

    /* What threads that run cores read, and what is written between two of their rounds: in one line. */
    _Alignas(64) uint64_t now; /* core cycle */
    struct clocks clock;
    uint64_t
        horizon; /* no core is run in this cycle or later before the others are there; 0 means that none is ahead */
    bool may_place;

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
    uint8_t *pattern;     /* which domains tick together, step after step until that repeats; NULL means that it is too
                             long, and times are compared */
    uint16_t *core_steps; /* of each core tick of the pattern: its step */
    uint32_t pattern_steps, pattern_cores;

    /* The memory side. */
    _Alignas(64) struct partition_calendar calendar; /* of all channels */
    uint64_t answers_waiting[NETWORK_WORDS];         /* ports with answers for their cores */
    uint64_t replying[NETWORK_WORDS];                /* channels with replies that wait for the network */
    uint8_t part;                                    /* enum host_part: what is at work; HOST_NOTHING: its cores */

    _Alignas(64) uint64_t awake[TIMING_CORE_WORDS]; /* cores that must be run in the next cycle, a bit each */
    uint64_t awake_next[TIMING_CORE_WORDS];         /* and in the one after it: sleeping cores with an answer */
    uint64_t blocked[TIMING_CORE_WORDS];            /* cores that wait for room in the network */
    uint64_t sleep_until;                           /* no sleeping core must be run before this cycle */
    uint16_t *to_run;                               /* ports with cores that threads run in this cycle */
    uint32_t to_run_count;
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
/* timing_memory.c */
void timing_memory_step(struct timing *t, uint32_t mask); /* mask: which domains tick */
uint64_t timing_memory_next(const struct timing *t); /* the first cycle before which it has nothing to do, or an earlier
                                                        one */
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
