/* Functional execution. As many blocks of a launch as fit the machine's cores are resident together; their warps take
 * turns in bounded slices, because programs rely on that: software barriers between blocks, flags that another warp
 * sets, races that are harmless only if warps interleave. A block runs some slices before the next one does, so that
 * its registers stay in the host's cache. Launches that run together take turns too, a round of their blocks each; what
 * fits beside what is not asked. */
#include "gpu/launch.h"

#include "base/out_of_memory.h"
#include "exec/race.h"
#include "gpu/block_probes.h"
#include "gpu/hang.h"
#include "gpu/profile.h"
#include "gpu/progress.h"

#include <stdlib.h>

enum {
    SLICE = 256,             /* warp instructions a turn */
    BLOCK_TURN_SLICES = 4,   /* a block's turn: this many slices for each of its warps, where barriers let them */
    SUSPECT_FIRST = 1 << 20, /* warp instructions without a block ending, after which the launch is looked at for a
                                hang; twice as many each time */
    SUSPECT_MOST = 16 << 20,
    CYCLES_AN_INSTRUCTION = 8,
    LOOK_INSTRUCTIONS = 1 << 14, /* between two looks at the clock */
};

/* What kernels read as their clock where no time is modelled: a warp that waits for its own results gets about one
 * instruction into so many cycles. Programs that wait for a number of cycles, taken from the device's clock rate, wait
 * accordingly shorter. */
uint64_t functional_clock(struct exec_launch *l, const struct exec_warp *w)
{
    const struct residency *r = l->user;
    return (r->gpu->clock_cycles + r->gpu->skipped_instructions + w->executed) * CYCLES_AN_INSTRUCTION;
}

static bool start_block(struct residency *r, uint32_t slot, struct error *e)
{
    uint32_t id[3];
    launch_block_id(r, r->next_block, id);
    if (!r->blocks[slot]) {
        r->blocks[slot] = launch_make_room(r, &r->launch, slot % r->launch.core_count, e);
        if (!r->blocks[slot])
            return false;
        r->blocks[slot]->slot = slot;
    }
    struct exec_cta *cta = r->blocks[slot];
    if (r->clusters) {
        struct exec_cluster *c = &r->clusters[slot / r->cluster_blocks];
        uint32_t rank = slot % r->cluster_blocks;
        if (rank == 0)
            *c = (struct exec_cluster){0};
        c->blocks[rank] = cta;
        c->block_count = rank + 1;
        cta->cluster = c;
        cta->cluster_rank = rank;
    }
    exec_cta_start(cta, id);
    if (r->races)
        race_block_start(cta, r->races);
    if (r->lockstep) {
        if (!r->lockstep[slot])
            r->lockstep[slot] = lockstep_create();
        lockstep_start(r->lockstep[slot], cta, block_probes_listen(r->gpu->block_probes, r));
    }
    r->busy[slot] = true;
    r->running++;
    r->next_block++;
    return true;
}

/* Fills the slots of a group when all of it is free. */
static bool refill(struct residency *r, uint32_t slot, struct error *e)
{
    uint32_t first = slot / r->cluster_blocks * r->cluster_blocks;
    for (uint32_t i = 0; i < r->cluster_blocks; i++)
        if (r->busy[first + i])
            return true;
    for (uint32_t i = 0; i < r->cluster_blocks && r->next_block < r->block_count; i++)
        if (!start_block(r, first + i, e))
            return false;
    return true;
}

static void wake(struct exec_cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].state == WARP_ASLEEP)
            cta->warps[i].state = WARP_READY;
}

static void count(struct residency *r, uint64_t done)
{
    r->executed += done;
    *(r->skipped ? &r->gpu->skipped_instructions : &r->gpu->clock_cycles) += done;
}

/* In lockstep for probes, or warp by warp. Returns how many instructions were executed. */
static uint64_t run_in_lockstep(struct residency *r, uint32_t slot, uint64_t budget)
{
    block_probes_listen(r->gpu->block_probes, r);
    uint64_t done = lockstep_run(r->lockstep[slot], budget);
    count(r, done);
    return done;
}

