/* Which registers an instruction reads and writes, and how many are alive at each point: an estimate of the registers
 * that the real assembler would need, which decides how many warps fit a core.
 *
 * Backward data flow over the blocks. Only registers that some block reads before it writes them can be alive at a
 * block's edge, so the bit sets have one bit for each of those; all others are counted within their block. Left out:
 * the condition code of add.cc (it has no register in PTX), and what a register allocator does beyond liveness. */
#include "ptx/cfg_internal.h"

#include <string.h>

/* Visits all registers of an operand in one role. */
static void visit_operand(const struct ptx_operand *o, enum ptx_reg_role role, ptx_reg_visitor *visit, void *context)
{
    switch (o->kind) {
    case PTX_OPERAND_REG: visit(context, o->reg, role); break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_LIST:
        for (uint32_t i = 0; i < o->element_count; i++)
            visit_operand(&o->elements[i], role, visit, context);
        break;
    default: break;
    }
}

/* Reads before writes, so that a visitor that walks forward may see d in `add d, d, 1` as both. */
static void visit_call(const struct ptx_inst *in, ptx_reg_visitor *visit, void *context)
{
    uint32_t callee = 0; /* a list before it holds what the call returns, a list after it the arguments */
    while (callee < in->operand_count && in->operands[callee].kind == PTX_OPERAND_LIST)
        callee++;
    for (uint32_t i = callee; i < in->operand_count; i++)
        visit_operand(&in->operands[i], PTX_REG_USE, visit, context);
    for (uint32_t i = 0; i < callee; i++)
        visit_operand(&in->operands[i], PTX_REG_DEFINE, visit, context);
}

/* Most instructions write their first operand. One whose first operand is an address has no result (mbarrier.init), and
 * the barriers that reduce do have one. */
bool ptx_writes_first_operand(const struct ptx_inst *in)
{
    if (!in->operand_count || in->operands[0].kind == PTX_OPERAND_ADDRESS)
        return false;
    if (in->opcode == PTX_OP_bar || in->opcode == PTX_OP_barrier)
        return ptx_has_modifier(in, PTX_MOD_RED);
    return !(ptx_flags(in) & PTX_F_NO_DEST);
}

/* 9.7.15: the accumulator of wgmma is its first operand, which it also reads. */
static bool reads_destination(const struct ptx_inst *in) { return in->opcode == PTX_OP_wgmma; }

void ptx_visit_regs(const struct ptx_function *f, const struct ptx_inst *in, ptx_reg_visitor *visit, void *context)
{
    if (in->guard)
        visit(context, in->guard, PTX_REG_USE);
    if (ptx_flags(in) & PTX_F_CALL) {
        visit_call(in, visit, context);
        return;
    }
    if (ptx_flags(in) & PTX_F_RET) /* results of a function that are declared as registers */
        for (uint32_t i = 0; i < f->return_count; i++)
            if (f->returns[i]->reg)
                visit(context, f->returns[i]->reg, PTX_REG_USE);
    bool writes = ptx_writes_first_operand(in);
    for (uint32_t i = writes && !reads_destination(in); i < in->operand_count; i++)
        visit_operand(&in->operands[i], PTX_REG_USE, visit, context);
    if (writes)
        visit_operand(&in->operands[0], PTX_REG_DEFINE, visit, context);
}

uint32_t ptx_reg_units(const struct ptx_reg *reg)
{
    if (reg->type == PTX_PRED)
        return 0;
    int bits = ptx_type_bits(reg->type);
    return bits <= 32 ? 1 : (uint32_t)bits / 32;
}

#define WORD_BITS 64u
static bool test_bit(const uint64_t *set, uint32_t i) { return set[i / WORD_BITS] >> (i % WORD_BITS) & 1; }
static void set_bit(uint64_t *set, uint32_t i) { set[i / WORD_BITS] |= (uint64_t)1 << (i % WORD_BITS); }
static void clear_bit(uint64_t *set, uint32_t i) { set[i / WORD_BITS] &= ~((uint64_t)1 << (i % WORD_BITS)); }

struct liveness_build {
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    uint32_t *number;      /* per register: its bit in the block sets, or NOT_CROSSING */
    uint32_t *register_of; /* and back */
    uint32_t crossing_count, words;
    uint64_t *reads, *writes,
        *live_in; /* per block, words each: read before written; surely written; alive at the start */
};

