/* Are blocks, dominators, reconvergence points, loops and liveness right? Hand-made graphs with the answers written down, and
 * random functions against definitions applied literally to single instructions: a dominates b when removing a cuts b off, a
 * register is alive when a path leads to a read of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/cfg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_REGS = 12, END = 1000 };

/* A function in the making. uses and defines are bit masks of registers, noted apart from the operands. */
struct maker {
    struct arena arena;
    struct ptx_function f;
    struct ptx_inst insts[MOST];
    struct ptx_reg regs[MOST_REGS], *reg_pointers[MOST_REGS];
    struct ptx_variable result, *results[1];
    uint32_t uses[MOST], defines[MOST];
    struct ptx_function never_returns, callee;
    uint32_t random;
};

static void start(struct maker *m)
{
    static const enum ptx_type types[] = {PTX_PRED, PTX_PRED, PTX_B32, PTX_F32, PTX_B64, PTX_U16,
                                          PTX_B128, PTX_F64, PTX_S32, PTX_PRED, PTX_B32, PTX_B32};
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < MOST_REGS; i++) {
        m->regs[i] = (struct ptx_reg){.name = "%r", .type = types[i], .vector = 1, .index = i};
        m->reg_pointers[i] = &m->regs[i];
    }
    m->never_returns.noreturn = true;
    m->f.regs = m->reg_pointers;
    m->f.reg_count = MOST_REGS;
    m->f.insts = m->insts;
    m->random = 1;
}

static void finish(struct maker *m)
{
    arena_free(&m->arena);
}

static struct ptx_operand reg_operand(struct maker *m, uint32_t r)
{
    return (struct ptx_operand){.kind = PTX_OPERAND_REG, .selector = -1, .reg = &m->regs[r]};
}

static struct ptx_operand group(struct maker *m, enum ptx_operand_kind kind, uint32_t count, const uint32_t *regs)
{
    struct ptx_operand o = {.kind = kind, .selector = -1, .element_count = count};
    o.elements = arena_array(&m->arena, struct ptx_operand, count);
    for (uint32_t i = 0; i < count; i++)
        o.elements[i] = reg_operand(m, regs[i]);
    return o;
}

static struct ptx_inst *emit(struct maker *m, enum ptx_opcode opcode, uint32_t operand_count)
{
    struct ptx_inst *in = &m->insts[m->f.inst_count++];
    in->opcode = opcode;
    in->operand_count = (uint8_t)operand_count;
    in->operands = arena_array(&m->arena, struct ptx_operand, operand_count);
    return in;
}

static struct ptx_inst *guard(struct maker *m, struct ptx_inst *in, uint32_t predicate)
{
    in->guard = &m->regs[predicate];
    m->uses[in - m->insts] |= 1u << predicate;
    return in;
}

static void note(struct maker *m, uint32_t *masks, uint32_t count, const uint32_t *regs)
{
    for (uint32_t i = 0; i < count; i++)
        masks[m->f.inst_count - 1] |= 1u << regs[i];
}

/* mov to, from */
static struct ptx_inst *mov(struct maker *m, uint32_t to, uint32_t from)
{
    struct ptx_inst *in = emit(m, PTX_OP_mov, 2);
    in->operands[0] = reg_operand(m, to);
    in->operands[1] = reg_operand(m, from);
    note(m, m->defines, 1, &to);
    note(m, m->uses, 1, &from);
    return in;
}

static void plain(struct maker *m, int count)
{
    while (count--)
        mov(m, 2, 3);
}

static struct ptx_inst *bra(struct maker *m, uint32_t target)
{
    struct ptx_inst *in = emit(m, PTX_OP_bra, 1);
    in->operands[0] = (struct ptx_operand){.kind = PTX_OPERAND_LABEL, .target = target};
    return in;
}

static struct ptx_inst *branch_if(struct maker *m, uint32_t target)
{
    return guard(m, bra(m, target), 0);
}

static struct ptx_inst *brx(struct maker *m, uint32_t index, uint32_t count, const uint32_t *targets)
{
    struct ptx_inst *in = emit(m, PTX_OP_brx, 2);
    struct ptx_table *t = arena_new(&m->arena, struct ptx_table);
    t->kind = PTX_TABLE_BRANCH;
    t->count = count;
    t->targets = arena_array(&m->arena, uint32_t, count);
    memcpy(t->targets, targets, sizeof *targets * count);
    in->operands[0] = reg_operand(m, index);
    in->operands[1] = (struct ptx_operand){.kind = PTX_OPERAND_TABLE, .table = t};
    note(m, m->uses, 1, &index);
    return in;
}

static struct ptx_inst *ret(struct maker *m)
{
    struct ptx_inst *in = emit(m, PTX_OP_ret, 0);
    if (m->f.return_count)
        note(m, m->uses, 1, &m->result.reg->index);
    return in;
}

