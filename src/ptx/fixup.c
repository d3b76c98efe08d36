/* Uses of names that are declared further on: of labels in a function, of functions and variables in the module.
 *
 * A label is known in all of its scope, before its declaration as well. So a use of one that is not in its own scope
 * yet waits until that scope closes. If its name means a label then, of that scope or of one around it, it is that
 * label; if it means nothing yet, the use waits for the end of the next scope. As with ptxas, a name that is a register
 * or a variable where it is used, or where its scope closes, cannot be that of a label further out. */
#include "ptx/parser.h"

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

static struct token fixup_token(const struct fixup *fix)
{
    return (struct token){
        .kind = TOKEN_NAME, .text = fix->name, .length = fix->length, .line = fix->line, .column = fix->column};
}

/* Labels */

static bool is_label(const struct binding *b) { return b->kind == BIND_LABEL || b->kind == BIND_TABLE; }

/* Debug builds put several labels at an instruction. The one that code jumps to goes first: it is the one shown. */
static void show_label(struct parser *p, const struct binding *b)
{
    unsigned char *used = p->label_used.items;
    struct ptx_label *labels = p->labels.items;
    if (used[b->group])
        return;
    struct ptx_label first = labels[b->group];
    labels[b->group] = labels[b->label];
    labels[b->label] = first;
    used[b->group] = 1;
}

static void apply_table(struct parser *p, const struct fixup *fix, const struct binding *b)
{
    struct token at = fixup_token(fix);
    if (b->kind != BIND_TABLE) {
        token_error(p, &at, "'%.*s' is a plain label; expected one of .branchtargets, .calltargets or .callprototype",
                    shown(&at), at.text);
        return;
    }
    fix->operand->kind = PTX_OPERAND_TABLE;
    fix->operand->table = b->table;
}

static void apply_label(struct parser *p, const struct fixup *fix, const struct binding *b)
{
    struct token at = fixup_token(fix);
    if (fix->kind == FIX_TABLE) {
        apply_table(p, fix, b);
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
    show_label(p, b);
}

static void no_label(struct parser *p, const struct token *at, const char *is_a, int line)
{
    token_error(p, at, "'%.*s' is a %s, declared on line %d; expected a label", shown(at), at->text, is_a, line);
}

/* Applies one that is known, or an error; false: it is to wait. */
static bool settle(struct parser *p, const struct fixup *fix)
{
    struct token at = fixup_token(fix);
    const struct binding *b = scope_find_at(fix->slot);
    const struct ptx_symbol *s = b ? NULL : strmap_get(&p->m->symbols, fix->name, fix->length);
    if (s)
        no_label(p, &at, s->function ? "function" : "variable", s->function ? s->function->line : s->variable->line);
    else if (b && !is_label(b))
        no_label(p, &at, binding_kind(b), b->line);
    else if (b && b->depth == p->depth)
        apply_label(p, fix, b);
    else
        return false;
    return true;
}

bool fixup_of_label(struct parser *p, struct fixup *fix)
{
    struct token at = fixup_token(fix);
    if (parser_failed(p))
        return true;
    fix->slot = scope_slot(p, &at);
    if (settle(p, fix))
        return true;
    *(struct fixup **)vector_push(&p->label_uses, sizeof fix) = fix;
    return false;
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

void resolve_labels(struct parser *p, const struct scope *s)
{
    struct fixup **uses = p->label_uses.items;
    size_t waiting = s->first_use;
    for (size_t i = s->first_use; i < p->label_uses.count && !parser_failed(p); i++) {
        struct token at = fixup_token(uses[i]);
        const struct binding *b = scope_find_at(uses[i]->slot);
        if (b && is_label(b))
            apply_label(p, uses[i], b);
        else if (b)
            no_label(p, &at, binding_kind(b), b->line);
        else if (p->depth == 1)
            undefined_label(p, uses[i]);
        else
            uses[waiting++] = uses[i];
    }
    p->label_uses.count = waiting;
}

/* Names of the module */

void fixup_in_module(struct parser *p, struct fixup *fix)
{
    fix->next = p->module_fixups;
    p->module_fixups = fix;
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
