/* Launches: how a core is given work. A launch begins on a core without warps; blocks are placed while there is room.
 */
#include "model/model.h"

#include <string.h>

/* Threads whose local memory lies side by side: all that the machine holds or, where they are numbered by blocks, all
 * that the launch has at once. */
static uint64_t interleaved_threads(const struct sm *c)
{
    uint64_t grid = (uint64_t)c->launch.grid[0] * c->launch.grid[1] * c->launch.grid[2],
             share = (grid + c->core_count - 1) / c->core_count, blocks = c->block_limit;
    if (!c->config->local_by_block)
        return (uint64_t)c->core_count * c->config->warps * WARP_LANES;
    if (share < blocks)
        blocks = share;
    return c->core_count * blocks * c->warps_per_block * WARP_LANES;
}

/* What a launch finds empty. The instruction cache lives on, and so does a texture cache with a queue. */
static void empty_caches(struct sm *c)
{
    enum launch_empties empties = c->config->launch_empties;
    if (empties == LAUNCH_EMPTIES_NOTHING)
        return;
    if (c->l1d)
        model_l1_invalidate(c);
    if (c->l1t && !model_has_texture_queue(c))
        cache_invalidate(c->l1t);
    if (c->l1c && empties == LAUNCH_EMPTIES_CACHES)
        cache_empty(c->l1c);
}

void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now)
{
    c->program = program;
    c->launch = *launch;
    c->launch.counters = (struct exec_counters){0};
    c->block_limit = block_limit;
    c->warps_per_block = warps_per_block;
    c->near = (struct memory_range){0};
    c->head.blocks_ended = 0;
    c->held_before = c->untold_cycles = 0;
    c->thread_interleave = interleaved_threads(c);
    for (uint32_t slot = 0; slot < c->config->warps; slot++)
        c->warps[slot] = (struct warp){.registers = arena_array(launch_arena, uint8_t, program->register_count + 1)};
    c->view.program = &program->view;
    c->view.cycle = c->now = now;
    *c->wires.wake_at = now; /* the core is run in every cycle */
    model_make_tables(c, launch_arena);
    empty_caches(c);
    TELL(c, kernel);
}

void sm_resize_l1(struct sm *c, uint32_t bytes)
{
    if (c->l1d)
        cache_resize(c->l1d, bytes);
}

void sm_end(struct sm *c, uint64_t now)
{
    if (c->warp_log)
        warp_log_collect(c->warp_log, now, true);
    c->view.cycle = now;
    TELL(c, kernel_end);
    c->view.kernel++;
}

static uint32_t block_count(const struct sm *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BLOCKS; i++)
        count += c->blocks[i].cta != NULL;
    return count;
}

bool sm_has_room(const struct sm *c) { return block_count(c) < c->block_limit; }

static uint32_t free_block(const struct sm *c)
{
    uint32_t block = 0;
    while (c->blocks[block].cta)
        block++;
    return block;
}

static void log_begin(struct sm *c, uint32_t slot, const struct heddle_warp *shown)
{
    struct warp_row row = {.block = shown->block_index,
                           .warp = shown->index,
                           .core = (uint16_t)c->head.id,
                           .slot = (uint8_t)slot,
                           .begin = c->now};
    warp_log_begin(c->warp_log, &row);
}

static void place_warp(struct sm *c, uint32_t block, uint32_t index, struct exec_cta *cta)
{
    uint32_t slot = c->blocks[block].first_warp + index;
    struct warp *w = &c->warps[slot];
    *w = (struct warp){.exec = &cta->warps[index], .block = block, .registers = w->registers, .loop = -1};
    memset(w->registers, VALUE_HERE, c->program->register_count);
    c->shown[slot] = (struct heddle_warp){
        .age = c->next_age++, .launch_cycle = c->now, .block = block, .index = index, .block_index = cta->index};
    if (c->warp_log)
        log_begin(c, slot, &c->shown[slot]);
    model_look_at_next(c, slot);
    model_show_resident(c);
    TELL(c, launched, slot);
}

void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now)
{
    uint32_t block = free_block(c);
    if (c->warp_log)
        warp_log_collect(c->warp_log, now, false);
    c->now = c->view.cycle = now;
    c->blocks[block] = (struct block){.cta = cta,
                                      .first_warp = block * c->warps_per_block,
                                      .warp_count = cta->warp_count,
                                      .warps_left = cta->warp_count};
    c->counters.blocks++;
    c->counters.warps += cta->warp_count;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        place_warp(c, block, i, cta);
    *c->wires.wake_at = now;
}
