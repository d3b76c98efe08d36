/* A divergence unit that regroups nothing: every warp gets its own threads, and goes on by itself at every branch. The
 * core keeps the paths of its slots, and what comes out is what `pdom` does. For tests of the interface.
 * -DKEEPS_HOMES=true: the same as a unit that never mixes warps. */
#include "heddle/policy.h"

#ifndef KEEPS_HOMES
#define KEEPS_HOMES false
#endif

struct own_paths {
    struct heddle_divergence_services services;
};

static void own_services(void *state, const struct heddle_divergence_services *given)
{
    ((struct own_paths *)state)->services = *given;
}

static void own_block_start(void *state, const struct heddle_core *core, uint32_t block, uint32_t first_warp,
                            uint32_t warp_count, const uint32_t *lanes)
{
    const struct own_paths *u = state;
    (void)block;
    for (uint32_t i = 0; i < warp_count; i++)
        u->services.regroup(u->services.context, first_warp + i, &(struct heddle_piece){i, lanes[i]}, 1, 0,
                            HEDDLE_NO_PC, core->cycle);
}

static enum heddle_branch_answer own_split(void *state, const struct heddle_core *core, const struct heddle_branch *e,
                                           const struct heddle_piece *pieces, const uint32_t *taken, uint32_t count)
{
    (void)state, (void)core, (void)e, (void)pieces, (void)taken, (void)count;
    return HEDDLE_STACK;
}

static void own_arrived(void *state, const struct heddle_core *core, uint32_t warp, uint32_t pc)
{
    (void)state, (void)core, (void)warp, (void)pc;
}

static void own_exited(void *state, const struct heddle_core *core, uint32_t warp, const struct heddle_piece *pieces,
                       uint32_t count)
{
    (void)state, (void)core, (void)warp, (void)pieces, (void)count;
}

static const struct heddle_divergence own_paths = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "own-paths",
            .help = "regroups nothing: warps go on by themselves at every branch",
            .state_bytes = sizeof(struct own_paths),
        },
    .regroups = true,
    .keeps_homes = KEEPS_HOMES,
    .services = own_services,
    .block_start = own_block_start,
    .split = own_split,
    .arrived = own_arrived,
    .exited = own_exited,
};

#ifndef OWN_PATHS_INCLUDED
HEDDLE_EXPORT_DIVERGENCE(own_paths);
#endif
