/* Which loops are unrolled, and how often they run. Where threads may leave apart, the rounds that they run together
 * are others than before. So loops with atomics, votes, shuffles, volatile accesses or readings of the clock are
 * unrolled only where all threads of a warp surely have the same number of rounds: it comes from parameters and
 * literals. (ptxas does the same, but for volatile accesses and the clock.) Left as they are: loops with calls, those
 * that are left by the middle. */
#include "ptx/unroll_internal.h"

#include <string.h>

enum { MOST_DEPTH = 16 }; /* of a value that is followed to where it comes from */

/* ------------------------------------------------------------- what is the same for all threads */

static bool is_same_for_all(const struct unroll *u, const struct ptx_operand *o, uint32_t depth);

static bool reads_parameter(const struct unroll *u, const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_ld || !u->f->is_entry || !ptx_has_modifier(in, PTX_MOD_PARAM) || in->operand_count != 2)
        return false;
    const struct ptx_operand *address = &in->operands[1];
    if (address->kind != PTX_OPERAND_ADDRESS || address->elements[0].kind != PTX_OPERAND_SYMBOL)
        return false;
    for (uint32_t v = 0; v < u->f->param_count; v++)
        if (u->f->params[v] == address->elements[0].variable)
            return true;
    return false;
}

static bool computes_same(const struct unroll *u, const struct ptx_inst *in, uint32_t depth)
{
    if (depth > MOST_DEPTH || in->guard)
        return false;
    if (reads_parameter(u, in))
        return true;
    if (ptx_opcodes[in->opcode].unit != PTX_UNIT_SP || ptx_flags(in) || ptx_has_modifier(in, PTX_MOD_CC) ||
        in->opcode == PTX_OP_addc || in->opcode == PTX_OP_subc || in->opcode == PTX_OP_madc)
        return false;
    for (uint32_t k = 1; k < in->operand_count; k++)
        if (!is_same_for_all(u, &in->operands[k], depth + 1))
            return false;
    return in->operand_count > 1;
}

static bool is_same_for_all(const struct unroll *u, const struct ptx_operand *o, uint32_t depth)
{
    switch (o->kind) {
    case PTX_OPERAND_INT: return true;
    case PTX_OPERAND_SPECIAL:
        return (o->special >= PTX_SREG_NTID_X && o->special <= PTX_SREG_NTID_W) ||
               (o->special >= PTX_SREG_CTAID_X && o->special <= PTX_SREG_CTAID_W) ||
               (o->special >= PTX_SREG_NCTAID_X && o->special <= PTX_SREG_NCTAID_W);
    case PTX_OPERAND_REG:
        return u->definitions[o->reg->index] == 1 && u->definition[o->reg->index] != UNROLL_NONE &&
               computes_same(u, &u->f->insts[u->definition[o->reg->index]], depth);
    default: return false;
    }
}

static void note_definition(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    if (role == PTX_REG_DEFINE)
        ((uint32_t *)context)[reg->index]++;
}

void unroll_find_definitions(struct unroll *u)
{
    u->definitions = arena_array(&u->scratch, uint32_t, u->f->reg_count + 1);
    u->definition = arena_array(&u->scratch, uint32_t, u->f->reg_count + 1);
    memset(u->definition, 0xff, sizeof *u->definition * u->f->reg_count);
    for (uint32_t i = 0; i < u->f->inst_count; i++) {
        const struct ptx_inst *in = &u->f->insts[i];
        ptx_visit_regs(u->f, in, note_definition, u->definitions);
        if (ptx_writes_first_operand(in) && in->operands[0].kind == PTX_OPERAND_REG)
            u->definition[in->operands[0].reg->index] = i;
    }
    for (uint32_t k = 0; k < u->f->param_count; k++) /* from the caller */
        if (u->f->params[k]->reg)
            u->definitions[u->f->params[k]->reg->index]++;
}

struct definition_search {
    uint32_t reg, found;
};

static void note_if_defined(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct definition_search *s = context;
    s->found += role == PTX_REG_DEFINE && reg->index == s->reg;
}

static bool defines(const struct unroll *u, uint32_t i, uint32_t reg)
{
    struct definition_search s = {.reg = reg};
    ptx_visit_regs(u->f, &u->f->insts[i], note_if_defined, &s);
    return s.found != 0;
}

static bool is_defined_in(const struct unroll *u, const struct unroll_loop *l, uint32_t reg)
{
    for (uint32_t k = 0; k < l->body_count; k++)
        if (defines(u, l->body[k], reg))
            return true;
    return false;
}

