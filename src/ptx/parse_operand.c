/* Operands of instructions (PTX ISA 6): registers, constants, addresses, vectors, pairs, names of things. */
#include "ptx/parser.h"

#include <string.h>

struct ptx_operand *push_operand(struct parser *p, enum ptx_operand_kind kind, const struct token *t)
{
    struct ptx_operand *o = vector_push(&p->operands, sizeof *o);
    o->kind = kind;
    o->selector = -1;
    o->line = t->line;
    o->column = t->column;
    return o;
}

static struct ptx_operand *top(struct parser *p)
{
    return (struct ptx_operand *)p->operands.items + p->operands.count - 1;
}

/* An operand that waits for its name to be declared is of kind NONE and holds its fixup in 'elements' until it has
 * found its final place. */
static void push_fixup(struct parser *p, struct fixup *fix, const struct token *t)
{
    push_operand(p, PTX_OPERAND_NONE, t)->elements = (struct ptx_operand *)fix;
}

struct ptx_operand *keep_operands(struct parser *p, size_t from, uint32_t *count)
{
    if (p->operands.count < from) /* only after an error */
        from = p->operands.count;
    size_t n = p->operands.count - from;
    *count = (uint32_t)n;
    p->operands.count = from;
    if (n == 0)
        return NULL;
    struct ptx_operand *kept = arena_array(p->arena, struct ptx_operand, n);
    memcpy(kept, (struct ptx_operand *)p->operands.items + from, n * sizeof *kept);
    for (size_t i = 0; i < n; i++)
        if (kept[i].kind == PTX_OPERAND_NONE && kept[i].elements) {
            ((struct fixup *)kept[i].elements)->operand = &kept[i];
            kept[i].elements = NULL;
        }
    return kept;
}

void push_label(struct parser *p, int fixup_kind)
{
    struct token name = expect_name(p, fixup_kind == FIX_TABLE ? "the label of a table" : "a label");
    struct fixup *fix = new_fixup(p, fixup_kind, &name);
    fix->operand = push_operand(p, PTX_OPERAND_NONE, &name);
    if (!fixup_of_label(p, fix))
        fix->operand->elements = (struct ptx_operand *)fix;
}

static void push_constant(struct parser *p)
{
    struct token at = *current(p);
    struct constant c = parse_constant(p);
    struct ptx_operand *o = push_operand(p, c.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INT, &at);
    if (c.is_float) {
        o->float64 = c.float64;
        o->is_float32 = c.is_float32;
        o->float32_bits = c.float32_bits;
    } else {
        o->integer = c.integer;
    }
}

/* Turns the elements pushed since 'from' into one operand. */
static struct ptx_operand *fold(struct parser *p, size_t from, enum ptx_operand_kind kind, const struct token *t)
{
    uint32_t count;
    struct ptx_operand *elements = keep_operands(p, from, &count);
    struct ptx_operand *o = push_operand(p, kind, t);
    o->elements = elements;
    o->element_count = count;
    return o;
}

/* .x .y .z .w or .r .g .b .a: 0 to 3; -1 otherwise. */
static int component(const struct token *t)
{
    static const char letters[] = "xyzwrgba";
    const char *found = t->length == 2 ? memchr(letters, t->text[1], 8) : NULL;
    return found ? (int)(found - letters) % 4 : -1;
}

/* Parts of a register in the video instructions: .b0 to .b3, .h0 and .h1; several digits in their SIMD forms. */
static bool selector(const struct token *t, int16_t *out)
{
    bool bytes = t->text[1] == 'b';
    uint32_t digits = t->length - 2, limit = bytes ? 8 : 4;
    if (t->length < 3 || (!bytes && t->text[1] != 'h') || digits > (bytes ? 4 : 2))
        return false;
    int packed = 0;
    for (uint32_t i = 0; i < digits; i++) {
        unsigned digit = (unsigned char)t->text[2 + i] - '0';
        if (digit >= limit)
            return false;
        packed = packed << 3 | (int)digit;
    }
    if (digits == 1 && packed < (bytes ? 4 : 2))
        *out = (int16_t)(bytes ? packed : 4 + packed);
    else
        *out = (int16_t)(PTX_SELECTOR_MANY | (int)(digits - 1) << 12 | packed);
    return true;
}