/* call (to), callee, (arguments); to may be MOST_REGS: nothing returned */
static struct ptx_inst *call(struct maker *m, struct ptx_function *callee, uint32_t to, uint32_t argument)
{
    bool returns = to < MOST_REGS;
    struct ptx_inst *in = emit(m, PTX_OP_call, returns ? 3 : 2);
    if (returns) {
        in->operands[0] = group(m, PTX_OPERAND_LIST, 1, &to);
        note(m, m->defines, 1, &to);
    }
    in->operands[returns] = (struct ptx_operand){.kind = PTX_OPERAND_FUNCTION, .function = callee};
    in->operands[returns + 1] = group(m, PTX_OPERAND_LIST, 1, &argument);
    note(m, m->uses, 1, &argument);
    return in;
}

/* ------------------------------------------------------------- the definitions, instruction by instruction */

/* next[i]: bit set of instructions that can follow i; bit inst_count is the exit. runs_off[i]: the exit is reached without
 * an instruction that ends the thread or returns. */
struct truth {
    uint32_t n;
    uint64_t next[MOST];
    bool runs_off[MOST];
};

static void know(struct truth *t, const struct maker *m)
{
    uint32_t n = t->n = m->f.inst_count;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_inst *in = &m->insts[i];
        bool on = in->guard != NULL;
        t->next[i] = 0;
        if (in->opcode == PTX_OP_bra)
            t->next[i] |= UINT64_C(1) << in->operands[0].target;
        else if (in->opcode == PTX_OP_brx)
            for (uint32_t k = 0; k < in->operands[1].table->count; k++)
                t->next[i] |= UINT64_C(1) << in->operands[1].table->targets[k];
        else if (in->opcode == PTX_OP_ret || in->opcode == PTX_OP_exit || in->opcode == PTX_OP_trap ||
                 (in->opcode == PTX_OP_call && in->operands[in->operand_count - 2].function->noreturn))
            t->next[i] |= UINT64_C(1) << n;
        else
            on = true;
        if (on)
            t->next[i] |= UINT64_C(1) << (i + 1);
        t->runs_off[i] = (on && i + 1 == n) || (in->opcode == PTX_OP_bra && in->operands[0].target == n);
    }
}

/* All that is reached from `from` (itself included) without entering `without`. */
static uint64_t reach(const struct truth *t, uint32_t from, uint32_t without)
{
    uint64_t seen = 0, fresh = from == without ? 0 : UINT64_C(1) << from;
    while (fresh) {
        uint64_t found = 0;
        seen |= fresh;
        for (uint32_t i = 0; i < t->n; i++)
            if (fresh >> i & 1)
                found |= t->next[i];
        if (without <= t->n)
            found &= ~(UINT64_C(1) << without);
        fresh = found & ~seen;
    }
    return seen;
}

static bool dominates(const struct truth *t, uint32_t a, uint32_t b)
{
    return !(reach(t, 0, a) >> b & 1);
}

static bool post_dominates(const struct truth *t, uint32_t a, uint32_t b)
{
    return !(reach(t, b, a) >> t->n & 1);
}

typedef bool relation(const struct truth *t, uint32_t a, uint32_t b);

/* The nearest of all others that stand in the relation to b, among the candidates; END where there is none. */
static uint32_t nearest(const struct truth *t, relation *r, uint32_t b, uint64_t candidates)
{
    uint64_t all = 0;
    for (uint32_t a = 0; a < t->n; a++)
        if (a != b && candidates >> a & 1 && r(t, a, b))
            all |= UINT64_C(1) << a;
    for (uint32_t a = 0; a < t->n; a++) {
        bool is = all >> a & 1;
        for (uint32_t c = 0; is && c < t->n; c++)
            if (c != a && all >> c & 1 && !r(t, c, a))
                is = false;
        if (is)
            return a;
    }
    return END;
}

static void check_blocks(const struct truth *t, const struct ptx_cfg *cfg)
{
    uint32_t at = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct ptx_block *block = &cfg->blocks[b];
        assert_int_equal(block->first, at);
        assert_true(block->end > block->first);
        for (at = block->first; at < block->end; at++) {
            assert_int_equal(cfg->block_of_inst[at], b);
            if (at + 1 == block->end)
                continue;
            assert_true(t->next[at] == UINT64_C(1) << (at + 1)); /* one way on, and nobody else comes in */
            for (uint32_t i = 0; i < t->n; i++)
                assert_true(i == at || !(t->next[i] >> (at + 1) & 1));
        }
        uint64_t next = block->exits ? UINT64_C(1) << t->n : 0;
        for (uint32_t s = 0; s < block->succ_count; s++) {
            const struct ptx_block *to = &cfg->blocks[block->succs[s]];
            assert_false(next >> to->first & 1);
            next |= UINT64_C(1) << to->first;
            uint32_t mentions = 0;
            for (uint32_t p = 0; p < to->pred_count; p++)
                mentions += to->preds[p] == b;
            assert_int_equal(mentions, 1);
        }
        assert_true(next == t->next[block->end - 1]);
        assert_int_equal(block->reachable, reach(t, 0, END) >> block->first & 1);
    }
    assert_int_equal(at, t->n);
}

