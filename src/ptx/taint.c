/* The taint of registers, forward over the control-flow graph to a fixed point: at each point of the function every
 * register is clean, P or D. A register that is assigned again has the taint of the new value alone; where paths meet,
 * the larger of theirs; an instruction with a guard leaves the old value in some lanes, and joins both.
 *
 *   immediates, addresses of variables       clean
 *   special registers, active lanes          P
 *   parameters of a kernel, scalar .const    P
 *   loads, textures, atomics, .const arrays  D, whatever the address depends on
 *   results and parameters of functions      D: callees are not looked into, and a function does not know its callers
 *   everything else                          the join of its sources (selp: with its predicate; addc: with the carry)
 *
 * Control dependence is no taint: a constant that is assigned on one side of a branch stays clean, and so it is under a
 * guard. Nor does a value keep its taint in memory: what is stored as P comes back as D. */
#include "ptx/taint.h"

#include <string.h>

#define NOT_CROSSING UINT32_MAX
enum { WORD_BITS = 64 };

/* ------------------------------------------------------------- sources */

struct origin {
    enum ptx_taint taint;
    bool fixed; /* whatever the registers are that the instruction reads */
    const char *name;
};

static bool is_opcode(const struct ptx_inst *in, enum ptx_opcode a, enum ptx_opcode b)
{
    return in->opcode == a || in->opcode == b;
}

static bool has_space(const struct ptx_inst *in, enum ptx_modifier a, enum ptx_modifier b, enum ptx_modifier c)
{
    return ptx_has_modifier(in, a) || ptx_has_modifier(in, b) || ptx_has_modifier(in, c);
}

static const struct ptx_operand *address_of(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_ADDRESS)
            return &in->operands[i];
    return NULL;
}

/* The variable that an address names, or NULL: it is in a register. */
static const struct ptx_variable *variable_of(const struct ptx_inst *in)
{
    const struct ptx_operand *o = address_of(in);
    return o && o->element_count && o->elements[0].kind == PTX_OPERAND_SYMBOL ? o->elements[0].variable : NULL;
}

/* A .param variable that a function declares inside itself holds what it passes to a call, or gets from one. */
static bool is_own_parameter(const struct ptx_function *f, const struct ptx_variable *v)
{
    for (uint32_t i = 0; i < f->param_count; i++)
        if (f->params[i] == v)
            return true;
    return false;
}

static struct origin origin_of_load(const struct ptx_function *f, const struct ptx_inst *in)
{
    const struct ptx_variable *v = variable_of(in);
    if (has_space(in, PTX_MOD_PARAM, PTX_MOD_PARAM_ENTRY, PTX_MOD_PARAM_FUNC)) {
        if (v && !is_own_parameter(f, v))
            return (struct origin){PTX_TAINT_D, true, "result of a call"};
        return (struct origin){f->is_entry ? PTX_TAINT_P : PTX_TAINT_D, true, "parameter"};
    }
    if (has_space(in, PTX_MOD_CONST, PTX_MOD_CONST0, PTX_MOD_CONST) && v && !v->is_array)
        return (struct origin){PTX_TAINT_P, true, "constant"};
    return (struct origin){PTX_TAINT_D, true, "load"};
}

static bool names_special(const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_SPECIAL)
        return true;
    for (uint32_t i = 0; i < o->element_count; i++)
        if (names_special(&o->elements[i]))
            return true;
    return false;
}

static bool reads_memory(const struct ptx_inst *in)
{
    enum ptx_unit unit = ptx_opcodes[in->opcode].unit;
    return (unit == PTX_UNIT_MEM || unit == PTX_UNIT_TENSOR) && !is_opcode(in, PTX_OP_txq, PTX_OP_suq) &&
           address_of(in);
}