static void push_reg(struct parser *p, struct ptx_reg *r, const struct token *name)
{
    if (r->vector > 1) {
        size_t from = p->operands.count;
        for (int i = 0; i < r->vector; i++)
            push_operand(p, PTX_OPERAND_REG, name)->reg = r + i;
        fold(p, from, PTX_OPERAND_VECTOR, name);
    } else {
        push_operand(p, PTX_OPERAND_REG, name)->reg = r;
    }
}

static void push_reg_part(struct parser *p, struct ptx_reg *r, const struct token *name)
{
    struct token part = take(p);
    int index = component(&part);
    int16_t selected;
    if (r->vector > 1 && index >= 0 && index < r->vector) {
        push_operand(p, PTX_OPERAND_REG, name)->reg = r + index;
    } else if (r->vector <= 1 && selector(&part, &selected)) {
        struct ptx_operand *o = push_operand(p, PTX_OPERAND_REG, name);
        o->reg = r;
        o->selector = selected;
    } else if (r->vector > 1) {
        token_error(p, &part, "'%.*s' has no component '%.*s': it is a vector of %d", shown(name), name->text,
                    shown(&part), part.text, r->vector);
    } else {
        token_error(p, &part, "'%.*s' is not a vector; expected no '%.*s' here", shown(name), name->text, shown(&part),
                    part.text);
    }
}

static void push_special(struct parser *p, const struct token *name)
{
    int special = table_special(p, name->text, name->length);
    if (!table_special_is_vector(p, name->text, name->length)) {
        push_operand(p, PTX_OPERAND_SPECIAL, name)->special = (enum ptx_special)special;
        return;
    }
    if (current(p)->kind == TOKEN_DOT) {
        struct token part = take(p);
        int index = component(&part);
        if (index < 0)
            token_error(p, &part, "'%.*s' has the components .x, .y, .z and .w", shown(name), name->text);
        push_operand(p, PTX_OPERAND_SPECIAL, name)->special = (enum ptx_special)(special + (index < 0 ? 0 : index));
        return;
    }
    size_t from = p->operands.count;
    for (int i = 0; i < 4; i++)
        push_operand(p, PTX_OPERAND_SPECIAL, name)->special = (enum ptx_special)(special + i);
    fold(p, from, PTX_OPERAND_VECTOR, name);
}

static void push_unknown(struct parser *p, const struct token *name)
{
    if (name->text[0] == '%') {
        undefined_name(p, name, "register");
        return;
    }
    struct fixup *fix = new_fixup(p, FIX_SYMBOL, name);
    fixup_in_module(p, fix);
    push_fixup(p, fix, name);
}

/* The byte offset of v[index]. */
static int64_t element_offset(const struct ptx_variable *v, int64_t index)
{
    uint64_t element_bytes =
        v->count && !v->unsized ? v->size_bytes / v->count : ((uint64_t)ptx_type_bits(v->type) + 7) / 8 * v->vector;
    return (int64_t)((uint64_t)index * element_bytes);
}

/* The array operand 'at' becomes a register that an instruction of our own fills with the address of the element index
 * + value. */
static void index_by_register(struct parser *p, size_t at, struct ptx_reg *index, const struct token *where,
                              int64_t value)
{
    struct ptx_operand array = ((struct ptx_operand *)p->operands.items)[at];
    array.offset = element_offset(array.variable, value);
    bool wide = ptx_type_bits(index->type) == 64;
    struct ptx_operand *operands = arena_array(p->arena, struct ptx_operand, 4);
    for (int i = 0; i < 4; i++)
        operands[i] =
            (struct ptx_operand){.kind = PTX_OPERAND_REG, .selector = -1, .line = where->line, .column = where->column};
    operands[0].reg = new_reg(p, "(element)", PTX_B64, 1);
    operands[1].reg = index;
    operands[2].kind = PTX_OPERAND_INT;
    operands[2].integer = element_offset(array.variable, 1);
    operands[3] = array;
    struct spelling s = {.text = wide ? "mad.lo.u64" : "mad.wide.u32",
                         .opcode = PTX_OP_mad,
                         .type_count = 1,
                         .modifier_count = 1,
                         .types = {wide                     ? PTX_U64
                                   : index->type == PTX_S32 ? PTX_S32
                                                            : PTX_U32},
                         .type_position = {1},
                         .modifiers = {wide ? PTX_MOD_LO : PTX_MOD_WIDE}};
    push_instruction(p, &s, operands, 4, where);
    ((struct ptx_operand *)p->operands.items)[at] = operands[0];
}

