/* Branches and loops. A jump vanishes where the blocks can be laid out one after the other. A short forward branch
 * becomes predicates on what it skips. Around another branch whose threads may part, BSSY and BSYNC say where they
 * meet. A loop that counts is unrolled four times or more, so that the counting, the comparison and the jump become a
 * small part; here all of it goes but the branch itself. The kernel's own beginning is here too: the stack pointer and
 * the descriptor of global memory; and the base of shared memory. */
#include "ptx/lowering_internal.h"

enum {
    MEETING = 2,          /* BSSY and BSYNC */
    NEAR = 64,            /* instructions before a loop in which its counter is looked for */
    MOST_PREDICATED = 8,  /* machine instructions that a branch may skip and still become predicates */
    MOST_SKIP_LOADS = 20, /* with loads among them, which are under way earlier without the branch */
    MOST_BY_FOUR = 22,    /* machine instructions of a loop that is unrolled by four: without loads from memory */
    MOST_WITH_LOADS = 51, /* with them, each access of global memory counted twice */
    MOST_UNROLLED = 80,   /* of one that is unrolled to the end */
    MOST_STRAIGHT = 1000, /* machine instructions of a loop that is unrolled to the end */
    WITH_SLOW_PATH = 9,   /* a sequence so long has a branch of its own: division, roots */
    UNROLLED_ENTRY = 11,  /* tests and jumps between the loop of four and those for what is left over */
    ENTRY_WRITTEN = 5,    /* those of them that are instructions where ptx_unroll has done it */
    PARTING = 6,          /* and to bring threads together between them */
};

struct control {
    struct lowering_work *w;
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    uint32_t *first_meeting; /* per block: one more than the first branch that meets there */
    uint32_t *stretch; /* per block: the first of those that became one, for the branches between them are predicates
                       or exits */
    bool keeps_text;   /* blocks are laid out as they are written */
};

static const struct ptx_inst *last_of(const struct control *c, uint32_t block)
{
    return &c->f->insts[c->cfg->blocks[block].end - 1];
}

static bool is_jump(const struct ptx_inst *in) { return in->opcode == PTX_OP_bra && !in->guard; }

/* ------------------------------------------------------------- values that differ between threads */

static bool makes_divergent(const struct ptx_function *f, const struct ptx_inst *in)
{
    if (ptx_flags(in) & (PTX_F_ATOMIC | PTX_F_CALL | PTX_F_TEXTURE))
        return true;
    if (ptx_flags(in) & PTX_F_LOAD)
        return !lower_reads_parameter(f, in) && !ptx_has_modifier(in, PTX_MOD_CONST) &&
               !(f->is_entry && ptx_has_modifier(in, PTX_MOD_PARAM));
    if (in->opcode == PTX_OP_shfl || in->opcode == PTX_OP_match)
        return true;
    for (uint32_t k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operands[k];
        if (o->kind == PTX_OPERAND_SPECIAL && !(o->special >= PTX_SREG_NTID_X && o->special <= PTX_SREG_NTID_W) &&
            !(o->special >= PTX_SREG_CTAID_X && o->special <= PTX_SREG_CTAID_W) &&
            !(o->special >= PTX_SREG_NCTAID_X && o->special <= PTX_SREG_NCTAID_W))
            return true;
    }
    return false;
}

/* Spread from what makes a value of a thread's own to all that reads it. */
static void find_divergent(struct lowering_work *w)
{
    uint32_t depth = 0, count = w->f->inst_count;
    uint32_t *stack = arena_array(&w->scratch, uint32_t, w->f->reg_count + 1);
    w->divergent = arena_array(&w->scratch, bool, w->f->reg_count + 1);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
            if (!w->divergent[w->ref[k]] && (!w->f->is_entry || makes_divergent(w->f, lower_inst(w, i)))) {
                w->divergent[w->ref[k]] = true;
                stack[depth++] = w->ref[k];
            }
    while (depth) {
        uint32_t reg = stack[--depth];
        for (uint32_t u = w->users_of[reg]; u < w->users_of[reg + 1]; u++) {
            uint32_t i = w->users[u];
            if (lower_inst(w, i)->opcode == PTX_OP_vote)
                continue;
            for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++)
                if (!w->divergent[w->ref[k]]) {
                    w->divergent[w->ref[k]] = true;
                    stack[depth++] = w->ref[k];
                }
        }
    }
}