/* The instruction that the counter's value comes from each time the loop is entered: the only one outside of it, on
 * every way to the loop, and in no loop that is not around both. NULL: not known. */
static const struct ptx_inst *find_start(const struct unroll *u, const struct unroll_loop *l)
{
    uint32_t found = UNROLL_NONE, reg = l->counter->index;
    const struct ptx_loop *loop = &u->cfg->loops[l->loop];
    for (uint32_t i = 0; i < u->f->inst_count; i++)
        if (!ptx_loop_contains(u->cfg, l->loop, u->cfg->block_of_inst[i]) && defines(u, i, reg)) {
            if (found != UNROLL_NONE)
                return NULL;
            found = i;
        }
    for (uint32_t k = 0; k < u->f->param_count; k++)
        if (u->f->params[k]->reg == l->counter)
            return NULL;
    if (found == UNROLL_NONE || u->f->insts[found].guard)
        return NULL;
    uint32_t block = u->cfg->block_of_inst[found];
    if (u->cfg->blocks[block].loop != loop->parent || !ptx_cfg_dominates(u->cfg, block, loop->header_block))
        return NULL;
    return &u->f->insts[found];
}

static bool starts_at_literal(const struct unroll *u, const struct ptx_inst *in, int64_t *value)
{
    for (uint32_t depth = 0; in && in->opcode == PTX_OP_mov && !in->guard && depth < MOST_DEPTH; depth++) {
        const struct ptx_operand *from = &in->operands[1];
        if (from->kind == PTX_OPERAND_INT) {
            *value = from->integer;
            return true;
        }
        if (from->kind != PTX_OPERAND_REG || u->definitions[from->reg->index] != 1 ||
            u->definition[from->reg->index] == UNROLL_NONE)
            return false;
        in = &u->f->insts[u->definition[from->reg->index]];
    }
    return false;
}

/* ------------------------------------------------------------- tests */

static bool holds(const struct ptx_inst *test, int64_t a, int64_t b)
{
    enum ptx_type type = (enum ptx_type)test->types[0];
    bool is_signed = ptx_type_is_signed(type);
    uint64_t mask = ptx_type_bits(type) == 32 ? UINT32_MAX : UINT64_MAX;
    uint64_t x = (uint64_t)a & mask, y = (uint64_t)b & mask;
    if (is_signed) { /* moved up by half of the range, the order is that of unsigned numbers */
        x ^= (mask >> 1) + 1;
        y ^= (mask >> 1) + 1;
    }
    switch (test->modifiers[0]) {
    case PTX_MOD_EQ: return x == y;
    case PTX_MOD_NE: return x != y;
    case PTX_MOD_LT:
    case PTX_MOD_LO: return x < y;
    case PTX_MOD_LE:
    case PTX_MOD_LS: return x <= y;
    case PTX_MOD_GT:
    case PTX_MOD_HI: return x > y;
    default: return x >= y;
    }
}

static bool is_comparison(const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_setp || in->guard || in->operand_count != 3 || in->modifier_count != 1 ||
        in->type_count != 1 || in->operands[0].kind != PTX_OPERAND_REG)
        return false;
    enum ptx_type type = (enum ptx_type)in->types[0];
    if (ptx_type_is_float(type) || (ptx_type_bits(type) != 32 && ptx_type_bits(type) != 64))
        return false;
    switch (in->modifiers[0]) {
    case PTX_MOD_EQ:
    case PTX_MOD_NE:
    case PTX_MOD_LT:
    case PTX_MOD_LO:
    case PTX_MOD_LE:
    case PTX_MOD_LS:
    case PTX_MOD_GT:
    case PTX_MOD_HI:
    case PTX_MOD_GE:
    case PTX_MOD_HS: return true;
    default: return false;
    }
}

/* How often the loop runs from a literal; 0: not known, or too often. */
static uint64_t count_rounds(const struct unroll_loop *l, int64_t start)
{
    const struct ptx_operand *bound = &l->test->operands[3 - l->counter_operand];
    int bits = ptx_type_bits((enum ptx_type)l->test->types[0]);
    uint64_t most = UNROLL_MOST_COPIED / (l->body_count + 1);
    if (bound->kind != PTX_OPERAND_INT)
        return 0;
    for (uint64_t n = 0; n < most; n++) {
        int64_t value = unroll_add(unroll_add(start, l->first, 1, bits), l->step, n, bits);
        bool is_first = l->counter_operand == 1;
        if (holds(l->test, is_first ? value : bound->integer, is_first ? bound->integer : value) == l->leave_value)
            return n + 1;
    }
    return 0;
}

