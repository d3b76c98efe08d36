/* .entry and .func: parameters, tuning directives, the body (PTX ISA 5.1.6, 7, 11.2 to 11.4). */
#include "ptx/parser.h"

#include "base/checked.h"

#include <string.h>

static struct ptx_function *new_function(struct parser *p)
{
    struct ptx_function *f = arena_new(p->arena, struct ptx_function);
    f->index = (uint32_t)p->functions.count;
    f->is_declaration = true;
    return f;
}

/* A function may be declared any number of times and defined once; all declarations share one struct. */
static struct ptx_function *declare_function(struct parser *p, const struct token *name, struct ptx_function *fresh)
{
    struct ptx_symbol *known = strmap_get(&p->m->symbols, name->text, name->length);
    if (!known) {
        fresh->name = token_text(p, name);
        *(struct ptx_function **)vector_push(&p->functions, sizeof fresh) = fresh;
        add_symbol(p, fresh->name, fresh, NULL);
        return fresh;
    }
    if (known->function && known->function->is_entry == fresh->is_entry)
        return known->function;
    token_error(p, name, "duplicate symbol '%.*s': first declared on line %d", shown(name), name->text,
                known->function ? known->function->line : known->variable->line);
    return NULL;
}

static void lay_out_parameters(struct parser *p, struct ptx_function *f, const struct token *name)
{
    uint64_t offset = 0;
    f->param_offsets = arena_array(p->arena, uint32_t, f->param_count);
    for (uint32_t i = 0; i < f->param_count; i++) {
        struct ptx_variable *v = f->params[i];
        if (v->space != PTX_SPACE_PARAM)
            continue;
        bool fits = checked_round_up(offset, v->align_bytes, &offset);
        f->param_offsets[i] = (uint32_t)offset;
        if (!fits || !checked_add(offset, v->size_bytes, &offset) || offset > INT32_MAX) {
            token_error(p, name, "the parameters of '%.*s' are too large", shown(name), name->text);
            return;
        }
    }
    f->param_bytes = (uint32_t)offset;
}

/* ".maxntid 16, 16": missing dimensions are 1. */
static void parse_dimensions(struct parser *p, uint32_t out[3])
{
    lexer_next(&p->lx);
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        out[i] = expect_count(p, "a number of threads or blocks");
        if (!at_symbol(p, ',') || i == 2)
            return;
        lexer_next(&p->lx);
    }
}

static void parse_number(struct parser *p, uint32_t *out)
{
    lexer_next(&p->lx);
    *out = expect_count(p, "a number");
}

static bool parse_tuning_directive(struct parser *p, struct ptx_function *f)
{
    uint32_t ignored;
    bool managed = false;
    if (at_dot(p, ".maxntid"))
        parse_dimensions(p, f->maxntid);
    else if (at_dot(p, ".reqntid"))
        parse_dimensions(p, f->reqntid);
    else if (at_dot(p, ".reqnctapercluster"))
        parse_dimensions(p, f->reqnctapercluster);
    else if (at_dot(p, ".minnctapersm"))
        parse_number(p, &f->minnctapersm);
    else if (at_dot(p, ".maxnctapersm"))
        parse_number(p, &f->maxnctapersm);
    else if (at_dot(p, ".maxnreg"))
        parse_number(p, &f->maxnreg);
    else if (at_dot(p, ".maxclusterrank"))
        parse_number(p, &f->maxclusterrank);
    else if (at_dot(p, ".abi_preserve") || at_dot(p, ".abi_preserve_control"))
        parse_number(p, &ignored);
    else if (accept_dot(p, ".explicitcluster"))
        f->explicitcluster = true;
    else if (accept_dot(p, ".noreturn"))
        f->noreturn = true;
    else if (at_dot(p, ".pragma"))
        parse_pragma(p);
    else if (at_dot(p, ".attribute"))
        parse_attribute(p, &managed);
    else if (!accept_dot(p, ".blocksareclusters"))
        return false;
    return true;
}

static void parse_tuning(struct parser *p, struct ptx_function *f)
{
    static const char *const names[] = {
        ".maxntid",        ".reqntid",         ".minnctapersm",      ".maxnctapersm", ".maxnreg", ".reqnctapercluster",
        ".maxclusterrank", ".explicitcluster", ".blocksareclusters", ".noreturn",     ".pragma"};
    while (current(p)->kind == TOKEN_DOT)
        if (!parse_tuning_directive(p, f))
            token_error(p, current(p), "unknown directive '%.*s' of a function%s", shown(current(p)), current(p)->text,
                        suggest(p, current(p), names, sizeof names / sizeof *names));
}