#define NOT_CROSSING UINT32_MAX

/* The state of a walk over one block's instructions. */
struct block_walk {
    struct liveness_build *l;
    const struct ptx_inst *inst;
    uint32_t *written_in; /* per register: one more than the last block that surely wrote it */
    uint32_t block;
    uint64_t *reads, *writes;
};

static void note_crossing(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct block_walk *w = context;
    if (role == PTX_REG_DEFINE) {
        if (!w->inst->guard)
            w->written_in[reg->index] = w->block + 1;
    } else if (w->written_in[reg->index] != w->block + 1 && w->l->number[reg->index] == NOT_CROSSING) {
        w->l->register_of[w->l->crossing_count] = reg->index;
        w->l->number[reg->index] = w->l->crossing_count++;
    }
}

static void note_reads_and_writes(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct block_walk *w = context;
    uint32_t n = w->l->number[reg->index];
    if (n == NOT_CROSSING)
        return;
    if (role == PTX_REG_USE && !test_bit(w->writes, n))
        set_bit(w->reads, n);
    if (role == PTX_REG_DEFINE && !w->inst->guard)
        set_bit(w->writes, n);
}

static void walk_block(struct liveness_build *l, struct block_walk *w, uint32_t block, ptx_reg_visitor *visit)
{
    w->block = block;
    if (l->words) {
        w->reads = l->reads + (size_t)block * l->words;
        w->writes = l->writes + (size_t)block * l->words;
    }
    for (uint32_t i = l->cfg->blocks[block].first; i < l->cfg->blocks[block].end; i++) {
        w->inst = &l->f->insts[i];
        ptx_visit_regs(l->f, w->inst, visit, w);
    }
}

/* Whether control runs off the function's end here, which returns like ret. */
static bool runs_off_end(const struct liveness_build *l, uint32_t block)
{
    uint32_t end = l->cfg->blocks[block].end;
    const struct ptx_inst *last = &l->f->insts[end - 1];
    if (end == l->f->inst_count && ptx_falls_through(last))
        return true;
    return l->cfg->blocks[block].exits && (ptx_flags(last) & PTX_F_BRANCH); /* to a label after the last instruction */
}

static void find_crossing_registers(struct arena *scratch, struct liveness_build *l)
{
    struct block_walk w = {.l = l};
    w.written_in = arena_array(scratch, uint32_t, l->f->reg_count);
    l->number = arena_array(scratch, uint32_t, l->f->reg_count);
    l->register_of = arena_array(scratch, uint32_t, l->f->reg_count);
    for (uint32_t r = 0; r < l->f->reg_count; r++)
        l->number[r] = NOT_CROSSING;
    for (uint32_t b = 0; b < l->cfg->block_count; b++)
        walk_block(l, &w, b, note_crossing);
    for (uint32_t i = 0; i < l->f->return_count; i++) {
        struct ptx_reg *reg = l->f->returns[i]->reg;
        if (reg && l->number[reg->index] == NOT_CROSSING) {
            l->register_of[l->crossing_count] = reg->index;
            l->number[reg->index] = l->crossing_count++;
        }
    }
}

/* What is alive at a block's end, into out. */
static void block_live_out(const struct liveness_build *l, uint32_t block, uint64_t *out)
{
    const struct ptx_block *b = &l->cfg->blocks[block];
    memset(out, 0, sizeof *out * l->words);
    for (uint32_t s = 0; s < b->succ_count; s++) {
        const uint64_t *in = l->live_in + (size_t)b->succs[s] * l->words;
        for (uint32_t w = 0; w < l->words; w++)
            out[w] |= in[w];
    }
    if (runs_off_end(l, block))
        for (uint32_t i = 0; i < l->f->return_count; i++)
            if (l->f->returns[i]->reg)
                set_bit(out, l->number[l->f->returns[i]->reg->index]);
}

static bool update_block(struct liveness_build *l, uint32_t block, uint64_t *out)
{
    const uint64_t *reads = l->reads + (size_t)block * l->words, *writes = l->writes + (size_t)block * l->words;
    uint64_t *in = l->live_in + (size_t)block * l->words, changed = 0;
    block_live_out(l, block, out);
    for (uint32_t w = 0; w < l->words; w++) {
        uint64_t live = reads[w] | (out[w] & ~writes[w]);
        changed |= live ^ in[w];
        in[w] = live;
    }
    return changed != 0;
}

