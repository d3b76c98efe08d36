/* Names inside a function: registers, variables, labels, and the { } scopes that hide them (PTX ISA 5.4.8, 11.2).
 *
 * One table maps a name to the stack of its meanings, innermost first. A scope remembers what it bound and takes it
 * back when it closes. A label may be used before it is declared: such uses wait at the label's name, numbered in
 * order. When a scope closes, each of its labels takes the waiting uses that came after the scope's opening; what then
 * still waits belongs further
 * outside. */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

static struct name_slot *slot_of(struct parser *p, const char *name, size_t length)
{
    struct name_slot *slot = strmap_get(&p->slots, name, length);
    if (!slot) {
        slot = arena_new(p->arena, struct name_slot);
        slot->name = name;
        slot->length = (uint32_t)length;
        strmap_put(&p->slots, name, length, slot);
    }
    return slot;
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
    b->shadowed = top;
    b->next_in_scope = p->scopes[p->depth].bindings;
    p->scopes[p->depth].bindings = b;
    slot->top[room] = b;
    return b;
}

struct binding *scope_find(struct parser *p, enum name_room room, const char *name, size_t length)
{
    struct name_slot *slot = strmap_get(&p->slots, name, length);
    return slot ? slot->top[room] : NULL;
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

/* %r12 as number 12 of %r<N>, or 2 of %r1<N>; only ranges of scopes deeper than the given one count. */
struct ptx_reg *scope_find_in_ranges(struct parser *p, const struct token *name, int deeper_than)
{
    uint32_t split = name->length, longest = name->length > 10 ? name->length - 10 : 0;
    uint64_t number = 0, power = 1;
    while (split > 1 && split > longest && name->text[split - 1] >= '0' && name->text[split - 1] <= '9') {
        split--;
        number += (uint64_t)(name->text[split] - '0') * power;
        power *= 10;
        bool last_digit = name->text[split - 1] < '0' || name->text[split - 1] > '9';
        if (!last_digit && !p->digit_bases)
            continue;
        struct binding *b = scope_find(p, ROOM_RANGE, name->text, split);
        if (b && b->depth > deeper_than && number < b->range->count)
            return range_reg(p, b->range, (uint32_t)number, name);
    }
    return NULL;
}

struct ptx_reg *scope_find_reg(struct parser *p, const struct token *name)
{
    struct binding *b = scope_find(p, ROOM_NAME, name->text, name->length);
    struct ptx_reg *r = scope_find_in_ranges(p, name, b ? b->depth : -1);
    if (r)
        return r;
    return b && b->kind == BIND_REG ? b->reg : NULL;
}

struct ptx_variable *scope_find_variable(struct parser *p, const struct token *name)
{
    struct binding *b = scope_find(p, ROOM_NAME, name->text, name->length);
    if (b && b->kind == BIND_VARIABLE)
        return b->variable;
    struct ptx_symbol *s = strmap_get(&p->m->symbols, name->text, name->length);
    return s ? s->variable : NULL;
}

struct fixup *new_fixup(struct parser *p, int kind, const struct token *name)
{
    struct fixup *fix = arena_new(p->arena, struct fixup);
    fix->kind = kind;
    fix->name = name->text;
    fix->length = name->length;
    fix->line = name->line;
    fix->column = name->column;
    return fix;
}

void fixup_of_label(struct parser *p, struct fixup *fix)
{
    if (parser_failed(p))
        return;
    struct name_slot *slot = slot_of(p, fix->name, fix->length);
    fix->serial = p->fixup_count++;
    fix->next_in_slot = slot->waiting;
    slot->waiting = fix;
    fix->next = p->label_fixups;
    p->label_fixups = fix;
}

void fixup_in_module(struct parser *p, struct fixup *fix)
{
    fix->next = p->module_fixups;
    p->module_fixups = fix;
}

static struct token fixup_token(const struct fixup *fix)
{
    return (struct token){
        .kind = TOKEN_NAME, .text = fix->name, .length = fix->length, .line = fix->line, .column = fix->column};
}

static void apply_label(struct parser *p, struct fixup *fix, struct binding *b)
{
    struct token at = fixup_token(fix);
    if (fix->kind == FIX_TABLE) {
        if (b->kind != BIND_TABLE) {
            token_error(p, &at,
                        "'%.*s' is a plain label; expected one of .branchtargets, .calltargets or .callprototype",
                        shown(&at), at.text);
            return;
        }
        fix->operand->kind = PTX_OPERAND_TABLE;
        fix->operand->table = b->table;
        return;
    }
    if (b->kind != BIND_LABEL) {
        token_error(p, &at, "'%.*s' names a table of targets; expected the label of an instruction", shown(&at),
                    at.text);
        return;
    }
    if (b->target > p->last_target)
        p->last_target = b->target;
    if (fix->kind == FIX_BRANCH_ENTRY) {
        fix->table->targets[fix->entry] = b->target;
    } else {
        fix->operand->kind = PTX_OPERAND_LABEL;
        fix->operand->target = b->target;
    }
}

static void undefined_label(struct parser *p, const struct fixup *fix)
{
    struct token at = fixup_token(fix);
    const char *names[NEAREST_NAMES];
    const struct ptx_label *labels = p->labels.items;
    size_t count = p->labels.count < NEAREST_NAMES ? p->labels.count : NEAREST_NAMES;
    for (size_t i = 0; i < count; i++)
        names[i] = labels[i].name;
    token_error(p, &at, "undefined label '%.*s'%s", shown(&at), at.text, suggest(p, &at, names, count));
}

/* Debug builds put several labels at an instruction. The one that code jumps to goes first: it is the one shown. */
static void show_label(struct parser *p, const struct binding *b)
{
    unsigned char *used = p->label_used.items;
    struct ptx_label *labels = p->labels.items;
    if (b->kind != BIND_LABEL || used[b->group])
        return;
    struct ptx_label first = labels[b->group];
    labels[b->group] = labels[b->label];
    labels[b->label] = first;
    used[b->group] = 1;
}

static void resolve_label(struct parser *p, struct binding *b, const struct scope *s)
{
    struct name_slot *slot = b->slot;
    for (; slot->waiting && slot->waiting->serial >= s->first_fixup; slot->waiting = slot->waiting->next_in_slot) {
        slot->waiting->resolved = true;
        apply_label(p, slot->waiting, b);
        show_label(p, b);
    }
}

/* At the end of a function: whatever still waits has no label. */
static void check_labels(struct parser *p)
{
    struct fixup *earliest = NULL;
    for (struct fixup *fix = p->label_fixups; fix; fix = fix->next)
        if (!fix->resolved)
            earliest = fix;
    if (earliest && !parser_failed(p))
        undefined_label(p, earliest);
    p->label_fixups = NULL;
}

void scope_open(struct parser *p)
{
    if (p->depth >= DEEPEST_SCOPE) {
        token_error(p, current(p), "scopes are nested more than %d deep", DEEPEST_SCOPE);
        return;
    }
    p->scopes[++p->depth] = (struct scope){.first_fixup = p->fixup_count};
}

void scope_close(struct parser *p)
{
    struct scope *s = &p->scopes[p->depth];
    for (struct binding *b = s->bindings; b; b = b->next_in_scope) {
        if (b->room == ROOM_LABEL && !parser_failed(p))
            resolve_label(p, b, s);
        b->slot->top[b->room] = b->shadowed;
    }
    if (p->depth == 1)
        check_labels(p);
    if (p->depth > 0)
        p->depth--;
}

static size_t add_name(const char **names, size_t count, const char *name)
{
    if (count < NEAREST_NAMES)
        names[count++] = name;
    return count;
}

/* All names that could stand where an unknown one was found: registers in use, variables, functions, special
 * registers. */
bool undefined_name(struct parser *p, const struct token *name, const char *what)
{
    const char *names[NEAREST_NAMES];
    size_t count = 0;
    for (int depth = p->depth; depth > 0; depth--)
        for (struct binding *b = p->scopes[depth].bindings; b; b = b->next_in_scope)
            if (b->room == ROOM_NAME)
                count = add_name(names, count, b->kind == BIND_REG ? b->reg->name : b->variable->name);
    for (size_t i = 0; i < PTX_SPECIAL_COUNT; i++)
        count = add_name(names, count, ptx_special_name(i));
    struct ptx_variable **variables = p->variables.items;
    for (size_t i = 0; i < p->variables.count; i++)
        count = add_name(names, count, variables[i]->name);
    struct ptx_function **functions = p->functions.items;
    for (size_t i = 0; i < p->functions.count; i++)
        count = add_name(names, count, functions[i]->name);
    struct ptx_reg **regs = p->regs.items;
    for (size_t i = 0; i < p->regs.count; i++)
        count = add_name(names, count, regs[i]->name);
    return token_error(p, name, "undefined %s '%.*s'%s", what, shown(name), name->text, suggest(p, name, names, count));
}

static void apply_symbol(struct parser *p, struct fixup *fix, struct ptx_symbol *s)
{
    struct token at = fixup_token(fix);
    struct ptx_operand *o = fix->operand;
    if (fix->kind == FIX_CALL_ENTRY) {
        if (!s->function)
            token_error(p, &at, "'%.*s' is a variable; expected a function", shown(&at), at.text);
        else
            fix->table->functions[fix->entry] = s->function;
    } else if (fix->kind == FIX_SYMBOL || fix->kind == FIX_FUNCTION) {
        if (!s->function && fix->kind == FIX_FUNCTION) {
            token_error(p, &at, "'%.*s' is a variable; expected a function", shown(&at), at.text);
        } else if (s->function) {
            o->kind = PTX_OPERAND_FUNCTION;
            o->function = s->function;
        } else {
            o->kind = PTX_OPERAND_SYMBOL;
            o->variable = s->variable;
        }
    }
}

void resolve_module_fixups(struct parser *p)
{
    struct fixup *earliest = NULL;
    for (struct fixup *fix = p->module_fixups; fix && !parser_failed(p); fix = fix->next) {
        struct ptx_symbol *s = strmap_get(&p->m->symbols, fix->name, fix->length);
        if (s)
            apply_symbol(p, fix, s);
        else /* the list runs from the last use to the first */
            earliest = fix;
    }
    if (!earliest)
        return;
    struct token at = fixup_token(earliest);
    undefined_name(p, &at, earliest->kind == FIX_FUNCTION || earliest->kind == FIX_CALL_ENTRY ? "function" : "name");
}