/* ------------------------------------------------------------- short branches become predicates */

/* A block of nothing but a jump is the block that it leads to. */
static uint32_t goes_to(const struct control *c, uint32_t block)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    return b->end - b->first == 1 && b->succ_count == 1 && is_jump(&c->f->insts[b->first]) ? b->succs[0] : block;
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
        if (is_jump(&c->f->insts[i]))
            continue;
        if (!can_be_predicated(&c->f->insts[i]) || c->w->insts[i].slots >= WITH_SLOW_PATH ||
            (loads_from_afar(c, i) && is_wanted_at_once(c, b, i)))
            return false;
        loads += c->w->insts[i].slots && loads_from_afar(c, i);
        *size += c->w->insts[i].slots;
    }
    return *size <= (loads ? MOST_SKIP_LOADS : MOST_PREDICATED);
}

/* if without else: one successor leads to the other; with else: both to a third. What is skipped is issued all the
 * same. A branch to the end is an EXIT under a predicate, whatever it skips. */
static bool is_short_branch(struct control *c, uint32_t block)
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
static bool give_comparison(struct control *c, uint32_t branch, enum ptx_fate fate)
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

static void add_slots(struct ptx_lowered *l, uint32_t slots)
{
    l->slots = (uint8_t)(l->slots + slots > UINT8_MAX ? UINT8_MAX : l->slots + slots);
    l->fate = PTX_FATE_KEPT;
}

/* What a loop costs once is paid by the end of the block before it. */
static void pay_before(struct control *c, uint32_t loop, uint32_t slots)
{
    uint32_t before = c->cfg->idom[c->cfg->loops[loop].header_block];
    if (before == PTX_NO_BLOCK)
        return;
    add_slots(&c->w->insts[c->cfg->blocks[before].end - 1], slots);
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
        pay_before(c, (uint32_t)loop, MEETING);
    else
        add_slots(&c->w->insts[branch], MEETING);
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
    if (in->guard && is_short_branch(c, block)) {
        give_comparison(c, branch, PTX_FATE_FUSED);
        for (uint32_t k = 0; k < 2; k++) { /* what was skipped runs on */
            uint32_t side = way_of(c, block, k);
            join(c, side, block);
            if (is_jump(last_of(c, side)) && c->cfg->blocks[side].pred_count == 1)
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
    const struct ptx_inst *in = last_of(c, block);
    const struct ptx_lowered *l = &c->w->insts[b->end - 1];
    return b->succ_count == 2 && ptx_is_conditional_branch(in) && c->w->divergent[in->guard->index] && !l->if_taken &&
           !l->if_not_taken;
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
    add_slots(&c->w->insts[c->cfg->blocks[from].end - 1], MEETING);
    for (uint32_t k = 0; k < 2; k++)
        add_slots(&c->w->insts[c->cfg->blocks[goes_to(c, c->cfg->blocks[from].succs[k])].end - 1], 1);
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
        if (!(ptx_flags(last_of(c, b)) & PTX_F_BRANCH) && c->cfg->blocks[b].succ_count == 1)
            laid_out[c->cfg->blocks[b].succs[0]] = b + 1;
    for (uint32_t b = 0; b < c->cfg->block_count; b++)
        if (is_jump(last_of(c, b)))
            look_at_jump(c, b, laid_out);
}

/* ------------------------------------------------------------- loops that count */

static bool is_in_loop(const struct control *c, uint32_t loop, uint32_t i)
{
    return ptx_loop_contains(c->cfg, loop, c->cfg->block_of_inst[i]);
}

/* r = r + constant, or s = r + constant and r = s, within the loop; one definition there. */
static bool steps_by_constant(const struct control *c, uint32_t i)
{
    const struct ptx_inst *in = &c->f->insts[i];
    return (in->opcode == PTX_OP_add || in->opcode == PTX_OP_sub) && !in->guard && in->operand_count == 3 &&
           in->operands[1].kind == PTX_OPERAND_REG && in->operands[2].kind == PTX_OPERAND_INT &&
           !ptx_type_is_float(lower_type(in)) &&
           c->w->register_of[in->operands[0].reg->index] == c->w->register_of[in->operands[1].reg->index];
}

/* The steps of addresses and counters become part of the offsets of the copies. */
static bool only_addresses_and_tests(const struct control *c, uint32_t loop, uint32_t i)
{
    const struct lowering_work *w = c->w;
    const struct ptx_operand *regs[2] = {&c->f->insts[i].operands[0], &c->f->insts[i].operands[1]};
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t reg = regs[r]->reg->index;
        for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++) {
            uint32_t user = w->users[k];
            const struct ptx_inst *u = &c->f->insts[user];
            if (user == i || !is_in_loop(c, loop, user) || w->insts[user].fate == PTX_FATE_MERGED ||
                u->opcode == PTX_OP_setp)
                continue;
            const struct ptx_operand *address = lower_uses_memory(u) ? lower_address(u) : NULL;
            if (!address || address->elements[0].kind != PTX_OPERAND_REG || address->elements[0].reg->index != reg)
                return false;
        }
    }
    return true;
}

