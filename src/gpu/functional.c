/* Functional execution. As many blocks of a launch as fit the machine's cores are resident together; their warps take
 * turns in bounded slices, because programs rely on that: software barriers between blocks, flags that another warp
 * sets, races that are harmless only if warps interleave. A block runs some slices before the next one does, so that
 * its registers stay in the host's cache. Launches that run together take turns too, one round of their blocks each,
 * whether or not the machine has room for all of them at once. */
#include "gpu/launch.h"

#include "base/out_of_memory.h"
#include "exec/race.h"
#include "gpu/block_probes.h"
#include "gpu/hang.h"
#include "gpu/profile.h"
#include "gpu/progress.h"
#include "gpu/spare_rooms.h"

#include <stdlib.h>

enum {
    SLICE = 256,             /* warp instructions of a warp's turn */
    BLOCK_TURN_SLICES = 4,   /* slices of each of its warps in a block's turn, as far as barriers let them */
    SUSPECT_FIRST = 1 << 20, /* a launch is suspected of a hang after so many warp instructions in which no block ended,
                                and after twice as many each time that it was not one */
    SUSPECT_MOST = 16 << 20,
    CYCLES_AN_INSTRUCTION = 8,
    LOOK_INSTRUCTIONS = 1 << 14, /* between two looks at the clock */
};

/* What kernels read as their clock where no time is modelled. A warp that waits for its own results executes about one
 * instruction in CYCLES_AN_INSTRUCTION cycles, so the clock advances by that many for each. */
uint64_t functional_clock(struct exec_launch *l, const struct exec_warp *w)
{
    const struct residency *r = l->user;
    return (r->gpu->clock_cycles + r->gpu->skipped_instructions + w->executed) * CYCLES_AN_INSTRUCTION;
}

static bool start_block(struct residency *r, uint32_t slot, struct error *e)
{
    uint32_t id[3];
    launch_block_id(r, r->blocks.next, id);
    if (!r->blocks.slots[slot]) {
        r->blocks.slots[slot] = spare_rooms_take(r, &r->launch, slot % r->launch.core_count, e);
        if (!r->blocks.slots[slot])
            return false;
        r->blocks.slots[slot]->slot = slot;
    }
    struct exec_cta *cta = r->blocks.slots[slot];
    if (r->blocks.clusters) {
        struct exec_cluster *c = &r->blocks.clusters[slot / r->blocks.cluster_size];
        uint32_t rank = slot % r->blocks.cluster_size;
        if (rank == 0)
            *c = (struct exec_cluster){0};
        c->blocks[rank] = cta;
        c->block_count = rank + 1;
        cta->cluster = c;
        cta->cluster_rank = rank;
    }
    exec_cta_start(cta, id);
    if (r->untimed.races)
        race_block_start(cta, r->untimed.races);
    if (r->untimed.lockstep) {
        if (!r->untimed.lockstep[slot])
            r->untimed.lockstep[slot] = lockstep_create();
        lockstep_start(r->untimed.lockstep[slot], cta, block_probes_listen(r->gpu->block_probes, r));
    }
    r->untimed.busy[slot] = true;
    r->untimed.running++;
    r->blocks.next++;
    return true;
}

/* Fills the slots of a group when all of them are free. */
static bool refill(struct residency *r, uint32_t slot, struct error *e)
{
    uint32_t first = slot / r->blocks.cluster_size * r->blocks.cluster_size;
    for (uint32_t i = 0; i < r->blocks.cluster_size; i++)
        if (r->untimed.busy[first + i])
            return true;
    for (uint32_t i = 0; i < r->blocks.cluster_size && r->blocks.next < r->blocks.count; i++)
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
    r->untimed.executed += done;
    if (r->skipped)
        r->gpu->skipped_instructions += done;
    else
        r->gpu->clock_cycles += done;
}

