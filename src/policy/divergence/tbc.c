/* Thread block compaction (Fung and Aamodt, HPCA 2011), with lanes permuted (SIMD lane permutation, Rhu and Erez, ISCA
 * 2013): every conditional branch is a barrier of the block's warps, after which its threads form new warps.
 *
 * A branch marked .uni is waited at as well: the mark promises that a home warp agrees, not that one of mixed threads
 * does. Which block goes first is the scheduler's: `oldest` by age, `lrr` in turns, `sticky:level=block`. */
#include "heddle/block_stack.h"

struct tbc {
    struct heddle_block_stacks blocks;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct tbc *s = state;
    heddle_block_stacks_make(&s->blocks, setup, &setup->values[0], &setup->values[1]);
    return true;
}

static void finish(void *state) { heddle_block_stacks_free(&((struct tbc *)state)->blocks); }

static void kernel(void *state, const struct heddle_core *core)
{
    heddle_block_stacks_kernel(&((struct tbc *)state)->blocks, core);
}

static void services(void *state, const struct heddle_divergence_services *given)
{
    ((struct tbc *)state)->blocks.services = *given;
}

static void block_start(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                        uint32_t warp_count, const uint32_t *lanes)
{
    struct tbc *s = state;
    (void)block;
    heddle_block_stacks_block_start(&s->blocks, core, first_warp, warp_count, lanes);
}

static enum heddle_branch_answer split(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                       const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    struct tbc *s = state;
    return heddle_block_stacks_wait(&s->blocks, core, e, pieces, taken, count);
}

static void arrived(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    struct tbc *s = state;
    (void)pc;
    heddle_block_stacks_arrived(&s->blocks, core, warp);
}

static void exited(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                   uint32_t count)
{
    struct tbc *s = state;
    heddle_block_stacks_exited(&s->blocks, core, warp, pieces, count);
}

static uint32_t lane(void *state, uint32_t home, uint32_t logical_lane)
{
    const struct tbc *s = state;
    return s->blocks.lanes.physical[home][logical_lane];
}

static const struct heddle_param params[] = {HEDDLE_PERMUTATION_PARAM, HEDDLE_UNPERMUTED_PARAM, {0}};
static const struct heddle_counter counters[] = {HEDDLE_BLOCK_STACK_COUNTER_TABLE, {0}};

const struct heddle_divergence divergence_tbc = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "tbc",
            .help = "thread block compaction: one stack per block, warps formed again where its threads part and meet",
            .params = params,
            .counters = counters,
            .bits_per_core = 160 + 1, /* masks of 32 warps; is permutation on? */
            .state_bytes = sizeof(struct tbc),
            .init = init,
            .finish = finish,
            .on = {.kernel = kernel},
        },
    .regroups = true,
    .services = services,
    .block_start = block_start,
    .split = split,
    .arrived = arrived,
    .exited = exited,
    .lane = lane,
};