static bool uses_global(const struct ptx_inst *in)
{
    if (!lower_uses_memory(in) || ptx_flags(in) & PTX_F_TEXTURE)
        return false;
    return !ptx_has_modifier(in, PTX_MOD_SHARED) && !ptx_has_modifier(in, PTX_MOD_PARAM) &&
           !ptx_has_modifier(in, PTX_MOD_LOCAL) && !ptx_has_modifier(in, PTX_MOD_CONST);
}

struct loop_size {
    uint32_t slots, far; /* far: accesses of global memory */
    bool loads;
    bool plain;    /* nothing in it that keeps it from being unrolled */
    bool together; /* something that threads do together: not where they may leave apart */
};

static struct loop_size loop_size(const struct control *c, const struct ptx_loop *l)
{
    struct loop_size size = {.plain = true};
    for (uint32_t k = 0; k < l->block_count; k++) {
        const struct ptx_block *b = &c->cfg->blocks[l->blocks[k]];
        for (uint32_t i = b->first; i < b->end; i++) {
            const struct ptx_inst *in = &c->f->insts[i];
            uint32_t flags = ptx_flags(in);
            bool loads = flags & PTX_F_LOAD && !(flags & PTX_F_TEXTURE) && !lower_reads_parameter(c->f, in);
            bool is_constant = ptx_has_modifier(in, PTX_MOD_CONST);
            size.slots += is_constant ? 0 : c->w->insts[i].slots; /* they are operands */
            size.far += uses_global(in) && c->w->insts[i].slots;
            size.loads |= loads && !is_constant;
            size.together |= flags & (PTX_F_BARRIER | PTX_F_WARP | PTX_F_ATOMIC);
            if (flags & (PTX_F_CALL | PTX_F_EXIT | PTX_F_RET | PTX_F_FENCE) || c->w->insts[i].slots >= WITH_SLOW_PATH)
                size.plain = false;
        }
    }
    return size;
}

static bool fits_four_times(const struct loop_size *size)
{
    return size->loads ? size->slots + size->far <= MOST_WITH_LOADS : size->slots <= MOST_BY_FOUR;
}

/* The branch at the end compares a counter with something that stays the same. */
static bool counts(const struct control *c, uint32_t loop, uint32_t branch)
{
    const struct lowering_work *w = c->w;
    const struct ptx_inst *in = &c->f->insts[branch];
    uint32_t d = in->guard ? w->definition[in->guard->index] : LOWER_NONE;
    if (d >= LOWER_MANY || c->f->insts[d].opcode != PTX_OP_setp || !is_in_loop(c, loop, d) ||
        c->f->insts[d].operand_count != 3 || ptx_type_is_float(lower_type(&c->f->insts[d])))
        return false;
    bool steps = false, stays = true;
    for (uint32_t k = 1; k < 3; k++) {
        const struct ptx_operand *o = &c->f->insts[d].operands[k];
        if (o->kind != PTX_OPERAND_REG)
            continue;
        bool stepped = false;
        const struct ptx_loop *l = &c->cfg->loops[loop];
        for (uint32_t b = 0; b < l->block_count; b++)
            for (uint32_t i = c->cfg->blocks[l->blocks[b]].first; i < c->cfg->blocks[l->blocks[b]].end; i++)
                for (uint32_t r = w->results_of[i]; r < w->refs_of[i + 1]; r++)
                    if (w->register_of[w->ref[r]] == w->register_of[o->reg->index]) {
                        bool is_step = steps_by_constant(c, i);
                        stepped |= is_step;
                        stays &= is_step || w->insts[i].fate == PTX_FATE_MERGED;
                    }
        steps |= stepped;
    }
    return steps && stays;
}

