/*
 * Loads and stores in every state space, direct and through generic addresses, in all widths and vectors; atomics.
 * Nothing races: a thread writes only memory of its own, and what all threads reduce into is never read by a thread
 * before a barrier, with one operation a cell, so that order does not
 * matter. */
#include "random.h"
#include <string.h>

struct access {
    const char *type;
    int bytes;
    const char *classes; /* of the register; a wider one is extended */
};

static const struct access accesses[] = {
    {"u8", 1, "hwl"},  {"s8", 1, "hwl"}, {"b8", 1, "hwl"},   {"u16", 2, "hwl"}, {"s16", 2, "hwl"}, {"b16", 2, "heaw"},
    {"u32", 4, "wwl"}, {"s32", 4, "wl"}, {"b32", 4, "wbfx"}, {"f32", 4, "f"},   {"f32", 4, "f"},   {"u32", 4, "w"},
    {"u64", 8, "l"},   {"s64", 8, "l"},  {"b64", 8, "lcd"},  {"f64", 8, "d"},
};

enum space { INPUT, SCRATCH, SHARED, LOCAL, CONSTANT, TABLE, PARAMETER };

struct space_info {
    const char *name, *base; /* the base: a register, or a variable */
    unsigned bytes;
    int is_register, writable;
};

static const struct space_info spaces[] = {
    {"global", "%in", 0, 1, 0},
    {"global", "%mine", SCRATCH_BYTES, 1, 1},
    {"shared", "%own", EXCHANGE_BYTES, 1, 1},
    {"local", "stack", LOCAL_BYTES, 0, 1},
    {"const", "constants", TABLE_BYTES, 0, 0},
    {"global", "table", TABLE_BYTES, 0, 0},
    {"param", "structure", STRUCT_BYTES, 0, 0},
};

static enum space pick_space(struct generator *g, int writable)
{
    static const enum space all[] = {INPUT, INPUT, INPUT, INPUT, SCRATCH, SHARED, LOCAL, CONSTANT, TABLE, PARAMETER};
    static const enum space writables[] = {SCRATCH, SCRATCH, SHARED, LOCAL, LOCAL};
    static const enum space in_function[] = {LOCAL, CONSTANT, TABLE};
    if (writable)
        return g->inside_function ? LOCAL : writables[rng_below(&g->rng, 5)];
    return g->inside_function ? in_function[rng_below(&g->rng, 3)] : all[rng_below(&g->rng, 10)];
}

static unsigned aligned_offset(struct generator *g, unsigned limit, int bytes)
{
    return rng_below(&g->rng, limit / (unsigned)bytes) * (unsigned)bytes;
}

/* A 64-bit register with the address of the space's memory (of one of the input's entries), and the offset to use with
 * it. */
static int base_address(struct generator *g, enum space space, int bytes, unsigned *offset)
{
    const struct space_info *info = &spaces[space];
    int a = temporary(g);
    if (space == INPUT) {
        int wide = bytes > 8;
        int t = masked_value(g, wide ? INPUT_ENTRIES / 2 - 1 : INPUT_ENTRIES - 1);
        text_add(&g->body, "    mad.wide.u32 %%a%d, %%t%d, %d, %%in;\n", a, t, wide ? 16 : 8);
        *offset = aligned_offset(g, INPUT_SLACK * 8, bytes);
        return a;
    }
    if (space == SHARED)
        text_add(&g->body, "    cvt.u64.u32 %%a%d, %%own;\n", a);
    else
        text_add(&g->body, "    mov.u64 %%a%d, %s;\n", a, info->base);
    if (rng_percent(&g->rng, 50)) {
        int t = masked_value(g, info->bytes / (unsigned)bytes - 1), b = temporary(g);
        text_add(&g->body, "    mad.wide.u32 %%a%d, %%t%d, %d, %%a%d;\n", b, t, bytes, a);
        *offset = 0;
        return b;
    }
    *offset = aligned_offset(g, info->bytes, bytes);
    return a;
}

