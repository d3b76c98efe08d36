/* Regrouped warps. A slot shows the core a warp of its own (the face), with the lanes of all its pieces; their
 * registers, local memory and special registers are those of the home warps. A slot without threads is parked:
 * asleep until the unit gives it some. When its lanes part and the unit does not take them, the slot has paths of
 * its own (regroup_paths.h). Its pieces are those of all paths then, and the face's active lanes those of the path
 * that runs.
 *
 * A register that is awaited in one slot must not be read in another. So a slot that is given other threads than it
 * had starts when no slot that these come from has a result outstanding.
 *
 * All this is for units that mix warps. Under a unit that keeps threads in the slots of their warps
 * (regroup_homes.c), slots are the executor's own warps, and this file only follows the work that the unit gives and
 * takes.
 *
 * Left out: warp-wide instructions, calls, indexed branches and barriers other than `bar.sync 0`, with which a
 * launch is not accepted. A fence waits for the stores of its slot, not for the stores that its threads made in
 * another. */
#include "sm/regroup_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void regroup_trouble(struct sm *c, const char *format, ...)
{
    va_list args;
    if (c->host.trouble[0])
        return;
    int n = snprintf(c->host.trouble, sizeof c->host.trouble,
                     "divergence unit %s, core %u, cycle %llu: ", c->host.divergence->policy.name, c->head.id,
                     (unsigned long long)c->now);
    va_start(args, format);
    vsnprintf(c->host.trouble + n, sizeof c->host.trouble - (size_t)n, format, args);
    va_end(args);
}

/* Lanes */

static uint32_t renamed(const uint8_t names[WARP_LANES], uint32_t mask)
{
    uint32_t out = 0;
    for (; mask; mask &= mask - 1)
        out |= 1u << names[__builtin_ctz(mask)];
    return out;
}

static uint32_t to_physical(const struct regroup *r, uint32_t home, uint32_t mask)
{
    return r->permuted ? renamed(r->physical[home], mask) : mask;
}
static uint32_t to_logical(const struct regroup *r, uint32_t home, uint32_t mask)
{
    return r->permuted ? renamed(r->logical[home], mask) : mask;
}
uint32_t regroup_logical(const struct regroup *r, uint32_t home, uint32_t lanes) { return to_logical(r, home, lanes); }

/* Lanes of a piece that are on the path that runs. */
static uint32_t running(const struct regroup *r, const struct regroup_slot *g, uint32_t i)
{
    uint32_t home = g->pieces[i].home, mask = g->pieces[i].mask;
    if (g->face.active == g->lanes)
        return mask;
    return mask & to_logical(r, home, g->face.active);
}

uint32_t regroup_running(const struct regroup *r, const struct regroup_slot *g, uint32_t piece)
{
    return running(r, g, piece);
}

/* Slots */

static struct exec_warp *home_of(const struct sm *c, uint32_t slot, uint32_t home)
{
    return &c->blocks.list[c->slots[slot].block].cta->warps[home];
}

void regroup_park(struct sm *c, uint32_t slot)
{
    struct regroup_slot *g = &c->regroup->slots[slot];
    struct regroup_block *b = &c->regroup->blocks[c->slots[slot].block];
    for (uint32_t i = 0; i < g->count; i++)
        b->at_work[g->pieces[i].home] &= ~g->pieces[i].mask;
    g->count = 0;
    g->face.active = 0;
    if (!c->mixes && c->slots[slot].exec->state != WARP_FAULT)
        exec_take_back(c->slots[slot].exec);
    c->issue.parked |= 1ull << slot;
    sm_show_barrier(c, slot);
    sm_stop(c, slot);
    c->slots[slot].buffered = 0;
    sm_refresh(c, slot);
}

/* Gives the slot pieces. Returns the slots that their threads were in; none if the slot goes on with the threads
 * that it had. */