/* What a register held last before the loop, in order of the text, where that is a literal. */
static bool starts_at(const struct control *c, uint32_t loop, uint32_t reg, int64_t *value)
{
    const struct lowering_work *w = c->w;
    for (uint32_t i = c->cfg->loops[loop].begin, seen = 0; i-- > 0 && seen < NEAR; seen++) {
        const struct ptx_inst *in = &c->f->insts[i];
        uint32_t result = lower_result(w, i);
        if (result == LOWER_NONE || w->register_of[result] != reg)
            continue;
        while (in->opcode == PTX_OP_mov && in->operands[1].kind == PTX_OPERAND_REG &&
               w->definition[in->operands[1].reg->index] < LOWER_MANY)
            in = &c->f->insts[w->definition[in->operands[1].reg->index]];
        *value = in->opcode == PTX_OP_mov && in->operands[1].kind == PTX_OPERAND_INT ? in->operands[1].integer : 0;
        return in->opcode == PTX_OP_mov && in->operands[1].kind == PTX_OPERAND_INT;
    }
    return false;
}

static int64_t step_of(const struct control *c, uint32_t loop, uint32_t counter)
{
    const struct ptx_loop *l = &c->cfg->loops[loop];
    for (uint32_t i = l->begin; i < l->end; i++)
        if (steps_by_constant(c, i) && c->w->register_of[c->f->insts[i].operands[0].reg->index] == counter)
            return c->f->insts[i].operands[2].integer;
    return 0;
}

/* Rounds of a loop that counts from a literal to a literal; 0: not known. */
static uint64_t known_trips(const struct control *c, uint32_t loop, uint32_t branch)
{
    const struct lowering_work *w = c->w;
    const struct ptx_inst *test = &c->f->insts[w->definition[c->f->insts[branch].guard->index]];
    int64_t first;
    if (test->operands[1].kind != PTX_OPERAND_REG || test->operands[2].kind != PTX_OPERAND_INT)
        return 0;
    uint32_t counter = w->register_of[test->operands[1].reg->index];
    int64_t step = step_of(c, loop, counter);
    if (!step || !starts_at(c, loop, counter, &first))
        return 0;
    int64_t way = test->operands[2].integer - first;
    return way / step > 0 ? (uint64_t)(way / step) : 0;
}

/* .pragma "nounroll" */
static bool is_kept_whole(const struct control *c, const struct ptx_loop *l)
{
    const struct ptx_block *header = &c->cfg->blocks[l->header_block];
    for (uint32_t i = header->first; i < header->end; i++)
        if (c->f->insts[i].nounroll)
            return true;
    return false;
}

/* Threads may count differently by far: one value of the test alone, or one that stays and is not the same for all. A
 * counter of their own up to a common end is within one round. */
static bool rounds_differ(const struct control *c, uint32_t branch)
{
    const struct ptx_inst *test = &c->f->insts[c->w->definition[c->f->insts[branch].guard->index]];
    bool common_end = false;
    for (uint32_t k = 1; k < 3; k++)
        common_end |= test->operands[k].kind == PTX_OPERAND_REG && !c->w->divergent[test->operands[k].reg->index];
    return c->w->divergent[c->f->insts[branch].guard->index] && !common_end;
}

/* Blocks in the order in which ptxas lays them out, the last one first: after a branch first the way without the jump,
 * and nothing before all that leads to it. */
static uint32_t order_blocks(const struct control *c, uint32_t *order)
{
    uint32_t count = 0, depth = 0, blocks = c->cfg->block_count;
    uint8_t *seen = arena_array(&c->w->scratch, uint8_t, blocks + 1); /* successors that were gone to, and one more */
    uint32_t *stack = arena_array(&c->w->scratch, uint32_t, blocks + 1);
    stack[depth++] = 0;
    seen[0] = 1;
    while (depth) {
        uint32_t block = stack[depth - 1];
        const struct ptx_block *b = &c->cfg->blocks[block];
        if (seen[block] > b->succ_count) {
            order[count++] = block;
            depth--;
            continue;
        }
        uint32_t next = b->succs[seen[block]++ - 1];
        bool falls = b->succ_count == 2 && c->cfg->blocks[b->succs[0]].first == b->end;
        if (falls) /* the jump's way first: it comes out last */
            next = b->succs[seen[block] == 2];
        if (!seen[next]) {
            seen[next] = 1;
            stack[depth++] = next;
        }
    }
    return count;
}