/* Writes ".global" or nothing (generic) to `space_text`, and the address operand. */
static void address(struct generator *g, enum space space, int bytes, char *space_text, char *operand)
{
    const struct space_info *info = &spaces[space];
    unsigned offset;
    sprintf(space_text, ".%s", info->name);
    if (space == PARAMETER || (!info->is_register && rng_percent(&g->rng, 30))) {
        offset = aligned_offset(g, info->bytes, bytes);
        sprintf(operand, offset ? "[%s+%u]" : "[%s]", info->base, offset);
        return;
    }
    int a = base_address(g, space, bytes, &offset);
    if (rng_percent(&g->rng, 25)) {
        int b = temporary(g);
        text_add(&g->body, "    cvta.%s.u64 %%a%d, %%a%d;\n", info->name, b, a);
        a = b;
        space_text[0] = 0;
    }
    sprintf(operand, offset ? "[%%a%d+%u]" : "[%%a%d]", a, offset);
}

static const struct access *pick_access(struct generator *g, int *vector)
{
    const struct access *access = &accesses[rng_below(&g->rng, sizeof accesses / sizeof accesses[0])];
    int wanted = 1;
    if (rng_percent(&g->rng, 30))
        wanted = rng_percent(&g->rng, 50) ? 2 : 4;
    *vector = wanted == 4 && access->bytes == 8 ? 2 : wanted;
    return access;
}

static void add_registers(struct generator *g, const char **names, int count)
{
    text_add(&g->body, "%s", count > 1 ? "{" : "");
    for (int i = 0; i < count; i++)
        text_add(&g->body, "%s%s", i ? ", " : "", names[i]);
    text_add(&g->body, "%s", count > 1 ? "}" : "");
}

/* ptxas takes no vector of integer and floating registers together. */
static char pick_class(struct generator *g, const struct access *access, int vector)
{
    char class = access->classes[rng_below(&g->rng, (unsigned)strlen(access->classes))];
    if (vector == 1)
        return class;
    return class == 'a' ? 'h' : class == 'b' ? 'w' : class == 'c' ? 'l' : class;
}

static const char *vector_suffix(int vector) { return vector == 4 ? ".v4" : vector == 2 ? ".v2" : ""; }

static void load(struct generator *g)
{
    static const char *const hints[] = {
        "", "", "", ".ca", ".cg", ".cs", ".cv", ".volatile", ".relaxed.gpu", ".acquire.cta", ".lu"};
    char space_text[16], operand[64];
    const char *names[4], *hint = "", *nc = "";
    int vector;
    enum space space = pick_space(g, 0);
    const struct access *access = pick_access(g, &vector);
    char class = pick_class(g, access, vector);
    address(g, space, access->bytes * vector, space_text, operand);
    if (space == INPUT && space_text[0])
        hint = hints[rng_below(&g->rng, sizeof hints / sizeof hints[0])];
    if ((space == INPUT || space == TABLE) && space_text[0] && !hint[0] && rng_percent(&g->rng, 30))
        nc = ".nc";
    int before = hint[0] && (hint[1] == 'v' || hint[1] == 'r' || hint[1] == 'a');
    registers_pick_distinct(g, class, names, vector);
    const char *guard = rng_percent(&g->rng, 15) ? predicate_guard(g) : "";
    text_add(&g->body, "    %sld%s%s%s%s%s.%s ", guard, before ? hint : "", space_text, before ? "" : hint, nc,
             vector_suffix(vector), access->type);
    add_registers(g, names, vector);
    text_add(&g->body, ", %s;\n", operand);
    for (int i = 0; i < vector; i++)
        trace(g, class, names[i]);
}