static uint64_t take(struct sm *c, uint32_t slot, const struct heddle_piece *pieces, uint32_t count)
{
    struct regroup *r = c->regroup;
    struct regroup_slot *g = &r->slots[slot];
    struct regroup_block *b = &r->blocks[c->slots[slot].block];
    uint64_t from = 0;
    uint32_t had[HEDDLE_PIECES];
    memcpy(had, g->had, sizeof had);
    memset(g->had, 0, sizeof g->had);
    g->count = count;
    g->face.active = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t home = pieces[i].home;
        g->pieces[i] = pieces[i];
        b->at_work[home] |= pieces[i].mask;
        b->ran[home] |= pieces[i].mask;
        g->had[home] |= pieces[i].mask;
        g->face.active |= to_physical(r, home, pieces[i].mask);
        for (uint32_t left = pieces[i].mask; left; left &= left - 1) {
            uint8_t *in = &b->slot_of[home][__builtin_ctz(left)];
            from |= 1ull << *in;
            *in = (uint8_t)slot;
        }
    }
    g->lanes = g->face.active;
    c->issue.parked &= ~(1ull << slot);
    sm_show_barrier(c, slot);
    if (from == 1ull << slot && memcmp(had, g->had, sizeof had) == 0)
        return 0;
    return from;
}

static bool check_pieces(struct sm *c, uint32_t slot, const struct heddle_piece *pieces, uint32_t count)
{
    const struct regroup *r = c->regroup;
    const struct regroup_block *b = &r->blocks[c->slots[slot].block];
    uint32_t lanes = 0, given[HEDDLE_PIECES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t home = pieces[i].home, mask = pieces[i].mask;
        if (home >= c->blocks.list[c->slots[slot].block].warp_count) {
            regroup_trouble(c, "regroup of slot %u with warp %u, which its block has not", slot, home);
            return false;
        }
        if (!c->mixes && (count > 1 || home != slot - c->blocks.list[c->slots[slot].block].first_warp)) {
            regroup_trouble(
                c,
                "regroup of slot %u with threads of warp %u, by a unit that keeps threads in the slots of their warps",
                slot, home);
            return false;
        }
        const struct exec_warp *w = home_of(c, slot, home);
        if (!mask || (mask & ~(w->lanes & ~w->exited))) {
            regroup_trouble(c, "regroup of slot %u with lanes %08x of warp %u, of which %08x live", slot, mask, home,
                            w->lanes & ~w->exited);
            return false;
        }
        if (mask & (b->at_work[home] | given[home])) {
            regroup_trouble(c, "regroup of slot %u with lanes %08x of warp %u, of which %08x are in a slot that runs",
                            slot, mask, home, mask & (b->at_work[home] | given[home]));
            return false;
        }
        uint32_t physical = to_physical(r, home, mask);
        if (physical & lanes) {
            regroup_trouble(c, "regroup of slot %u puts two threads into lane %u", slot,
                            (uint32_t)__builtin_ctz(physical & lanes));
            return false;
        }
        lanes |= physical;
        given[home] |= mask;
    }
    return true;
}

static bool check_regroup(struct sm *c, uint32_t slot, const struct heddle_piece *pieces, uint32_t count, uint32_t pc,
                          uint32_t stop_pc)
{
    if (slot >= c->config->warps || !c->slots[slot].exec || (c->issue.ended >> slot & 1))
        regroup_trouble(c, "regroup of slot %u, which is not in use", slot);
    else if (!(c->issue.parked >> slot & 1))
        regroup_trouble(c, "regroup of slot %u, which is not parked", slot);
    else if (count > HEDDLE_PIECES)
        regroup_trouble(c, "regroup of slot %u with %u pieces; the most is %d", slot, count, HEDDLE_PIECES);
    else if (count && (pc >= c->program->count || pc == stop_pc))
        regroup_trouble(c, "regroup of slot %u at pc %u, which is not in the program or where it is to stop", slot, pc);
    else
        return check_pieces(c, slot, pieces, count);
    return false;
}

static void wake_at(struct sm *c, uint32_t slot, uint64_t cycle)
{
    c->slots[slot].wake_cycle = cycle;
    due_now(&c->due, PART_ISSUE);
    if (cycle <= c->now)
        warp_unblock(c, &c->issue.asleep, slot);
}