static struct origin origin_of(const struct ptx_function *f, const struct ptx_inst *in)
{
    uint32_t flags = ptx_flags(in);
    if (flags & PTX_F_CALL)
        return (struct origin){PTX_TAINT_D, true, "result of a call"};
    if (is_opcode(in, PTX_OP_ld, PTX_OP_ldu))
        return origin_of_load(f, in);
    if (flags & PTX_F_ATOMIC)
        return (struct origin){PTX_TAINT_D, true, "atomic"};
    if ((flags & PTX_F_LOAD) && (flags & PTX_F_TEXTURE))
        return (struct origin){PTX_TAINT_D, true, "texture"};
    if ((flags & PTX_F_LOAD) || (reads_memory(in) && !(flags & PTX_F_STORE)))
        return (struct origin){PTX_TAINT_D, true, "load"};
    if (is_opcode(in, PTX_OP_activemask, PTX_OP_elect))
        return (struct origin){PTX_TAINT_P, true, "active lanes"};
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (names_special(&in->operands[i]))
            return (struct origin){PTX_TAINT_P, false, "special register"};
    return (struct origin){PTX_TAINT_CLEAN, false, NULL};
}

const char *ptx_taint_source(const struct ptx_function *f, const struct ptx_inst *in) { return origin_of(f, in).name; }

/* ------------------------------------------------------------- registers of an instruction */

/* The carry of add.cc and its like counts as a register after the others. */
static bool reads_carry(const struct ptx_inst *in)
{
    return is_opcode(in, PTX_OP_addc, PTX_OP_subc) || in->opcode == PTX_OP_madc;
}
static bool writes_carry(const struct ptx_inst *in) { return ptx_has_modifier(in, PTX_MOD_CC); }

struct register_list {
    uint32_t *regs, count, capacity;
    enum ptx_reg_role role;
    bool skip; /* the first: the guard */
};

static void list_register(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct register_list *l = context;
    if (role != l->role)
        return;
    if (!l->skip && l->count < l->capacity)
        l->regs[l->count++] = reg->index;
    l->skip = false;
}

enum { REGISTERS_MOST = 512 };

/* What an instruction reads that its taint comes from, or what it writes. The guard decides where it is executed, which
 * is no taint; of a branch it is the condition. */
static struct register_list registers_of(const struct ptx_function *f, const struct ptx_inst *in,
                                         enum ptx_reg_role role, uint32_t regs[REGISTERS_MOST])
{
    struct register_list l = {.regs = regs, .capacity = REGISTERS_MOST - 1, .role = role};
    l.skip = role == PTX_REG_USE && in->guard && !(ptx_flags(in) & PTX_F_BRANCH);
    ptx_visit_regs(f, in, list_register, &l);
    if (role == PTX_REG_USE ? reads_carry(in) : writes_carry(in))
        regs[l.count++] = f->reg_count;
    return l;
}

/* ------------------------------------------------------------- the fixed point */

struct build {
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    uint32_t
        *register_of; /* those that may be read in a block that has not written them, by their bit in the block sets */
    uint32_t crossing_count, words;
    uint64_t *in,
        *out;     /* at the start of each block: words for P or D, then words for D; of the block at hand, its end */
    uint8_t *now; /* per register */
    uint8_t *of;
};

static uint64_t *state_of(const struct build *b, uint32_t block) { return b->in + (size_t)block * b->words * 2; }

static void find_crossing(struct arena *scratch, struct build *b)
{
    uint32_t all = b->f->reg_count + 1, regs[REGISTERS_MOST];
    uint32_t *written_in = arena_array(scratch, uint32_t, all); /* one more than the last block that surely wrote it */
    bool *crosses = arena_array(scratch, bool, all);
    b->register_of = arena_array(scratch, uint32_t, all);
    for (uint32_t block = 0; block < b->cfg->block_count; block++) {
        for (uint32_t i = b->cfg->blocks[block].first; i < b->cfg->blocks[block].end; i++) {
            const struct ptx_inst *in = &b->f->insts[i];
            struct register_list l = registers_of(b->f, in, PTX_REG_USE, regs);
            for (uint32_t k = 0; k < l.count; k++) {
                if (written_in[regs[k]] == block + 1 || crosses[regs[k]])
                    continue;
                crosses[regs[k]] = true;
                b->register_of[b->crossing_count++] = regs[k];
            }
            l = registers_of(b->f, in, PTX_REG_DEFINE, regs);
            for (uint32_t k = 0; k < l.count && !in->guard; k++)
                written_in[regs[k]] = block + 1;
        }
    }
    b->words = (b->crossing_count + WORD_BITS - 1) / WORD_BITS;
}