/* Whether the text has its blocks in that order already; jumps alone do not count. Then ptxas leaves them where they
 * are, and a loop that is left by a jump over the jump back is not unrolled. Else all are laid out anew, and that loop
 * is one with its branch at the end. */
static bool is_laid_out(const struct control *c)
{
    uint32_t *order = arena_array(&c->w->scratch, uint32_t, c->cfg->block_count + 1), before = 0;
    for (uint32_t k = order_blocks(c, order); k-- > 0;) {
        const struct ptx_block *b = &c->cfg->blocks[order[k]];
        if (b->end - b->first == 1 && is_jump(&c->f->insts[b->first]))
            continue;
        if (order[k] < before)
            return false;
        before = order[k];
    }
    return true;
}

/* The counter that a branch tests is stepped in the branch's own block. */
static bool steps_at_end(const struct control *c, uint32_t branch)
{
    const struct ptx_inst *test = &c->f->insts[c->w->definition[c->f->insts[branch].guard->index]];
    for (uint32_t i = c->cfg->blocks[c->cfg->block_of_inst[branch]].first; i < branch; i++)
        for (uint32_t k = 1; k < 3 && steps_by_constant(c, i); k++)
            if (test->operands[k].kind == PTX_OPERAND_REG &&
                c->w->register_of[test->operands[k].reg->index] ==
                    c->w->register_of[c->f->insts[i].operands[0].reg->index])
                return true;
    return false;
}

/* Of the branches in a loop none is left but that at its end: the others become predicates. */
static bool becomes_one_block(struct control *c, const struct ptx_loop *l, uint32_t exit_block)
{
    if (!steps_at_end(c, c->cfg->blocks[exit_block].end - 1))
        return false;
    for (uint32_t k = 0; k < l->block_count; k++)
        if (l->blocks[k] != exit_block && c->cfg->blocks[l->blocks[k]].succ_count > 1 &&
            !is_short_branch(c, l->blocks[k]))
            return false;
    return true;
}

static void unroll(struct control *c, uint32_t loop)
{
    const struct ptx_loop *l = &c->cfg->loops[loop];
    struct loop_size size = loop_size(c, l);
    if (l->latch_count != 1 || size.slots > MOST_UNROLLED || !size.plain)
        return;
    /* one way out, at the end: of the latch, or of the branch before a latch that only jumps */
    uint32_t latch = l->latches[0], exit_block = PTX_NO_BLOCK;
    for (uint32_t k = 0; k < l->block_count; k++) {
        const struct ptx_block *b = &c->cfg->blocks[l->blocks[k]];
        for (uint32_t s = 0; s < b->succ_count; s++)
            if (!ptx_loop_contains(c->cfg, loop, b->succs[s])) {
                if (exit_block != PTX_NO_BLOCK)
                    return;
                exit_block = l->blocks[k];
            }
    }
    if (exit_block == PTX_NO_BLOCK)
        return;
    bool at_end = exit_block == latch || c->cfg->idom[latch] == exit_block;
    uint32_t branch = c->cfg->blocks[exit_block].end - 1;
    if (!at_end || !counts(c, loop, branch))
        return;
    if (is_kept_whole(c, l) || (exit_block != latch && c->keeps_text))
        return;
    uint64_t trips = known_trips(c, loop, branch);
    bool known = trips && trips * size.slots <= MOST_STRAIGHT;
    bool parts = c->w->divergent[c->f->insts[branch].guard->index];
    bool is_single = l->block_count == 1u + (exit_block != latch);
    if (!known && (!(is_single || (!size.together && becomes_one_block(c, l, exit_block))) || !fits_four_times(&size) ||
                   (size.together && parts)))
        return;
    uint32_t steps = 0;
    for (uint32_t k = 0; k < l->block_count; k++)
        for (uint32_t i = c->cfg->blocks[l->blocks[k]].first; i + 1 < c->cfg->blocks[l->blocks[k]].end; i++)
            if (lower_is_kept(c->w, i) && steps_by_constant(c, i) && (known || only_addresses_and_tests(c, loop, i))) {
                steps += c->w->insts[i].slots;
                lower_vanish(c->w, i, PTX_FATE_UNROLLED, PTX_INTO_NOTHING);
            }
    uint32_t apart =
        !parts ? 0 : PARTING + (rounds_differ(c, branch) ? size.slots : 0); /* all that is left over is run */
    if (!known)
        pay_before(c, loop, UNROLLED_ENTRY + steps + apart);
    give_comparison(c, branch, PTX_FATE_UNROLLED);
    c->w->counted[c->w->counted_count++] = (struct ptx_counted){.loop = loop, .branch = branch, .to_the_end = known};
}

