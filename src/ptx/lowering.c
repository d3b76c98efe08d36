/* The estimate of what ptxas makes of a function, from what its output for sm_90 looks like. In this file: who defines
 * and reads each register, code that nobody needs, and what each instruction waits for in the end. In the others:
 * registers that hold several values (lowering_names.c), how many machine instructions one is (lowering_count.c), moves
 * (lowering_moves.c), two in one (lowering_fuse.c), loads from shared memory (lowering_shared.c), what differs between
 * threads (lowering_divergent.c), branches (lowering_control.c), loops (lowering_loops.c), what is loaded where
 * (lowering_places.c). Left out: motion of code between blocks, values that are computed twice, functions that are
 * inlined. Of loops that are unrolled, the counting alone changes here; ptx/unroll.h makes the rounds. */
#include "ptx/lowering_internal.h"

#include <string.h>

enum { MOST_READS = UINT8_MAX, MOST_DEPTH = 12 };
#define WRITTEN (1u << 31)

const char *ptx_fate_name(enum ptx_fate fate)
{
    static const char *const names[] = {
        [PTX_FATE_KEPT] = "",       [PTX_FATE_DEAD] = "dead",     [PTX_FATE_OPERAND] = "operand",
        [PTX_FATE_FUSED] = "fused", [PTX_FATE_MERGED] = "merged", [PTX_FATE_UNROLLED] = "unrolled"};
    return names[fate];
}

/* ------------------------------------------------------------- small questions */

enum ptx_type lower_type(const struct ptx_inst *in)
{
    return in->type_count ? (enum ptx_type)in->types[0] : PTX_NO_TYPE;
}

bool lower_is_integer(const struct ptx_inst *in, int bits)
{
    enum ptx_type t = lower_type(in);
    return t != PTX_NO_TYPE && t != PTX_PRED && ptx_type_bits(t) == bits && !ptx_type_is_float(t);
}

bool lower_is_literal(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_INT || o->kind == PTX_OPERAND_FLOAT;
}

bool lower_uses_memory(const struct ptx_inst *in)
{
    return ptx_opcodes[in->opcode].unit == PTX_UNIT_MEM && lower_address(in);
}

const struct ptx_operand *lower_address(const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_ADDRESS)
            return &in->operands[i];
    return NULL;
}

bool lower_reads_parameter(const struct ptx_function *f, const struct ptx_inst *in)
{
    const struct ptx_operand *address = in->opcode == PTX_OP_ld ? lower_address(in) : NULL;
    if (!address || !address->element_count || address->elements[0].kind != PTX_OPERAND_SYMBOL)
        return false;
    return (f->is_entry && ptx_has_modifier(in, PTX_MOD_PARAM)) || ptx_has_modifier(in, PTX_MOD_PARAM_ENTRY);
}

uint32_t lower_result(const struct lowering_work *w, uint32_t i)
{
    return w->refs_of[i + 1] - w->results_of[i] == 1 ? w->ref[w->results_of[i]] : LOWER_NONE;
}

void lower_vanish(struct lowering_work *w, uint32_t i, enum ptx_fate fate, uint32_t into)
{
    w->insts[i].slots = 0;
    w->insts[i].fate = (uint8_t)fate;
    w->insts[i].into = into;
}

/* ------------------------------------------------------------- who defines and reads a register */

static void note_reference(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct lowering_work *w = context;
    if (w->ref_count == w->ref_capacity) {
        uint32_t *grown = arena_array(&w->scratch, uint32_t, w->ref_capacity * 2);
        memcpy(grown, w->ref, sizeof *grown * w->ref_count);
        w->ref = grown;
        w->ref_capacity *= 2;
    }
    w->ref[w->ref_count++] = reg->index | (role == PTX_REG_DEFINE ? WRITTEN : 0);
}

