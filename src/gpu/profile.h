/* Where the instructions and the time of a launch went: counters of each instruction (`heddle run --pcs`) and samples
 * over time (`--interval N`). docs/profile.md says what each number means.
 *
 * Cores are hardly touched: counters of instructions come from the events that policies hear and from a log of stalls
 * (sm/stall_log.h), samples from counters that are there anyway. So a run without the two costs what it did. */
#ifndef HEDDLE_GPU_PROFILE_H
#define HEDDLE_GPU_PROFILE_H

#include "gpu/counters.h"
#include "heddle/policy.h"
#include "sm/stall_log.h"

struct sm;

/* Listings (profile_listing.c): the instructions of a kernel and of the functions that it may call, as text. They
 * outlive the module. A pc is an index, the same with time and without. */
struct profile_line {
    const char *function; /* NULL means the kernel */
    const char *source;   /* "file.cu:12", or NULL */
    const char *text;     /* as written, in one line */
    uint32_t line;        /* in the PTX file */
    bool branch;          /* a branch at which lanes may part */
};
struct profile_listing {
    struct arena arena;
    struct profile_listing *next;
    uint64_t image;                     /* exec_image.id, which no other image ever has */
    const struct exec_function *kernel; /* only compared: it may have been freed */
    uint32_t *base_of_function;         /* by exec_function.index: pc of its first instruction */
    struct profile_line *lines;
    uint32_t count;
};
/* The listing of the kernel: one that was made before, or a new one, which is added to the list. */
const struct profile_listing *profile_listing(struct profile_listing **kept, const struct exec_function *kernel);
void profile_listings_free(struct profile_listing *kept);

/* Instructions (profile.c) */
struct profile_pc {
#define PC_COUNT(field, name, unit, present, help, nsight) uint64_t field;
#include "heddle/metrics.def"
    uint64_t cycles[STALL_COUNT]; /* warp cycles in which it issued, was waiting, or was the warp's last instruction */
};
struct profile_pcs { /* what a launch executed */
    const struct profile_listing *listing;
    uint32_t count;
    struct profile_executed {
        uint32_t pc;
        struct profile_pc counts;
    } list[];
};
/* Sums over parts (cores), each with a counter for every instruction of the listing. To be freed by free(). */
struct profile_pcs *profile_pcs_sum(const struct profile_listing *listing, const struct profile_pc *const *parts,
                                    uint32_t part_count);
/* The sum of two of the same listing; frees `to`. */
struct profile_pcs *profile_pcs_add(struct profile_pcs *to, const struct profile_pcs *more);

/* Without time: does what exec_run does, and counts it. */
uint32_t profile_run(struct profile_pc *pcs, const struct profile_listing *listing, struct exec_warp *w,
                     uint32_t budget);

/* With time: one per core, to which it listens from now on. */
enum { PROFILE_LOADS = 8 };
struct profile_loads { /* loads of a warp on their way to the L1D, the oldest first */
    uint32_t count;
    struct profile_load {
        uint32_t pc;
        uint16_t least, misses; /* accesses that it would have if its lanes lay side by side; misses so far */
    } list[PROFILE_LOADS];
};
struct profile_core {
    struct sm *core;
    struct profile_pc *pcs;              /* of the current launch */
    struct stall_log stalls;             /* of each warp, since it last issued */
    uint32_t last_of_warp[HEDDLE_WARPS]; /* pc of the instruction that it issued last */
    uint64_t divergent, fails;           /* the part of the core's counts that belongs to instructions already */
    uint32_t last_issued, last_access;
    struct profile_loads loads[HEDDLE_WARPS];
};
void profile_core_listen(struct profile_core *p, struct sm *core);
void profile_core_begin(struct profile_core *p, struct profile_pc *pcs);
void profile_core_end(struct profile_core *p); /* to be called before the core's counters are reset */

/* Samples (profile_series.c) */
enum { SERIES_MOST = 100000 };
struct profile_series {
    uint64_t interval; /* cycles; doubles whenever there are `most` samples, and each pair of these becomes one */
    uint32_t most, count, capacity, column_count;
    uint64_t *cycles; /* end of each sample, from the start of the launch; the last may be short */
    uint64_t *values; /* column_count values per sample: what was counted in it */
    uint64_t *before; /* counts up to the last sample */
    uint64_t *now;    /* room for a reading */
    const struct heddle_policy *policies[GPU_POLICIES];
    uint32_t policy_count;
};
struct profile_column {
    char name[200];
    bool is_rate; /* its value is a mean over the cycles of a sample */
};

/* policies: in the order of their counts, NULL at the end; they live longer than the series. most: an even number. */
struct profile_series *profile_series_create(uint64_t interval, uint32_t most,
                                             const struct heddle_policy *const *policies);
/* The cycle of the launch at which the next sample is due. */
static inline uint64_t profile_series_next(const struct profile_series *s)
{
    return (s->count ? s->cycles[s->count - 1] : 0) + s->interval;
}
/* counts: those of the launch up to that cycle. */
void profile_series_take(struct profile_series *s, uint64_t cycle, const struct gpu_counters *counts);
/* The launch is over: the cycles after the last sample become a sample, too. */
void profile_series_end(struct profile_series *s, uint64_t cycles, const struct gpu_counters *totals);
struct profile_column profile_series_column(const struct profile_series *s, uint32_t column);
void profile_series_free(struct profile_series *s);

#endif