static bool has_inner_loop(const struct ptx_cfg *cfg, uint32_t loop)
{
    for (uint32_t k = loop + 1; k < cfg->loop_count; k++)
        if (cfg->loops[k].parent == (int32_t)loop)
            return true;
    return false;
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
                add_slots(&c->w->insts[b->end - 1], 1);
    }
}

/* ------------------------------------------------------------- pointers that step */

/* The halves of a sum of 64 bits go to two registers wherever there is room; an address wants neighbours. So a pointer
 * that steps in a loop is moved to its pair, in each round; not in loops of several rounds (ptx/unroll.h), whose steps
 * come after all of their loads. */
static bool is_of_rounds(const struct control *c, uint32_t loop)
{
    return c->f->written && c->f->insts[c->cfg->blocks[c->cfg->loops[loop].header_block].first].nounroll;
}

static void pair_pointers(struct control *c)
{
    enum { MOVES = 2 };
    const struct lowering_work *w = c->w;
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        int32_t loop = lower_loop_of(w, i);
        if (loop == PTX_NO_LOOP || !lower_is_kept(w, i) || !steps_by_constant(c, i) ||
            !lower_is_integer(&c->f->insts[i], 64) || w->narrow[c->f->insts[i].operands[0].reg->index] ||
            is_of_rounds(c, (uint32_t)loop))
            continue;
        bool is_address = false;
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t reg = c->f->insts[i].operands[k].reg->index;
            for (uint32_t u = w->users_of[reg]; u < w->users_of[reg + 1]; u++)
                is_address |=
                    is_in_loop(c, (uint32_t)loop, w->users[u]) && lower_uses_memory(lower_inst(w, w->users[u]));
        }
        if (is_address)
            add_slots(&w->insts[i], MOVES);
    }
}

/* ------------------------------------------------------------- the kernel's own beginning */

/* The variable of shared memory that an instruction names. */
static const struct ptx_variable *shared_variable(const struct ptx_inst *in)
{
    for (uint32_t k = 0; k < in->operand_count; k++) {
        const struct ptx_operand *o = &in->operands[k];
        if (o->kind == PTX_OPERAND_ADDRESS && o->element_count)
            o = &o->elements[0];
        if (o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_SHARED)
            return o->variable;
    }
    return NULL;
}

static bool is_written_once(const struct lowering_work *w, uint32_t i)
{
    uint32_t reg = lower_result(w, i);
    return reg != LOWER_NONE && w->definition[reg] == i;
}

static void begin_kernel(struct lowering_work *w)
{
    enum { STACK_POINTER = 1, DESCRIPTOR = 1 };
    bool global = false;
    uint32_t first = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        if (w->insts[i].fate == PTX_FATE_DEAD)
            continue;
        first = first == LOWER_NONE && w->insts[i].slots ? i : first;
        global |= uses_global(lower_inst(w, i));
    }
    if (first != LOWER_NONE)
        add_slots(&w->insts[first], STACK_POINTER + (global ? DESCRIPTOR : 0));
}

/* ------------------------------------------------------------- where shared memory begins */

static bool was_named(const struct control *c, uint32_t mov, const struct ptx_variable *variable)
{
    uint32_t stretch = c->stretch[c->cfg->block_of_inst[mov]];
    for (uint32_t i = mov; i-- > c->cfg->blocks[stretch].first;)
        if (c->stretch[c->cfg->block_of_inst[i]] == stretch && c->f->insts[i].opcode == PTX_OP_mov &&
            lower_is_kept(c->w, i) && shared_variable(&c->f->insts[i]) == variable)
            return true;
    return false;
}

/* The window of shared memory, and what a variable's place is in it, are computed again in each stretch of code without
 * a jump: three instructions for the first variable, one of which is the move, two for another. */