void regroup_by_unit(void *context, uint32_t slot, const struct heddle_piece *pieces, uint32_t count, uint32_t pc,
                     uint32_t stop_pc, uint64_t ready_cycle)
{
    struct sm *c = context;
    struct regroup *r = c->regroup;
    if (c->host.trouble[0] || !check_regroup(c, slot, pieces, count, pc, stop_pc) || !count)
        return;
    struct regroup_slot *g = &r->slots[slot];
    uint64_t self = 1ull << slot, without_work = c->issue.parked | r->draining;
    uint64_t from = take(c, slot, pieces, count);
    g->stop_pc = g->face.rpc = stop_pc;
    g->face.pc = pc;
    if (c->mixes)
        regroup_paths_start(&g->paths, pc, stop_pc, g->lanes);
    else
        exec_give(c->slots[slot].exec, pc, stop_pc, g->lanes);
    g->ready_cycle = ready_cycle;
    c->slots[slot].fetch_pc = pc;
    if (!from) { /* all results that are outstanding are on its own scoreboard */
        wake_at(c, slot, ready_cycle);
    } else {
        g->waits_for = (from & without_work) | self;
        r->draining |= self;
    }
    sm_refresh(c, slot);
}

/* Of the slots that the threads of `slot` come from, the ones that still wait for results. */
static uint64_t still_awaited(const struct sm *c, uint32_t slot)
{
    uint64_t out = 0;
    for (uint64_t donors = c->regroup->slots[slot].waits_for; donors; donors &= donors - 1) {
        const struct sm_slot *donor = &c->slots[__builtin_ctzll(donors)];
        if (donor->awaited || donor->atomics)
            out |= donors & -donors;
    }
    return out;
}

bool regroup_moves(const struct sm *c)
{
    for (uint64_t left = c->regroup->draining; left; left &= left - 1)
        if (!still_awaited(c, (uint32_t)__builtin_ctzll(left)))
            return true;
    return false;
}

void regroup_cycle(struct sm *c)
{
    struct regroup *r = c->regroup;
    for (uint64_t left = r->draining; left; left &= left - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(left);
        struct regroup_slot *g = &r->slots[slot];
        g->waits_for = still_awaited(c, slot);
        if (g->waits_for)
            continue;
        r->draining &= ~(1ull << slot);
        wake_at(c, slot, g->ready_cycle);
    }
}

/* Barriers and ends */

static void open_barrier(struct sm *c, uint32_t block);

/* Notes the places of threads that the unit gets: `target` for taken ones, `other` for the rest of the piece. */
static void note_pcs(struct regroup_block *b, const struct heddle_piece *p, uint32_t taken, uint32_t target,
                     uint32_t other)
{
    for (uint32_t left = p->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        b->next_pc[p->home][lane] = taken >> lane & 1 ? target : other;
    }
}

/* Makes the path with which the slot goes on the one that runs. If all paths wait at a barrier, the slot arrives
 * there as a whole, with the threads that wait where paths meet. */
static void choose_path(struct sm *c, uint32_t slot)
{
    struct regroup *r = c->regroup;
    struct regroup_slot *g = &r->slots[slot];
    uint32_t block = c->slots[slot].block;
    switch (regroup_paths_choose(&g->paths)) {
    case PATHS_RUN:
        g->face.pc = regroup_paths_top(&g->paths)->pc;
        g->face.rpc = regroup_paths_top(&g->paths)->stop;
        g->face.active = regroup_paths_top(&g->paths)->lanes;
        break;
    case PATHS_WAIT:
        g->face.state = WARP_AT_BARRIER;
        r->blocks[block].at_barrier += (uint32_t)__builtin_popcount(g->lanes);
        open_barrier(c, block);
        break;
    case PATHS_OVER:
        g->face.pc = g->stop_pc;
        for (uint32_t i = 0; i < g->count; i++)
            note_pcs(&r->blocks[block], &g->pieces[i], 0, 0, g->stop_pc);
        regroup_park(c, slot);
        r->unit->arrived(r->state, &c->view, slot, g->stop_pc);
        break;
    }
}

static void move_to(struct sm *c, uint32_t slot, uint32_t pc)
{
    struct regroup_paths *paths = &c->regroup->slots[slot].paths;
    regroup_paths_top(paths)->pc = pc;
    choose_path(c, slot);
}