static void collect_references(struct lowering_work *w)
{
    uint32_t count = w->f->inst_count;
    w->refs_of = arena_array(&w->scratch, uint32_t, count + 1);
    w->results_of = arena_array(&w->scratch, uint32_t, count + 1);
    w->ref_capacity = count * 4 + 16;
    w->ref = arena_array(&w->scratch, uint32_t, w->ref_capacity);
    for (uint32_t i = 0; i < count; i++) {
        w->refs_of[i] = w->ref_count;
        ptx_visit_regs(w->f, &w->f->insts[i], note_reference, w);
        uint32_t k = w->refs_of[i];
        while (k < w->ref_count && !(w->ref[k] & WRITTEN)) /* reads come first */
            k++;
        w->results_of[i] = k;
        for (; k < w->ref_count; k++)
            w->ref[k] &= ~WRITTEN;
    }
    w->refs_of[count] = w->ref_count;
}

static void find_definitions(struct lowering_work *w)
{
    w->definition = arena_array(&w->scratch, uint32_t, w->f->reg_count);
    w->first_definition = arena_array(&w->scratch, uint32_t, w->f->reg_count);
    w->last_definition = arena_array(&w->scratch, uint32_t, w->f->reg_count);
    for (uint32_t r = 0; r < w->f->reg_count; r++)
        w->definition[r] = LOWER_NONE;
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++) {
            uint32_t *d = &w->definition[w->ref[k]];
            if (*d == LOWER_NONE)
                w->first_definition[w->ref[k]] = i;
            w->last_definition[w->ref[k]] = i;
            *d = *d == LOWER_NONE && !w->f->insts[i].guard ? i : LOWER_MANY;
        }
    for (uint32_t i = 0; i < w->f->param_count; i++) /* a parameter in a register comes from the caller */
        if (w->f->params[i]->reg)
            w->definition[w->f->params[i]->reg->index] = LOWER_MANY;
}

static void find_users(struct lowering_work *w)
{
    uint32_t *at = arena_array(&w->scratch, uint32_t, w->f->reg_count + 2);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        for (uint32_t k = w->refs_of[i]; k < w->results_of[i]; k++)
            at[w->ref[k] + 2]++;
    for (uint32_t r = 2; r < w->f->reg_count + 2; r++)
        at[r] += at[r - 1];
    w->users = arena_array(&w->scratch, uint32_t, w->ref_count + 1);
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        for (uint32_t k = w->refs_of[i]; k < w->results_of[i]; k++)
            w->users[at[w->ref[k] + 1]++] = i;
    w->users_of = at; /* filling has moved each start to its place */
}

/* ------------------------------------------------------------- dead code */

static bool has_effect(const struct ptx_inst *in)
{
    uint32_t flags = ptx_flags(in);
    if (flags & (PTX_F_BRANCH | PTX_F_EXIT | PTX_F_RET | PTX_F_CALL | PTX_F_BARRIER | PTX_F_STORE | PTX_F_ATOMIC |
                 PTX_F_FENCE | PTX_F_NO_DEST | PTX_F_WARP))
        return true;
    if (flags & PTX_F_LOAD)
        return ptx_has_modifier(in, PTX_MOD_VOLATILE) || ptx_has_modifier(in, PTX_MOD_ACQUIRE) ||
               ptx_has_modifier(in, PTX_MOD_RELAXED);
    return ptx_opcodes[in->opcode].unit == PTX_UNIT_MEM || ptx_has_modifier(in, PTX_MOD_CC) ||
           in->opcode == PTX_OP_alloca || in->opcode == PTX_OP_stacksave;
}

static bool ends_block(const struct lowering_work *w, uint32_t i)
{
    return w->cfg->blocks[w->cfg->block_of_inst[i]].end == i + 1;
}

/* An instruction is dead where it has no effect and all that reads its results is dead. Needed ones are spread from
 * their users to the definitions. */