static void execute(struct build *b, uint32_t i)
{
    const struct ptx_inst *in = &b->f->insts[i];
    uint32_t regs[REGISTERS_MOST];
    struct origin s = origin_of(b->f, in);
    uint8_t taint = (uint8_t)s.taint;
    if (!s.fixed) {
        struct register_list l = registers_of(b->f, in, PTX_REG_USE, regs);
        for (uint32_t k = 0; k < l.count; k++)
            taint = b->now[regs[k]] > taint ? b->now[regs[k]] : taint;
    }
    b->of[i] = taint;
    struct register_list l = registers_of(b->f, in, PTX_REG_DEFINE, regs);
    for (uint32_t k = 0; k < l.count; k++) {
        uint8_t *to = &b->now[regs[k]];
        *to = in->guard && *to > taint ? *to : taint;
    }
}

static void execute_block(struct build *b, uint32_t block)
{
    const uint64_t *in = state_of(b, block);
    memset(b->out, 0, sizeof *b->out * b->words * 2);
    for (uint32_t n = 0; n < b->crossing_count; n++)
        b->now[b->register_of[n]] =
            (uint8_t)((in[n / WORD_BITS] >> n % WORD_BITS & 1) + (in[b->words + n / WORD_BITS] >> n % WORD_BITS & 1));
    for (uint32_t i = b->cfg->blocks[block].first; i < b->cfg->blocks[block].end; i++)
        execute(b, i);
    for (uint32_t n = 0; n < b->crossing_count; n++) {
        uint8_t taint = b->now[b->register_of[n]];
        b->out[n / WORD_BITS] |= (uint64_t)(taint >= PTX_TAINT_P) << n % WORD_BITS;
        b->out[b->words + n / WORD_BITS] |= (uint64_t)(taint == PTX_TAINT_D) << n % WORD_BITS;
    }
}

static bool join(const struct build *b, uint32_t block)
{
    uint64_t *in = state_of(b, block), changed = 0;
    for (uint32_t w = 0; w < b->words * 2; w++) {
        changed |= b->out[w] & ~in[w];
        in[w] |= b->out[w];
    }
    return changed != 0;
}

/* Parameters of a function that are declared as registers. */
static void enter(struct build *b)
{
    uint64_t *in = state_of(b, 0);
    for (uint32_t n = 0; n < b->crossing_count; n++)
        for (uint32_t i = 0; i < b->f->param_count; i++)
            if (b->f->params[i]->reg && b->f->params[i]->reg->index == b->register_of[n])
                for (uint32_t half = 0; half < 2; half++)
                    in[half * b->words + n / WORD_BITS] |= (uint64_t)1 << n % WORD_BITS;
}

/* Blocks whose start has changed wait in a ring; what cannot be reached stays clean. */
static void solve(struct arena *scratch, struct build *b)
{
    uint32_t count = b->cfg->block_count, waiting = 1, head = 0;
    uint32_t *queue = arena_array(scratch, uint32_t, count);
    bool *queued = arena_array(scratch, bool, count), *seen = arena_array(scratch, bool, count);
    seen[0] = true;
    while (waiting) {
        uint32_t block = queue[head];
        head = head + 1 == count ? 0 : head + 1;
        waiting--;
        queued[block] = false;
        execute_block(b, block);
        for (uint32_t s = 0; s < b->cfg->blocks[block].succ_count; s++) {
            uint32_t next = b->cfg->blocks[block].succs[s];
            bool again = join(b, next) || !seen[next];
            seen[next] = true;
            if (!again || queued[next])
                continue;
            queued[next] = true;
            queue[(head + waiting++) % count] = next;
        }
    }
}

struct ptx_taints *ptx_taint_build(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg)
{
    struct arena scratch = {0};
    struct ptx_taints *t = arena_new(a, struct ptx_taints);
    t->of = arena_array(a, uint8_t, f->inst_count + 1);
    if (!cfg->block_count)
        return t;
    struct build b = {.f = f, .cfg = cfg, .of = t->of};
    find_crossing(&scratch, &b);
    b.in = arena_array(&scratch, uint64_t, (size_t)cfg->block_count * b.words * 2 + 1);
    b.out = arena_array(&scratch, uint64_t, (size_t)b.words * 2 + 1);
    b.now = arena_array(&scratch, uint8_t, f->reg_count + 1);
    enter(&b);
    solve(&scratch, &b);
    arena_free(&scratch);
    return t;
}

/* ------------------------------------------------------------- why */

