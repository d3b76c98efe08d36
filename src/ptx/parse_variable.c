/* Declarations of registers, variables and parameters (PTX ISA 5.1 to 5.4, 7.1): spaces, alignment, vectors, arrays. */
#include "ptx/parser.h"

#include "base/checked.h"

#include <string.h>

enum { MOST_DECLARED_REGS = 1 << 26, MOST_DIMENSIONS = 16, LARGEST_ALIGNMENT = 1 << 20 };

/* What stands before the name. */
struct declaration {
    enum ptx_space space;
    enum ptx_linkage linkage;
    enum ptx_type type;
    uint8_t vector;
    uint32_t align_bytes;
    bool managed;
};

enum ptx_space space_of(const struct token *t)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {
        {".reg", PTX_SPACE_REG},     {".const", PTX_SPACE_CONST}, {".global", PTX_SPACE_GLOBAL},
        {".local", PTX_SPACE_LOCAL}, {".param", PTX_SPACE_PARAM}, {".shared", PTX_SPACE_SHARED},
        {".tex", PTX_SPACE_TEX},
    };
    for (size_t i = 0; t->kind == TOKEN_DOT && i < sizeof spaces / sizeof *spaces; i++)
        if (token_is(t, spaces[i].word))
            return spaces[i].space;
    return PTX_SPACE_NONE;
}

/* .attribute(.managed), .attribute(.unified(1, 2)) */
void parse_attribute(struct parser *p, bool *managed)
{
    int open = 0;
    lexer_next(&p->lx);
    if (!at_symbol(p, '('))
        unexpected(p, "'('");
    do {
        struct token t = *current(p);
        if (t.kind == TOKEN_END) {
            unexpected(p, "')'");
            return;
        }
        open += token_is_symbol(&t, '(') - token_is_symbol(&t, ')');
        if (t.kind == TOKEN_DOT && token_is(&t, ".managed"))
            *managed = true;
        else if (t.kind == TOKEN_DOT && !token_is(&t, ".unified"))
            token_error(p, &t, "unknown attribute '%.*s'; expected .managed or .unified", shown(&t), t.text);
        lexer_next(&p->lx);
    } while (open > 0);
}

static uint32_t parse_align(struct parser *p)
{
    struct token at = *current(p);
    uint32_t align = expect_count(p, "an alignment");
    if (!parser_failed(p) && (align == 0 || align & (align - 1) || align > LARGEST_ALIGNMENT))
        token_error(p, &at, "an alignment is a power of two, at most %d", LARGEST_ALIGNMENT);
    return align ? align : 1;
}

/* .ptr .global .align 16: says what a parameter points at; nothing that execution needs. */
static void parse_pointer(struct parser *p)
{
    lexer_next(&p->lx);
    if (space_of(current(p)) != PTX_SPACE_NONE || at_dot(p, ".surfref") || at_dot(p, ".texref") ||
        at_dot(p, ".samplerref"))
        lexer_next(&p->lx);
    if (accept_dot(p, ".align"))
        parse_align(p);
}

static uint8_t vector_length(const struct token *t)
{
    return token_is(t, ".v2") ? 2 : token_is(t, ".v4") ? 4 : token_is(t, ".v8") ? 8 : 0;
}

static void parse_type_word(struct parser *p, struct declaration *d)
{
    struct token word = take(p);
    uint8_t vector = vector_length(&word);
    enum ptx_type type = table_type(p, word.text + 1, word.length - 1);
    if (vector) {
        d->vector = vector;
    } else if (type == PTX_NO_TYPE) {
        struct token bare = word;
        bare.text++;
        bare.length--;
        token_error(p, &word, "expected a type, found '%.*s'%s", shown(&word), word.text, suggest_suffix(p, &bare));
    } else if (d->type != PTX_NO_TYPE) {
        token_error(p, &word, "a second type; the first is .%s", ptx_type_name(d->type));
    } else {
        d->type = type;
    }
}

/* From the space up to the first name. */
static struct declaration parse_declaration(struct parser *p, enum ptx_linkage linkage)
{
    struct declaration d = {.space = space_of(current(p)), .linkage = linkage, .vector = 1};
    if (d.space == PTX_SPACE_NONE) {
        unexpected(p, "a state space (.reg, .global, .shared, ...)");
        return d;
    }
    lexer_next(&p->lx);
    if (d.space == PTX_SPACE_CONST && accept(p, '[')) {
        expect_count(p, "the number of a constant bank");
        expect(p, ']');
    }
    while (current(p)->kind == TOKEN_DOT) {
        if (accept_dot(p, ".align"))
            d.align_bytes = parse_align(p);
        else if (at_dot(p, ".attribute"))
            parse_attribute(p, &d.managed);
        else if (at_dot(p, ".ptr"))
            parse_pointer(p);
        else
            parse_type_word(p, &d);
    }
    if (d.type == PTX_NO_TYPE)
        unexpected(p, "a type");
    if (d.space == PTX_SPACE_TEX) /* ".tex .u32 name" of old PTX is a texture reference */
        d.type = PTX_TEXREF;
    return d;
}

