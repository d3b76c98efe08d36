/* Functions made instruction by instruction, and what is true of them by definition, applied literally: a dominates b
 * when removing a cuts b off, a register is alive when a path leads to a read of it. check_all holds ptx_cfg_build and
 * liveness against that. */
#ifndef HEDDLE_TESTS_CFG_TRUTH_H
#define HEDDLE_TESTS_CFG_TRUTH_H

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
    static const enum ptx_type types[] = {PTX_PRED, PTX_PRED, PTX_B32, PTX_F32,  PTX_B64, PTX_U16,
                                          PTX_B128, PTX_F64,  PTX_S32, PTX_PRED, PTX_B32, PTX_B32};
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

static void finish(struct maker *m) { arena_free(&m->arena); }

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

static struct ptx_inst *branch_if(struct maker *m, uint32_t target) { return guard(m, bra(m, target), 0); }

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

/* next[i]: bit set of instructions that can follow i; bit inst_count is the exit. runs_off[i]: the exit is reached
 * without an instruction that ends the thread or returns. */
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

static bool dominates(const struct truth *t, uint32_t a, uint32_t b) { return !(reach(t, 0, a) >> b & 1); }

static bool post_dominates(const struct truth *t, uint32_t a, uint32_t b) { return !(reach(t, b, a) >> t->n & 1); }

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
    case PTX_B64:
    case PTX_F64: return 2;
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

#endif