static void open_barrier(struct sm *c, uint32_t block)
{
    struct regroup *r = c->regroup;
    struct regroup_block *b = &r->blocks[block];
    const struct sm_block *placed = &c->blocks.list[block];
    uint64_t opened = 0;
    if (!b->at_barrier || b->at_barrier < b->live)
        return;
    b->at_barrier = 0;
    for (uint32_t slot = placed->first_warp; slot < placed->first_warp + placed->warp_count; slot++) {
        struct regroup_slot *g = &r->slots[slot];
        if (g->face.state != WARP_AT_BARRIER)
            continue;
        regroup_paths_open(&g->paths);
        g->face.state = WARP_READY;
        g->face.pc = regroup_paths_top(&g->paths)->pc;
        opened |= 1ull << slot;
    }
    sm_set_barriers(c, block);
    for (; opened; opened &= opened - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(opened);
        choose_path(c, slot);
        sm_refresh(c, slot);
    }
}

static void end_block(struct sm *c, uint32_t block)
{
    struct regroup *r = c->regroup;
    const struct sm_block *b = &c->blocks.list[block];
    for (uint32_t slot = b->first_warp; slot < b->first_warp + b->warp_count; slot++) {
        uint64_t bit = 1ull << slot;
        r->slots[slot].face.state = WARP_DONE;
        c->slots[slot].buffered = 0;
        warp_block(c, &c->issue.ended, slot);
        c->view.resident &= ~bit;
        c->issue.parked &= ~bit;
        sm_show_barrier(c, slot);
        warp_unblock(c, &c->issue.asleep, slot);
        r->draining &= ~bit;
    }
    for (uint32_t slot = b->first_warp; slot < b->first_warp + b->warp_count; slot++)
        SM_TELL(c, ended, slot);
    for (uint32_t slot = b->first_warp, end = slot + b->warp_count; slot < end; slot++) {
        sm_refresh(c, slot);
        sm_try_retire(c, slot); /* the slot at hand does not retire yet: its last instruction is in the pipeline */
    }
}

/* Takes the lanes that end out of the slot's pieces. Returns in how many pieces lanes have ended. */
static uint32_t remove_lanes(struct sm *c, uint32_t slot, const uint32_t *masks, struct heddle_piece *ended)
{
    struct regroup *r = c->regroup;
    struct regroup_slot *g = &r->slots[slot];
    struct regroup_block *b = &r->blocks[c->slots[slot].block];
    uint32_t left = 0, count = 0, lanes = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        struct heddle_piece p = g->pieces[i];
        struct exec_warp *home = home_of(c, slot, p.home);
        if (masks[i]) {
            ended[count++] = (struct heddle_piece){p.home, masks[i]};
            b->at_work[p.home] &= ~masks[i];
            g->had[p.home] &= ~masks[i];
            b->live -= (uint32_t)__builtin_popcount(masks[i]);
            lanes |= to_physical(r, p.home, masks[i]);
            home->exited |= masks[i];
            if (home->exited == home->lanes) {
                home->state = WARP_DONE;
                home->cta->warps_done++;
            }
        }
        p.mask &= ~masks[i];
        if (p.mask)
            g->pieces[left++] = p;
    }
    g->count = left;
    g->lanes &= ~lanes;
    g->face.active &= ~lanes;
    regroup_paths_remove(&g->paths, lanes);
    return count;
}

static void end_lanes(struct sm *c, uint32_t slot, const uint32_t *masks, uint32_t pc)
{
    struct regroup *r = c->regroup;
    uint32_t block = c->slots[slot].block;
    struct heddle_piece ended[HEDDLE_PIECES];
    uint32_t count = remove_lanes(c, slot, masks, ended);
    bool empty = !r->slots[slot].count;
    if (empty)
        regroup_park(c, slot);
    if (count)
        r->unit->exited(r->state, &c->view, slot, ended, count);
    if (!r->blocks[block].live) {
        end_block(c, block);
        return;
    }
    if (count)
        open_barrier(c, block);
    if (!empty)
        move_to(c, slot, pc + 1);
}

/* Branches */

/* Asks the unit about a branch. Unless lanes of the slot wait on another path, the slot is parked meanwhile, so that
 * the unit may give it work at once. */