static void find_dead(struct lowering_work *w)
{
    uint32_t count = w->f->inst_count, depth = 0;
    bool *needed = arena_array(&w->scratch, bool, count + 1);
    uint32_t *stack = arena_array(&w->scratch, uint32_t, count + 1);
    uint32_t *first_of = arena_array(&w->scratch, uint32_t, w->f->reg_count + 1); /* definitions, as a list */
    uint32_t *next = arena_array(&w->scratch, uint32_t, w->ref_count + 1);
    uint32_t *inst_of = arena_array(&w->scratch, uint32_t, w->ref_count + 1);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = w->results_of[i]; k < w->refs_of[i + 1]; k++) {
            next[k] = first_of[w->ref[k]];
            first_of[w->ref[k]] = k + 1;
            inst_of[k] = i;
        }
        if (has_effect(&w->f->insts[i]) || ends_block(w, i)) {
            needed[i] = true;
            stack[depth++] = i;
        }
    }
    while (depth) {
        uint32_t i = stack[--depth];
        for (uint32_t k = w->refs_of[i]; k < w->results_of[i]; k++) {
            for (uint32_t d = first_of[w->ref[k]]; d; d = next[d - 1])
                if (!needed[inst_of[d - 1]]) {
                    needed[inst_of[d - 1]] = true;
                    stack[depth++] = inst_of[d - 1];
                }
            first_of[w->ref[k]] = 0;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (!needed[i])
            lower_vanish(w, i, PTX_FATE_DEAD, PTX_INTO_NOTHING);
}

/* Tests of a loop that was unrolled (ptx/unroll.h): the machine knows how many rounds are left. */
static void drop_tests(struct lowering_work *w)
{
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        if (w->f->insts[i].unrolled == PTX_UNROLLED_FREE && lower_is_kept(w, i) && !ends_block(w, i))
            lower_vanish(w, i, PTX_FATE_UNROLLED, PTX_INTO_NOTHING);
}

/* ------------------------------------------------------------- what an instruction waits for */

struct read_list {
    uint32_t list[MOST_READS];
    uint32_t count;
};

static void add_read(struct read_list *l, uint32_t reg)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->list[i] == reg)
            return;
    if (l->count < MOST_READS)
        l->list[l->count++] = reg;
}

/* A vanished definition is replaced by what it reads. Chains are short; a very long one is cut, and what lies beyond
 * it is not waited for. */
static void add_reads_of(const struct lowering_work *w, struct read_list *l, uint32_t i, uint32_t depth)
{
    for (uint32_t k = w->refs_of[i]; k < w->results_of[i]; k++) {
        uint32_t reg = w->ref[k], d = w->definition[reg];
        bool gone = d < LOWER_MANY && !w->insts[d].slots && w->insts[d].fate != PTX_FATE_MERGED;
        if (!gone)
            add_read(l, w->register_of[reg]);
        else if (depth < MOST_DEPTH)
            add_reads_of(w, l, d, depth + 1);
    }
}

static void find_reads(struct arena *a, struct lowering_work *w)
{
    w->reads = arena_array(&w->scratch, uint32_t *, w->f->inst_count + 1);
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        struct read_list l;
        l.count = 0;
        add_reads_of(w, &l, i, 0);
        if (w->with[i])
            add_reads_of(w, &l, w->with[i], 0);
        uint32_t *list = arena_array(a, uint32_t, l.count + 1);
        memcpy(list, l.list, sizeof *list * l.count);
        w->insts[i].reads = w->reads[i] = list;
        w->insts[i].read_count = (uint8_t)l.count;
    }
}

/* ------------------------------------------------------------- all of it */

/* Loaded bytes and halves are extended on the way: a comparison has nothing to do before. */
static bool compares_loaded(const struct lowering_work *w, const struct ptx_inst *in)
{
    if (in->opcode != PTX_OP_setp || !lower_is_integer(in, 16))
        return false;
    for (uint32_t k = 1; k < in->operand_count; k++)
        if (in->operands[k].kind == PTX_OPERAND_REG) {
            uint32_t d = w->definition[in->operands[k].reg->index];
            if (d >= LOWER_MANY || !(ptx_flags(&w->f->insts[d]) & PTX_F_LOAD))
                return false;
        }
    return true;
}

static void count_each(struct lowering_work *w)
{
    for (uint32_t i = 0; i < w->f->inst_count; i++) {
        const struct ptx_inst *in = &w->f->insts[i];
        uint32_t result = lower_result(w, i);
        w->insts[i].narrow = result != LOWER_NONE && w->narrow[result];
        w->insts[i].slots = lower_count(w->f, in, w->insts[i].narrow);
        if (compares_loaded(w, in))
            w->insts[i].slots = 1;
        w->insts[i].into = PTX_INTO_NOTHING;
        for (uint32_t k = in->operand_count && !(ptx_flags(in) & PTX_F_NO_DEST); k < in->operand_count; k++) {
            w->inputs[i]++;
            w->literals[i] += lower_is_literal(&in->operands[k]);
        }
    }
}