static void check_dominators(const struct truth *t, const struct ptx_cfg *cfg)
{
    uint64_t reachable = reach(t, 0, END);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t first = cfg->blocks[b].first, want = END;
        if (reachable >> first & 1)
            want = nearest(t, dominates, first, reachable);
        if (want == END)
            assert_int_equal(cfg->idom[b], PTX_NO_BLOCK);
        else
            assert_int_equal(cfg->blocks[cfg->idom[b]].end - 1, want);
    }
}

static bool always_ends(const struct truth *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!(reach(t, i, END) >> t->n & 1))
            return false;
    return true;
}

static void check_post_dominators(const struct truth *t, const struct ptx_cfg *cfg, const struct maker *m)
{
    bool exact = always_ends(t);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t last = cfg->blocks[b].end - 1, meet = cfg->ipdom[b], steps = 0;
        for (uint32_t up = meet; up != PTX_NO_BLOCK; up = cfg->ipdom[up])
            assert_true(++steps < cfg->block_count);
        uint32_t point = meet == PTX_NO_BLOCK ? END : cfg->blocks[meet].first;
        if (exact)
            assert_int_equal(point, nearest(t, post_dominates, last, UINT64_MAX));
        else if (point != END && reach(t, last, END) >> t->n & 1)
            assert_true(post_dominates(t, point, last)); /* the edges that end endless loops may only lose some */
        for (uint32_t i = cfg->blocks[b].first; i <= last; i++) {
            const struct ptx_inst *in = &m->insts[i];
            bool branch = (in->opcode == PTX_OP_bra && in->guard) || in->opcode == PTX_OP_brx;
            assert_int_equal(ptx_is_conditional_branch(in), branch);
            assert_int_equal(cfg->reconvergence[i], branch && point != END ? point : PTX_NO_RECONVERGENCE);
        }
    }
}

/* Instructions of the natural loop of header h, 0 where h heads none. */
static uint64_t natural_loop(const struct truth *t, uint32_t h, uint64_t reachable)
{
    uint64_t body = 0;
    for (uint32_t u = 0; u < t->n; u++) {
        if (!(reachable >> u & 1) || !(t->next[u] >> h & 1) || !dominates(t, h, u))
            continue;
        body |= UINT64_C(1) << h;
        for (uint32_t x = 0; x < t->n; x++)
            if (reachable >> x & 1 && reach(t, x, h) >> u & 1)
                body |= UINT64_C(1) << x;
    }
    return body;
}

/* No cycle is left once all back edges are gone. */
static bool truly_reducible(const struct truth *t, uint64_t reachable)
{
    uint64_t left = reachable & ~(UINT64_C(1) << t->n);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < t->n; i++) {
            bool entered = false;
            for (uint32_t u = 0; left >> i & 1 && u < t->n; u++)
                entered |= left >> u & 1 && t->next[u] >> i & 1 && !dominates(t, i, u);
            if (left >> i & 1 && !entered) {
                left &= ~(UINT64_C(1) << i);
                changed = true;
            }
        }
    }
    return left == 0;
}

static void check_loops(const struct truth *t, const struct ptx_cfg *cfg)
{
    uint64_t reachable = reach(t, 0, END), bodies[MOST];
    uint32_t count = 0, depth[MOST] = {0};
    for (uint32_t h = 0; h < t->n; h++) {
        uint64_t body = natural_loop(t, h, reachable);
        bodies[h] = body;
        count += body != 0;
        for (uint32_t i = 0; i < t->n; i++)
            depth[i] += body >> i & 1;
    }
    assert_int_equal(cfg->loop_count, count);
    assert_int_equal(cfg->reducible, truly_reducible(t, reachable));
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        const struct ptx_loop *loop = &cfg->loops[l];
        uint64_t body = 0;
        for (uint32_t b = 0; b < loop->block_count; b++)
            for (uint32_t i = cfg->blocks[loop->blocks[b]].first; i < cfg->blocks[loop->blocks[b]].end; i++) {
                assert_false(body >> i & 1);
                body |= UINT64_C(1) << i;
            }
        assert_true(body == bodies[cfg->blocks[loop->header_block].first]);
        assert_int_equal(loop->begin, __builtin_ctzll(body));
        assert_int_equal(loop->end, 64 - __builtin_clzll(body));
        assert_int_equal(loop->depth, depth[cfg->blocks[loop->header_block].first]);
        assert_true(loop->parent < (int32_t)l);
        if (loop->parent != PTX_NO_LOOP)
            assert_int_equal(cfg->loops[loop->parent].depth + 1, loop->depth);
        uint32_t latches = 0;
        for (uint32_t b = 0; b < cfg->block_count; b++) {
            assert_int_equal(ptx_loop_contains(cfg, l, b), body >> cfg->blocks[b].first & 1);
            uint64_t next = t->next[cfg->blocks[b].end - 1];
            latches += body >> cfg->blocks[b].first & 1 && next >> cfg->blocks[loop->header_block].first & 1;
        }
        assert_int_equal(loop->latch_count, latches);
    }
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        int32_t l = cfg->blocks[b].loop;
        assert_int_equal(l == PTX_NO_LOOP ? 0 : cfg->loops[l].depth, depth[cfg->blocks[b].first]);
    }
}