/* name[3] or name[%r + 1] of an array: its address in mov; in ld, st and atom an address operand without its outer
 * brackets. */
static void push_index(struct parser *p, enum ptx_opcode opcode)
{
    struct token open = take(p), index = *current(p);
    size_t at = p->operands.count - 1;
    struct ptx_reg *reg = index.kind == TOKEN_NAME ? scope_find_reg(p, &index) : NULL;
    if (reg)
        lexer_next(&p->lx);
    int64_t value = reg ? parse_offset(p) : parse_integer(p);
    expect(p, ']');
    if (parser_failed(p))
        return;
    struct ptx_operand *o = (struct ptx_operand *)p->operands.items + at;
    if (o->kind != PTX_OPERAND_SYMBOL) {
        token_error(p, &open, "this array must be declared before it is indexed");
        return;
    }
    if (reg && (reg->vector != 1 || ptx_type_is_float(reg->type) || ptx_type_bits(reg->type) < 32 ||
                ptx_type_bits(reg->type) > 64)) {
        token_error(p, &index, "an index is an integer register of 32 or 64 bits");
        return;
    }
    int64_t offset = reg ? 0 : element_offset(o->variable, value);
    if (reg)
        index_by_register(p, at, reg, &index, value);
    o = (struct ptx_operand *)p->operands.items + at;
    if (ptx_opcodes[opcode].flags & (PTX_F_LOAD | PTX_F_STORE | PTX_F_ATOMIC)) {
        struct token place = {.line = o->line, .column = o->column};
        o = fold(p, at, PTX_OPERAND_ADDRESS, &place);
    }
    o->offset = offset;
}

/* name + 4, name[3] */
static void symbol_offset(struct parser *p, enum ptx_opcode opcode)
{
    if (at_symbol(p, '[')) {
        push_index(p, opcode);
        return;
    }
    size_t at = p->operands.count - 1;
    int64_t offset = parse_offset(p);
    ((struct ptx_operand *)p->operands.items)[at].offset = offset;
}

/* A name: the innermost meaning wins; then special registers, module symbols, and things yet to be declared. */
static void push_name(struct parser *p)
{
    struct token name = take(p);
    struct ptx_reg *r = scope_find_reg(p, &name);
    if (r) {
        if (current(p)->kind == TOKEN_DOT)
            push_reg_part(p, r, &name);
        else
            push_reg(p, r, &name);
        return;
    }
    if (name.length == 1 && name.text[0] == '_') {
        push_operand(p, PTX_OPERAND_SINK, &name);
        return;
    }
    const struct binding *b = scope_find(p, &name);
    const struct ptx_symbol *s = b ? NULL : strmap_get(&p->m->symbols, name.text, name.length);
    if (b && b->kind == BIND_VARIABLE)
        push_operand(p, PTX_OPERAND_SYMBOL, &name)->variable = b->variable;
    else if (b)
        token_error(p, &name, "'%.*s' is a %s, declared on line %d; expected a register, a variable or a constant",
                    shown(&name), name.text, binding_kind(b), b->line);
    else if (s && s->variable)
        push_operand(p, PTX_OPERAND_SYMBOL, &name)->variable = s->variable;
    else if (table_special(p, name.text, name.length) >= 0)
        push_special(p, &name);
    else if (s && s->function)
        push_operand(p, PTX_OPERAND_FUNCTION, &name)->function = s->function;
    else
        push_unknown(p, &name);
}

static bool top_is_symbol(struct parser *p)
{
    return !parser_failed(p) && (top(p)->kind == PTX_OPERAND_SYMBOL || top(p)->kind == PTX_OPERAND_NONE);
}

static void push_pair(struct parser *p, size_t from, enum ptx_opcode opcode)
{
    struct token at = {.line = top(p)->line, .column = top(p)->column};
    lexer_next(&p->lx);
    parse_operand(p, opcode);
    fold(p, from, PTX_OPERAND_PAIR, &at);
}