static uint32_t element_bytes(enum ptx_type type)
{
    if (type == PTX_TEXREF || type == PTX_SAMPLERREF || type == PTX_SURFREF)
        return 8;
    uint32_t bytes = ((uint32_t)ptx_type_bits(type) + 7) / 8;
    return bytes ? bytes : 1;
}

/* %r<100>: 100 registers. Only those that the code names come into being. */
static void declare_range(struct parser *p, const struct declaration *d, const struct token *name)
{
    lexer_next(&p->lx);
    struct token at = *current(p);
    uint32_t count = current(p)->kind == TOKEN_INTEGER && current(p)->integer <= UINT32_MAX
                         ? (uint32_t)current(p)->integer
                         : UINT32_MAX;
    if (current(p)->kind != TOKEN_INTEGER)
        unexpected(p, "a number of registers");
    lexer_next(&p->lx);
    expect(p, '>');
    p->declared_regs += count;
    if (p->declared_regs > MOST_DECLARED_REGS)
        token_error(p, &at, "more than %d registers declared", MOST_DECLARED_REGS);
    scope_bind_range(p, name, count, d->type, d->vector);
}

static struct ptx_reg *declare_reg(struct parser *p, const struct declaration *d, const struct token *name)
{
    struct binding *b = scope_bind(p, ROOM_NAME, name, BIND_REG);
    if (!b)
        return NULL;
    b->reg = new_reg(p, token_text(p, name), d->type, d->vector);
    return b->reg;
}

static void parse_reg_names(struct parser *p, const struct declaration *d)
{
    do {
        struct token name = expect_name(p, "the name of a register");
        if (parser_failed(p))
            return;
        if (token_is(&name, "_"))
            token_error(p, &name, "'_' cannot name a register");
        if (d->type == PTX_TEXREF || d->type == PTX_SAMPLERREF || d->type == PTX_SURFREF)
            token_error(p, &name, "a register cannot be of type .%s", ptx_type_name(d->type));
        if (at_symbol(p, '<'))
            declare_range(p, d, &name);
        else
            declare_reg(p, d, &name);
    } while (accept(p, ','));
}

static void parse_dimensions(struct parser *p, struct ptx_variable *v, struct shape *shape)
{
    while (at_symbol(p, '[')) {
        struct token at = take(p);
        v->is_array = true;
        uint64_t size = 0;
        if (!at_symbol(p, ']')) {
            int64_t value = parse_integer(p);
            if (value < 0)
                token_error(p, &at, "an array cannot have a negative size");
            size = (uint64_t)value;
        } else if (shape->dim_count == 0) {
            shape->first_open = true;
        } else {
            token_error(p, &at, "only the first dimension may be left open");
        }
        expect(p, ']');
        if (shape->dim_count == MOST_DIMENSIONS)
            token_error(p, &at, "more than %d dimensions", MOST_DIMENSIONS);
        if (parser_failed(p))
            return;
        shape->dims[shape->dim_count++] = size;
    }
}

static void set_size(struct parser *p, struct ptx_variable *v, const struct shape *shape, const struct token *name)
{
    uint64_t count = 1, vector_bytes = (uint64_t)element_bytes(v->type) * v->vector;
    for (int i = 0; i < shape->dim_count; i++)
        if (!checked_multiply(count, shape->dims[i], &count) || count > (UINT64_C(1) << 46)) {
            token_error(p, name, "'%.*s' is too large", shown(name), name->text);
            count = 0;
        }
    v->count = count;
    v->size_bytes = count * vector_bytes;
    if (!v->align_bytes)
        v->align_bytes = (uint32_t)vector_bytes;
}

static struct ptx_variable *new_variable(struct parser *p, const struct declaration *d, const struct token *name)
{
    struct ptx_variable *v = arena_new(p->arena, struct ptx_variable);
    *v = (struct ptx_variable){.name = token_text(p, name),
                               .space = d->space,
                               .linkage = d->linkage,
                               .type = d->type,
                               .vector = d->vector,
                               .align_bytes = d->align_bytes,
                               .managed = d->managed,
                               .function = p->f ? p->f->index : UINT32_MAX,
                               .line = name->line,
                               .column = name->column};
    return v;
}

static void add_local(struct parser *p, struct ptx_variable *v, const struct token *name)
{
    struct binding *b = scope_bind(p, ROOM_NAME, name, BIND_VARIABLE);
    if (!b)
        return;
    b->variable = v;
    *(struct ptx_variable **)vector_push(&p->locals, sizeof v) = v;
}

