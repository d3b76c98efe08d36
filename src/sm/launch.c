/* Launches and their blocks: how a core is given work. */
#include "sm/core.h"
#include "sm/regroup.h"

/* Blocks of the launch that a core may have at once: at most its share of them. */
static uint64_t blocks_at_once(const struct sm *c)
{
    uint64_t blocks = (uint64_t)c->launch.grid[0] * c->launch.grid[1] * c->launch.grid[2],
             share = (blocks + c->core_count - 1) / c->core_count;
    return smaller(share, c->blocks.limit);
}

/* Empties the caches that a launch finds empty. The instruction cache lives on, and so does a texture cache whose
 * answers come in order. */
static void empty_caches(struct sm *c)
{
    enum launch_empties empties = c->config->launch_empties;
    if (empties == LAUNCH_EMPTIES_NOTHING)
        return;
    if (c->lsu.l1d)
        sm_l1_invalidate(c);
    if (c->lsu.l1t && !c->lsu.textures.fragments)
        cache_invalidate(c->lsu.l1t);
    if (c->lsu.l1c && empties == LAUNCH_EMPTIES_CACHES)
        cache_empty(c->lsu.l1c);
}

void sm_begin(struct sm *c, struct arena *launch_arena, const struct sm_program *program,
              const struct exec_launch *launch, uint32_t block_limit, uint32_t warps_per_block, uint64_t now)
{
    uint32_t registers = program->register_count + 1;
    c->program = program;
    c->launch = *launch;
    c->launch.counters = (struct exec_counters){0};
    c->blocks.limit = block_limit;
    c->blocks.warps_each = warps_per_block;
    c->lsu.near = (struct memory_range){0};
    c->head.blocks_ended = 0;
    if (c->config->local_by_block)
        c->lsu.thread_interleave = (uint64_t)c->core_count * blocks_at_once(c) * warps_per_block * 32;
    for (uint32_t i = 0; i < c->config->warps; i++) {
        c->slots[i] = (struct sm_slot){.scoreboard = arena_array(launch_arena, uint8_t, registers), .loop = -1};
    }
    c->view.program = &program->view;
    c->view.cycle = c->now = now;
    account_begin(&c->account, now);
    *c->wake_at = SM_NEVER;
    policy_host_begin(c, launch_arena, now);
    empty_caches(c);
    SM_TELL(c, kernel);
    if (c->regroup)
        regroup_begin(c);
}

void sm_resize_l1(struct sm *c, uint32_t bytes)
{
    if (c->lsu.l1d)
        cache_resize(c->lsu.l1d, bytes);
}

void sm_end(struct sm *c, uint64_t now)
{
    sm_account_until(c, now);
    if (c->observer)
        account_log(c);
    if (c->account.warp_log)
        account_complete_warps(c, now, true);
    c->view.cycle = now;
    SM_TELL(c, kernel_end);
    c->view.kernel++;
}

bool sm_has_room(const struct sm *c) { return (uint32_t)__builtin_popcountll(c->blocks.used) < c->blocks.limit; }

void sm_place(struct sm *c, struct exec_cta *cta, uint64_t now)
{
    uint32_t block = (uint32_t)__builtin_ctzll(~c->blocks.used);
    struct sm_block *b = &c->blocks.list[block];
    sm_account_until(c, now);
    if (c->observer)
        account_log(c);
    if (c->account.warp_log)
        account_complete_warps(c, now, false);
    c->now = c->view.cycle = now;
    *b = (struct sm_block){.cta = cta,
                           .first_warp = block * c->blocks.warps_each,
                           .warp_count = cta->warp_count,
                           .warps_left = cta->warp_count};
    c->blocks.used |= 1ull << block;
    c->account.counters.blocks++;
    c->account.counters.warps += cta->warp_count;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        uint32_t slot = b->first_warp + i;
        struct sm_slot *s = &c->slots[slot];
        struct exec_warp *w = &cta->warps[i];
        *s = (struct sm_slot){
            .exec = w, .scoreboard = s->scoreboard, .block = (uint8_t)block, .loop = -1, .fetch_pc = 0};
        c->warps[slot] = (struct heddle_warp){.age = c->blocks.next_age++,
                                              .launch_cycle = now,
                                              .next_pc = HEDDLE_NO_PC,
                                              .active = w->active,
                                              .block = block,
                                              .index = i,
                                              .block_index = cta->index};
        c->view.resident |= 1ull << slot;
        if (c->account.warp_log)
            warp_log_begin(
                c->account.warp_log,
                &(struct warp_row){
                    .block = cta->index, .warp = i, .core = (uint16_t)c->head.id, .slot = (uint8_t)slot, .begin = now});
        sm_refresh(c, slot);
        SM_TELL(c, launched, slot);
        if (c->observer && c->observer->warp_begin)
            c->observer->warp_begin(c->observer->context, c->head.id, slot, now, cta->index, i);
    }
    if (c->regroup)
        regroup_place(c, block);
    if (*c->wake_at > now)
        *c->wake_at = now;
}

uint64_t sm_blocks_used(const struct sm *c) { return c->blocks.used; }

uint32_t sm_block_limit(const struct sm *c) { return c->blocks.limit; }

struct exec_launch *sm_launch(struct sm *c) { return &c->launch; }

const struct sm_program *sm_program(const struct sm *c) { return c->program; }

void sm_replace_program(struct sm *c, const struct sm_program *gone, const struct sm_program *by)
{
    if (c->program != gone)
        return;
    c->program = by;
    c->view.program = &by->view;
}

bool sm_check(const struct sm *c, struct error *e)
{
    if (c->launch.faulted) {
        exec_fault_describe(&c->launch, e);
        return false;
    }
    if (c->host.trouble[0])
        return error_set(e, c->host.trouble_is_hang ? ERROR_DEADLOCK : ERROR_INVALID, "%s", c->host.trouble);
    return true;
}

const struct heddle_divergence *sm_mixing_unit(const struct sm *c) { return c->mixes ? c->host.divergence : NULL; }

bool sm_next_running(const struct sm *c, uint32_t *slot, uint32_t *pc)
{
    uint64_t running = c->view.resident & ~c->issue.parked;
    uint64_t left = *slot < CORE_WARPS_MOST ? running >> *slot << *slot : 0;
    if (!left)
        return false;
    *slot = (uint32_t)__builtin_ctzll(left);
    *pc = sm_program_pc(c->program, c->slots[*slot].exec);
    return true;
}