/* A search from an instruction back through the definitions that reach it, breadth first. */
struct search {
    const struct ptx_function *f;
    const struct ptx_cfg *cfg;
    const uint8_t *of;
    uint8_t taint; /* what is looked for */
    uint32_t *queue, head, count;
    uint32_t *parent; /* per instruction: the one that reads what it writes; inst_count: not found yet */
    uint32_t *pending, *marked, mark; /* blocks whose end is looked at for the register at hand */
};

static bool writes_register(const struct search *s, const struct ptx_inst *in, uint32_t reg)
{
    uint32_t regs[REGISTERS_MOST];
    struct register_list l = registers_of(s->f, in, PTX_REG_DEFINE, regs);
    for (uint32_t i = 0; i < l.count; i++)
        if (regs[i] == reg)
            return true;
    return false;
}

/* Goes back from before `end` to the block's start. True: a value from before the block may get here. */
static bool search_block(struct search *s, uint32_t first, uint32_t end, uint32_t reg, uint32_t reader)
{
    for (uint32_t i = end; i-- > first;) {
        const struct ptx_inst *in = &s->f->insts[i];
        if (!writes_register(s, in, reg))
            continue;
        if (s->of[i] == s->taint && s->parent[i] == s->f->inst_count) {
            s->parent[i] = reader;
            s->queue[s->count++] = i;
        }
        if (!in->guard)
            return false;
    }
    return true;
}

static void search_register(struct search *s, uint32_t reader, uint32_t reg)
{
    uint32_t block = s->cfg->block_of_inst[reader], count = 0, end = reader;
    s->mark++;
    for (;;) {
        if (search_block(s, s->cfg->blocks[block].first, end, reg, reader)) {
            for (uint32_t i = 0; i < s->cfg->blocks[block].pred_count; i++) {
                uint32_t pred = s->cfg->blocks[block].preds[i];
                if (s->marked[pred] == s->mark)
                    continue;
                s->marked[pred] = s->mark;
                s->pending[count++] = pred;
            }
        }
        if (!count)
            return;
        block = s->pending[--count];
        end = s->cfg->blocks[block].end;
    }
}

static void search_sources(struct search *s, uint32_t reader)
{
    uint32_t regs[REGISTERS_MOST];
    struct register_list l = registers_of(s->f, &s->f->insts[reader], PTX_REG_USE, regs);
    for (uint32_t i = 0; i < l.count; i++)
        search_register(s, reader, regs[i]);
}

static struct ptx_taint_chain chain_to(struct arena *a, const struct search *s, uint32_t from, uint32_t to)
{
    struct ptx_taint_chain chain = {.count = 0};
    for (uint32_t i = to; i != from; i = s->parent[i])
        chain.count++;
    chain.insts = arena_array(a, uint32_t, chain.count + 1);
    uint32_t at = chain.count;
    for (uint32_t i = to; i != from; i = s->parent[i])
        chain.insts[--at] = i;
    return chain;
}

struct ptx_taint_chain ptx_taint_explain(struct arena *a, const struct ptx_function *f, const struct ptx_cfg *cfg,
                                         const struct ptx_taints *t, uint32_t inst)
{
    struct ptx_taint_chain none = {.insts = NULL, .count = 0}, chain = none;
    struct arena scratch = {0};
    struct search s = {.f = f, .cfg = cfg, .of = t->of, .taint = t->of[inst]};
    if (s.taint == PTX_TAINT_CLEAN || !cfg->blocks[cfg->block_of_inst[inst]].reachable)
        return none;
    s.queue = arena_array(&scratch, uint32_t, f->inst_count);
    s.parent = arena_array(&scratch, uint32_t, f->inst_count);
    s.pending = arena_array(&scratch, uint32_t, cfg->block_count);
    s.marked = arena_array(&scratch, uint32_t, cfg->block_count);
    for (uint32_t i = 0; i < f->inst_count; i++)
        s.parent[i] = f->inst_count;
    search_sources(&s, inst);
    while (s.head < s.count && !chain.count) {
        uint32_t i = s.queue[s.head++];
        if (origin_of(f, &f->insts[i]).taint == s.taint)
            chain = chain_to(a, &s, inst, i);
        else
            search_sources(&s, i);
    }
    arena_free(&scratch);
    return chain;
}