enum heddle_branch_answer regroup_ask(struct sm *c, const struct heddle_branch *e, const struct heddle_piece *pieces,
                                      const uint32_t *taken, uint32_t count)
{
    struct regroup *r = c->regroup;
    uint64_t bit = 1ull << e->warp;
    uint8_t buffered = c->slots[e->warp].buffered;
    r->slots[e->warp].asked++;
    for (uint32_t i = 0; i < count && !e->apart && c->mixes; i++)
        note_pcs(&r->blocks[c->slots[e->warp].block], &pieces[i], taken[i], e->target, e->fall_through);
    if (!e->apart)
        regroup_park(c, e->warp);
    enum heddle_branch_answer answer = r->unit->split(r->state, &c->view, e, pieces, taken, count);
    if (answer == HEDDLE_PARK) {
        if (e->apart)
            regroup_trouble(
                c, "split of slot %u parks it, while lanes of it wait on another path (pc %u, lanes %08x of %08x)",
                e->warp, e->pc, e->taken | e->not_taken, r->slots[e->warp].lanes);
        return answer;
    }
    if (e->apart)
        return answer;
    if (!(c->issue.parked & bit))
        regroup_trouble(c, "split of slot %u gave it work and answered that it goes on by itself", e->warp);
    if (c->host.trouble[0] || !check_pieces(c, e->warp, pieces, count))
        return HEDDLE_PARK;
    take(c, e->warp, pieces, count);
    warp_unblock(c, &c->issue.asleep, e->warp);
    c->slots[e->warp].buffered = buffered;
    return answer;
}

static void branch(struct sm *c, uint32_t slot, const struct exec_inst *in, const uint32_t *masks, uint32_t lanes,
                   uint32_t pc)
{
    const struct regroup *r = c->regroup;
    struct regroup_slot *g = &c->regroup->slots[slot];
    struct exec_counters *counters = &c->launch.counters;
    uint32_t target = (uint32_t)in->imm, active = g->face.active, count = 0;
    if (!in->guard_mode) {
        move_to(c, slot, target);
        return;
    }
    bool uniform = !lanes || lanes == active;
    struct heddle_branch e = {.warp = slot,
                              .pc = pc,
                              .taken = lanes,
                              .not_taken = active & ~lanes,
                              .target = target,
                              .fall_through = pc + 1,
                              .reconvergence = c->program->view.instructions[pc].reconvergence,
                              .apart = active != g->lanes};
    struct heddle_piece pieces[HEDDLE_PIECES];
    uint32_t taken[HEDDLE_PIECES];
    counters->branches++;
    counters->divergent_branches += !uniform;
    for (uint32_t i = 0; i < g->count; i++) {
        struct heddle_piece p = {g->pieces[i].home, running(r, g, i)};
        taken[count] = masks[i];
        if (p.mask)
            pieces[count++] = p;
    }
    if (regroup_ask(c, &e, pieces, taken, count) == HEDDLE_PARK)
        return;
    uint8_t meets = c->program->kernel->ptx->insts[pc].meets;
    if (meets && g->paths.depth < REGROUP_PATHS_MEET)
        regroup_paths_split_to_meeting(&g->paths, &e, meets == PTX_MEETS_IF_TAKEN);
    else if (uniform)
        regroup_paths_top(&g->paths)->pc = lanes ? target : pc + 1;
    else
        regroup_paths_split(&g->paths, &e);
    choose_path(c, slot);
}

/* Instructions */

static uint32_t find_masks(const struct sm *c, uint32_t slot, uint32_t masks[HEDDLE_PIECES])
{
    const struct regroup *r = c->regroup;
    const struct regroup_slot *g = &r->slots[slot];
    const struct exec_inst *in = &g->face.code[g->face.pc];
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        masks[i] = exec_lanes_of(home_of(c, slot, g->pieces[i].home), in, running(r, g, i));
        lanes |= to_physical(r, g->pieces[i].home, masks[i]);
    }
    return lanes;
}

uint32_t regroup_lanes(const struct sm *c, uint32_t slot)
{
    uint32_t masks[HEDDLE_PIECES];
    return find_masks(c, slot, masks);
}

/* Copies the addresses of a piece to the face, physical lane by lane. If generic addresses of pieces lie in several
 * spaces, timing sees the first. */
