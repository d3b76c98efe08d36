/* Calls (PTX ISA 9.7.12.5): results, target, arguments, and which parameter each value stands for.
 *
 * A vector register stands for its scalars, as it does among the parameters; '_' for a whole result, however many
 * scalars that is. As in real assemblers, a value may have another shape than its parameter as long as it has as many
 * bits: a .v2 .u32 where a .b64 is declared, a .v4 .u16 where a .v2 .u32 is. A mov in front of the call, or after it,
 * makes one of the other. */
#include "ptx/parser.h"

static void parse_list(struct parser *p)
{
    struct token open = *current(p);
    expect(p, '(');
    size_t from = p->operands.count;
    if (!at_symbol(p, ')'))
        do {
            if (at_symbol(p, '{'))
                unexpected(p, "a register, a constant or a .param variable");
            parse_operand(p, PTX_OP_call);
        } while (accept(p, ','));
    expect(p, ')');
    uint32_t count;
    struct ptx_operand *elements = keep_operands(p, from, &count);
    struct ptx_operand *o = push_operand(p, PTX_OPERAND_LIST, &open);
    o->elements = elements;
    o->element_count = count;
}

static void parse_target(struct parser *p)
{
    struct token name = expect_name(p, "the function to call");
    if (parser_failed(p))
        return;
    struct ptx_reg *r = scope_find_reg(p, &name);
    if (r) {
        push_operand(p, PTX_OPERAND_REG, &name)->reg = r;
        return;
    }
    if (name.text[0] == '%') {
        undefined_name(p, &name, "register");
        return;
    }
    const struct binding *b = scope_find(p, &name);
    if (b) {
        token_error(p, &name, "'%.*s' is a %s, declared on line %d; expected a function", shown(&name), name.text,
                    binding_kind(b), b->line);
        return;
    }
    struct ptx_operand *o = push_operand(p, PTX_OPERAND_NONE, &name);
    struct ptx_symbol *s = strmap_get(&p->m->symbols, name.text, name.length);
    if (s && s->function) {
        o->kind = PTX_OPERAND_FUNCTION;
        o->function = s->function;
    } else {
        struct fixup *fix = new_fixup(p, FIX_FUNCTION, &name);
        fixup_in_module(p, fix);
        o->elements = (struct ptx_operand *)fix;
    }
}

/* Shapes */

/* The values of one list, while it is made. */
struct passed {
    struct parser *p;
    const struct ptx_inst *call;
    struct vector *after; /* of results; NULL: arguments */
    struct vector values; /* struct ptx_operand */
};

static void pass(struct passed *l, struct ptx_operand value)
{
    *(struct ptx_operand *)vector_push(&l->values, sizeof value) = value;
}

static uint32_t bits_of(const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_VECTOR)
        return o->element_count * bits_of(&o->elements[0]);
    return o->kind == PTX_OPERAND_REG ? (uint32_t)ptx_type_bits(o->reg->type) : 0;
}

/* mov.b64 and the like between a vector and a register of as many bits. */
static void emit_mov(struct passed *l, const struct ptx_operand *to, const struct ptx_operand *from)
{
    static const struct spelling by_bytes[17] = {
        [4] = {.text = "mov.b32", .opcode = PTX_OP_mov, .type_count = 1, .types = {PTX_B32}},
        [8] = {.text = "mov.b64", .opcode = PTX_OP_mov, .type_count = 1, .types = {PTX_B64}},
        [16] = {.text = "mov.b128", .opcode = PTX_OP_mov, .type_count = 1, .types = {PTX_B128}},
    };
    struct ptx_operand *operands = arena_array(l->p->arena, struct ptx_operand, 2);
    operands[0] = *to;
    operands[1] = *from;
    struct token at = {.line = l->call->line, .column = l->call->column};
    const struct spelling *s = &by_bytes[bits_of(to) / 8];
    if (!l->after) {
        push_instruction(l->p, s, operands, 2, &at);
        return;
    }
    struct ptx_inst in = make_instruction(l->p, s, operands, 2, &at);
    in.guard = l->call->guard;
    in.guard_negated = l->call->guard_negated;
    *(struct ptx_inst *)vector_push(l->after, sizeof in) = in;
}

static struct ptx_operand new_value(struct passed *l, enum ptx_type type, uint32_t count, const struct ptx_operand *at)
{
    struct ptx_operand scalar = {.kind = PTX_OPERAND_REG, .selector = -1, .line = at->line, .column = at->column};
    struct ptx_operand o = scalar;
    o.kind = PTX_OPERAND_VECTOR;
    o.element_count = count;
    o.elements = arena_array(l->p->arena, struct ptx_operand, count);
    for (uint32_t i = 0; i < count; i++) {
        o.elements[i] = scalar;
        o.elements[i].reg = new_reg(l->p, "(passed)", type, 1);
    }
    return count == 1 ? o.elements[0] : o;
}

