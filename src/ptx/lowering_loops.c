/* Loops that count. One is unrolled four times or more, so that the counting, the comparison and the jump become a
 * small part; here all of it goes but the branch itself (ptx/unroll.h makes the rounds). Which loops depends on what is
 * in them, and on how they are written. */
#include "ptx/lowering_control.h"

enum {
    NEAR = 64,            /* instructions before a loop in which its counter is looked for */
    MOST_BY_FOUR = 22,    /* machine instructions of a loop that is unrolled by four: without loads from memory */
    MOST_WITH_LOADS = 51, /* with them, each access of global memory counted twice */
    MOST_UNROLLED = 80,   /* of one that is unrolled to the end */
    MOST_STRAIGHT = 1000, /* machine instructions of a loop that is unrolled to the end */
    PARTING = 6,          /* to bring threads together between the loop of four and those for what is left over */
};

/* r = r + constant, or s = r + constant and r = s, within the loop; one definition there. */
bool control_steps_by_constant(const struct control *c, uint32_t i)
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
            if (user == i || !control_is_in_loop(c, loop, user) || w->insts[user].fate == PTX_FATE_MERGED ||
                u->opcode == PTX_OP_setp)
                continue;
            const struct ptx_operand *address = lower_uses_memory(u) ? lower_address(u) : NULL;
            if (!address || address->elements[0].kind != PTX_OPERAND_REG || address->elements[0].reg->index != reg)
                return false;
        }
    }
    return true;
}

struct loop_size {
    uint32_t slots, far; /* far: accesses of global memory */
    bool loads;
    bool plain;    /* nothing in it that keeps it from being unrolled */
    bool together; /* something that threads do together: not where they may leave apart */
    bool scatters; /* a store to global memory under a predicate, or to a place computed in each round */
    bool gathers;  /* a load from global memory. Both together: not where threads may leave apart */
};

static bool scatters(const struct control *c, const struct ptx_loop *l, uint32_t i)
{
    const struct ptx_inst *in = &c->f->insts[i];
    if (!(ptx_flags(in) & PTX_F_STORE) || !control_uses_global(in) || !lower_address(in))
        return false;
    if (!ptx_cfg_dominates(c->cfg, c->cfg->block_of_inst[i], l->latches[0]))
        return true;
    const struct ptx_operand *base = &lower_address(in)->elements[0];
    uint32_t d = base->kind == PTX_OPERAND_REG ? c->w->definition[base->reg->index] : LOWER_NONE;
    return d < LOWER_MANY && ptx_loop_contains(c->cfg, (uint32_t)(l - c->cfg->loops), c->cfg->block_of_inst[d]) &&
           c->w->insts[d].fate != PTX_FATE_OPERAND;
}

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
            size.far += control_uses_global(in) && c->w->insts[i].slots;
            size.loads |= loads && !is_constant;
            size.scatters |= scatters(c, l, i);
            size.gathers |= flags & PTX_F_LOAD && control_uses_global(in);
            size.together |= flags & (PTX_F_BARRIER | PTX_F_WARP | PTX_F_ATOMIC);
            if (flags & (PTX_F_CALL | PTX_F_EXIT | PTX_F_RET | PTX_F_FENCE) ||
                (c->w->insts[i].slots >= LOWER_SLOW_PATH && !lower_divides(in)))
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
    if (d >= LOWER_MANY || c->f->insts[d].opcode != PTX_OP_setp || !control_is_in_loop(c, loop, d) ||
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
                        bool is_step = control_steps_by_constant(c, i);
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
        if (control_steps_by_constant(c, i) && c->w->register_of[c->f->insts[i].operands[0].reg->index] == counter)
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
bool control_is_laid_out(const struct control *c)
{
    uint32_t *order = arena_array(&c->w->scratch, uint32_t, c->cfg->block_count + 1), before = 0;
    for (uint32_t k = order_blocks(c, order); k-- > 0;) {
        const struct ptx_block *b = &c->cfg->blocks[order[k]];
        if (b->end - b->first == 1 && control_is_jump(&c->f->insts[b->first]))
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
        for (uint32_t k = 1; k < 3 && control_steps_by_constant(c, i); k++)
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
            !control_is_short_branch(c, l->blocks[k]))
            return false;
    return true;
}

void control_unroll(struct control *c, uint32_t loop)
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
                   ((size.together || (size.scatters && size.gathers)) && parts)))
        return;
    uint32_t steps = 0;
    for (uint32_t k = 0; k < l->block_count; k++)
        for (uint32_t i = c->cfg->blocks[l->blocks[k]].first; i + 1 < c->cfg->blocks[l->blocks[k]].end; i++)
            if (lower_is_kept(c->w, i) && control_steps_by_constant(c, i) &&
                (known || only_addresses_and_tests(c, loop, i))) {
                steps += c->w->insts[i].slots;
                lower_vanish(c->w, i, PTX_FATE_UNROLLED, PTX_INTO_NOTHING);
            }
    uint32_t apart =
        !parts ? 0 : PARTING + (rounds_differ(c, branch) ? size.slots : 0); /* all that is left over is run */
    if (!known)
        control_pay_before(c, loop, LOWER_UNROLLED_ENTRY + steps + apart);
    control_give_comparison(c, branch, PTX_FATE_UNROLLED);
    c->w->counted[c->w->counted_count++] = (struct ptx_counted){.loop = loop, .branch = branch, .to_the_end = known};
}