/* A warp's slice. */
static uint32_t run_warp(struct residency *r, struct exec_warp *w, uint32_t slice)
{
    return r->pc_counts ? profile_run(r->pc_counts, r->listing, w, slice)
           : r->races   ? race_run(w, slice)
                        : exec_run(w, slice);
}

/* Warps of the block take turns until each had its share, or none can go on. Returns whether any instruction was
 * executed. */
static uint64_t run_block(struct residency *r, struct exec_cta *cta, uint32_t slice)
{
    uint64_t budget = (uint64_t)slice * BLOCK_TURN_SLICES * cta->warp_count, done = 0, before;
    wake(cta);
    do {
        before = done;
        for (uint32_t i = 0; i < cta->warp_count; i++) {
            if (cta->warps[i].state != WARP_READY)
                continue;
            done += run_warp(r, &cta->warps[i], slice);
            if (r->launch.faulted)
                break;
        }
    } while (done != before && done < budget && !r->launch.faulted);
    count(r, done);
    return done;
}

static uint64_t blocks_done(const struct residency *r) { return r->next_block - r->running; }

static bool any_goes_on(const struct residency *from, const struct residency *to)
{
    for (; from != to; from = from->next)
        if (!from->ended)
            return true;
    return false;
}

/* There is one line: timed launches go first, then those that started first. */
static void show_progress(const struct residency *r)
{
    const struct gpu *g = r->gpu;
    if (!g->options.progress || any_goes_on(g->started, NULL) || any_goes_on(g->untimed, r))
        return;
    progress_update(g->options.progress, &(struct progress_state){.launch = r->launch.grid_id,
                                                                  .kernel = r->launch.kernel->name,
                                                                  .warp_instructions = r->executed,
                                                                  .blocks_started = r->next_block,
                                                                  .blocks_done = blocks_done(r),
                                                                  .blocks_all = r->block_count});
}

/* Instructions of a launch without time are not cycles in a run with time. */
static bool is_out_of_cycles(const struct residency *r)
{
    uint64_t most = r->gpu->options.launch_limit.cycles;
    return most && !r->skipped && r->executed >= most;
}

static bool check_limits(struct residency *r)
{
    const struct gpu_options *o = &r->gpu->options;
    if (o->interrupt && *o->interrupt)
        return error_set(&r->error, ERROR_INTERRUPTED, "kernel %s was interrupted after %llu warp instructions",
                         r->launch.kernel->name, (unsigned long long)r->executed);
    if (o->max_cycles && !r->skipped && r->gpu->clock_cycles > o->max_cycles)
        return error_set(&r->error, ERROR_LIMIT,
                         "kernel %s ran past the limit of %llu cycles (--max-cycles; in functional mode a warp "
                         "instruction is a cycle)",
                         r->launch.kernel->name, (unsigned long long)o->max_cycles);
    bool look = r->executed >= r->look_at;
    if (look) {
        r->look_at = r->executed + LOOK_INSTRUCTIONS;
        show_progress(r);
    }
    if (r->running && (is_out_of_cycles(r) || (look && launch_limit_is_out_of_time(r))))
        return launch_limit_report(r, 0, blocks_done(r));
    return true;
}

static bool finish_or_report(struct residency *r, uint32_t slot)
{
    if (r->launch.faulted) {
        exec_fault_describe(&r->launch, &r->error);
        return false;
    }
    struct exec_cta *cta = r->blocks[slot];
    if (cta->warps_done < cta->warp_count)
        return true;
    r->busy[slot] = false;
    r->running--;
    r->executed_at_progress = r->executed;
    return refill(r, slot, &r->error);
}

static void end(struct residency *r, bool ok)
{
    r->ended = true;
    r->ok = ok;
    progress_end(r->gpu->options.progress, r->launch.grid_id);
    if (r->gpu->block_probes)
        block_probes_end(r->gpu->block_probes, r);
    for (uint32_t s = 0; r->lockstep && s < r->slot_count; s++)
        lockstep_destroy(r->lockstep[s]);
    free(r->lockstep);
    r->lockstep = NULL;
    if (r->races)
        race_launch_end(r->races);
    r->races = NULL;
    if (!r->pc_counts)
        return;
    r->pcs = profile_pcs_sum(r->listing, (const struct profile_pc *const[]){r->pc_counts}, 1);
    free(r->pc_counts);
    r->pc_counts = NULL;
}

