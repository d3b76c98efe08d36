/* The timing model as plain data, between the files that make it (timing_make.c), tick it (timing.c), give its cores to
 * launches (timing_launch.c) and count (timing_count.c). */
#ifndef HEDDLE_GPU_TIMING_H
#define HEDDLE_GPU_TIMING_H

#include "base/host_part.h"
#include "gpu/launch.h"
#include "gpu/profile.h"
#include "gpu/sharing.h"
#include "sm/sm.h"

enum { TIMING_PROGRAMS = 16, TIMING_CORE_WORDS = 16 };
enum domain { DOMAIN_CORE, DOMAIN_ICNT, DOMAIN_L2, DOMAIN_DRAM, DOMAIN_COUNT };

struct kept_program {
    uint64_t image;
    const struct exec_function *kernel;
    struct arena arena;
    struct sm_program *program;
    uint64_t used;
};

struct timing {
    struct arena arena;
    const struct gpu_options *options;
    struct address_map map;
    struct kept_program programs[TIMING_PROGRAMS];

    /* What threads read that run cores, and what was written between: in one line of the host's cache. */
    _Alignas(64) uint64_t now;    /* core cycle */
    uint64_t ticks[DOMAIN_COUNT]; /* number of the next tick */
    uint64_t horizon;             /* no core is run in this cycle or later before the others are there */
    bool may_place;
    bool memory_ahead; /* the memory side is run for the next cycle while cores are in this one */

    /* What they read that never changes. */
    _Alignas(64) struct sm **cores;
    uint64_t *core_wake;  /* of each core: the next cycle in which it must be run */
    uint64_t *ahead_wake; /* of a core that has been run further than the others: its core_wake, once they are there;
                             meanwhile core_wake is the last cycle that it was run in. 0: it has not */
    struct expected_answers *expected; /* of each core */
    struct crossbar *requests, *replies;
    struct ring *answers; /* a port: packets that wait for their core */
    uint32_t core_count, core_words;
    uint64_t period[DOMAIN_COUNT]; /* of a domain, in a unit in which all are whole */
    uint32_t answer_cycles; /* from a cycle in which an answer is still in its slice to that in which its core has it */
    uint32_t least_delay;   /* cycles from a core's request to the end of the delay in front of its slice, at least */
    uint32_t channels, slices, ports, slices_per_channel, port_words, slice_words, channel_words;
    uint64_t slice_bits;    /* of one channel, at the lowest place */
    uint32_t *core_blocked; /* bytes for which it waits for room in the network */
    struct partition **partitions;
    uint8_t *pattern; /* which domains tick together, step after step until that repeats; NULL: it is too long, times
                         are compared */
    uint16_t *core_steps; /* of each core tick of the pattern: its step */
    uint32_t pattern_steps, pattern_cores;

    /* The memory side, and those that run it. */
    _Alignas(64) struct partition_calendar calendar; /* of all channels */
    uint64_t memory_until; /* the memory side is not run for this cycle or later while cores are in the one before */
    uint32_t next_step;    /* of the pattern */
    uint32_t memory_done;  /* steps to come whose memory side has been run already */
    uint64_t answers_waiting[CROSSBAR_WORDS];
    uint64_t replying[CROSSBAR_WORDS]; /* channels with replies that wait for the network */
    uint8_t part;                      /* enum host_part: what is at work; HOST_NOTHING: its cores */
    uint8_t memory_part;               /* beside them; HOST_NOTHING: nothing */

    _Alignas(64) uint64_t awake[TIMING_CORE_WORDS]; /* cores that must be run in the next cycle, a bit each */
    uint64_t awake_next[TIMING_CORE_WORDS];         /* and in the one after it: sleeping cores with an answer */
    uint64_t blocked[TIMING_CORE_WORDS];            /* those with core_blocked */
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
    struct crossbar_counters requests_before, replies_before;
    struct profile_core *profiles; /* of each core; NULL: instructions are not counted */
    struct warp_log *warp_logs;    /* of each core; NULL: warps are not logged */
    bool serial;                   /* one of the launches does what cores may not do at the same time */
    uint64_t suspect_at, patience; /* when it is next looked at for a hang, and how long after that again */
    uint64_t window_start;         /* since when it is known which threads ran (regroup_new_window) */
    struct held_core *held;        /* of each core: whether a policy keeps it from its work (held.c) */
    bool broken; /* a launch did not come to its end: what it left in cores and queues belongs to nobody */
};

/* timing.c. Up to the end of one core cycle; blocks of the launches from `first` on are placed. */
bool timing_step(struct timing *t, struct residency *first, struct error *e);
uint64_t timing_next_cycle(
    const struct timing *t); /* the first from t->now on in which anything can happen; UINT64_MAX: never again */
void timing_jump(struct timing *t, uint64_t cycle);
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

/* Sets of cores and channels, as words of 64 bits. */

static inline void bits_add(uint64_t *words, uint32_t i) { words[i / 64] |= 1ull << i % 64; }
static inline uint64_t bits_with(uint64_t word, uint64_t bit, bool in) { return in ? word | bit : word & ~bit; }

static inline uint64_t bits_any(const uint64_t *words, uint32_t count)
{
    uint64_t any = words[0];
    for (uint32_t i = 1; i < count; i++)
        any |= words[i];
    return any;
}

#endif