/* Whether a path from before instruction i reads register r ahead of any certain write. */
static bool is_live(const struct maker *m, const struct truth *t, uint32_t i, uint32_t r, uint64_t *seen)
{
    if (i == t->n)
        return m->f.return_count && m->result.reg->index == r;
    if (*seen >> i & 1)
        return false;
    *seen |= UINT64_C(1) << i;
    if (m->uses[i] >> r & 1)
        return true;
    if (m->defines[i] >> r & 1 && !m->insts[i].guard)
        return false;
    for (uint32_t to = 0; to < t->n; to++)
        if (t->next[i] >> to & 1 && is_live(m, t, to, r, seen))
            return true;
    return t->runs_off[i] && is_live(m, t, t->n, r, seen);
}

static uint32_t units_of_type(enum ptx_type t)
{
    switch (t) {
    case PTX_PRED: return 0;
    case PTX_B64: case PTX_F64: return 2;
    case PTX_B128: return 4;
    default: return 1;
    }
}

static uint32_t units(const struct maker *m, uint32_t set)
{
    uint32_t sum = 0;
    for (uint32_t r = 0; r < MOST_REGS; r++)
        if (set >> r & 1)
            sum += units_of_type(m->regs[r].type);
    return sum;
}

static uint32_t predicates(const struct maker *m, uint32_t set)
{
    uint32_t sum = 0;
    for (uint32_t r = 0; r < MOST_REGS; r++)
        sum += set >> r & 1 && m->regs[r].type == PTX_PRED;
    return sum;
}

static void check_liveness(struct maker *m, const struct truth *t, const struct ptx_cfg *cfg)
{
    struct ptx_liveness *l = ptx_liveness_build(&m->arena, &m->f, cfg);
    uint32_t live[MOST + 1] = {0}, most = 0, most_at = 0, most_predicates = 0;
    uint32_t first[MOST_REGS], last[MOST_REGS] = {0};
    memset(first, 0xff, sizeof first);
    for (uint32_t i = 0; i < m->f.param_count; i++)
        first[m->f.params[i]->reg->index] = 0;
    for (uint32_t i = 0; i <= t->n; i++)
        for (uint32_t r = 0; r < MOST_REGS; r++) {
            uint64_t seen = 0;
            if (is_live(m, t, i, r, &seen))
                live[i] |= 1u << r;
        }
    for (uint32_t i = 0; i < t->n; i++) {
        assert_int_equal(l->live_at[i], units(m, live[i]));
        uint32_t after = m->defines[i];
        for (uint32_t to = 0; to < t->n; to++)
            if (t->next[i] >> to & 1)
                after |= live[to];
        if (t->runs_off[i])
            after |= live[t->n];
        for (int k = 0; k < 2; k++) {
            uint32_t set = k ? live[i] : after;
            if (units(m, set) > most) {
                most = units(m, set);
                most_at = i;
            }
            if (predicates(m, set) > most_predicates)
                most_predicates = predicates(m, set);
        }
        for (uint32_t r = 0; r < MOST_REGS; r++)
            if ((live[i] | after) >> r & 1) {
                first[r] = i < first[r] ? i : first[r];
                last[r] = i;
            }
    }
    assert_int_equal(l->max_live_32bit, most);
    assert_int_equal(l->max_at, most_at);
    assert_int_equal(l->max_live_pred, most_predicates);
    for (uint32_t r = 0; r < MOST_REGS; r++) {
        assert_int_equal(l->range_first[r], first[r]);
        assert_int_equal(l->range_last[r], last[r]);
    }
}

static struct ptx_cfg *check_all(struct maker *m)
{
    struct truth t;
    know(&t, m);
    struct ptx_cfg *cfg = ptx_cfg_build(&m->arena, &m->f);
    check_blocks(&t, cfg);
    check_dominators(&t, cfg);
    check_post_dominators(&t, cfg, m);
    check_loops(&t, cfg);
    check_liveness(m, &t, cfg);
    return cfg;
}

/* ------------------------------------------------------------- hand-made graphs */

static void an_if_meets_behind_it(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);
    branch_if(&m, 4);
    plain(&m, 2);
    plain(&m, 1);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 3);
    assert_int_equal(cfg->reconvergence[1], 4);
    assert_int_equal(cfg->loop_count, 0);
    assert_true(ptx_cfg_dominates(cfg, 0, 2) && !ptx_cfg_dominates(cfg, 1, 2));
    assert_true(ptx_cfg_post_dominates(cfg, 2, 0) && !ptx_cfg_post_dominates(cfg, 1, 0));
    finish(&m);
}

