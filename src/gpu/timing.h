/* The timing model as plain data, between the files that make it (timing_make.c), tick it (timing.c), give its cores to
 * launches (timing_launch.c) and count (timing_count.c). */
#ifndef HEDDLE_GPU_TIMING_H
#define HEDDLE_GPU_TIMING_H

#include "base/host_part.h"
#include "gpu/clocks.h"
#include "gpu/launch.h"
#include "gpu/profile.h"
#include "gpu/sharing.h"
#include "mem/answers.h"
#include "mem/expected.h"
#include "mem/partition.h"
#include "sm/sm.h"

enum { TIMING_PROGRAMS = 16, TIMING_CORE_WORDS = 16 };

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

/* Which cores are run in which cycle. */
struct core_turns {
    struct core_turn *list;
    uint64_t
        horizon; /* no core is run in this cycle or later before the others are there; 0 means that none is ahead */
    uint64_t sleep_until;                   /* no sleeping core must be run before this cycle */
    uint64_t awake[TIMING_CORE_WORDS];      /* cores that must be run in the next cycle, a bit each */
    uint64_t awake_next[TIMING_CORE_WORDS]; /* and in the one after it: sleeping cores with an answer */
    uint64_t blocked[TIMING_CORE_WORDS];    /* cores that wait for room in the network */
};

/* All that cores send to and get answers from. */
struct memory_side {
    struct network *requests, *replies;
    struct answer_queue *answers;      /* of each port */
    struct expected_answers *expected; /* of each core */
    struct partition **partitions;
    struct partition_calendar calendar; /* of all channels */
    uint32_t answer_cycles; /* from a cycle in which an answer is still in its slice to that in which its core has it */
    uint32_t least_delay;   /* cycles from a core's request to the end of the delay in front of its slice, at least */
    uint32_t channels, slices, slices_per_channel, port_words, slice_words, channel_words;
    uint64_t answers_waiting[NETWORK_WORDS]; /* ports with answers for their cores */
    uint64_t replying[NETWORK_WORDS];        /* channels with replies that wait for the network */
};

/* Which blocks are where, and which launch has which core. */
struct placement {
    struct residency **owner; /* of each core: the launch whose blocks it runs, or NULL */
    uint64_t *owned_since;
    uint32_t *last_core; /* of each port: the core that was given a block last */
    uint32_t last_port;  /* the port that was given one last */
    bool may_place;
    uint64_t next_at;    /* in thousandths of a cycle, where the machine limits the rate of blocks */
    uint64_t done, seen; /* blocks that have ended: in all, and those that the launches know of */
};

struct core_threads {
    struct workers *workers; /* NULL means that there is one thread */
    struct sharing sharing;
    struct meetings meetings;
    uint16_t *to_run; /* ports with cores that are run in this cycle */
    uint32_t to_run_count;
    bool serial; /* one of the launches does what cores may not do at the same time */
};

/* When the machine is looked at for a hang. */
struct hang_watch {
    uint64_t suspect_at, patience; /* when next, and how long after that again */
    uint64_t window_start;         /* since when it is known which threads ran (regroup_new_window) */
};

struct core_observers {
    struct profile_core *profiles; /* of each core; NULL means that instructions are not counted */
    struct warp_log *warp_logs;    /* of each core; NULL means that warps are not logged */
    uint64_t sample_at;            /* the cycle of the next sample of a launch; UINT64_MAX means that there is none */
};

/* What the memory side had counted when its counters were last read. */
struct counted_before {
    struct partition_counters memory;
    struct network_counters requests, replies;
};

struct timing {
    struct arena arena;
    const struct gpu_options *options;
    struct l2_policies *l2_policies; /* NULL means that the least recently used line goes */
    struct address_map map;
    struct kept_program programs[TIMING_PROGRAMS];
    _Alignas(64) uint64_t now; /* core cycle */
    struct sm **cores;
    uint32_t core_count, core_words, ports;
    uint8_t part; /* enum host_part: what is at work; HOST_NOTHING means its cores */
    struct clocks clock;
    _Alignas(64) struct core_turns turns;
    struct memory_side memory;
    struct placement blocks;
    struct core_threads threads;
    struct core_observers observed;
    struct hang_watch hang;
    struct counted_before counted;
    struct held_core *held; /* of each core: whether a policy keeps it from its work (held.c) */
    uint64_t limit;         /* the cycle in which --max-cycles ends all launches; UINT64_MAX means never */
    bool broken;            /* a launch did not come to its end: what it left in cores and queues belongs to nobody */
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
