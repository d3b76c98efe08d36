/* Branches. A jump vanishes where the blocks can be laid out one after the other. A short forward branch becomes
 * predicates on what it skips. Around another branch whose threads may part, BSSY and BSYNC say where they meet. Loops
 * that count are in lowering_loops.c, what is loaded where in lowering_places.c. */
#include "ptx/lowering_control.h"

enum {
    MEETING = 2,          /* BSSY and BSYNC */
    MOST_PREDICATED = 8,  /* machine instructions that a branch may skip and still become predicates */
    MOST_SKIP_LOADS = 20, /* with loads among them, which are under way earlier without the branch */
    ENTRY_WRITTEN = 5,    /* of LOWER_UNROLLED_ENTRY, those that are instructions where ptx_unroll has done it */
};

/* ------------------------------------------------------------- short branches become predicates */

/* A block of nothing but a jump is the block that it leads to. */
static uint32_t goes_to(const struct control *c, uint32_t block)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    return b->end - b->first == 1 && b->succ_count == 1 && control_is_jump(&c->f->insts[b->first]) ? b->succs[0]
                                                                                                   : block;
}

static bool only_returns(const struct control *c, uint32_t block)
{
    const struct ptx_block *b = &c->cfg->blocks[goes_to(c, block)];
    return b->end - b->first == 1 && ptx_flags(&c->f->insts[b->first]) & (PTX_F_RET | PTX_F_EXIT);
}

static bool can_be_predicated(const struct ptx_inst *in)
{
    return !(ptx_flags(in) & (PTX_F_CALL | PTX_F_BARRIER | PTX_F_EXIT | PTX_F_RET | PTX_F_ATOMIC)) && !in->guard &&
           in->opcode != PTX_OP_brx;
}

static bool loads_from_afar(const struct control *c, uint32_t i)
{
    const struct ptx_inst *in = &c->f->insts[i];
    return ptx_flags(in) & PTX_F_LOAD && !lower_reads_parameter(c->f, in) && !ptx_has_modifier(in, PTX_MOD_SHARED) &&
           !ptx_has_modifier(in, PTX_MOD_CONST) && !ptx_has_modifier(in, PTX_MOD_PARAM);
}

/* There is nothing to do while it is under way: the block after the paths have met begins with a shuffle of what was
 * loaded, or others lead there, so that it does not become one with this. The branch stays. */
static bool is_wanted_at_once(const struct control *c, const struct ptx_block *b, uint32_t load)
{
    uint32_t reg = lower_result(c->w, load);
    const struct ptx_block *after = &c->cfg->blocks[b->succs[0]];
    if (after->pred_count > 2)
        return true;
    for (uint32_t i = after->first; i < after->end; i++)
        if (c->w->insts[i].slots) {
            if (!(ptx_flags(&c->f->insts[i]) & PTX_F_WARP))
                return false;
            for (uint32_t k = c->w->refs_of[i]; k < c->w->results_of[i]; k++)
                if (c->w->ref[k] == reg)
                    return true;
            return false;
        }
    return false;
}

/* One way of a branch; a block of nothing but a jump is passed over where it alone leads on. */
static uint32_t way_of(const struct control *c, uint32_t block, uint32_t k)
{
    uint32_t next = c->cfg->blocks[block].succs[k], to = goes_to(c, next);
    return c->cfg->blocks[next].pred_count == 1 && c->cfg->blocks[to].pred_count == 1 ? to : next;
}

static bool is_entered_from(const struct control *c, uint32_t block, uint32_t from)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    if (b->pred_count != 1)
        return false;
    const struct ptx_block *before = &c->cfg->blocks[b->preds[0]];
    return b->preds[0] == from ||
           (goes_to(c, b->preds[0]) == block && before->pred_count == 1 && before->preds[0] == from);
}

/* Whether a block that only `from` enters and that goes on to one other can run under a predicate. */
static bool is_short(const struct control *c, uint32_t block, uint32_t from, uint32_t *size)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    if (!is_entered_from(c, block, from) || b->succ_count != 1 || b->exits)
        return false;
    uint32_t loads = 0;
    *size = 0;
    for (uint32_t i = b->first; i < b->end; i++) {
        if (control_is_jump(&c->f->insts[i]))
            continue;
        if (!can_be_predicated(&c->f->insts[i]) || c->w->insts[i].slots >= LOWER_SLOW_PATH ||
            (loads_from_afar(c, i) && is_wanted_at_once(c, b, i)))
            return false;
        loads += c->w->insts[i].slots && loads_from_afar(c, i);
        *size += c->w->insts[i].slots;
    }
    return *size <= (loads ? MOST_SKIP_LOADS : MOST_PREDICATED);
}

