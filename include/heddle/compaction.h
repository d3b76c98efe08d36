/* Threads of a block put together into as few warps as their lanes allow (thread block compaction, Fung and Aamodt,
 * HPCA 2011), and lanes permuted so that more of them fit together (SIMD lane permutation, Rhu and Erez, ISCA 2013).
 * For divergence units and for probes that count.
 *
 * A thread stays in its home lane: the physical lane in which a permutation puts it when its warp is launched. The
 * number of warps that a path needs is the largest number of its threads that share a lane. */
#ifndef HEDDLE_COMPACTION_H
#define HEDDLE_COMPACTION_H

#include "heddle/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum heddle_permutation {
    HEDDLE_PERMUTE_NONE,
    HEDDLE_PERMUTE_ODD_EVEN, /* odd warps: neighbours change places */
    HEDDLE_PERMUTE_ROTATE,   /* odd warps: one lane on */
    HEDDLE_PERMUTE_FLIP,     /* odd warps: from the other end */
    HEDDLE_PERMUTE_XOR_HALF, /* odd warps: halves change places */
    HEDDLE_PERMUTE_RANDOM,   /* each warp its own, the same in every run */
    HEDDLE_PERMUTE_WID,      /* lane xor number of the warp */
    HEDDLE_PERMUTE_REV_WID,  /* the same with the bits of the number reversed */
    HEDDLE_PERMUTE_BALANCED, /* even warps: lane xor half of the number; the odd one after it: xor the complement */
    HEDDLE_PERMUTATIONS
};

static const char *const heddle_permutation_names[] = {"none",   "odd-even", "rotate",  "flip",     "xor-half",
                                                       "random", "wid",      "rev-wid", "balanced", NULL};
/* clang-format off */
#define HEDDLE_PERMUTATION_PARAM                                                                                       \
    {.name = "permutation", .type = HEDDLE_CHOICE, .default_value = "none", .choices = heddle_permutation_names,       \
     .help = "which lane a thread sits in (SIMD lane permutation)"}
/* clang-format on */

/* The low `bits` of a number, the last first. */
static inline uint32_t heddle_reversed(uint32_t number, uint32_t bits)
{
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < bits; i++)
        reversed |= (number >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* What the lane is xored with, for those permutations that are that. width: lanes of a warp, 2^bits. */
static inline uint32_t heddle_permutation_mask(enum heddle_permutation how, uint32_t warp, uint32_t bits)
{
    uint32_t width = 1u << bits, number = warp & (width - 1), odd = warp & 1;
    switch (how) {
    case HEDDLE_PERMUTE_ODD_EVEN: return odd;
    case HEDDLE_PERMUTE_FLIP: return odd ? width - 1 : 0;
    case HEDDLE_PERMUTE_XOR_HALF: return odd ? width / 2 : 0;
    case HEDDLE_PERMUTE_WID: return number;
    case HEDDLE_PERMUTE_REV_WID: return heddle_reversed(number, bits);
    case HEDDLE_PERMUTE_BALANCED: return odd ? (width - 1) ^ (number - 1) / 2 : number / 2;
    default: return 0;
    }
}

/* A number that looks like chance, of a state that goes on. */
static inline uint32_t heddle_permutation_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* lanes[logical lane of the warp with this number in its block] = physical lane. Warps have 2^bits lanes. */
static inline void heddle_permutation_fill(enum heddle_permutation how, uint32_t warp, uint32_t bits, uint8_t *lanes)
{
    uint32_t width = 1u << bits, mask = heddle_permutation_mask(how, warp, bits);
    for (uint32_t lane = 0; lane < width; lane++)
        lanes[lane] = (uint8_t)(lane ^ mask);
    if (how == HEDDLE_PERMUTE_ROTATE && warp & 1)
        for (uint32_t lane = 0; lane < width; lane++)
            lanes[lane] = (uint8_t)((lane + 1) & (width - 1));
    if (how != HEDDLE_PERMUTE_RANDOM)
        return;
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15) * (warp + 1);
    for (uint32_t lane = width; lane-- > 1;) {
        uint32_t other = heddle_permutation_draw(&state) % (lane + 1);
        uint8_t kept = lanes[lane];
        lanes[lane] = lanes[other];
        lanes[other] = kept;
    }
}

/* The same for all warps of a block, with the ways there and back for masks of 32 lanes. */
enum { HEDDLE_HOMES = 32 };
struct heddle_lanes {
    bool xors;                   /* every warp's permutation is lane xor `mask` */
    bool same;                   /* lanes are where they were */
    uint32_t mask[HEDDLE_HOMES]; /* by home warp */
    uint8_t physical[HEDDLE_HOMES][32], logical[HEDDLE_HOMES][32];
};