static void find_shared(struct control *c)
{
    enum { BASE = 2, OF_ANOTHER = 1 };
    bool *is_known = arena_array(&c->w->scratch, bool, c->cfg->block_count + 1);
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        const struct ptx_variable *variable = shared_variable(in);
        if (!variable || !lower_is_kept(c->w, i))
            continue;
        bool *known = &is_known[c->stretch[c->cfg->block_of_inst[i]]], moves = in->opcode == PTX_OP_mov;
        bool last = c->cfg->blocks[c->cfg->block_of_inst[i]].end == i + 1;
        if (!*known)
            add_slots(&c->w->insts[i], BASE + !moves); /* no instruction of its own takes the base */
        else if (moves && !was_named(c, i, variable))
            add_slots(&c->w->insts[i], OF_ANOTHER);
        else if (moves && !last && is_written_once(c->w, i))
            lower_vanish(c->w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
        *known = true;
    }
}

/* ------------------------------------------------------------- parameters */

enum { MOST_HOMES = 32 };

struct parameter_use {
    struct control *c;
    uint32_t load;                          /* the ld.param */
    uint32_t homes[MOST_HOMES], home_count; /* stretches of code in which it is loaded */
};

/* Before the outermost loop around an instruction that the parameter is not loaded in; PTX_NO_LOOP: none. */
static int32_t loop_to_enter(const struct control *c, uint32_t i, uint32_t load)
{
    int32_t loop = lower_loop_of(c->w, i), found = PTX_NO_LOOP;
    for (; loop != PTX_NO_LOOP && !is_in_loop(c, (uint32_t)loop, load); loop = c->cfg->loops[loop].parent)
        found = loop;
    return found;
}

static void use_at(struct parameter_use *p, uint32_t i)
{
    struct control *c = p->c;
    int32_t loop = loop_to_enter(c, i, p->load);
    uint32_t block = c->cfg->block_of_inst[i];
    if (loop != PTX_NO_LOOP)
        block = c->cfg->idom[c->cfg->loops[loop].header_block];
    if (block == PTX_NO_BLOCK)
        return;
    for (uint32_t k = 0; k < p->home_count; k++)
        if (ptx_cfg_dominates(c->cfg, p->homes[k], block))
            return;
    if (p->home_count == MOST_HOMES)
        return;
    p->homes[p->home_count++] = c->stretch[block];
    if (c->stretch[block] == c->stretch[c->cfg->block_of_inst[p->load]])
        return; /* the ld.param itself */
    if (loop != PTX_NO_LOOP)
        pay_before(c, (uint32_t)loop, 1);
    else
        add_slots(&c->w->insts[i], 1);
}

static void use_parameter(struct parameter_use *p, uint32_t reg, uint32_t depth)
{
    enum { MOST_NAMES = 12 };
    const struct lowering_work *w = p->c->w;
    for (uint32_t k = w->users_of[reg]; k < w->users_of[reg + 1]; k++) {
        uint32_t i = w->users[k], result = lower_result(w, i);
        if (w->insts[i].fate == PTX_FATE_OPERAND && result != LOWER_NONE && depth < MOST_NAMES)
            use_parameter(p, result, depth + 1);
        else if (w->insts[i].fate == PTX_FATE_FUSED && w->insts[i].into != PTX_INTO_NOTHING)
            use_at(p, w->insts[i].into);
        else if (w->insts[i].fate == PTX_FATE_KEPT)
            use_at(p, i);
    }
}

/* A parameter is loaded where it is wanted, in each of several paths; of a loop's, before the loop. */
static void load_parameters(struct control *c)
{
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        uint32_t reg = lower_result(c->w, i), home = c->stretch[c->cfg->block_of_inst[i]];
        if (!lower_is_kept(c->w, i) || !lower_reads_parameter(c->f, &c->f->insts[i]) || reg == LOWER_NONE ||
            c->w->definition[reg] != i)
            continue;
        struct parameter_use p = {.c = c, .load = i};
        use_parameter(&p, reg, 0);
        bool is_used_there = false;
        for (uint32_t k = 0; k < p.home_count; k++)
            is_used_there |= p.homes[k] == home;
        if (!is_used_there && c->cfg->blocks[c->cfg->block_of_inst[i]].end != i + 1)
            lower_vanish(c->w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
    }
}

/* ------------------------------------------------------------- constants */

