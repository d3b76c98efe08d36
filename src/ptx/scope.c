/* Names inside a function: registers, variables, labels, and the { } scopes that hide them (PTX ISA 5.4.8, 11.2).
 *
 * One table maps a name to the stack of its meanings, innermost first. A scope remembers what it bound and takes it
 * back when it closes. A range, %r<100>, is bound under the name before the number, apart from a plain name that is
 * spelled the same: it hides the numbers that it has, and further numbers mean what they mean outside of its scope.
 *
 * What a name means follows what ptxas makes of it: the digits at its end are its number, all of them, modulo 2^32; the
 * innermost scope that has the range or the plain name decides; in one scope the range does. */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

/* The length of a name without the digits at its end; *number: what those say. A name never is its number alone. */
static uint32_t split_number(const char *name, uint32_t length, uint32_t *number)
{
    uint32_t power = 1;
    *number = 0;
    while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') {
        *number += (uint32_t)(name[--length] - '0') * power;
        power *= 10;
    }
    return length;
}

static struct name_slot *slot_of(struct parser *p, const char *name, uint32_t length)
{
    struct name_slot *slot = strmap_get(&p->slots, name, length);
    if (slot)
        return slot;
    slot = arena_new(p->arena, struct name_slot);
    slot->name = name;
    slot->length = length;
    uint32_t base_length = split_number(name, length, &slot->number);
    if (base_length < length)
        slot->base = slot_of(p, name, base_length);
    strmap_put(&p->slots, name, length, slot);
    return slot;
}

static struct binding *range_with(const struct name_slot *base, uint32_t number)
{
    struct binding *b = base->top[ROOM_RANGE];
    while (b && number >= b->range->count)
        b = b->shadowed;
    return b;
}

/* Of the range and the plain name that a name may mean, the one that it does mean. */
static struct binding *nearer(struct binding *range, struct binding *plain)
{
    return range && (!plain || range->depth >= plain->depth) ? range : plain;
}

/* *number: which one of a range. */
static struct binding *find(const struct parser *p, const char *name, uint32_t length, uint32_t *number)
{
    uint32_t base_length = split_number(name, length, number);
    struct binding *range = NULL;
    if (base_length < length) {
        const struct name_slot *base = strmap_get(&p->slots, name, base_length);
        if (!base)
            return NULL;
        range = range_with(base, *number);
        if (!base->numbered)
            return range;
    }
    const struct name_slot *slot = strmap_get(&p->slots, name, length);
    return nearer(range, slot ? slot->top[ROOM_NAME] : NULL);
}

struct binding *scope_find(const struct parser *p, const struct token *name)
{
    uint32_t ignored;
    return find(p, name->text, name->length, &ignored);
}

struct name_slot *scope_slot(struct parser *p, const struct token *name)
{
    return slot_of(p, name->text, name->length);
}

struct binding *scope_find_at(const struct name_slot *slot)
{
    return nearer(slot->base ? range_with(slot->base, slot->number) : NULL, slot->top[ROOM_NAME]);
}

static int shown_of(const struct name_slot *slot)
{
    struct token name = {.length = slot->length};
    return shown(&name);
}

/* A plain name with a number at its end is listed with the name before the number. */
static bool bind_numbered(struct parser *p, struct binding *b, const struct token *name)
{
    struct name_slot *base = b->slot->base;
    const struct binding *range = range_with(base, b->slot->number);
    bool is_label = b->kind == BIND_LABEL || b->kind == BIND_TABLE;
    if (range && range->depth == p->depth && !is_label)
        return token_error(p, name, "duplicate name '%.*s': '%.*s<%u>', declared on line %d, holds it already",
                           shown(name), name->text, shown_of(base), base->name, range->range->count, range->line);
    b->next_numbered = base->numbered;
    base->numbered = b;
    return true;
}

struct binding *scope_bind(struct parser *p, enum name_room room, const struct token *name, int kind)
{
    if (parser_failed(p))
        return NULL;
    struct name_slot *slot = slot_of(p, name->text, name->length);
    struct binding *top = slot->top[room];
    if (top && top->depth == p->depth) {
        token_error(p, name, "duplicate name '%.*s': first declared on line %d", shown(name), name->text, top->line);
        return NULL;
    }
    struct binding *b = arena_new(p->arena, struct binding);
    b->kind = kind;
    b->room = room;
    b->depth = p->depth;
    b->line = name->line;
    b->slot = slot;
    if (room == ROOM_NAME && slot->base && !bind_numbered(p, b, name))
        return NULL;
    b->shadowed = top;
    b->next_in_scope = p->scopes[p->depth].bindings;
    p->scopes[p->depth].bindings = b;
    slot->top[room] = b;
    return b;
}

/* Is this a plain name of a register or a variable, spelled as the range spells its numbers? */
static bool is_of_range(const struct binding *b, uint32_t count)
{
    const struct name_slot *slot = b->slot, *base = slot->base;
    char digits[12];
    int length = snprintf(digits, sizeof digits, "%u", slot->number);
    return (b->kind == BIND_REG || b->kind == BIND_VARIABLE) && slot->number < count &&
           slot->length == base->length + (uint32_t)length &&
           memcmp(slot->name + base->length, digits, (size_t)length) == 0;
}