/* A turn of a block that runs in lockstep, for probes. Returns how many instructions were executed. */
static uint64_t run_in_lockstep(struct residency *r, uint32_t slot, uint64_t budget)
{
    block_probes_listen(r->gpu->block_probes, r);
    uint64_t done = lockstep_run(r->untimed.lockstep[slot], budget);
    count(r, done);
    return done;
}

/* One slice of a warp. */
static uint32_t run_warp(struct residency *r, struct exec_warp *w, uint32_t slice)
{
    if (r->untimed.pc_counts)
        return profile_run(r->untimed.pc_counts, r->listing, w, slice);
    return r->untimed.races ? race_run(w, slice) : exec_run(w, slice);
}

/* A turn of a block whose warps take turns, until each had its share or none can go on. Returns how many instructions
 * were executed. */
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

static uint64_t blocks_done(const struct residency *r) { return r->blocks.next - r->untimed.running; }

static bool any_goes_on(const struct residency *from, const struct residency *to)
{
    for (; from != to; from = from->next)
        if (!from->ended)
            return true;
    return false;
}

/* There is one line of progress: that of a timed launch, else of the launch that started first. */
static void show_progress(const struct residency *r)
{
    const struct gpu *g = r->gpu;
    if (!g->options.observers.progress || any_goes_on(g->started, NULL) || any_goes_on(g->untimed, r))
        return;
    progress_update(g->options.observers.progress, &(struct progress_state){.launch = r->launch.grid_id,
                                                                            .kernel = r->launch.kernel->name,
                                                                            .warp_instructions = r->untimed.executed,
                                                                            .blocks_started = r->blocks.next,
                                                                            .blocks_done = blocks_done(r),
                                                                            .blocks_all = r->blocks.count});
}

/* Instructions of a launch without time are not cycles in a run with time. */
static bool is_out_of_cycles(const struct residency *r)
{
    uint64_t most = r->gpu->options.launch_limit.cycles;
    return most && !r->skipped && r->untimed.executed >= most;
}

static bool check_limits(struct residency *r)
{
    const struct gpu_options *o = &r->gpu->options;
    if (o->interrupt && *o->interrupt)
        return error_set(&r->error, ERROR_INTERRUPTED, "kernel %s was interrupted after %llu warp instructions",
                         r->launch.kernel->name, (unsigned long long)r->untimed.executed);
    if (o->max_cycles && !r->skipped && r->gpu->clock_cycles > o->max_cycles)
        return error_set(&r->error, ERROR_LIMIT,
                         "kernel %s ran past the limit of %llu cycles (--max-cycles; in functional mode a warp "
                         "instruction is a cycle)",
                         r->launch.kernel->name, (unsigned long long)o->max_cycles);
    bool look = r->untimed.executed >= r->untimed.look_at;
    if (look) {
        r->untimed.look_at = r->untimed.executed + LOOK_INSTRUCTIONS;
        show_progress(r);
    }
    if (r->untimed.running && (is_out_of_cycles(r) || (look && launch_limit_is_out_of_time(r))))
        return launch_limit_report(r, 0, blocks_done(r));
    return true;
}

static bool finish_or_report(struct residency *r, uint32_t slot)
{
    if (r->launch.faulted) {
        exec_fault_describe(&r->launch, &r->error);
        return false;
    }
    struct exec_cta *cta = r->blocks.slots[slot];
    if (cta->warps_done < cta->warp_count)
        return true;
    r->untimed.busy[slot] = false;
    r->untimed.running--;
    r->untimed.executed_at_progress = r->untimed.executed;
    return refill(r, slot, &r->error);
}

static void end(struct residency *r, bool ok)
{
    r->ended = true;
    r->ok = ok;
    progress_end(r->gpu->options.observers.progress, r->launch.grid_id);
    if (r->gpu->block_probes)
        block_probes_end(r->gpu->block_probes, r);
    for (uint32_t s = 0; r->untimed.lockstep && s < r->blocks.slot_count; s++)
        lockstep_destroy(r->untimed.lockstep[s]);
    free(r->untimed.lockstep);
    r->untimed.lockstep = NULL;
    if (r->untimed.races)
        race_launch_end(r->untimed.races);
    r->untimed.races = NULL;
    if (!r->untimed.pc_counts)
        return;
    r->record.pcs = profile_pcs_sum(r->listing, (const struct profile_pc *const[]){r->untimed.pc_counts}, 1);
    free(r->untimed.pc_counts);
    r->untimed.pc_counts = NULL;
}

