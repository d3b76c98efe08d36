/* Initialisers of variables (PTX ISA 5.4.4 and 5.4.5): numbers, nested braces, addresses of symbols, one byte of an
 * address. Properties of texture, sampler and surface references are checked for form only: what a reference samples is
 * set by the host. */
#include "ptx/parser.h"

#include "base/checked.h"

#include <string.h>

static const uint64_t most_initialised_bytes = UINT64_C(256) << 20;

/* Bytes and relocations as they are read; copied to the arena when the size is known. */
struct filling {
    struct parser *p;
    struct ptx_variable *v;
    struct shape *shape;
    uint64_t end;        /* elements the variable has; open arrays: no limit but the text's length */
    uint32_t size;       /* of an element */
    struct vector bytes; /* up to the last element given */
    struct vector relocations;
};

static unsigned char *bytes_at(struct filling *f, uint64_t element)
{
    if (element >= most_initialised_bytes / f->size) {
        token_error(f->p, current(f->p), "more than %llu bytes of initialised data",
                    (unsigned long long)most_initialised_bytes);
        return NULL;
    }
    vector_grow(&f->bytes, (element + 1) * f->size);
    return (unsigned char *)f->bytes.items + element * f->size;
}

/* A floating-point constant for an untyped word keeps its bits; other mixtures of integers and floating point are
 * mistakes. */
static bool fits_type(enum ptx_type type, struct constant c)
{
    switch (type) {
    case PTX_F32:
    case PTX_F64: return c.is_float;
    case PTX_B32:
    case PTX_B64: return true;
    default: return !c.is_float && !ptx_type_is_float(type) && ptx_type_bits(type) <= 128;
    }
}

static void put_constant(struct filling *f, uint64_t element, struct constant c, const struct token *at)
{
    unsigned char *out = bytes_at(f, element);
    if (!out)
        return;
    float narrow = (float)c.float64;
    if (!fits_type(f->v->type, c)) {
        token_error(f->p, at, "%s cannot initialise .%s", c.is_float ? "a floating-point value" : "an integer",
                    ptx_type_name(f->v->type));
    } else if (!c.is_float) {
        uint64_t integer[2] = {(uint64_t)c.integer, c.integer < 0 && !c.is_unsigned ? UINT64_MAX : 0};
        memcpy(out, integer, f->size);
    } else if (f->size == 8) {
        memcpy(out, &c.float64, 8);
    } else {
        memcpy(out, c.is_float32 ? (const void *)&c.float32_bits : (const void *)&narrow, 4);
    }
}

/* symbol, symbol + 4, generic(symbol) + 4 */
static void parse_address(struct filling *f, struct ptx_relocation *r)
{
    struct parser *p = f->p;
    struct token name = expect_name(p, "the name of a variable or function");
    r->generic = token_is(&name, "generic") && accept(p, '(');
    if (r->generic) {
        name = expect_name(p, "the name of a variable");
        r->addend = parse_offset(p);
        expect(p, ')');
    }
    if (parser_failed(p))
        return;
    r->symbol = token_text(p, &name);
    r->addend = (int64_t)((uint64_t)r->addend + (uint64_t)parse_offset(p));
    fixup_in_module(p, new_fixup(p, FIX_INITIALISER, &name));
}

static void put_address(struct filling *f, uint64_t element, uint64_t mask)
{
    struct ptx_relocation r = {.offset = (uint32_t)(element * f->size), .size_bytes = f->size, .mask = mask};
    r.shift = mask == UINT64_MAX || mask == 0 ? 0 : (uint8_t)__builtin_ctzll(mask);
    struct token at = *current(f->p);
    parse_address(f, &r);
    if (f->size > 8)
        token_error(f->p, &at, "an address cannot initialise .%s", ptx_type_name(f->v->type));
    if (bytes_at(f, element))
        *(struct ptx_relocation *)vector_push(&f->relocations, sizeof r) = r;
}

static void parse_value(struct filling *f, uint64_t element)
{
    struct parser *p = f->p;
    if (element >= f->end) {
        token_error(p, current(p), "too many initialisers for '%.60s'", f->v->name);
        return;
    }
    if (current(p)->kind == TOKEN_INTEGER && lexer_peek(&p->lx) == '(') { /* 0xFF00(symbol): a byte of an address */
        uint64_t mask = take(p).integer;
        expect(p, '(');
        put_address(f, element, mask);
        expect(p, ')');
    } else if (starts_constant(p)) {
        struct token at = *current(p);
        put_constant(f, element, parse_constant(p), &at);
    } else if (current(p)->kind == TOKEN_NAME) {
        put_address(f, element, UINT64_MAX);
    } else {
        unexpected(p, "a value");
    }
}