/* To a fixed point with a list of blocks to look at, the last in the text first: what changes at a block concerns only
 * its predecessors. */
static void solve(struct arena *scratch, struct liveness_build *l)
{
    uint32_t count = l->cfg->block_count, waiting = count, head = 0;
    uint32_t *queue = arena_array(scratch, uint32_t, count);
    bool *queued = arena_array(scratch, bool, count);
    uint64_t *out = arena_array(scratch, uint64_t, l->words);
    for (uint32_t i = 0; i < count; i++) {
        queue[i] = count - 1 - i;
        queued[i] = true;
    }
    while (waiting) {
        uint32_t b = queue[head];
        head = head + 1 == count ? 0 : head + 1;
        waiting--;
        queued[b] = false;
        if (!update_block(l, b, out))
            continue;
        for (uint32_t p = 0; p < l->cfg->blocks[b].pred_count; p++) {
            uint32_t pred = l->cfg->blocks[b].preds[p];
            if (queued[pred])
                continue;
            queued[pred] = true;
            uint32_t tail = head + waiting++;
            queue[tail >= count ? tail - count : tail] = pred;
        }
    }
}

/* The registers alive at a point, with their sums, as a walk goes backward. */
struct live_set {
    const struct ptx_function *f;
    uint64_t *live;
    uint64_t *unread; /* results of the instruction at hand that nothing reads later: they take a place here only */
    uint32_t units, predicates;
};

static bool make_live(struct live_set *s, const struct ptx_reg *reg)
{
    if (test_bit(s->live, reg->index))
        return false;
    set_bit(s->live, reg->index);
    s->units += ptx_reg_units(reg);
    s->predicates += reg->type == PTX_PRED;
    return true;
}

static void make_dead(struct live_set *s, const struct ptx_reg *reg)
{
    if (!test_bit(s->live, reg->index))
        return;
    clear_bit(s->live, reg->index);
    s->units -= ptx_reg_units(reg);
    s->predicates -= reg->type == PTX_PRED;
}

static void add_results(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct live_set *s = context;
    if (role == PTX_REG_DEFINE && make_live(s, reg))
        set_bit(s->unread, reg->index);
}

static void drop_results(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct live_set *s = context;
    if (role != PTX_REG_DEFINE)
        return;
    clear_bit(s->unread, reg->index);
    make_dead(s, reg);
}

/* After a guard a result stays alive before the instruction too, unless nothing reads it. */
static void drop_unread_results(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct live_set *s = context;
    if (role == PTX_REG_DEFINE && test_bit(s->unread, reg->index))
        drop_results(context, reg, role);
}

static void add_sources(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    if (role == PTX_REG_USE)
        make_live(context, reg);
}

static void note_maximum(struct ptx_liveness *r, const struct live_set *s, uint32_t inst)
{
    if (s->units > r->max_live_32bit || (s->units == r->max_live_32bit && inst < r->max_at)) {
        r->max_live_32bit = s->units;
        r->max_at = inst;
    }
    if (s->predicates > r->max_live_pred)
        r->max_live_pred = s->predicates;
}

static void count_instruction(struct ptx_liveness *r, struct live_set *s, uint32_t i)
{
    const struct ptx_inst *in = &s->f->insts[i];
    ptx_visit_regs(s->f, in, add_results, s);
    note_maximum(r, s, i);
    ptx_visit_regs(s->f, in, in->guard ? drop_unread_results : drop_results, s);
    ptx_visit_regs(s->f, in, add_sources, s);
    note_maximum(r, s, i);
    r->live_at[i] = s->units;
}