/* ------------------------------------------------------------- loops */

/* Others notice which threads do it together, or when. */
static bool is_seen_by_others(const struct ptx_inst *in)
{
    if (ptx_flags(in) & (PTX_F_BARRIER | PTX_F_ATOMIC | PTX_F_FENCE | PTX_F_WARP | PTX_F_TEXTURE))
        return !(ptx_flags(in) & PTX_F_TEXTURE && ptx_flags(in) & PTX_F_LOAD);
    static const enum ptx_modifier ordered[] = {PTX_MOD_VOLATILE, PTX_MOD_ACQUIRE, PTX_MOD_RELEASE,
                                                PTX_MOD_RELAXED,  PTX_MOD_MMIO,    PTX_MOD_SC};
    for (uint32_t k = 0; k < sizeof ordered / sizeof *ordered; k++)
        if (ptx_has_modifier(in, ordered[k]))
            return true;
    bool is_access = ptx_flags(in) & (PTX_F_LOAD | PTX_F_STORE);
    return (ptx_opcodes[in->opcode].unit == PTX_UNIT_MEM && !is_access) || ptx_reads_time(in) ||
           (ptx_opcodes[in->opcode].unit == PTX_UNIT_CONTROL && in->opcode != PTX_OP_bra);
}

/* Changes what cannot be renamed. */
static bool is_refused(const struct ptx_inst *in)
{
    return ptx_flags(in) & (PTX_F_CALL | PTX_F_EXIT | PTX_F_RET) || in->opcode == PTX_OP_brx ||
           in->opcode == PTX_OP_alloca || in->opcode == PTX_OP_stacksave || in->opcode == PTX_OP_stackrestore;
}

/* A latch that only jumps back. */
static bool is_jump_back(const struct unroll *u, const struct ptx_block *b)
{
    return b->end - b->first == 1 && u->f->insts[b->first].opcode == PTX_OP_bra && !u->f->insts[b->first].guard;
}

/* The instructions of a round in order: from the header to the end of the text, then what lies before it, with the
 * branch last. */
static bool find_body(struct unroll *u, struct unroll_loop *l)
{
    const struct ptx_loop *loop = &u->cfg->loops[l->loop];
    const struct ptx_block *last = &u->cfg->blocks[u->cfg->block_of_inst[l->branch]], *before = NULL;
    uint32_t *body = arena_array(&u->scratch, uint32_t, loop->end - loop->begin), count = 0;
    for (uint32_t k = 0; k < u->cfg->block_count; k++) {
        uint32_t block = (loop->header_block + k) % u->cfg->block_count;
        const struct ptx_block *b = &u->cfg->blocks[block];
        if (!ptx_loop_contains(u->cfg, l->loop, block) || (b != last && block == loop->latches[0]))
            continue;
        if (before == last || (before && ptx_falls_through(&u->f->insts[before->end - 1]) && before->end != b->first))
            return false;
        for (uint32_t i = b->first; i < b->end && i != l->branch; i++)
            body[count++] = i;
        before = b;
    }
    l->body = body;
    l->body_count = count;
    return before == last && count;
}

/* Where the loop lies in the text, and how it is left. */
static bool find_shape(struct unroll *u, const struct ptx_counted *c, struct unroll_loop *l)
{
    const struct ptx_loop *loop = &u->cfg->loops[c->loop];
    const struct ptx_block *header = &u->cfg->blocks[loop->header_block],
                           *last = &u->cfg->blocks[u->cfg->block_of_inst[c->branch]],
                           *latch = &u->cfg->blocks[loop->latches[0]];
    const struct ptx_inst *branch = &u->f->insts[c->branch];
    *l = (struct unroll_loop){.loop = c->loop, .branch = c->branch};
    if (branch->opcode != PTX_OP_bra || !branch->guard || branch->operands[0].kind != PTX_OPERAND_LABEL ||
        loop->latch_count != 1 || (latch != last && !is_jump_back(u, latch)))
        return false;
    l->single_block = header == last;
    uint32_t target = branch->operands[0].target, next = c->branch + 1;
    bool goes_back = target == (latch == last ? header : latch)->first;
    if (!goes_back && next != (latch == last ? header : latch)->first)
        return false;
    l->leave_value = branch->guard_negated == goes_back;
    l->exit = goes_back ? next : target;
    if (l->single_block && latch != last && latch->first != next)
        return false;
    return find_body(u, l);
}