/* A constant at a known place does not change in a loop: it is loaded before, into a uniform register. */
static void load_constants(struct control *c)
{
    enum { MOST_UNIFORM = 48 }; /* of 63 registers, some hold other values */
    uint32_t *words = arena_array(&c->w->scratch, uint32_t, c->cfg->loop_count + 1);
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        const struct ptx_operand *address = in->opcode == PTX_OP_ld ? lower_address(in) : NULL;
        int32_t loop = lower_loop_of(c->w, i);
        if (!address || in->guard || loop == PTX_NO_LOOP || !ptx_has_modifier(in, PTX_MOD_CONST) ||
            address->elements[0].kind != PTX_OPERAND_SYMBOL || !lower_is_kept(c->w, i) ||
            c->cfg->blocks[c->cfg->block_of_inst[i]].end == i + 1 || !is_written_once(c->w, i))
            continue;
        if (++words[loop] > MOST_UNIFORM / 2)
            continue;
        while (c->cfg->loops[loop].parent != PTX_NO_LOOP)
            loop = c->cfg->loops[loop].parent;
        pay_before(c, (uint32_t)loop, 1);
        lower_vanish(c->w, i, PTX_FATE_OPERAND, PTX_INTO_NOTHING);
    }
}

/* ------------------------------------------------------------- textures */

/* What a texture is comes from the constant bank, once for all reads of it in a block. */
static void fetch_handles(struct lowering_work *w)
{
    uint32_t block = PTX_NO_BLOCK, handle = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = lower_inst(w, i);
        if (in->opcode != PTX_OP_tex || !lower_is_kept(w, i))
            continue;
        const struct ptx_operand *address = lower_address(in);
        uint32_t own =
            address && address->elements[0].kind == PTX_OPERAND_REG ? address->elements[0].reg->index : LOWER_NONE;
        if (block != w->cfg->block_of_inst[i] || handle != own)
            add_slots(&w->insts[i], 1);
        block = w->cfg->block_of_inst[i];
        handle = own;
    }
}

/* ------------------------------------------------------------- atomics of a whole warp on one address */

/* The warp adds up among its threads first, and one of them goes to memory. */
static void add_up_first(struct lowering_work *w, uint32_t i)
{
    enum { COUNT_THREADS = 8, ADD_VALUES = 7, AND_SHARE = 6, SHARE_SUMS = 20 };
    const struct ptx_inst *in = lower_inst(w, i);
    const struct ptx_operand *address = ptx_flags(in) & PTX_F_ATOMIC ? lower_address(in) : NULL;
    if (!address || !ptx_has_modifier(in, PTX_MOD_ADD) || !lower_is_integer(in, 32) ||
        (address->elements[0].kind == PTX_OPERAND_REG && w->divergent[address->elements[0].reg->index]))
        return;
    const struct ptx_operand *value = &in->operands[in->operand_count - 1];
    bool counts_threads =
        lower_is_literal(value) || (value->kind == PTX_OPERAND_REG && !w->divergent[value->reg->index]);
    uint32_t result = in->opcode == PTX_OP_red ? LOWER_NONE : lower_result(w, i);
    bool shares = result != LOWER_NONE && lower_use_count(w, result);
    w->insts[i].slots = (uint8_t)((counts_threads ? COUNT_THREADS : ADD_VALUES) + (!shares          ? 0
                                                                                   : counts_threads ? AND_SHARE
                                                                                                    : SHARE_SUMS));
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
    find_divergent(w);
    c.keeps_text = is_laid_out(&c);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        add_up_first(w, i);
    fetch_handles(w);
    look_at_jumps(&c);
    for (uint32_t l = 0; l < w->cfg->loop_count; l++)
        if (!has_inner_loop(w->cfg, l))
            unroll(&c, l);
    pair_pointers(&c);
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        if (w->cfg->blocks[b].reachable && ptx_is_conditional_branch(last_of(&c, b)))
            look_at_branch(&c, w->cfg->blocks[b].end - 1);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        if (w->f->insts[i].unrolled == PTX_UNROLLED_ENTRY)
            add_slots(&w->insts[i], UNROLLED_ENTRY - ENTRY_WRITTEN);
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        meet_on_the_way(&c, b);
    for (uint32_t l = 0; l < w->cfg->loop_count; l++)
        end_with_loop(&c, l);
    load_constants(&c);
    if (w->f->is_entry) {
        load_parameters(&c);
        begin_kernel(w);
        find_shared(&c);
    }
}