static void an_if_else_meets_behind_both(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 3);
    plain(&m, 1);
    bra(&m, 4);
    plain(&m, 1);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 4);
    assert_int_equal(cfg->reconvergence[0], 4);
    assert_int_equal(cfg->reconvergence[2], PTX_NO_RECONVERGENCE); /* no condition, no paths to meet */
    assert_int_equal(cfg->blocks[0].succs[0], 1);                  /* fall-through first */
    finish(&m);
}

static void nested_loops_nest(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);      /* 0 */
    plain(&m, 1);      /* 1 outer begins */
    plain(&m, 2);      /* 2, 3 inner begins */
    branch_if(&m, 2);  /* 4 inner ends */
    plain(&m, 1);      /* 5 */
    branch_if(&m, 1);  /* 6 outer ends */
    ret(&m);           /* 7 */
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 2);
    assert_int_equal(cfg->loops[0].begin, 1);
    assert_int_equal(cfg->loops[0].end, 7);
    assert_int_equal(cfg->loops[1].begin, 2);
    assert_int_equal(cfg->loops[1].end, 5);
    assert_int_equal(cfg->loops[1].parent, 0);
    assert_int_equal(cfg->loops[1].depth, 2);
    assert_int_equal(cfg->reconvergence[4], 5);
    assert_int_equal(cfg->reconvergence[6], 7);
    finish(&m);
}

static void a_loop_with_two_exits_meets_where_they_join(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);      /* 0 */
    branch_if(&m, 5);  /* 1 loop begins; break */
    plain(&m, 1);      /* 2 */
    branch_if(&m, 1);  /* 3 again */
    plain(&m, 1);      /* 4 only the ordinary end */
    ret(&m);           /* 5 */
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].begin, 1);
    assert_int_equal(cfg->loops[0].end, 4);
    assert_int_equal(cfg->reconvergence[1], 5);
    assert_int_equal(cfg->reconvergence[3], 5);
    finish(&m);
}

static void a_continue_shares_the_header(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    plain(&m, 1);      /* 0 */
    plain(&m, 1);      /* 1 header */
    branch_if(&m, 1);  /* 2 continue */
    plain(&m, 1);      /* 3 */
    branch_if(&m, 1);  /* 4 */
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].latch_count, 2);
    assert_int_equal(cfg->loops[0].end, 5);
    assert_int_equal(cfg->reconvergence[2], 3); /* lanes that go round again come to 3 before any leaves */
    finish(&m);
}

static void a_switch_meets_behind_all_cases(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    brx(&m, 2, 4, (uint32_t[]){1, 3, 5, 3});
    plain(&m, 1);
    bra(&m, 6);
    plain(&m, 1);
    bra(&m, 6);
    plain(&m, 1);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->blocks[0].succ_count, 3);
    assert_int_equal(cfg->reconvergence[0], 6);
    finish(&m);
}

static void an_endless_loop_meets_at_its_end(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 3);  /* 0: never meets, one side never ends */
    plain(&m, 1);      /* 1 */
    ret(&m);           /* 2 */
    branch_if(&m, 6);  /* 3 endless loop begins, with an if in it */
    plain(&m, 1);      /* 4 */
    bra(&m, 7);        /* 5 */
    plain(&m, 1);      /* 6 */
    bra(&m, 3);        /* 7 */
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->reconvergence[0], PTX_NO_RECONVERGENCE);
    assert_int_equal(cfg->reconvergence[3], 7);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->loops[0].begin, 3);
    assert_int_equal(cfg->loops[0].end, 8);
    finish(&m);
}

static void a_one_instruction_loop_is_a_loop(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    bra(&m, 0);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->ipdom[0], PTX_NO_BLOCK);
    finish(&m);
}

static void dead_code_is_not_reached_and_heads_no_loop(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    bra(&m, 4);
    plain(&m, 1);      /* 1: a loop that is never entered */
    branch_if(&m, 1);
    bra(&m, 3);        /* 3: and one that never ends */
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->loop_count, 0);
    assert_false(cfg->blocks[1].reachable);
    assert_int_equal(cfg->idom[1], PTX_NO_BLOCK);
    assert_int_equal(cfg->reconvergence[2], 3);
    finish(&m);
}

static void several_returns_meet_only_at_the_end(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 2);
    ret(&m);
    branch_if(&m, 5);
    guard(&m, ret(&m), 1);
    plain(&m, 1);
    emit(&m, PTX_OP_trap, 0);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->reconvergence[0], PTX_NO_RECONVERGENCE);
    assert_int_equal(cfg->reconvergence[2], PTX_NO_RECONVERGENCE);
    assert_int_equal(cfg->reconvergence[3], PTX_NO_RECONVERGENCE);
    assert_true(cfg->blocks[cfg->block_of_inst[3]].exits);
    assert_int_equal(cfg->blocks[cfg->block_of_inst[3]].succ_count, 1);
    finish(&m);
}