/* What ends a block must be there for those who follow the control flow. */
static void keep_jumps(struct lowering_work *w)
{
    for (uint32_t i = 0; i < w->f->inst_count; i++)
        if (w->f->insts[i].opcode == PTX_OP_bra && !w->insts[i].slots) {
            w->insts[i].slots = 1;
            w->insts[i].fate = PTX_FATE_KEPT;
            w->insts[i].laid_out = true;
        }
}

/* Registers that were merged one after the other have the number of the last. */
static void settle_registers(struct lowering_work *w)
{
    for (uint32_t r = 0; r < w->f->reg_count; r++) {
        uint32_t root = r;
        for (uint32_t steps = 0; w->register_of[root] != root && steps < w->f->reg_count; steps++)
            root = w->register_of[root];
        for (uint32_t k = r; w->register_of[k] != root && k != root;) {
            uint32_t next = w->register_of[k];
            w->register_of[k] = root;
            k = next;
        }
    }
}

static uint32_t root_of(const uint32_t *register_of, uint32_t r)
{
    while (register_of[r] != r)
        r = register_of[r];
    return r;
}

/* In the names of the function as it is: a value with a register of its own has that of the register that it was
 * written to. Where it was merged with another, the two registers are one. */
static void restore_names(struct lowering_work *w, const struct ptx_function *f, const uint32_t *origin,
                          uint32_t *register_of, bool *divergent)
{
    for (uint32_t r = 0; r < f->reg_count; r++)
        register_of[r] = origin ? r : w->register_of[r];
    for (uint32_t r = 0; r < w->f->reg_count; r++) {
        divergent[origin ? origin[r] : r] |= w->divergent[r];
        if (origin)
            register_of[root_of(register_of, origin[r])] = root_of(register_of, origin[w->register_of[r]]);
    }
    for (uint32_t r = 0; r < f->reg_count; r++)
        register_of[r] = root_of(register_of, r);
    for (uint32_t i = 0; origin && i < f->inst_count; i++)
        for (uint32_t k = 0; k < w->insts[i].read_count; k++)
            w->reads[i][k] = register_of[origin[w->reads[i][k]]];
}

const struct ptx_lowering *ptx_lower(struct arena *a, const struct ptx_function *f)
{
    struct lowering_work w = {.f = f};
    struct ptx_lowering *out = arena_new(a, struct ptx_lowering);
    w.cfg = ptx_cfg_build(&w.scratch, f);
    const uint32_t *origin;
    w.f = lower_name_values(&w.scratch, f, w.cfg, &origin);
    w.insts = out->insts = arena_array(a, struct ptx_lowered, f->inst_count + 1);
    w.inputs = arena_array(&w.scratch, uint8_t, f->inst_count + 1);
    w.literals = arena_array(&w.scratch, uint8_t, f->inst_count + 1);
    w.with = arena_array(&w.scratch, uint32_t, f->inst_count + 1);
    w.register_of = arena_array(&w.scratch, uint32_t, w.f->reg_count + 1);
    for (uint32_t r = 0; r < w.f->reg_count; r++)
        w.register_of[r] = r;
    collect_references(&w);
    find_definitions(&w);
    find_users(&w);
    w.counted = out->counted = arena_array(a, struct ptx_counted, w.cfg->loop_count + 1);
    lower_find_narrow(&w);
    lower_find_divergent(&w);
    count_each(&w);
    find_dead(&w);
    drop_tests(&w);
    lower_moves(&w);
    lower_fuse(&w);
    lower_shared(&w);
    lower_control(&w);
    keep_jumps(&w);
    settle_registers(&w);
    find_reads(a, &w);
    out->counted_count = w.counted_count;
    uint32_t *register_of = arena_array(a, uint32_t, f->reg_count + 1);
    bool *divergent = arena_array(a, bool, f->reg_count + 1);
    restore_names(&w, f, origin, register_of, divergent);
    out->register_of = register_of;
    out->divergent = divergent;
    arena_free(&w.scratch);
    return out;
}