static void pass_parts(struct passed *l, const struct ptx_operand *o)
{
    if (o->kind != PTX_OPERAND_VECTOR)
        pass(l, *o);
    for (uint32_t i = 0; o->kind == PTX_OPERAND_VECTOR && i < o->element_count; i++)
        pass(l, o->elements[i]);
}

/* From the value of the call to one that has the parameter's shape, for results the other way round. Two vectors meet
 * in a register of all bits. */
static void reshape(struct passed *l, const struct ptx_operand *o, enum ptx_type type, uint32_t parts, uint32_t bits)
{
    struct ptx_operand steps[3] = {*o};
    uint32_t last = 0;
    if (o->kind == PTX_OPERAND_VECTOR && parts > 1)
        steps[++last] = new_value(l, bits == 32 ? PTX_B32 : bits == 64 ? PTX_B64 : PTX_B128, 1, o);
    steps[++last] = new_value(l, type, parts, o);
    for (uint32_t i = 0; i < last && !l->after; i++)
        emit_mov(l, &steps[i + 1], &steps[i]);
    for (uint32_t i = last; i > 0 && l->after; i--)
        emit_mov(l, &steps[i - 1], &steps[i]);
    pass_parts(l, &steps[last]);
}

/* Is there a mov between a vector of so many elements and a register of so many bits? */
static bool packs(uint32_t elements, uint32_t bits)
{
    return elements == 1 || (elements == 2 && bits >= 32 && bits <= 128) ||
           (elements == 4 && (bits == 32 || bits == 64));
}

/* One value for the formal and those that belong with it. formal: NULL where it is not known, or there is none. */
static void match(struct passed *l, const struct ptx_operand *o, const struct ptx_variable *formal)
{
    uint32_t parts = formal && formal->parts ? formal->parts : 1;
    uint32_t given = o->kind == PTX_OPERAND_VECTOR ? o->element_count : 1, bits = bits_of(o);
    bool fits = formal && !formal->is_array && formal->size_bytes * parts * 8 == bits;
    if (o->kind == PTX_OPERAND_SINK && l->after)
        for (uint32_t i = 0; i < parts; i++)
            pass(l, *o);
    else if (given != parts && fits && packs(parts, bits) && packs(given, bits))
        reshape(l, o, formal->type, parts, bits);
    else
        pass_parts(l, o);
}

static void match_list(struct parser *p, const struct ptx_inst *call, struct vector *after, struct ptx_operand *list,
                       struct ptx_variable *const *formals, uint32_t formal_count)
{
    struct passed l = {.p = p, .call = call, .after = after};
    for (uint32_t i = 0; i < list->element_count; i++)
        match(&l, &list->elements[i], l.values.count < formal_count ? formals[l.values.count] : NULL);
    list->elements = vector_keep(p->arena, &l.values, sizeof(struct ptx_operand));
    list->element_count = (uint32_t)l.values.count;
    vector_free(&l.values);
}

static bool needs_matching(const struct ptx_operand *list, struct ptx_variable *const *formals, uint32_t formal_count)
{
    bool needs = false;
    for (uint32_t i = 0; i < list->element_count; i++)
        needs |= list->elements[i].kind == PTX_OPERAND_VECTOR;
    for (uint32_t i = 0; i < formal_count; i++)
        needs |= formals[i]->parts > 0;
    return needs;
}

/* Where in p->operands a call has its lists and its target. */
enum { RESULTS, TARGET, ARGUMENTS };

/* call (returns), target, (arguments), table: all but the target may be missing. */
void parse_call(struct parser *p, const struct ptx_inst *call, struct vector *after)
{
    struct token at = *current(p);
    struct ptx_variable *const *params = NULL, *const *returns = NULL;
    uint32_t param_count = 0, return_count = 0;
    if (at_symbol(p, '(')) {
        parse_list(p);
        expect(p, ',');
    } else {
        push_operand(p, PTX_OPERAND_LIST, &at);
    }
    parse_target(p);
    bool more = accept(p, ',');
    if (more && at_symbol(p, '(')) {
        parse_list(p);
        more = accept(p, ',');
    } else {
        push_operand(p, PTX_OPERAND_LIST, &at);
    }
    const struct binding *table = NULL;
    if (more) {
        table = scope_find(p, current(p));
        push_label(p, FIX_TABLE);
    }
    if (parser_failed(p))
        return;
    struct ptx_operand *operands = p->operands.items;
    if (operands[TARGET].kind == PTX_OPERAND_FUNCTION) {
        const struct ptx_function *f = operands[TARGET].function;
        params = f->params, param_count = f->param_count, returns = f->returns, return_count = f->return_count;
    } else if (table && table->kind == BIND_TABLE) {
        const struct ptx_table *t = table->table;
        params = t->params, param_count = t->param_count, returns = t->returns, return_count = t->return_count;
    }
    if (needs_matching(&operands[ARGUMENTS], params, param_count))
        match_list(p, call, NULL, &operands[ARGUMENTS], params, param_count);
    if (needs_matching(&operands[RESULTS], returns, return_count))
        match_list(p, call, after, &operands[RESULTS], returns, return_count);
}