static void a_call_that_never_returns_ends_its_block(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    call(&m, &m.callee, 2, 3);
    branch_if(&m, 3);
    call(&m, &m.never_returns, MOST_REGS, 3);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 3);
    assert_true(cfg->blocks[1].exits);
    assert_int_equal(cfg->blocks[1].succ_count, 0);
    finish(&m);
}

static void a_cycle_with_two_entries_is_irreducible(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 2);
    plain(&m, 1);      /* 1: entered from 0 and 2 */
    branch_if(&m, 1);  /* 2: entered from 0 and 1 */
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    assert_false(cfg->reducible);
    assert_int_equal(cfg->loop_count, 0);
    finish(&m);
}

static void a_label_behind_the_last_instruction_is_the_exit(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    branch_if(&m, 2);
    plain(&m, 1);
    struct ptx_cfg *cfg;
    cfg = check_all(&m);
    assert_int_equal(cfg->block_count, 2);
    assert_int_equal(cfg->reconvergence[0], PTX_NO_RECONVERGENCE);
    finish(&m);
}

static void a_function_without_instructions_has_no_blocks(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    struct ptx_cfg *cfg = ptx_cfg_build(&m.arena, &m.f);
    assert_int_equal(cfg->block_count, 0);
    assert_int_equal(ptx_liveness_build(&m.arena, &m.f, cfg)->max_live_32bit, 0);
    finish(&m);
}

/* ------------------------------------------------------------- registers */

static void registers_count_by_width(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    mov(&m, 7, 4);     /* two 64-bit registers one after the other */
    mov(&m, 3, 8);     /* 32 bits, read below; 7 is alive */
    mov(&m, 2, 3);
    mov(&m, 4, 7);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, cfg);
    assert_int_equal(l->live_at[0], 3); /* %4 (64 bits) and %8 */
    assert_int_equal(l->live_at[2], 3); /* %7 and %3 */
    assert_int_equal(l->live_at[4], 0);
    assert_int_equal(l->max_live_32bit, 3);
    finish(&m);
}

static void a_guarded_write_keeps_the_old_value_alive(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    mov(&m, 2, 3);
    guard(&m, mov(&m, 2, 8), 0);
    mov(&m, 10, 2);
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, cfg);
    assert_int_equal(l->live_at[1], 2); /* %2 and %8, and the guard */
    assert_int_equal(l->max_live_pred, 1);
    finish(&m);
}

/* A caller writes every parameter, so that their places must differ even where the function does not read them. */
static void parameters_in_registers_are_taken_from_the_start(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    struct ptx_variable parameters[3], *list[3];
    for (uint32_t i = 0; i < 3; i++) {
        parameters[i] = (struct ptx_variable){.reg = &m.regs[(uint32_t[]){2, 8, 10}[i]]};
        list[i] = &parameters[i];
    }
    m.f.params = list;
    m.f.param_count = 3;
    mov(&m, 3, 2);
    mov(&m, 8, 3); /* the second parameter is only written, the third not mentioned */
    mov(&m, 3, 8);
    ret(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, check_all(&m));
    assert_int_equal(l->range_first[2], 0);
    assert_int_equal(l->range_first[8], 0);
    assert_int_equal(l->range_last[8], 2);
    assert_int_equal(l->range_first[10], 0);
    assert_int_equal(l->range_last[10], 0);
    finish(&m);
}

/* bar.red has a result although barriers have none; results of a function may be registers, read by ret. */
static void barriers_that_reduce_and_returns_use_registers(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    m.result.reg = &m.regs[10];
    m.results[0] = &m.result;
    m.f.returns = m.results;
    m.f.return_count = 1;
    struct ptx_inst *in = emit(&m, PTX_OP_bar, 3);
    in->modifiers[in->modifier_count++] = PTX_MOD_RED;
    in->operands[0] = reg_operand(&m, 10);
    in->operands[1] = (struct ptx_operand){.kind = PTX_OPERAND_INT};
    in->operands[2] = reg_operand(&m, 1);
    note(&m, m.defines, 1, (uint32_t[]){10});
    note(&m, m.uses, 1, (uint32_t[]){1});
    ret(&m);
    struct ptx_cfg *cfg = check_all(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, cfg);
    assert_int_equal(l->live_at[0], 0);
    assert_int_equal(l->live_at[1], 1);
    finish(&m);
}

