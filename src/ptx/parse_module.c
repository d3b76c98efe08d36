/* A whole module: version, target, and what is declared at its outermost level (PTX ISA 11.1). */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

static const int newest_major = 9;

bool add_symbol(struct parser *p, const char *name, struct ptx_function *f, struct ptx_variable *v)
{
    struct ptx_symbol *s = arena_new(p->arena, struct ptx_symbol);
    s->function = f;
    s->variable = v;
    strmap_put(&p->m->symbols, name, strlen(name), s);
    return true;
}

static void parse_version(struct parser *p)
{
    lexer_next(&p->lx);
    struct token t = *current(p);
    const char *dot = t.kind == TOKEN_FLOAT ? memchr(t.text, '.', t.length) : NULL;
    if (!dot || t.length > 8) {
        unexpected(p, "a version such as 7.8");
        return;
    }
    p->m->version_major = atoi(t.text);
    p->m->version_minor = atoi(dot + 1);
    if (p->m->version_major < 1 || p->m->version_major > newest_major)
        parse_error(p, ERROR_VERSION, t.line, t.column, "PTX version %.*s; Heddle reads 1.4 to %d.x", (int)t.length,
                    t.text, newest_major);
    lexer_next(&p->lx);
}

static void set_architecture(struct parser *p, const struct token *name)
{
    p->m->target = token_text(p, name);
    long number = strtol(p->m->target + (p->m->target[0] == 's' ? 3 : 8), NULL, 10);
    p->m->target_sm = (int)number;
    if (number < 1 || number > 999)
        token_error(p, name, "malformed target '%.*s'; expected one such as sm_75", shown(name), name->text);
}

static bool starts_with(const struct token *t, const char *prefix)
{
    size_t length = strlen(prefix);
    return t->length > length && t->length < 24 && memcmp(t->text, prefix, length) == 0;
}

static void parse_target(struct parser *p)
{
    lexer_next(&p->lx);
    do {
        struct token name = expect_name(p, "a target such as sm_75");
        if (parser_failed(p))
            return;
        if (starts_with(&name, "sm_") || starts_with(&name, "compute_"))
            set_architecture(p, &name);
        else if (token_is(&name, "debug"))
            p->m->debug_target = true;
        else if (token_is(&name, "texmode_independent"))
            p->m->texmode_independent = true;
        else if (!token_is(&name, "texmode_unified") && !token_is(&name, "map_f64_to_f32"))
            token_error(
                p, &name,
                "unknown target '%.*s'; expected one such as sm_75, or debug, texmode_independent, texmode_unified, "
                "map_f64_to_f32",
                shown(&name), name.text);
    } while (accept(p, ','));
}

static void parse_address_size(struct parser *p)
{
    lexer_next(&p->lx);
    struct token at = *current(p);
    uint32_t size = expect_count(p, "32 or 64");
    if (size != 32 && size != 64)
        token_error(p, &at, "the address size is 32 or 64");
    p->m->address_size = (int)size;
}

static void parse_alias(struct parser *p)
{
    lexer_next(&p->lx);
    struct token alias = expect_name(p, "the name of a function");
    expect(p, ',');
    struct token aliasee = expect_name(p, "the name of a function");
    expect(p, ';');
    if (parser_failed(p))
        return;
    struct alias *a = vector_push(&p->aliases, sizeof *a);
    a->alias = alias;
    a->aliasee = aliasee;
}

static struct ptx_function *aliased_function(struct parser *p, const struct token *name)
{
    struct ptx_symbol *s = strmap_get(&p->m->symbols, name->text, name->length);
    if (!s || !s->function) {
        undefined_name(p, name, "function");
        return NULL;
    }
    return s->function;
}

/* An alias shares everything with its function but its name. */
static void resolve_aliases(struct parser *p)
{
    const struct alias *aliases = p->aliases.items;
    for (size_t i = 0; i < p->aliases.count && !parser_failed(p); i++) {
        struct ptx_function *from = aliased_function(p, &aliases[i].aliasee);
        struct ptx_function *into = from ? aliased_function(p, &aliases[i].alias) : NULL;
        if (!into || into == from)
            continue;
        if (!into->is_declaration) {
            token_error(p, &aliases[i].alias, "'%s' has a body and cannot be an alias", into->name);
            return;
        }
        struct ptx_function old = *into;
        *into = *from;
        into->name = old.name;
        into->index = old.index;
        into->linkage = old.linkage;
    }
}