/* if without else: one successor leads to the other; with else: both to a third. What is skipped is issued all the
 * same. A branch to the end is an EXIT under a predicate, whatever it skips. */
bool control_is_short_branch(struct control *c, uint32_t block)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    struct ptx_lowered *branch = &c->w->insts[b->end - 1];
    if (b->succ_count != 2 || b->exits || only_returns(c, b->succs[0]) || only_returns(c, b->succs[1]))
        return false;
    uint32_t size[2], way[2] = {way_of(c, block, 0), way_of(c, block, 1)};
    bool fits[2] = {is_short(c, way[0], block, &size[0]), is_short(c, way[1], block, &size[1])};
    if (fits[0] && c->cfg->blocks[way[0]].succs[0] == way[1]) {
        branch->if_taken = (uint8_t)size[0];
        return true;
    }
    if (fits[1] && c->cfg->blocks[way[1]].succs[0] == way[0]) {
        branch->if_not_taken = (uint8_t)size[1];
        return true;
    }
    if (!fits[0] || !fits[1] || c->cfg->blocks[way[0]].succs[0] != c->cfg->blocks[way[1]].succs[0])
        return false;
    branch->if_taken = (uint8_t)size[0];
    branch->if_not_taken = (uint8_t)size[1];
    return true;
}

/* The comparison stands in for the branch: one machine instruction for both. */
bool control_give_comparison(struct control *c, uint32_t branch, enum ptx_fate fate)
{
    struct lowering_work *w = c->w;
    uint32_t reg = c->f->insts[branch].guard->index, d = w->definition[reg];
    if (d >= LOWER_MANY || !lower_is_kept(w, d) || lower_use_count(w, reg) != 1 || w->insts[d].slots != 1 ||
        c->cfg->block_of_inst[d] != c->cfg->block_of_inst[branch] || ptx_flags(lower_inst(w, d)) & PTX_F_WARP)
        return false;
    lower_vanish(w, d, fate, branch);
    return true;
}

/* ------------------------------------------------------------- where threads meet */

void control_add_slots(struct ptx_lowered *l, uint32_t slots)
{
    l->slots = (uint8_t)(l->slots + slots > UINT8_MAX ? UINT8_MAX : l->slots + slots);
    l->fate = PTX_FATE_KEPT;
}

/* What a loop costs once is paid by the end of the block before it. */
void control_pay_before(struct control *c, uint32_t loop, uint32_t slots)
{
    uint32_t before = c->cfg->idom[c->cfg->loops[loop].header_block];
    if (before == PTX_NO_BLOCK)
        return;
    control_add_slots(&c->w->insts[c->cfg->blocks[before].end - 1], slots);
}

static void meet(struct control *c, uint32_t branch)
{
    uint32_t block = c->cfg->block_of_inst[branch], at = c->cfg->ipdom[block];
    if (at == PTX_NO_BLOCK || only_returns(c, at))
        return;
    uint32_t first = c->first_meeting[at];
    if (first && ptx_cfg_dominates(c->cfg, first - 1, block))
        return;
    c->first_meeting[at] = block + 1;
    int32_t loop = c->cfg->blocks[block].loop;
    if (loop != PTX_NO_LOOP && !ptx_loop_contains(c->cfg, (uint32_t)loop, at))
        control_pay_before(c, (uint32_t)loop, MEETING);
    else
        control_add_slots(&c->w->insts[branch], MEETING);
}

/* A block that is entered from `from`, and from what is one with it. */
static void join(struct control *c, uint32_t block, uint32_t from)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    if (b->pred_count == 1)
        c->stretch[block] = c->stretch[from];
    if (b->pred_count == 1 && b->succ_count == 1 && c->cfg->blocks[b->succs[0]].pred_count == 2)
        c->stretch[b->succs[0]] = c->stretch[from];
}

static void look_at_branch(struct control *c, uint32_t branch)
{
    const struct ptx_inst *in = &c->f->insts[branch];
    uint32_t block = c->cfg->block_of_inst[branch];
    if (in->guard && control_is_short_branch(c, block)) {
        control_give_comparison(c, branch, PTX_FATE_FUSED);
        for (uint32_t k = 0; k < 2; k++) { /* what was skipped runs on */
            uint32_t side = way_of(c, block, k);
            join(c, side, block);
            if (control_is_jump(control_last_of(c, side)) && c->cfg->blocks[side].pred_count == 1)
                lower_vanish(c->w, c->cfg->blocks[side].end - 1, PTX_FATE_MERGED, PTX_INTO_NOTHING);
        }
        return;
    }
    for (uint32_t k = 0; k < 2 && c->cfg->blocks[block].succ_count == 2; k++) { /* those that do not exit run on */
        uint32_t other = c->cfg->blocks[block].succs[1 - k];
        if (only_returns(c, c->cfg->blocks[block].succs[k]) && c->cfg->blocks[other].pred_count == 1)
            c->stretch[other] = c->stretch[block];
    }
    if (!in->guard || c->w->divergent[in->guard->index])
        meet(c, branch);
}