static void count_live(struct arena *scratch, struct liveness_build *l, struct ptx_liveness *r)
{
    uint32_t reg_words = (l->f->reg_count + WORD_BITS - 1) / WORD_BITS;
    uint64_t *out = arena_array(scratch, uint64_t, l->words);
    struct live_set s = {.f = l->f};
    s.live = arena_array(scratch, uint64_t, reg_words);
    s.unread = arena_array(scratch, uint64_t, reg_words);
    for (uint32_t b = 0; b < l->cfg->block_count; b++) {
        memset(s.live, 0, sizeof *s.live * reg_words);
        s.units = s.predicates = 0;
        block_live_out(l, b, out);
        for (uint32_t w = 0; w < l->words; w++)
            for (uint64_t rest = out[w]; rest; rest &= rest - 1)
                make_live(&s, l->f->regs[l->register_of[w * WORD_BITS + (uint32_t)__builtin_ctzll(rest)]]);
        for (uint32_t i = l->cfg->blocks[b].end; i-- > l->cfg->blocks[b].first;)
            count_instruction(r, &s, i);
    }
}

/* Ranges: the hull of all places where a register is alive or mentioned. Two registers with disjoint ranges may share a
 * place. */
struct range_walk {
    struct ptx_liveness *r;
    uint32_t inst;
};

static void widen(struct ptx_liveness *r, uint32_t reg, uint32_t inst)
{
    if (inst < r->range_first[reg])
        r->range_first[reg] = inst;
    if (inst > r->range_last[reg] || r->range_last[reg] == UINT32_MAX)
        r->range_last[reg] = inst;
}

static void note_mention(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    (void)role;
    struct range_walk *w = context;
    widen(w->r, reg->index, w->inst);
}

static void widen_all(const struct liveness_build *l, struct ptx_liveness *r, const uint64_t *set, uint32_t inst)
{
    for (uint32_t w = 0; w < l->words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1)
            widen(r, l->register_of[w * WORD_BITS + (uint32_t)__builtin_ctzll(rest)], inst);
}

static void find_ranges(struct arena *scratch, struct liveness_build *l, struct ptx_liveness *r)
{
    uint64_t *out = arena_array(scratch, uint64_t, l->words);
    struct range_walk walk = {.r = r};
    for (uint32_t i = 0; i < l->f->param_count; i++) /* the caller writes them all, read or not */
        if (l->f->params[i]->reg)
            widen(r, l->f->params[i]->reg->index, 0);
    for (uint32_t b = 0; b < l->cfg->block_count; b++) {
        const struct ptx_block *block = &l->cfg->blocks[b];
        if (l->words) {
            widen_all(l, r, l->live_in + (size_t)b * l->words, block->first);
            block_live_out(l, b, out);
            widen_all(l, r, out, block->end - 1);
        }
        for (walk.inst = block->first; walk.inst < block->end; walk.inst++)
            ptx_visit_regs(l->f, &l->f->insts[walk.inst], note_mention, &walk);
    }
}

struct ptx_liveness *ptx_liveness_build(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg)
{
    struct ptx_liveness *r = arena_new(a, struct ptx_liveness);
    r->live_at = arena_array(a, uint32_t, f->inst_count);
    r->range_first = arena_array(a, uint32_t, f->reg_count);
    r->range_last = arena_array(a, uint32_t, f->reg_count);
    for (uint32_t i = 0; i < f->reg_count; i++)
        r->range_first[i] = 1;
    if (!f->inst_count)
        return r;
    memset(r->range_first, 0xff, f->reg_count * sizeof *r->range_first);
    memset(r->range_last, 0xff, f->reg_count * sizeof *r->range_last);
    struct arena scratch = {0};
    struct liveness_build l = {.f = f, .cfg = cfg};
    find_crossing_registers(&scratch, &l);
    l.words = (l.crossing_count + WORD_BITS - 1) / WORD_BITS;
    l.reads = arena_array(&scratch, uint64_t, (size_t)cfg->block_count * l.words);
    l.writes = arena_array(&scratch, uint64_t, (size_t)cfg->block_count * l.words);
    l.live_in = arena_array(&scratch, uint64_t, (size_t)cfg->block_count * l.words);
    struct block_walk w = {.l = &l};
    for (uint32_t b = 0; b < cfg->block_count; b++)
        walk_block(&l, &w, b, note_reads_and_writes);
    if (l.words)
        solve(&scratch, &l);
    count_live(&scratch, &l, r);
    find_ranges(&scratch, &l, r);
    for (uint32_t i = 0; i < f->reg_count; i++)
        if (r->range_last[i] == UINT32_MAX)
            r->range_last[i] = 0;
    arena_free(&scratch);
    return r;
}