static void add_label(struct parser *p, const struct token *name)
{
    struct binding *b = scope_bind(p, ROOM_NAME, name, BIND_LABEL);
    if (!b)
        return;
    b->target = (uint32_t)p->insts.count;
    b->label = (uint32_t)p->labels.count;
    b->group = p->label_group;
    if (p->labels.count == 0 || ((struct ptx_label *)p->labels.items)[b->label - 1].target != b->target)
        b->group = p->label_group = b->label;
    struct ptx_label *label = vector_push(&p->labels, sizeof *label);
    label->name = token_text(p, name);
    label->target = b->target;
    vector_push(&p->label_used, 1);
}

static void parse_label(struct parser *p)
{
    struct token name = take(p);
    lexer_next(&p->lx); /* ':' */
    if (at_dot(p, ".branchtargets") || at_dot(p, ".calltargets") || at_dot(p, ".callprototype"))
        parse_table(p, &name);
    else
        add_label(p, &name);
}

static enum ptx_linkage linkage_of(const struct token *t)
{
    return token_is(t, ".extern")    ? PTX_LINK_EXTERN
           : token_is(t, ".visible") ? PTX_LINK_VISIBLE
           : token_is(t, ".weak")    ? PTX_LINK_WEAK
           : token_is(t, ".common")  ? PTX_LINK_COMMON
                                     : PTX_LINK_INTERNAL;
}

static void parse_body_directive(struct parser *p)
{
    static const char *const names[] = {".reg",   ".local", ".shared", ".param", ".global",
                                        ".const", ".loc",   ".pragma", ".file",  ".section"};
    struct token *t = current(p);
    if (token_is(t, ".loc")) {
        parse_loc(p);
    } else if (space_of(t) != PTX_SPACE_NONE) {
        parse_variables(p, PTX_LINK_INTERNAL);
    } else if (token_is(t, ".pragma")) {
        parse_pragma(p);
    } else if (token_is(t, ".file")) {
        parse_file(p);
    } else if (token_is(t, ".section")) {
        parse_section(p);
    } else if (linkage_of(t) != PTX_LINK_INTERNAL) {
        enum ptx_linkage linkage = linkage_of(t);
        lexer_next(&p->lx);
        parse_variables(p, linkage);
    } else if (token_is(t, ".branchtargets") || token_is(t, ".calltargets") || token_is(t, ".callprototype")) {
        token_error(p, t, "'%.*s' needs a label before it", shown(t), t->text);
    } else if (!parse_tuning_directive(p, p->f)) {
        token_error(p, t, "unknown directive '%.*s'%s", shown(t), t->text,
                    suggest(p, t, names, sizeof names / sizeof *names));
    }
}

static void parse_statement(struct parser *p)
{
    struct token *t = current(p);
    if (t->kind == TOKEN_NAME) {
        if (lexer_peek(&p->lx) == ':')
            parse_label(p);
        else
            parse_instruction(p);
    } else if (t->kind == TOKEN_DOT) {
        parse_body_directive(p);
    } else if (at_symbol(p, '@')) {
        if (lexer_peek(&p->lx) == '@') { /* "@@DWARF ...": debug data of PTX 1.x, one line each */
            lexer_skip_line(&p->lx);
            lexer_next(&p->lx);
        } else {
            parse_instruction(p);
        }
    } else if (!accept(p, ';')) {
        unexpected(p, "an instruction, a label, a directive or '}'");
    }
}

/* Statements up to the brace that closes the body; scopes inside are counted, not recursed into. */
static void parse_body(struct parser *p)
{
    int outer = p->depth;
    expect(p, '{');
    while (!parser_failed(p)) {
        if (at_symbol(p, '{')) {
            scope_open(p);
            lexer_next(&p->lx);
        } else if (at_symbol(p, '}')) {
            if (p->depth == outer)
                return;
            scope_close(p);
            lexer_next(&p->lx);
        } else if (current(p)->kind == TOKEN_END) {
            unexpected(p, "'}' at the end of the function");
        } else {
            parse_statement(p);
        }
    }
}