static void push_vector(struct parser *p, enum ptx_opcode opcode)
{
    struct token open = take(p);
    size_t from = p->operands.count;
    if (++p->nesting > DEEPEST_EXPRESSION) {
        token_error(p, &open, "vectors nested more than %d deep", DEEPEST_EXPRESSION);
        return;
    }
    do
        parse_operand(p, opcode);
    while (accept(p, ','));
    p->nesting--;
    expect(p, '}');
    fold(p, from, PTX_OPERAND_VECTOR, &open);
}

/* [base], [base + 4], [texture, sampler, {x, y}], [tensor map, {...}] */
static void push_address(struct parser *p, enum ptx_opcode opcode)
{
    struct token open = take(p);
    size_t from = p->operands.count;
    int64_t offset = 0;
    if (current(p)->kind == TOKEN_NAME && !starts_constant(p)) {
        struct token name = *current(p);
        push_name(p);
        if (!parser_failed(p) && top(p)->kind != PTX_OPERAND_REG && top(p)->kind != PTX_OPERAND_SPECIAL &&
            !top_is_symbol(p)) {
            token_error(p, &name, "an address starts with a register, a variable or a constant; found '%.*s'",
                        shown(&name), name.text);
            return;
        }
        offset = parse_offset(p);
    } else if (starts_constant(p)) {
        push_constant(p);
        if (!parser_failed(p) && top(p)->kind != PTX_OPERAND_INT)
            token_error(p, &open, "an address is an integer");
    } else {
        unexpected(p, "an address");
    }
    if (++p->nesting > DEEPEST_EXPRESSION)
        token_error(p, &open, "addresses nested more than %d deep", DEEPEST_EXPRESSION);
    while (accept(p, ','))
        parse_operand(p, opcode);
    p->nesting--;
    expect(p, ']');
    if (!parser_failed(p))
        fold(p, from, PTX_OPERAND_ADDRESS, &open)->offset = offset;
}

/* !p and -a. */
static void push_negated(struct parser *p)
{
    struct token sign = take(p);
    push_name(p);
    if (parser_failed(p))
        return;
    if (top(p)->kind != PTX_OPERAND_REG && top(p)->kind != PTX_OPERAND_SPECIAL) {
        token_error(p, &sign, "'%c' stands before a register or a constant", sign.symbol);
        return;
    }
    top(p)->negated = true;
}

static bool at_negated_name(struct parser *p)
{
    if (!at_symbol(p, '!') && !at_symbol(p, '-'))
        return false;
    int c = lexer_peek(&p->lx);
    bool is_name = c == '%' || c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_name && !(p->lx.end - p->lx.at >= 7 && memcmp(p->lx.at, "WARP_SZ", 7) == 0);
}

void parse_operand(struct parser *p, enum ptx_opcode opcode)
{
    size_t from = p->operands.count;
    if (at_symbol(p, '{')) {
        push_vector(p, opcode);
    } else if (at_symbol(p, '[')) {
        push_address(p, opcode);
        return;
    } else if (at_negated_name(p)) {
        push_negated(p);
    } else if (starts_constant(p)) {
        push_constant(p);
        return;
    } else if (current(p)->kind == TOKEN_NAME) {
        push_name(p);
        if (top_is_symbol(p) && (at_symbol(p, '+') || at_symbol(p, '-') || at_symbol(p, '[')))
            symbol_offset(p, opcode);
    } else {
        unexpected(p, "an operand");
        return;
    }
    if (at_symbol(p, '|') && !parser_failed(p)) {
        if (++p->nesting > DEEPEST_EXPRESSION)
            token_error(p, current(p), "pairs nested more than %d deep", DEEPEST_EXPRESSION);
        else
            push_pair(p, from, opcode);
        p->nesting--;
    }
}

struct ptx_reg *parse_predicate_reg(struct parser *p)
{
    struct token name = expect_name(p, "a predicate register");
    if (parser_failed(p))
        return NULL;
    struct ptx_reg *r = scope_find_reg(p, &name);
    if (!r) {
        undefined_name(p, &name, "register");
        return NULL;
    }
    if (r->type != PTX_PRED)
        token_error(p, &name, "'%.*s' is of type .%s; expected a predicate register (.pred)", shown(&name), name.text,
                    ptx_type_name(r->type));
    return r;
}