static bool has_parting_branch(const struct control *c, uint32_t block)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    const struct ptx_inst *in = control_last_of(c, block);
    const struct ptx_lowered *l = &c->w->insts[b->end - 1];
    bool has_guard = ptx_is_conditional_branch(in) && in->guard; /* brx has none */
    return b->succ_count == 2 && has_guard && c->w->divergent[in->guard->index] && !l->if_taken && !l->if_not_taken;
}

/* Both ways of a branch have a branch of their own, into the same block or past it: threads meet in that block as well,
 * and those that go past it say so (BREAK). */
static void meet_on_the_way(struct control *c, uint32_t block)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    uint32_t from = c->cfg->idom[block];
    if (!b->reachable || b->pred_count != 2 || from == PTX_NO_BLOCK || !has_parting_branch(c, from))
        return;
    uint32_t past = c->cfg->ipdom[from];
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t way = goes_to(c, c->cfg->blocks[from].succs[k]);
        const struct ptx_block *w = &c->cfg->blocks[way];
        if (past == block || !has_parting_branch(c, way))
            return;
        uint32_t to[2] = {goes_to(c, w->succs[0]), goes_to(c, w->succs[1])};
        if (!(to[0] == block && to[1] == past) && !(to[0] == past && to[1] == block))
            return;
    }
    control_add_slots(&c->w->insts[c->cfg->blocks[from].end - 1], MEETING);
    for (uint32_t k = 0; k < 2; k++)
        control_add_slots(&c->w->insts[c->cfg->blocks[goes_to(c, c->cfg->blocks[from].succs[k])].end - 1], 1);
}

/* ------------------------------------------------------------- jumps */

/* Each block has one that is laid out before it, and needs no jump. A block of nothing but a jump is the other way of
 * the branch before it. */
static void look_at_jump(struct control *c, uint32_t block, uint32_t *laid_out)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    uint32_t jump = b->end - 1, to = b->succ_count == 1 ? b->succs[0] : PTX_NO_BLOCK;
    if (to == PTX_NO_BLOCK)
        return;
    bool is_header =
        c->cfg->blocks[to].loop != PTX_NO_LOOP && c->cfg->loops[c->cfg->blocks[to].loop].header_block == to;
    if (b->end - b->first == 1 || !laid_out[to] || is_header)
        lower_vanish(c->w, jump, PTX_FATE_MERGED, PTX_INTO_NOTHING);
    laid_out[to] = block + 1;
}

static void look_at_jumps(struct control *c)
{
    uint32_t *laid_out = arena_array(&c->w->scratch, uint32_t, c->cfg->block_count + 1);
    for (uint32_t b = 0; b < c->cfg->block_count; b++) /* text that runs on */
        if (!(ptx_flags(control_last_of(c, b)) & PTX_F_BRANCH) && c->cfg->blocks[b].succ_count == 1)
            laid_out[c->cfg->blocks[b].succs[0]] = b + 1;
    for (uint32_t b = 0; b < c->cfg->block_count; b++)
        if (control_is_jump(control_last_of(c, b)))
            look_at_jump(c, b, laid_out);
}

/* ------------------------------------------------------------- loops that end with the kernel */

/* After the last round of a loop of several blocks there is nothing but the end: those that are done exit, and the jump
 * back is an instruction of its own. A loop of one block has a branch back, and the exit after it. */
static void end_with_loop(struct control *c, uint32_t loop)
{
    const struct ptx_loop *l = &c->cfg->loops[loop];
    bool several = false;
    for (uint32_t k = 0; k < l->block_count; k++)
        several |=
            c->stretch[l->blocks[k]] != c->stretch[l->header_block] && goes_to(c, l->blocks[k]) != l->header_block;
    for (uint32_t k = 0; several && k < l->block_count; k++) {
        const struct ptx_block *b = &c->cfg->blocks[l->blocks[k]];
        for (uint32_t s = 0; s < 2 && b->succ_count == 2; s++)
            if (only_returns(c, b->succs[s]) && goes_to(c, b->succs[1 - s]) == l->header_block)
                control_add_slots(&c->w->insts[b->end - 1], 1);
    }
}

/* ------------------------------------------------------------- pointers that step */

/* The halves of a sum of 64 bits go to two registers wherever there is room; an address wants neighbours. So a pointer
 * that steps in a loop is moved to its pair, once for each time round: also where that is several rounds
 * (ptx/unroll.h). */