/* A body that runs off its end, or jumps there, returns. */
static void close_body(struct parser *p, const struct token *brace)
{
    const struct ptx_inst *last = p->insts.count ? (struct ptx_inst *)p->insts.items + p->insts.count - 1 : NULL;
    bool ends = last && !last->guard && ptx_flags(last) & (PTX_F_BRANCH | PTX_F_RET | PTX_F_EXIT);
    if (ends && p->last_target < p->insts.count)
        return;
    struct ptx_inst *ret = vector_push(&p->insts, sizeof *ret);
    ret->opcode = PTX_OP_ret;
    ret->spelling = "ret";
    ret->line = brace->line;
    ret->column = brace->column;
}

static void keep_body(struct parser *p, struct ptx_function *f)
{
    f->regs = vector_keep(p->arena, &p->regs, sizeof *f->regs);
    f->reg_count = (uint32_t)p->regs.count;
    f->variables = vector_keep(p->arena, &p->locals, sizeof *f->variables);
    f->variable_count = (uint32_t)p->locals.count;
    f->insts = vector_keep(p->arena, &p->insts, sizeof *f->insts);
    f->inst_count = (uint32_t)p->insts.count;
    f->labels = vector_keep(p->arena, &p->labels, sizeof *f->labels);
    f->label_count = (uint32_t)p->labels.count;
}

static void reset_body(struct parser *p)
{
    p->regs.count = p->locals.count = p->insts.count = p->labels.count = p->label_used.count = 0;
    p->last_target = 0;
    p->source_file = p->source_line = p->source_column = 0;
    p->nounroll = false;
}

/* Moves what this text said of the function into the struct all uses point to. */
static void merge(struct ptx_function *into, const struct ptx_function *from)
{
    if (into == from)
        return;
    const char *name = into->name;
    uint32_t index = into->index;
    enum ptx_linkage linkage =
        from->linkage == PTX_LINK_INTERNAL || from->linkage == PTX_LINK_EXTERN ? into->linkage : from->linkage;
    if (linkage == PTX_LINK_EXTERN && !from->is_declaration)
        linkage = from->linkage;
    *into = *from;
    into->name = name;
    into->index = index;
    into->linkage = linkage;
}

static void parse_definition(struct parser *p, struct ptx_function *f, const struct ptx_function *known,
                             const struct token *name)
{
    if (!known->is_declaration) {
        token_error(p, name, "duplicate symbol '%.*s': first defined on line %d", shown(name), name->text, known->line);
        return;
    }
    f->is_declaration = false;
    parse_body(p);
    struct token brace = *current(p);
    scope_close(p); /* resolves the branches, which decides how the body ends */
    scope_open(p);
    close_body(p, &brace);
    keep_body(p, f);
    expect(p, '}');
    accept(p, ';');
}

void parse_function(struct parser *p, enum ptx_linkage linkage)
{
    bool managed = false;
    struct ptx_function *f = new_function(p);
    struct token at = take(p);
    f->linkage = linkage;
    f->is_entry = token_is(&at, ".entry");
    reset_body(p);
    scope_open(p);
    p->f = f;
    if (at_dot(p, ".attribute"))
        parse_attribute(p, &managed);
    if (!f->is_entry && at_symbol(p, '('))
        f->return_count = parse_parameters(p, &f->returns, true);
    struct token name = expect_name(p, "the name of a function");
    if (token_is(&name, "_"))
        token_error(p, &name, "'_' cannot name a function");
    f->line = name.line;
    f->column = name.column;
    struct ptx_function *known = parser_failed(p) ? NULL : declare_function(p, &name, f);
    if (known) {
        f->index = known->index;
        for (uint32_t i = 0; i < f->return_count; i++)
            f->returns[i]->function = f->index;
        if (at_symbol(p, '('))
            f->param_count = parse_parameters(p, &f->params, true);
        lay_out_parameters(p, f, &name);
        parse_tuning(p, f);
        if (at_symbol(p, '{'))
            parse_definition(p, f, known, &name);
        else if (!accept(p, ';'))
            unexpected(p, "'{' or ';'");
        if (!f->is_declaration || known->is_declaration)
            merge(known, f);
    }
    scope_close(p);
    p->f = NULL;
}