void functional_start(struct residency *r)
{
    struct gpu *g = r->gpu;
    bool ok = true;
    r->patience = SUSPECT_FIRST;
    r->look_at = LOOK_INSTRUCTIONS;
    if (g->block_probes && block_probes_begin(g->block_probes, r)) {
        r->lockstep = calloc(r->slot_count, sizeof *r->lockstep);
        if (!r->lockstep)
            out_of_memory();
    } else if (g->options.pcs && !r->skipped) {
        r->listing = profile_listing(&g->listings, r->launch.kernel);
        r->pc_counts = calloc(r->listing->count, sizeof *r->pc_counts);
        if (!r->pc_counts)
            out_of_memory();
    }
    if (g->races) {
        r->listing = profile_listing(&g->listings, r->launch.kernel);
        r->races = race_launch_begin(g->races, &r->launch, r->listing, r->listing->base_of_function, r->listing->count);
    }
    r->launch.addresses_unused = !r->races;
    for (uint32_t s = 0; ok && s < r->slot_count; s += r->cluster_blocks)
        ok = refill(r, s, &r->error);
    if (!ok)
        end(r, false);
}

uint64_t functional_round(struct residency *r)
{
    uint32_t slice = r->gpu->options.slice ? r->gpu->options.slice : SLICE;
    uint64_t done = 0;
    for (uint32_t s = 0; s < r->slot_count; s++) {
        if (!r->busy[s])
            continue;
        if (r->lockstep && !lockstep_has_left(r->lockstep[s]))
            done += run_in_lockstep(r, s, (uint64_t)slice * BLOCK_TURN_SLICES * r->blocks[s]->warp_count);
        else
            done += run_block(r, r->blocks[s], slice);
        if (!finish_or_report(r, s) || !check_limits(r)) {
            end(r, false);
            return done;
        }
    }
    if (!r->running)
        end(r, true);
    return done;
}

/* Whoever looks at the warps of a block in lockstep finds them as if they ran by themselves. */
static void for_each_in_lockstep(struct gpu *g, void (*what)(struct lockstep *b))
{
    for (struct residency *r = g->untimed; r; r = r->next)
        for (uint32_t s = 0; r->lockstep && !r->ended && s < r->slot_count; s++)
            if (r->busy[s] && !lockstep_has_left(r->lockstep[s])) {
                block_probes_listen(g->block_probes, r);
                what(r->lockstep[s]);
            }
}

/* Only when none of those that run together can go on is it certain that nothing will happen. */
bool functional_is_stuck(struct gpu *g)
{
    for_each_in_lockstep(g, lockstep_show);
    for (struct residency *r = g->untimed; r; r = r->next)
        if (!r->ended && !hang_is_certain(r->blocks, r->slot_count, false, NULL, NULL)) {
            for_each_in_lockstep(g, lockstep_leave_if_spinning);
            return false;
        }
    return true;
}

static void grow_patience(struct gpu *g)
{
    for (struct residency *r = g->untimed; r; r = r->next) {
        bool suspected = r->executed - r->executed_at_progress > r->patience;
        r->executed_at_progress = r->executed;
        if (suspected && r->patience < SUSPECT_MOST)
            r->patience *= 2;
    }
}

enum gpu_pause functional_run(struct gpu *g, uint64_t budget)
{
    for (uint64_t done = 0; done < budget;) {
        bool ended = false, suspect = false;
        uint64_t round = 0;
        for (struct residency *r = g->untimed; r; r = r->next) {
            if (r->ended)
                continue;
            round += functional_round(r);
            ended |= r->ended;
            suspect |= r->executed - r->executed_at_progress > r->patience;
        }
        if (ended)
            return GPU_ENDED;
        if ((round == 0 || suspect) && functional_is_stuck(g))
            return GPU_STUCK;
        if (round == 0 || suspect)
            grow_patience(g);
        done += round;
    }
    return GPU_TIRED;
}

void functional_give_up(struct gpu *g)
{
    for (struct residency *r = g->untimed; r; r = r->next)
        if (!r->ended)
            end(r, false);
}