static void pair_pointers(struct control *c)
{
    enum { MOVES = 2 };
    const struct lowering_work *w = c->w;
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        int32_t loop = lower_loop_of(w, i);
        if (loop == PTX_NO_LOOP || !lower_is_kept(w, i) || !control_steps_by_constant(c, i) ||
            !lower_is_integer(&c->f->insts[i], 64) || w->narrow[c->f->insts[i].operands[0].reg->index])
            continue;
        bool is_address = false;
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t reg = c->f->insts[i].operands[k].reg->index;
            for (uint32_t u = w->users_of[reg]; u < w->users_of[reg + 1]; u++)
                is_address |=
                    control_is_in_loop(c, (uint32_t)loop, w->users[u]) && lower_uses_memory(lower_inst(w, w->users[u]));
        }
        if (is_address)
            control_add_slots(&w->insts[i], MOVES);
    }
}

/* ------------------------------------------------------------- atomics of a whole warp on one address */

bool ptx_can_add_up(const struct ptx_inst *in)
{
    static const enum ptx_modifier operations[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX,
                                                   PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR};
    if (!(ptx_flags(in) & PTX_F_ATOMIC) || !lower_is_integer(in, 32))
        return false;
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (ptx_has_modifier(in, operations[i]))
            return true;
    return false;
}

/* The warp adds up among its threads first, and one of them goes to memory. Of what is no sum nobody may want the
 * result. */
static void add_up_first(struct lowering_work *w, uint32_t i)
{
    enum { COUNT_THREADS = 8, ADD_VALUES = 7, AND_SHARE = 6, SHARE_SUMS = 20 };
    const struct ptx_inst *in = lower_inst(w, i);
    const struct ptx_operand *address = ptx_can_add_up(in) ? lower_address(in) : NULL;
    if (!address || (address->elements[0].kind == PTX_OPERAND_REG && w->divergent[address->elements[0].reg->index]))
        return;
    const struct ptx_operand *value = &in->operands[in->operand_count - 1];
    bool adds = ptx_has_modifier(in, PTX_MOD_ADD);
    bool counts_threads =
        adds && (lower_is_literal(value) || (value->kind == PTX_OPERAND_REG && !w->divergent[value->reg->index]));
    uint32_t result = in->opcode == PTX_OP_red ? LOWER_NONE : lower_result(w, i);
    bool shares = result != LOWER_NONE && lower_use_count(w, result);
    if (shares && !adds)
        return;
    w->insts[i].adds_up = shares && !counts_threads ? PTX_ADDS_BEFORE : PTX_ADDS_ALL;
    w->insts[i].slots = (uint8_t)((counts_threads ? COUNT_THREADS : ADD_VALUES) + (!shares          ? 0
                                                                                   : counts_threads ? AND_SHARE
                                                                                                    : SHARE_SUMS));
}

static bool has_inner_loop(const struct ptx_cfg *cfg, uint32_t loop)
{
    for (uint32_t k = loop + 1; k < cfg->loop_count; k++)
        if (cfg->loops[k].parent == (int32_t)loop)
            return true;
    return false;
}

void lower_control(struct lowering_work *w)
{
    struct control c = {.w = w, .f = w->f, .cfg = w->cfg};
    if (!w->f->inst_count)
        return;
    c.first_meeting = arena_array(&w->scratch, uint32_t, w->cfg->block_count + 1);
    c.stretch = arena_array(&w->scratch, uint32_t, w->cfg->block_count + 1);
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        c.stretch[b] = b;
    c.keeps_text = control_is_laid_out(&c);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        add_up_first(w, i);
    control_fetch_handles(w);
    look_at_jumps(&c);
    for (uint32_t l = 0; l < w->cfg->loop_count; l++)
        if (!has_inner_loop(w->cfg, l))
            control_unroll(&c, l);
    pair_pointers(&c);
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        if (w->cfg->blocks[b].reachable && ptx_is_conditional_branch(control_last_of(&c, b)))
            look_at_branch(&c, w->cfg->blocks[b].end - 1);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        if (w->f->insts[i].unrolled == PTX_UNROLLED_ENTRY)
            control_add_slots(&w->insts[i], LOWER_UNROLLED_ENTRY - ENTRY_WRITTEN);
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        meet_on_the_way(&c, b);
    for (uint32_t l = 0; l < w->cfg->loop_count; l++)
        end_with_loop(&c, l);
    control_load_constants(&c);
    control_hoist_reciprocals(&c);
    control_extend_factors(&c);
    if (w->f->is_entry) {
        control_load_parameters(&c);
        control_begin_kernel(w);
        control_find_shared(&c);
    }
}