static void gather_access(const struct regroup *r, struct exec_warp *face, const struct exec_warp *home)
{
    const struct exec_access *x = &home->access;
    if (x->space == PTX_SPACE_NONE || !x->mask)
        return;
    if (face->access.space == PTX_SPACE_NONE) {
        face->access = *x;
        face->access.mask = 0;
    } else if (face->access.space != x->space) {
        return;
    }
    for (uint32_t left = x->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), physical = r->physical[home->index][lane];
        face->addr[physical] = home->addr[lane];
        face->access.mask |= 1u << physical;
    }
}

static void perform(struct sm *c, uint32_t slot, const struct exec_inst *in, const struct heddle_piece *pieces,
                    uint32_t count, bool addresses_only)
{
    const struct regroup *r = c->regroup;
    struct exec_warp *face = &c->regroup->slots[slot].face;
    uint64_t *requests = &c->launch.counters.load_requests, before = *requests;
    face->access = (struct exec_access){.space = PTX_SPACE_NONE};
    for (uint32_t i = 0; i < count && !c->launch.faulted; i++) {
        struct exec_warp *home = home_of(c, slot, pieces[i].home);
        home->access = (struct exec_access){.space = PTX_SPACE_NONE};
        home->addresses_only = addresses_only;
        exec_perform(home, in, pieces[i].mask);
        home->addresses_only = false;
        gather_access(r, face, home);
    }
    if (*requests > before)
        *requests = before + 1;
}

/* Notes the threads that take part: the slot may have other threads when the instruction is performed. */
static void board(struct regroup_flight *flight, const struct regroup_slot *g, const uint32_t *masks)
{
    flight->count = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (masks[i])
            flight->pieces[flight->count++] = (struct heddle_piece){g->pieces[i].home, masks[i]};
}

static void control(struct sm *c, uint32_t slot, const struct exec_inst *in, const uint32_t *masks, uint32_t lanes,
                    uint32_t pc)
{
    struct regroup_slot *g = &c->regroup->slots[slot];
    const struct ptx_function *f = c->program->kernel->ptx;
    switch (pc < f->inst_count ? f->insts[pc].opcode : PTX_OP_ret) {
    case PTX_OP_bra: branch(c, slot, in, masks, lanes, pc); break;
    case PTX_OP_ret:
    case PTX_OP_exit: end_lanes(c, slot, masks, pc); break;
    case PTX_OP_bar:
    case PTX_OP_barrier:
        if (!lanes) {
            move_to(c, slot, pc + 1);
            break;
        }
        regroup_paths_top(&g->paths)->waits = true;
        choose_path(c, slot);
        break;
    case PTX_OP_nanosleep:
        move_to(c, slot, pc + 1);
        if (!(c->issue.asleep >> slot & 1) && g->face.state == WARP_READY)
            g->face.state = WARP_ASLEEP;
        break;
    default: /* trap, brkpt */
        for (uint32_t i = 0; i < g->count && !c->launch.faulted; i++)
            exec_perform(home_of(c, slot, g->pieces[i].home), in, masks[i]);
        move_to(c, slot, pc + 1);
    }
}

/* A path does not end before such an instruction, nor with it (exec_warp.rpc): the slot goes on with the next one. */
void regroup_run_vanished(struct sm *c, uint32_t slot)
{
    struct regroup *r = c->regroup;
    struct regroup_slot *g = &r->slots[slot];
    const struct exec_inst *in = &g->face.code[g->face.pc];
    struct regroup_flight flight;
    uint32_t masks[HEDDLE_PIECES], lanes = find_masks(c, slot, masks);
    c->launch.counters.lanes[__builtin_popcount(lanes)]++;
    board(&flight, g, masks);
    perform(c, slot, in, flight.pieces, flight.count, false);
    if (!c->launch.faulted)
        move_to(c, slot, g->face.pc + 1);
}