struct binding *scope_bind_range(struct parser *p, const struct token *name, uint32_t count, enum ptx_type type,
                                 uint8_t vector)
{
    struct binding *b = scope_bind(p, ROOM_RANGE, name, BIND_RANGE);
    if (!b)
        return NULL;
    b->range = arena_new(p->arena, struct reg_range);
    *b->range = (struct reg_range){count, type, vector, arena_array(p->arena, struct ptx_reg *, count)};
    const struct binding *plain = b->slot->numbered;
    for (; plain && plain->depth == p->depth; plain = plain->next_numbered)
        if (is_of_range(plain, count)) {
            token_error(p, name, "duplicate name '%.*s': '%.*s' is declared on line %d", shown(name), name->text,
                        shown_of(plain->slot), plain->slot->name, plain->line);
            return NULL;
        }
    return b;
}

/* A vector register of two or four: that many scalars in a row. */
struct ptx_reg *new_reg(struct parser *p, const char *name, enum ptx_type type, uint8_t vector)
{
    struct ptx_reg *first = arena_array(p->arena, struct ptx_reg, vector);
    for (uint8_t i = 0; i < vector; i++) {
        struct ptx_reg *r = &first[i];
        r->name = i == 0 && vector == 1 ? name : arena_printf(p->arena, "%s.%c", name, i < 4 ? "xyzw"[i] : '0' + i);
        r->type = type;
        r->vector = i == 0 ? vector : 0;
        r->index = (uint32_t)p->regs.count;
        *(struct ptx_reg **)vector_push(&p->regs, sizeof(struct ptx_reg *)) = r;
    }
    return first;
}

static struct ptx_reg *range_reg(struct parser *p, struct reg_range *range, uint32_t number, const struct token *name)
{
    if (!range->regs[number])
        range->regs[number] = new_reg(p, token_text(p, name), range->type, range->vector);
    return range->regs[number];
}

struct ptx_reg *scope_find_reg(struct parser *p, const struct token *name)
{
    uint32_t number;
    const struct binding *b = find(p, name->text, name->length, &number);
    if (b && b->kind == BIND_RANGE)
        return range_reg(p, b->range, number, name);
    return b && b->kind == BIND_REG ? b->reg : NULL;
}

void scope_open(struct parser *p)
{
    if (p->depth >= DEEPEST_SCOPE) {
        token_error(p, current(p), "scopes are nested more than %d deep", DEEPEST_SCOPE);
        return;
    }
    p->scopes[++p->depth] = (struct scope){.first_use = p->label_uses.count};
}

void scope_close(struct parser *p)
{
    struct scope *s = &p->scopes[p->depth];
    resolve_labels(p, s);
    for (struct binding *b = s->bindings; b; b = b->next_in_scope) { /* the last one first */
        b->slot->top[b->room] = b->shadowed;
        if (b->room == ROOM_NAME && b->slot->base)
            b->slot->base->numbered = b->next_numbered;
    }
    if (p->depth > 0)
        p->depth--;
}

const char *binding_kind(const struct binding *b)
{
    switch (b->kind) {
    case BIND_REG:
    case BIND_RANGE: return "register";
    case BIND_VARIABLE: return "variable";
    case BIND_LABEL: return "label";
    case BIND_TABLE: return "table of targets";
    }
    return "name";
}

struct names {
    const char *items[NEAREST_NAMES];
    size_t count;
};

static void add_name(struct names *n, const char *name)
{
    if (n->count < NEAREST_NAMES)
        n->items[n->count++] = name;
}

static bool is_register_here(const struct parser *p, const char *name)
{
    uint32_t ignored;
    const struct binding *b = find(p, name, (uint32_t)strlen(name), &ignored);
    return b && (b->kind == BIND_REG || b->kind == BIND_RANGE);
}

/* All names that could stand where an unknown one was found: registers in use, variables, functions, special
 * registers. */
bool undefined_name(struct parser *p, const struct token *name, const char *what)
{
    struct names n = {.count = 0};
    for (int depth = p->depth; depth > 0; depth--)
        for (struct binding *b = p->scopes[depth].bindings; b; b = b->next_in_scope)
            if (b->kind == BIND_REG || b->kind == BIND_VARIABLE)
                add_name(&n, arena_strndup(p->arena, b->slot->name, b->slot->length));
    for (size_t i = 0; i < PTX_SPECIAL_COUNT; i++)
        add_name(&n, ptx_special_name(i));
    struct ptx_variable **variables = p->variables.items;
    for (size_t i = 0; i < p->variables.count; i++)
        add_name(&n, variables[i]->name);
    struct ptx_function **functions = p->functions.items;
    for (size_t i = 0; i < p->functions.count; i++)
        add_name(&n, functions[i]->name);
    struct ptx_reg **regs = p->regs.items;
    for (size_t i = 0; i < p->regs.count; i++)
        if (is_register_here(p, regs[i]->name)) /* not in a scope that has ended */
            add_name(&n, regs[i]->name);
    return token_error(p, name, "undefined %s '%.*s'%s", what, shown(name), name->text,
                       suggest(p, name, n.items, n.count));
}