static bool parse_linkage(struct parser *p, enum ptx_linkage *linkage)
{
    static const struct {
        const char *word;
        enum ptx_linkage linkage;
    } words[] = {
        {".extern", PTX_LINK_EXTERN},
        {".visible", PTX_LINK_VISIBLE},
        {".weak", PTX_LINK_WEAK},
        {".common", PTX_LINK_COMMON},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (accept_dot(p, words[i].word)) {
            *linkage = words[i].linkage;
            return true;
        }
    return false;
}

static void unknown_directive(struct parser *p)
{
    static const char *const names[] = {".version", ".target",  ".address_size", ".entry",  ".func",
                                        ".extern",  ".visible", ".weak",         ".common", ".global",
                                        ".const",   ".shared",  ".local",        ".param",  ".tex",
                                        ".file",    ".loc",     ".section",      ".pragma", ".alias"};
    struct token *t = current(p);
    if (t->kind == TOKEN_DOT)
        token_error(p, t, "unknown directive '%.*s'%s", shown(t), t->text,
                    suggest(p, t, names, sizeof names / sizeof *names));
    else
        unexpected(p, "a directive");
}

static bool parse_plain_directive(struct parser *p)
{
    static const struct {
        const char *word;
        void (*parse)(struct parser *);
    } directives[] = {
        {".version", parse_version}, {".target", parse_target}, {".address_size", parse_address_size},
        {".file", parse_file},       {".loc", parse_loc},       {".section", parse_section},
        {".pragma", parse_pragma},   {".alias", parse_alias},
    };
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (at_dot(p, directives[i].word)) {
            directives[i].parse(p);
            return true;
        }
    return false;
}

static void parse_declaration_or_function(struct parser *p)
{
    enum ptx_linkage linkage = PTX_LINK_INTERNAL;
    parse_linkage(p, &linkage);
    if (at_dot(p, ".entry") || at_dot(p, ".func"))
        parse_function(p, linkage);
    else if (space_of(current(p)) != PTX_SPACE_NONE)
        parse_variables(p, linkage);
    else if (linkage != PTX_LINK_INTERNAL)
        unexpected(p, ".entry, .func or a state space");
    else
        unknown_directive(p);
}

static void parse_module(struct parser *p)
{
    if (!at_dot(p, ".version"))
        unexpected(p, "'.version' at the start of a PTX module");
    while (current(p)->kind != TOKEN_END && !parser_failed(p)) {
        if (at_symbol(p, '@') && lexer_peek(&p->lx) == '@') { /* "@@DWARF ..." of PTX 1.x */
            lexer_skip_line(&p->lx);
            lexer_next(&p->lx);
        } else if (current(p)->kind == TOKEN_DOT) {
            if (!parse_plain_directive(p))
                parse_declaration_or_function(p);
        } else if (!accept(p, ';')) {
            unknown_directive(p);
        }
    }
    if (!p->m->target && !parser_failed(p))
        unexpected(p, "a .target directive");
}

static void keep_module(struct parser *p)
{
    struct ptx_module *m = p->m;
    m->functions = vector_keep(p->arena, &p->functions, sizeof *m->functions);
    m->function_count = (uint32_t)p->functions.count;
    m->variables = vector_keep(p->arena, &p->variables, sizeof *m->variables);
    m->variable_count = (uint32_t)p->variables.count;
    m->files = vector_keep(p->arena, &p->files, sizeof *m->files);
    m->file_count = (uint32_t)p->files.count;
}

static void free_parser(struct parser *p)
{
    struct strmap *maps[] = {&p->opcodes, &p->suffixes, &p->specials, &p->spellings, &p->slots};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        strmap_free(maps[i]);
    struct vector *vectors[] = {&p->functions, &p->variables, &p->files,      &p->aliases,    &p->regs,    &p->locals,
                                &p->insts,     &p->labels,    &p->label_used, &p->label_uses, &p->operands};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        vector_free(vectors[i]);
    free(p);
}

static struct ptx_module *new_module(const char *name, const char *text, size_t size_bytes)
{
    struct ptx_module *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    while (size_bytes > 0 && text[size_bytes - 1] == '\0')
        size_bytes--;
    m->source.name = arena_strndup(&m->arena, name ? name : "<ptx>", strlen(name ? name : "<ptx>"));
    m->source.text = arena_strndup(&m->arena, text, size_bytes);
    m->source.size_bytes = size_bytes;
    m->address_size = 64;
    return m;
}

struct ptx_module *ptx_parse(const char *name, const char *text, size_t size_bytes, struct error *e)
{
    struct ptx_module *m = size_bytes < INT32_MAX ? new_module(name, text, size_bytes) : NULL;
    struct parser *p = m ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        error_set(e, ERROR_NO_MEMORY, "%s: no memory for a PTX text of %zu bytes", name ? name : "<ptx>", size_bytes);
        if (m)
            ptx_module_free(m);
        return NULL;
    }
    p->m = m;
    p->arena = &m->arena;
    tables_fill(p);
    lexer_start(&p->lx, &m->source, e);
    parse_module(p);
    if (!parser_failed(p))
        resolve_module_fixups(p);
    if (!parser_failed(p))
        resolve_aliases(p);
    bool failed = parser_failed(p);
    if (!failed)
        keep_module(p);
    free_parser(p);
    if (!failed)
        return m;
    ptx_module_free(m);
    return NULL;
}

void ptx_module_free(struct ptx_module *m)
{
    if (!m)
        return;
    strmap_free(&m->symbols);
    arena_free(&m->arena);
    free(m);
}

struct ptx_function *ptx_find_function(const struct ptx_module *m, const char *name)
{
    struct ptx_symbol *s = strmap_get(&m->symbols, name, strlen(name));
    return s ? s->function : NULL;
}

struct ptx_variable *ptx_find_variable(const struct ptx_module *m, const char *name)
{
    struct ptx_symbol *s = strmap_get(&m->symbols, name, strlen(name));
    return s ? s->variable : NULL;
}
