/* Tables of targets: .branchtargets, .calltargets and .callprototype (PTX ISA 11.3). */
#include "ptx/parser.h"

static struct ptx_table *new_table(struct parser *p, const struct token *label, int kind)
{
    struct ptx_table *t = arena_new(p->arena, struct ptx_table);
    t->name = token_text(p, label);
    t->kind = kind;
    struct binding *b = scope_bind(p, ROOM_NAME, label, BIND_TABLE);
    if (b)
        b->table = t;
    return t;
}

/* The names, as fixups that know their place in the table. */
static void parse_entries(struct parser *p, struct ptx_table *t, bool branches)
{
    struct vector fixups = {0};
    do {
        struct token name = expect_name(p, branches ? "a label" : "a function");
        if (parser_failed(p))
            break;
        struct fixup *fix = new_fixup(p, branches ? FIX_BRANCH_ENTRY : FIX_CALL_ENTRY, &name);
        fix->table = t;
        fix->entry = (uint32_t)fixups.count;
        *(struct fixup **)vector_push(&fixups, sizeof fix) = fix;
    } while (accept(p, ','));
    t->count = (uint32_t)fixups.count;
    if (branches)
        t->targets = arena_array(p->arena, uint32_t, t->count);
    else
        t->functions = arena_array(p->arena, struct ptx_function *, t->count);
    struct fixup **all = fixups.items;
    for (uint32_t i = 0; i < t->count; i++)
        if (branches)
            fixup_of_label(p, all[i]);
        else
            fixup_in_module(p, all[i]);
    vector_free(&fixups);
}

/* .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn */
static void parse_prototype(struct parser *p, struct ptx_table *t)
{
    if (at_symbol(p, '('))
        t->return_count = parse_parameters(p, &t->returns, false);
    expect_name(p, "'_'");
    if (at_symbol(p, '('))
        t->param_count = parse_parameters(p, &t->params, false);
    while (current(p)->kind == TOKEN_DOT) {
        if (accept_dot(p, ".noreturn"))
            continue;
        if (accept_dot(p, ".abi_preserve") || accept_dot(p, ".abi_preserve_control"))
            expect_count(p, "a number of registers");
        else
            unexpected(p, "';'");
    }
}

void parse_table(struct parser *p, const struct token *label)
{
    if (accept_dot(p, ".branchtargets")) {
        parse_entries(p, new_table(p, label, PTX_TABLE_BRANCH), true);
    } else if (accept_dot(p, ".calltargets")) {
        parse_entries(p, new_table(p, label, PTX_TABLE_CALL), false);
    } else {
        lexer_next(&p->lx); /* .callprototype */
        parse_prototype(p, new_table(p, label, PTX_TABLE_PROTOTYPE));
    }
    expect(p, ';');
}