static void store(struct generator *g)
{
    static const char *const hints[] = {"",    "",    "",          ".wb",          ".cg",
                                        ".cs", ".wt", ".volatile", ".relaxed.gpu", ".release.cta"};
    char space_text[16], operand[64];
    const char *names[4], *hint = "";
    int vector;
    enum space space = pick_space(g, 1);
    const struct access *access = pick_access(g, &vector);
    char class = pick_class(g, access, vector);
    address(g, space, access->bytes * vector, space_text, operand);
    if (space == SCRATCH && space_text[0])
        hint = hints[rng_below(&g->rng, sizeof hints / sizeof hints[0])];
    int before = hint[0] && (hint[1] == 'v' || hint[1] == 'r');
    for (int i = 0; i < vector; i++)
        names[i] = register_pick(g, class);
    const char *guard = rng_percent(&g->rng, 15) ? predicate_guard(g) : "";
    text_add(&g->body, "    %sst%s%s%s%s.%s %s, ", guard, before ? hint : "", space_text, before ? "" : hint,
             vector_suffix(vector), access->type, operand);
    add_registers(g, names, vector);
    text_add(&g->body, ";\n");
}

/* Which window an address is in, and the way back from generic. */
static void address_question(struct generator *g)
{
    static const enum space asked[] = {INPUT, SCRATCH, SHARED, LOCAL, CONSTANT, TABLE};
    static const char *const windows[] = {"global", "shared", "local", "const"};
    enum space space = g->inside_function ? LOCAL : asked[rng_below(&g->rng, 6)];
    unsigned offset;
    const char *p = register_pick(g, 'p');
    int a = base_address(g, space, 4, &offset), b = temporary(g), t = temporary(g);
    const char *window = windows[rng_below(&g->rng, 4)];
    text_add(&g->body, "    cvta.%s.u64 %%a%d, %%a%d;\n    isspacep.%s %s, %%a%d;\n", spaces[space].name, b, a, window,
             p, b);
    trace(g, 'p', p);
    text_add(&g->body, "    cvta.to.%s.u64 %%a%d, %%a%d;\n    ld.%s.u32 %%t%d, [%%a%d+%u];\n", spaces[space].name, a, b,
             spaces[space].name, t, a, offset);
    const char *d = register_pick(g, 'w');
    text_add(&g->body, "    xor.b32 %s, %s, %%t%d;\n", d, register_pick(g, 'w'), t);
    trace(g, 'w', d);
}

/* A table that holds addresses: of a variable, and of its generic form. */
static void pointer_load(struct generator *g)
{
    int t = masked_value(g, 3), u = masked_value(g, TABLE_BYTES / 8 - 1), a = temporary(g), b = temporary(g);
    const char *d = register_pick(g, 'l');
    text_add(
        &g->body,
        "    mov.u64 %%a%d, pointers;\n    mad.wide.u32 %%a%d, %%t%d, 8, %%a%d;\n    ld.global.u64 %%a%d, [%%a%d];\n",
        a, a, t, a, b, a);
    text_add(&g->body, "    mad.wide.u32 %%a%d, %%t%d, 8, %%a%d;\n    ld%s.u64 %s, [%%a%d];\n", b, u, b,
             rng_percent(&g->rng, 50) ? "" : ".global", d, b);
    trace(g, 'l', d);
}

void memory_statement(struct generator *g)
{
    unsigned kind = rng_below(&g->rng, 100);
    if (kind < 60)
        load(g);
    else if (kind < 85)
        store(g);
    else if (kind < 93)
        address_question(g);
    else
        pointer_load(g);
}

struct reduction {
    const char *name;
    char class;
};

/* Every one gives the same in any order. */
static const struct reduction reductions[] = {
    {"add.u32", 'w'}, {"add.s32", 'w'}, {"add.u64", 'l'}, {"min.u32", 'w'}, {"max.u32", 'w'}, {"min.s32", 'w'},
    {"max.s32", 'w'}, {"and.b32", 'w'}, {"or.b32", 'w'},  {"xor.b32", 'w'}, {"min.u64", 'l'}, {"max.s64", 'l'},
    {"and.b64", 'l'}, {"or.b64", 'l'},  {"xor.b64", 'l'}, {"inc.u32", 'n'},
};