/* Elements in one entry of dimension 'level'. */
static uint64_t stride(const struct shape *s, int level)
{
    uint64_t n = 1;
    for (int i = level + 1; i < s->dim_count; i++)
        n *= s->dims[i];
    return n;
}

static void parse_braces(struct filling *f, int level, uint64_t first, uint64_t end)
{
    struct parser *p = f->p;
    struct token open = take(p);
    if (level >= f->shape->dim_count) {
        token_error(p, &open, "more braces than '%.60s' has dimensions", f->v->name);
        return;
    }
    uint64_t step = stride(f->shape, level), at = first;
    while (!at_symbol(p, '}') && !parser_failed(p)) {
        if (at_symbol(p, '{')) {
            at = first + (at - first + step - 1) / (step ? step : 1) * step;
            if (at >= end && at >= f->end)
                token_error(p, current(p), "too many initialisers for '%.60s'", f->v->name);
            parse_braces(f, level + 1, at, at + step);
            at += step;
        } else {
            if (at >= end)
                token_error(p, current(p), "too many initialisers for '%.60s'", f->v->name);
            parse_value(f, at++);
        }
        if (!accept(p, ','))
            break;
    }
    expect(p, '}');
    uint64_t used = (at + step - 1) / (step ? step : 1);
    if (level == 0 && f->shape->first_open)
        f->shape->dims[0] = used;
}

/* { channel_data_type = 3, filter_mode = nearest }: the form of a reference's properties. */
static void skip_properties(struct parser *p)
{
    expect(p, '{');
    while (!at_symbol(p, '}') && !parser_failed(p)) {
        expect_name(p, "a property");
        expect(p, '=');
        if (current(p)->kind == TOKEN_NAME && !starts_constant(p))
            lexer_next(&p->lx);
        else
            parse_integer(p);
        if (!accept(p, ','))
            break;
    }
    expect(p, '}');
}

static bool is_reference(enum ptx_type type)
{
    return type == PTX_TEXREF || type == PTX_SAMPLERREF || type == PTX_SURFREF;
}

static void parse_reference(struct parser *p, struct ptx_variable *v)
{
    if (!v->is_array) {
        skip_properties(p);
        return;
    }
    expect(p, '{');
    do
        skip_properties(p);
    while (accept(p, ','));
    expect(p, '}');
}

static void keep_filling(struct filling *f)
{
    struct parser *p = f->p;
    uint64_t size = f->size;
    for (int i = 0; i < f->shape->dim_count; i++)
        size = capped_multiply(size, f->shape->dims[i]);
    if (size > most_initialised_bytes || (p->initialised_bytes += size) > most_initialised_bytes) {
        token_error(p, current(p), "more than %llu bytes of initialised data",
                    (unsigned long long)most_initialised_bytes);
        return;
    }
    f->v->init = arena_alloc(p->arena, size);
    if (f->bytes.count)
        memcpy(f->v->init, f->bytes.items, f->bytes.count < size ? f->bytes.count : size);
    f->v->relocations = vector_keep(p->arena, &f->relocations, sizeof(struct ptx_relocation));
    f->v->relocation_count = (uint32_t)f->relocations.count;
}

void parse_initialiser(struct parser *p, struct ptx_variable *v, struct shape *shape)
{
    if (is_reference(v->type)) {
        parse_reference(p, v);
        return;
    }
    int bits = ptx_type_bits(v->type);
    struct filling f = {.p = p, .v = v, .shape = shape, .end = 1, .size = bits > 8 ? (uint32_t)bits / 8 : 1};
    int array_dims = shape->dim_count;
    if (v->vector > 1)
        shape->dims[shape->dim_count++] = v->vector;
    for (int i = 0; i < shape->dim_count; i++)
        f.end = i == 0 && shape->first_open ? UINT64_MAX : capped_multiply(f.end, shape->dims[i]);
    if (at_symbol(p, '{'))
        parse_braces(&f, shape->dim_count ? 0 : -1, 0, f.end);
    else
        parse_value(&f, 0);
    if (!parser_failed(p))
        keep_filling(&f);
    shape->dim_count = array_dims;
    vector_free(&f.bytes);
    vector_free(&f.relocations);
}