void functional_start(struct residency *r)
{
    struct gpu *g = r->gpu;
    bool ok = true;
    r->untimed.patience = SUSPECT_FIRST;
    r->untimed.look_at = LOOK_INSTRUCTIONS;
    if (g->block_probes && block_probes_begin(g->block_probes, r)) {
        r->untimed.lockstep = calloc(r->blocks.slot_count, sizeof *r->untimed.lockstep);
        if (!r->untimed.lockstep)
            out_of_memory();
    } else if (g->options.pcs && !r->skipped) {
        r->listing = profile_listing(&g->listings, r->launch.kernel);
        r->untimed.pc_counts = calloc(r->listing->count, sizeof *r->untimed.pc_counts);
        if (!r->untimed.pc_counts)
            out_of_memory();
    }
    if (g->races) {
        r->listing = profile_listing(&g->listings, r->launch.kernel);
        r->untimed.races =
            race_launch_begin(g->races, &r->launch, r->listing, r->listing->base_of_function, r->listing->count);
    }
    r->launch.addresses_unused = !r->untimed.races;
    for (uint32_t s = 0; ok && s < r->blocks.slot_count; s += r->blocks.cluster_size)
        ok = refill(r, s, &r->error);
    if (!ok)
        end(r, false);
}

uint64_t functional_round(struct residency *r)
{
    uint32_t slice = r->gpu->options.slice ? r->gpu->options.slice : SLICE;
    uint64_t done = 0;
    for (uint32_t s = 0; s < r->blocks.slot_count; s++) {
        if (!r->untimed.busy[s])
            continue;
        if (r->untimed.lockstep && !lockstep_has_left(r->untimed.lockstep[s]))
            done += run_in_lockstep(r, s, (uint64_t)slice * BLOCK_TURN_SLICES * r->blocks.slots[s]->warp_count);
        else
            done += run_block(r, r->blocks.slots[s], slice);
        if (!finish_or_report(r, s) || !check_limits(r)) {
            end(r, false);
            return done;
        }
    }
    if (!r->untimed.running)
        end(r, true);
    return done;
}

/* Applies `what` to all blocks that run in lockstep. lockstep_show makes their warps look as if they ran one by one. */
static void for_each_in_lockstep(struct gpu *g, void (*what)(struct lockstep *b))
{
    for (struct residency *r = g->untimed; r; r = r->next)
        for (uint32_t s = 0; r->untimed.lockstep && !r->ended && s < r->blocks.slot_count; s++)
            if (r->untimed.busy[s] && !lockstep_has_left(r->untimed.lockstep[s])) {
                block_probes_listen(g->block_probes, r);
                what(r->untimed.lockstep[s]);
            }
}

/* It is certain that nothing will happen only when none of the launches that run together can go on. */
bool functional_is_stuck(struct gpu *g)
{
    for_each_in_lockstep(g, lockstep_show);
    for (struct residency *r = g->untimed; r; r = r->next)
        if (!r->ended && !hang_is_certain(r->blocks.slots, r->blocks.slot_count, false, NULL, NULL)) {
            for_each_in_lockstep(g, lockstep_leave_if_spinning);
            return false;
        }
    return true;
}

static void grow_patience(struct gpu *g)
{
    for (struct residency *r = g->untimed; r; r = r->next) {
        bool suspected = r->untimed.executed - r->untimed.executed_at_progress > r->untimed.patience;
        r->untimed.executed_at_progress = r->untimed.executed;
        if (suspected && r->untimed.patience < SUSPECT_MOST)
            r->untimed.patience *= 2;
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
            suspect |= r->untimed.executed - r->untimed.executed_at_progress > r->untimed.patience;
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