static inline void heddle_lanes_make(struct heddle_lanes *l, enum heddle_permutation how)
{
    l->same = how == HEDDLE_PERMUTE_NONE;
    l->xors = how != HEDDLE_PERMUTE_ROTATE && how != HEDDLE_PERMUTE_RANDOM;
    for (uint32_t home = 0; home < HEDDLE_HOMES; home++) {
        l->mask[home] = heddle_permutation_mask(how, home, 5);
        heddle_permutation_fill(how, home, 5, l->physical[home]);
        for (uint8_t lane = 0; lane < 32; lane++)
            l->logical[home][l->physical[home][lane]] = lane;
    }
}

/* A mask of lanes whose numbers are xored: bits change places in halves, quarters and so on. */
static inline uint32_t heddle_xor_lanes(uint32_t lanes, uint32_t by)
{
    static const uint32_t low[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    for (uint32_t bit = 0; bit < 5; bit++)
        if (by >> bit & 1)
            lanes = (lanes & low[bit]) << (1u << bit) | (lanes >> (1u << bit) & low[bit]);
    return lanes;
}

static inline uint32_t heddle_rename_lanes(const uint8_t names[32], uint32_t lanes)
{
    uint32_t renamed = 0;
    for (; lanes; lanes &= lanes - 1)
        renamed |= 1u << names[__builtin_ctz(lanes)];
    return renamed;
}

/* Logical lanes of a home warp as physical ones, and back. */
static inline uint32_t heddle_lanes_physical(const struct heddle_lanes *l, uint32_t home, uint32_t logical)
{
    return l->xors ? heddle_xor_lanes(logical, l->mask[home]) : heddle_rename_lanes(l->physical[home], logical);
}

static inline uint32_t heddle_lanes_logical(const struct heddle_lanes *l, uint32_t home, uint32_t physical)
{
    return l->xors ? heddle_xor_lanes(physical, l->mask[home]) : heddle_rename_lanes(l->logical[home], physical);
}

/* Threads in each lane, as binary numbers whose i-th digits are the i-th mask: up to 63 warps. */
struct heddle_lane_counts {
    uint32_t digit[6];
};

static inline void heddle_lane_counts_add(struct heddle_lane_counts *c, uint32_t physical)
{
    for (uint32_t i = 0; i < 6 && physical; i++) {
        uint32_t carry = c->digit[i] & physical;
        c->digit[i] ^= physical;
        physical = carry;
    }
}

/* The largest of the counts: how many warps the threads need. */
static inline uint32_t heddle_lane_counts_most(const struct heddle_lane_counts *c)
{
    uint32_t most = 0, among = UINT32_MAX;
    for (uint32_t i = 6; i-- > 0;)
        if (c->digit[i] & among) {
            among &= c->digit[i];
            most |= 1u << i;
        }
    return most;
}

/* Warps for the threads of a path, masks[home] the logical lanes of each of `homes` warps: as they are, compacted with
 * each thread in its lane, and if lanes did not matter. */
static inline uint32_t heddle_warps_apart(const uint32_t *masks, uint32_t homes)
{
    uint32_t warps = 0;
    for (uint32_t home = 0; home < homes; home++)
        warps += masks[home] != 0;
    return warps;
}

static inline uint32_t heddle_warps_compacted(const struct heddle_lanes *l, const uint32_t *masks, uint32_t homes)
{
    struct heddle_lane_counts counts = {{0}};
    for (uint32_t home = 0; home < homes; home++)
        if (masks[home])
            heddle_lane_counts_add(&counts, l->same ? masks[home] : heddle_lanes_physical(l, home, masks[home]));
    return heddle_lane_counts_most(&counts);
}

static inline uint32_t heddle_warps_ideal(const uint32_t *masks, uint32_t homes)
{
    uint32_t threads = 0;
    for (uint32_t home = 0; home < homes; home++)
        threads += (uint32_t)__builtin_popcount(masks[home]);
    return (threads + 31) / 32;
}

/* A path from pc to where it meets the other one has nothing to execute: there are only jumps. */
static inline bool heddle_path_is_empty(const struct heddle_program *p, uint32_t pc, uint32_t meet)
{
    enum { MOST_JUMPS = 4 };
    for (int i = 0; i < MOST_JUMPS && pc != meet && pc < p->instruction_count; i++) {
        const struct heddle_instruction *in = &p->instructions[pc];
        if (!(in->flags & HEDDLE_BRANCH) || in->source_count || in->target == HEDDLE_NO_PC)
            return false;
        pc = in->target;
    }
    return pc == meet;
}

#ifdef __cplusplus
}
#endif

#endif