/* The comparison that the branch reads, in its own block. */
static bool find_test(const struct unroll *u, struct unroll_loop *l)
{
    uint32_t first = u->cfg->blocks[u->cfg->block_of_inst[l->branch]].first,
             guard = u->f->insts[l->branch].guard->index;
    for (uint32_t i = l->branch; i-- > first;)
        if (defines(u, i, guard)) {
            l->test = &u->f->insts[i];
            return is_comparison(l->test);
        }
    return false;
}

/* The counter of a loop with branches inside: one step, in the block of the test. */
static bool find_plain_counter(const struct unroll *u, struct unroll_loop *l, uint32_t operand)
{
    const struct ptx_reg *reg = l->test->operands[operand].reg;
    uint32_t first = u->cfg->blocks[u->cfg->block_of_inst[l->branch]].first, found = UNROLL_NONE;
    for (uint32_t k = 0; k < l->body_count; k++)
        if (defines(u, l->body[k], reg->index)) {
            if (found != UNROLL_NONE)
                return false;
            found = l->body[k];
        }
    if (found == UNROLL_NONE || found < first || found > l->branch || !unroll_is_step(&u->f->insts[found], &l->step) ||
        u->f->insts[found].operands[1].reg != reg)
        return false;
    l->counter = reg;
    l->first = &u->f->insts[found] < l->test ? l->step : 0;
    return l->step != 0;
}

static bool find_counter(const struct unroll *u, struct unroll_loop *l, uint32_t operand)
{
    const struct ptx_operand *o = &l->test->operands[operand], *bound = &l->test->operands[3 - operand];
    if (o->kind != PTX_OPERAND_REG || ptx_type_is_float(o->reg->type) ||
        ptx_type_bits(o->reg->type) != ptx_type_bits((enum ptx_type)l->test->types[0]))
        return false;
    if (bound->kind != PTX_OPERAND_INT && (bound->kind != PTX_OPERAND_REG || is_defined_in(u, l, bound->reg->index)))
        return false;
    l->counter_operand = operand;
    if (!l->single_block)
        return find_plain_counter(u, l, operand);
    unroll_follow(u, l, (uint32_t)(l->test - u->f->insts) - l->body[0], u->at_place);
    struct unroll_linear value = u->at_place[o->reg->index];
    if (value.base == UNROLL_NONE)
        return false;
    unroll_follow(u, l, l->body_count, u->at_end);
    l->counter = u->f->regs[value.base];
    l->first = value.offset;
    l->step = u->at_end[value.base].offset;
    return u->at_end[value.base].base == value.base && l->step && l->counter->vector == 1;
}

struct reader_count {
    uint32_t reg, count;
};

static void count_reader(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct reader_count *r = context;
    r->count += role == PTX_REG_USE && reg->index == r->reg;
}

/* By instructions of a range, the branch left out. */
static bool is_test_read(const struct unroll *u, const struct unroll_loop *l, uint32_t from, uint32_t to)
{
    struct reader_count r = {.reg = l->test->operands[0].reg->index};
    for (uint32_t i = from; i < to; i++)
        if (i != l->branch)
            ptx_visit_regs(u->f, &u->f->insts[i], count_reader, &r);
    return r.count != 0;
}

bool unroll_find_loop(struct unroll *u, const struct ptx_counted *c, struct unroll_loop *l)
{
    if (!find_shape(u, c, l) || !find_test(u, l) || (!find_counter(u, l, 1) && !find_counter(u, l, 2)))
        return false;
    bool is_seen = false;
    for (uint32_t k = 0; k < l->body_count; k++) {
        if (is_refused(&u->f->insts[l->body[k]]))
            return false;
        is_seen |= is_seen_by_others(&u->f->insts[l->body[k]]);
    }
    const struct ptx_inst *start = find_start(u, l);
    if (c->to_the_end && starts_at_literal(u, start, &l->start))
        l->rounds = count_rounds(l, l->start);
    l->test_is_read = is_test_read(u, l, 0, u->f->inst_count);
    if (l->rounds)
        return true;
    if (l->single_block ? is_test_read(u, l, l->body[0], (uint32_t)(l->test - u->f->insts)) /* of the last round */
                        : l->test_is_read)
        return false;
    bool is_same =
        start && computes_same(u, start, 0) && is_same_for_all(u, &l->test->operands[3 - l->counter_operand], 0);
    return (!is_seen || is_same) && l->body_count <= UNROLL_MOST_COPIED / UNROLL_ROUNDS;
}