void regroup_issue(struct sm *c, uint32_t slot, uint16_t id)
{
    struct regroup *r = c->regroup;
    struct regroup_slot *g = &r->slots[slot];
    struct sm_inflight *f = &c->flights.list[id];
    const struct exec_inst *in = f->exec_inst;
    uint32_t masks[HEDDLE_PIECES], pc = g->face.pc, lanes = find_masks(c, slot, masks);
    c->launch.counters.lanes[__builtin_popcount(lanes)]++;
    if (f->inst->unit == SM_MEM)
        f->accesses = c->lsu.free_accesses[--c->lsu.free_access_count];
    if (c->host.trouble[0]) { /* the launch is over, and the unit is asked no more */
        regroup_park(c, slot);
        return;
    }
    if (in->kind == EXEC_CONTROL) {
        control(c, slot, in, masks, lanes, pc);
        return;
    }
    board(&r->flights[id], g, masks);
    if (f->inst->deferred) {
        f->mask = lanes;
        c->flights.deferred[c->head.deferred++] = id;
    } else {
        perform(c, slot, in, r->flights[id].pieces, r->flights[id].count, false);
        if (f->inst->unit == SM_MEM)
            sm_coalesce(c, id);
    }
    if (!c->launch.faulted)
        move_to(c, slot, pc + 1);
    else
        regroup_park(c, slot); /* the launch is over */
}

void regroup_perform(struct sm *c, uint16_t id)
{
    const struct sm_inflight *f = &c->flights.list[id];
    const struct regroup_flight *flight = &c->regroup->flights[id];
    perform(c, f->slot, f->exec_inst, flight->pieces, flight->count, f->inst->atomic && !c->config->atomics_at_once);
}

void regroup_perform_atomic(struct sm *c, const struct packet *p)
{
    const struct regroup *r = c->regroup;
    const struct sm_inflight *f = &c->flights.list[p->token];
    const struct regroup_flight *flight = &r->flights[p->token];
    for (uint32_t i = 0; i < flight->count; i++) {
        uint32_t home = flight->pieces[i].home;
        exec_perform(home_of(c, f->slot, home), f->exec_inst, flight->pieces[i].mask & to_logical(r, home, p->mask));
    }
}

/* Home warp by home warp: their threads share no 128 bytes of local memory. */
uint32_t regroup_local_accesses(const struct sm *c, uint16_t id, uint32_t segment_most, struct access *out)
{
    const struct sm_inflight *f = &c->flights.list[id];
    const struct regroup_flight *flight = &c->regroup->flights[id];
    uint32_t total = 0, first_slot = c->blocks.list[c->slots[f->slot].block].first_warp,
             element = f->inst->element_bytes;
    for (uint32_t i = 0; i < flight->count; i++) {
        const struct exec_warp *w = home_of(c, f->slot, flight->pieces[i].home);
        struct access list[COALESCE_MOST];
        if (w->access.space != PTX_SPACE_LOCAL)
            continue;
        uint32_t n = coalesce_local(w->addr, w->access.mask, element ? element : w->access.bytes,
                                    sm_first_thread(c, first_slot + w->index), c->lsu.thread_interleave, segment_most,
                                    c->config->coalesce_parts, list);
        for (uint32_t k = 0; k < n && total < COALESCE_MOST; k++)
            out[total++] = list[k];
    }
    return total;
}

void regroup_check_stuck(struct sm *c)
{
    const struct regroup *r = c->regroup;
    uint64_t resident = c->view.resident;
    if (c->host.trouble[0] || c->launch.faulted || !resident || c->issue.held || c->flights.free_count != SM_INFLIGHT ||
        (!c->mixes && !c->issue.parked))
        return;
    for (uint64_t left = sm_occupied(c); left; left &= left - 1) {
        const struct sm_slot *s = &c->slots[__builtin_ctzll(left)];
        if (s->fetching || s->stores || s->atomics) /* an answer will come */
            return;
    }
    const struct sm_slot *s = &c->slots[__builtin_ctzll(resident)];
    c->host.trouble_is_hang = true;
    if (!c->mixes) {
        regroup_trouble(c, "warps %#llx are parked, and nothing is left that could bring them work",
                        (unsigned long long)c->issue.parked);
        return;
    }
    const struct regroup_block *b = &r->blocks[s->block];
    regroup_trouble(c,
                    "block %llu cannot go on: of %u threads that have not ended %u wait at a barrier, the others in "
                    "warps that are parked",
                    (unsigned long long)c->blocks.list[s->block].cta->index, b->live, b->at_barrier);
}