/* A definition completes an earlier .extern declaration, and a later .extern changes nothing. */
static void add_global(struct parser *p, struct ptx_variable *v, const struct token *name)
{
    struct ptx_symbol *known = strmap_get(&p->m->symbols, name->text, name->length);
    if (!known) {
        add_symbol(p, v->name, NULL, v);
        *(struct ptx_variable **)vector_push(&p->variables, sizeof v) = v;
    } else if (known->variable && known->variable->linkage == PTX_LINK_EXTERN) {
        *known->variable = *v;
    } else if (!known->variable || v->linkage != PTX_LINK_EXTERN) {
        token_error(p, name, "duplicate symbol '%.*s': first declared on line %d", shown(name), name->text,
                    known->variable ? known->variable->line : known->function->line);
    }
}

static void check_variable(struct parser *p, const struct declaration *d, const struct token *name)
{
    if (d->type == PTX_PRED)
        token_error(p, name, "'%.*s': a predicate lives in a register (.reg)", shown(name), name->text);
    else if (d->space == PTX_SPACE_PARAM && !p->f)
        token_error(p, name, "'%.*s': parameters cannot be declared outside a function", shown(name), name->text);
    else if (at_symbol(p, '=') &&
             (d->space == PTX_SPACE_SHARED || d->space == PTX_SPACE_LOCAL || d->space == PTX_SPACE_PARAM))
        unexpected(p, "';': variables of this space have no initial value");
}

static void parse_variable(struct parser *p, const struct declaration *d)
{
    struct token name = expect_name(p, "the name of a variable");
    if (parser_failed(p))
        return;
    struct ptx_variable *v = new_variable(p, d, &name);
    struct shape shape = {.dim_count = 0};
    parse_dimensions(p, v, &shape);
    check_variable(p, d, &name);
    if (accept(p, '='))
        parse_initialiser(p, v, &shape);
    else if ((v->unsized = shape.first_open) && d->linkage != PTX_LINK_EXTERN)
        token_error(p, &name, "'%.*s' has no size; only an .extern array may be left open", shown(&name), name.text);
    set_size(p, v, &shape, &name);
    if (parser_failed(p))
        return;
    if (p->f)
        add_local(p, v, &name);
    else
        add_global(p, v, &name);
}

void parse_variables(struct parser *p, enum ptx_linkage linkage)
{
    struct token at = *current(p);
    struct declaration d = parse_declaration(p, linkage);
    if (parser_failed(p))
        return;
    if (d.space == PTX_SPACE_REG && !p->f)
        parse_error(p, ERROR_UNSUPPORTED, at.line, at.column, "registers of module scope are not supported");
    else if (d.space == PTX_SPACE_REG)
        parse_reg_names(p, &d);
    else
        do
            parse_variable(p, &d);
        while (accept(p, ','));
    expect(p, ';');
}

/* A vector register as a parameter is as many scalar ones: a call passes them one after the other. */
static void push_vector_parameter(struct parser *p, struct vector *list, const struct ptx_variable *whole)
{
    for (uint8_t i = 0; i < whole->vector; i++) {
        struct ptx_variable *v = arena_new(p->arena, struct ptx_variable);
        *v = *whole;
        v->vector = 1;
        v->parts = i ? 0 : whole->vector;
        v->size_bytes = v->align_bytes = element_bytes(whole->type);
        v->reg = whole->reg ? whole->reg + i : NULL;
        *(struct ptx_variable **)vector_push(list, sizeof v) = v;
    }
}

/* One parameter: in .param space, or a register. '_' stands for a parameter without a name. */
static void parse_parameter(struct parser *p, struct vector *list, bool bind)
{
    if (space_of(current(p)) != PTX_SPACE_PARAM && space_of(current(p)) != PTX_SPACE_REG) {
        unexpected(p, "a parameter (.param or .reg)");
        return;
    }
    struct declaration d = parse_declaration(p, PTX_LINK_INTERNAL);
    struct token name = expect_name(p, "the name of a parameter");
    if (parser_failed(p))
        return;
    struct ptx_variable *v = new_variable(p, &d, &name);
    struct shape shape = {.dim_count = 0};
    parse_dimensions(p, v, &shape);
    v->unsized = shape.first_open;
    set_size(p, v, &shape, &name);
    if (bind && !token_is(&name, "_") && d.space == PTX_SPACE_REG) {
        v->reg = declare_reg(p, &d, &name);
    } else if (bind && !token_is(&name, "_")) {
        struct binding *b = scope_bind(p, ROOM_NAME, &name, BIND_VARIABLE);
        if (b)
            b->variable = v;
    }
    if (d.space == PTX_SPACE_REG && d.vector > 1)
        push_vector_parameter(p, list, v);
    else
        *(struct ptx_variable **)vector_push(list, sizeof v) = v;
}

uint32_t parse_parameters(struct parser *p, struct ptx_variable ***out, bool bind)
{
    struct vector list = {0};
    expect(p, '(');
    if (!at_symbol(p, ')'))
        do
            parse_parameter(p, &list, bind);
        while (accept(p, ','));
    expect(p, ')');
    uint32_t count = parser_failed(p) ? 0 : (uint32_t)list.count;
    *out = count ? vector_keep(p->arena, &list, sizeof(struct ptx_variable *)) : NULL;
    vector_free(&list);
    return count;
}