/* wgmma adds to its first operand; mbarrier.init and its like have an address there, and no result. */
static void first_operands_may_be_read(void **state)
{
    (void)state;
    struct maker m;
    start(&m);
    struct ptx_inst *in = emit(&m, PTX_OP_wgmma, 2);
    in->operands[0] = group(&m, PTX_OPERAND_VECTOR, 2, (uint32_t[]){3, 8});
    in->operands[1] = reg_operand(&m, 4);
    note(&m, m.defines, 2, (uint32_t[]){3, 8});
    note(&m, m.uses, 3, (uint32_t[]){3, 8, 4});
    in = emit(&m, PTX_OP_mbarrier, 2);
    in->operands[0] = group(&m, PTX_OPERAND_ADDRESS, 1, (uint32_t[]){4});
    in->operands[1] = reg_operand(&m, 2);
    note(&m, m.uses, 2, (uint32_t[]){4, 2});
    ret(&m);
    struct ptx_liveness *l = ptx_liveness_build(&m.arena, &m.f, check_all(&m));
    assert_int_equal(l->live_at[0], 5);
    assert_int_equal(l->live_at[1], 3);
    finish(&m);
}

/* ------------------------------------------------------------- from text */

static const char text[] =
    ".version 8.5\n.target sm_80\n.address_size 64\n"
    ".func stop(.param .b32 why) .noreturn;\n"
    ".visible .entry k(.param .u64 data, .param .u32 n)\n{\n"
    "  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .v2 .b32 %v;\n"
    "  ld.param.u64 %d1, [data];\n"              /* 0 */
    "  ld.param.u32 %r1, [n];\n"                 /* 1 */
    "  mov.u32 %r2, 0;\n"                        /* 2 */
    "OUTER:\n"
    "  ld.global.v2.b32 %v, [%d1+8];\n"          /* 3 */
    "  and.b32 %r3, %v.x, 3;\n"                  /* 4 */
    "  cases: .branchtargets A, B, A, C;\n"
    "  @%p1 brx.idx %r3, cases;\n"               /* 5 */
    "  bra.uni C;\n"                             /* 6 */
    "A:\n"
    "  add.u32 %r2, %r2, %v.y;\n"                /* 7 */
    "  setp.lt.u32 %p2, %r2, %r1;\n"             /* 8 */
    "  @%p2 bra A;\n"                            /* 9 */
    "  bra.uni C;\n"                             /* 10 */
    "B:\n"
    "  { .param .b32 why; st.param.b32 [why], %r3; call.uni stop, (why); }\n" /* 11, 12 */
    "C:\n"
    "  setp.ne.u32 %p3|%p1, %r2, 0;\n"           /* 13 */
    "  @%p3 bra OUTER;\n"                        /* 14 */
    "  ret;\n"                                   /* 15 */
    "}\n";

static void a_parsed_kernel_is_analysed(void **state)
{
    (void)state;
    struct error e = {0};
    struct ptx_module *module = ptx_parse("text.ptx", text, sizeof text - 1, &e);
    if (!module)
        fail_msg("%s", e.text);
    struct arena a = {0};
    const struct ptx_function *f = ptx_find_function(module, "k");
    struct ptx_cfg *cfg = ptx_cfg_build(&a, f);
    struct ptx_liveness *l = ptx_liveness_build(&a, f, cfg);
    assert_int_equal(f->inst_count, 16);
    assert_int_equal(cfg->block_count, 8);
    assert_int_equal(cfg->blocks[1].succ_count, 4);              /* OUTER: on, A, B, C */
    assert_int_equal(cfg->reconvergence[5], PTX_NO_RECONVERGENCE); /* B never comes back */
    assert_int_equal(cfg->reconvergence[9], 10);
    assert_int_equal(cfg->reconvergence[14], PTX_NO_RECONVERGENCE); /* nor do lanes that go round and then to B */
    assert_true(cfg->blocks[cfg->block_of_inst[12]].exits);
    assert_int_equal(cfg->loop_count, 2);
    assert_int_equal(cfg->loops[0].begin, 3);
    assert_int_equal(cfg->loops[0].end, 15);
    assert_int_equal(cfg->loops[0].block_count, 5);              /* not B */
    assert_int_equal(cfg->loops[1].begin, 7);
    assert_int_equal(cfg->loops[1].end, 10);
    assert_int_equal(l->live_at[0], 0);
    assert_int_equal(l->live_at[3], 4);                          /* %d1, %r1, %r2 */
    assert_int_equal(l->live_at[7], 5);                          /* and %v.y */
    assert_int_equal(l->live_at[12], 0);
    assert_int_equal(l->max_live_32bit, 6);                      /* and %r3 */
    arena_free(&a);
    ptx_module_free(module);
}

/* ------------------------------------------------------------- random functions */

static uint32_t draw(struct maker *m, uint32_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    return (m->random >> 3) % below;
}