static void reduce_together(struct generator *g)
{
    unsigned op = rng_below(&g->rng, sizeof reductions / sizeof reductions[0]);
    const struct reduction *reduction = &reductions[op];
    int shared = rng_percent(&g->rng, 50), a = temporary(g);
    const char *space = shared ? ".shared" : ".global";
    unsigned where = rng_below(&g->rng, shared ? 1 : SHARED_CELLS / 16);
    char operand[32];
    sprintf(operand, "[%%a%d+%u]", a, (where * 16 + op) * CELL_BYTES);
    if (shared)
        text_add(&g->body, "    mov.u64 %%a%d, reduced;\n", a);
    else
        text_add(&g->body, "    mov.u64 %%a%d, %%cells;\n", a);
    if (rng_percent(&g->rng, 20)) {
        text_add(&g->body, "    cvta%s.u64 %%a%d, %%a%d;\n", space, a, a);
        space = "";
    }
    const char *guard = rng_percent(&g->rng, 30) ? predicate_guard(g) : "";
    int returns = rng_percent(&g->rng, 30), b = temporary(g);
    const char *source = reduction->class == 'n' ? "12345" : register_pick(g, reduction->class);
    if (returns)
        text_add(&g->body, "    %satom%s.%s %%%s%d, %s, %s;\n", guard, space, reduction->name,
                 reduction->class == 'l' ? "a" : "t", b, operand, source);
    else
        text_add(&g->body, "    %sred%s.%s %s, %s;\n", guard, space, reduction->name, operand, source);
}

/* On memory of the thread's own: what it returns is known. */
static void atomic_alone(struct generator *g)
{
    static const struct reduction ops[] = {
        {"add.u32", 'w'},       {"add.s32", 'w'}, {"add.u64", 'l'}, {"add.f32", 'f'}, {"add.f64", 'd'},
        {"min.u32", 'w'},       {"max.s32", 'w'}, {"min.s64", 'l'}, {"max.u64", 'l'}, {"and.b32", 'w'},
        {"or.b64", 'l'},        {"xor.b32", 'w'}, {"inc.u32", 'w'}, {"dec.u32", 'w'}, {"exch.b32", 'w'},
        {"exch.b64", 'l'},      {"cas.b32", 'w'}, {"cas.b64", 'l'}, {"cas.b16", 'h'}, {"add.noftz.f16x2", 'x'},
        {"add.noftz.f16", 'e'},
    };
    const struct reduction *op = &ops[rng_below(&g->rng, sizeof ops / sizeof ops[0])];
    int bytes = class_bits(op->class) / 8, cas = op->name[0] == 'c', comparand_fits = rng_percent(&g->rng, 50);
    char space_text[16], operand[64];
    static const char *const orders[] = {"", "", ".relaxed.gpu", ".acq_rel.cta", ".acquire.sys", ".release.gpu"};
    const char *order = orders[rng_below(&g->rng, 6)];
    address(g, rng_percent(&g->rng, 50) ? SCRATCH : SHARED, bytes, space_text, operand);
    const char *d = register_pick(g, op->class), *source = register_pick(g, op->class),
               *compared = register_pick(g, op->class);
    if (cas && comparand_fits)
        text_add(&g->body, "    ld%s.b%d %s, %s;\n", space_text, bytes * 8, compared, operand);
    const char *guard = rng_percent(&g->rng, 15) ? predicate_guard(g) : "";
    text_add(&g->body, "    %satom%s%s.%s %s, %s, %s%s%s;\n", guard, order, space_text, op->name, d, operand,
             cas ? compared : source, cas ? ", " : "", cas ? source : "");
    trace(g, op->class, d);
}

void atomic_statement(struct generator *g)
{
    if (rng_percent(&g->rng, 50))
        reduce_together(g);
    else
        atomic_alone(g);
}