/* ld {a, b}, [c]   st [c], {a, b}   setp a|b, c, d */
static void random_shaped(struct maker *m)
{
    uint32_t r[4] = {draw(m, MOST_REGS), draw(m, MOST_REGS), draw(m, MOST_REGS), draw(m, MOST_REGS)};
    struct ptx_inst *in;
    switch (draw(m, 3)) {
    case 0:
        in = emit(m, PTX_OP_ld, 2);
        in->operands[0] = group(m, PTX_OPERAND_VECTOR, 2, r);
        in->operands[1] = group(m, PTX_OPERAND_ADDRESS, 1, r + 2);
        note(m, m->defines, 2, r);
        note(m, m->uses, 1, r + 2);
        break;
    case 1:
        in = emit(m, PTX_OP_st, 2);
        in->operands[0] = group(m, PTX_OPERAND_ADDRESS, 1, r + 2);
        in->operands[1] = group(m, PTX_OPERAND_VECTOR, 2, r);
        note(m, m->uses, 3, r);
        break;
    default:
        in = emit(m, PTX_OP_setp, 3);
        in->operands[0] = group(m, PTX_OPERAND_PAIR, 2, r);
        in->operands[1] = reg_operand(m, r[2]);
        in->operands[2] = reg_operand(m, r[3]);
        note(m, m->defines, 2, r);
        note(m, m->uses, 2, r + 2);
        break;
    }
}

static void random_instruction(struct maker *m, uint32_t n)
{
    uint32_t targets[3] = {draw(m, n), draw(m, n), draw(m, n)};
    switch (draw(m, 16)) {
    case 0:
        bra(m, draw(m, n + 1));
        return;
    case 1: case 2: case 3: case 4:
        guard(m, bra(m, draw(m, n + 1)), draw(m, 2));
        return;
    case 5:
        brx(m, draw(m, MOST_REGS), 1 + draw(m, 3), targets);
        break;
    case 6:
        ret(m);
        break;
    case 7:
        emit(m, draw(m, 2) ? PTX_OP_exit : PTX_OP_trap, 0);
        break;
    case 8:
        call(m, draw(m, 2) ? &m->never_returns : &m->callee, draw(m, 2) ? MOST_REGS : draw(m, MOST_REGS), draw(m, MOST_REGS));
        break;
    case 9: case 10: case 11:
        random_shaped(m);
        break;
    default:
        mov(m, draw(m, MOST_REGS), draw(m, MOST_REGS));
        break;
    }
    if (draw(m, 3) == 0)
        guard(m, &m->insts[m->f.inst_count - 1], draw(m, 2));
}

static void random_functions_follow_the_definitions(void **state)
{
    (void)state;
    uint32_t loops = 0, irreducible = 0, meetings = 0, endless = 0;
    for (uint32_t seed = 1; seed <= 3000; seed++) {
        struct maker m;
        struct truth t;
        start(&m);
        m.random = seed * 2654435761u;
        if (seed % 4 == 0) {
            m.result.reg = &m.regs[10];
            m.results[0] = &m.result;
            m.f.returns = m.results;
            m.f.return_count = 1;
        }
        uint32_t n = 1 + draw(&m, seed % 10 ? 16 : 40);
        while (m.f.inst_count < n)
            random_instruction(&m, n);
        struct ptx_cfg *cfg = check_all(&m);
        know(&t, &m);
        loops += cfg->loop_count;
        irreducible += !cfg->reducible;
        endless += !always_ends(&t);
        for (uint32_t i = 0; i < n; i++)
            meetings += cfg->reconvergence[i] != PTX_NO_RECONVERGENCE;
        finish(&m);
    }
    /* the draw covers what it is there to cover */
    assert_true(loops > 500 && irreducible > 100 && meetings > 1000 && endless > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_if_meets_behind_it),
        cmocka_unit_test(an_if_else_meets_behind_both),
        cmocka_unit_test(nested_loops_nest),
        cmocka_unit_test(a_loop_with_two_exits_meets_where_they_join),
        cmocka_unit_test(a_continue_shares_the_header),
        cmocka_unit_test(a_switch_meets_behind_all_cases),
        cmocka_unit_test(an_endless_loop_meets_at_its_end),
        cmocka_unit_test(a_one_instruction_loop_is_a_loop),
        cmocka_unit_test(dead_code_is_not_reached_and_heads_no_loop),
        cmocka_unit_test(several_returns_meet_only_at_the_end),
        cmocka_unit_test(a_call_that_never_returns_ends_its_block),
        cmocka_unit_test(a_cycle_with_two_entries_is_irreducible),
        cmocka_unit_test(a_label_behind_the_last_instruction_is_the_exit),
        cmocka_unit_test(a_function_without_instructions_has_no_blocks),
        cmocka_unit_test(registers_count_by_width),
        cmocka_unit_test(a_guarded_write_keeps_the_old_value_alive),
        cmocka_unit_test(barriers_that_reduce_and_returns_use_registers),
        cmocka_unit_test(parameters_in_registers_are_taken_from_the_start),
        cmocka_unit_test(first_operands_may_be_read),
        cmocka_unit_test(a_parsed_kernel_is_analysed),
        cmocka_unit_test(random_functions_follow_the_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
