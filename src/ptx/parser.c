/* The parser's basic steps: take a token, expect one, report what was found instead. */
#include "ptx/parser.h"

#include "base/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SHOWN_NAME = 100 };

void *vector_push(struct vector *v, size_t item_bytes)
{
    if (v->count == v->capacity) {
        v->capacity = v->capacity ? v->capacity * 2 : 16;
        v->items = realloc(v->items, v->capacity * item_bytes);
        if (!v->items)
            out_of_memory();
    }
    return memset((char *)v->items + v->count++ * item_bytes, 0, item_bytes);
}

void vector_grow(struct vector *v, size_t bytes)
{
    if (bytes <= v->count)
        return;
    if (bytes > v->capacity) {
        v->capacity = bytes < SIZE_MAX / 2 ? bytes * 2 : bytes;
        v->items = realloc(v->items, v->capacity);
        if (!v->items)
            out_of_memory();
    }
    memset((char *)v->items + v->count, 0, bytes - v->count);
    v->count = bytes;
}

void vector_free(struct vector *v)
{
    free(v->items);
    *v = (struct vector){0};
}

void *vector_keep(struct arena *a, const struct vector *v, size_t item_bytes)
{
    return v->count ? memcpy(arena_alloc(a, v->count * item_bytes), v->items, v->count * item_bytes) : NULL;
}

bool parser_failed(const struct parser *p) { return p->lx.failed; }

bool parse_error(struct parser *p, enum error_kind kind, int line, int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lexer_fail(&p->lx, kind, line, column, format, args);
    va_end(args);
    return false;
}

bool token_error(struct parser *p, const struct token *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lexer_fail(&p->lx, ERROR_SYNTAX, t->line, t->column, format, args);
    va_end(args);
    return false;
}

int shown(const struct token *t) { return t->length < LONGEST_SHOWN_NAME ? (int)t->length : LONGEST_SHOWN_NAME; }

bool unexpected(struct parser *p, const char *expected)
{
    struct token *t = current(p);
    switch (t->kind) {
    case TOKEN_END: return token_error(p, t, "expected %s, but the text ends here", expected);
    case TOKEN_STRING: return token_error(p, t, "expected %s, found a string", expected);
    default: return token_error(p, t, "expected %s, found '%.*s'", expected, shown(t), t->text);
    }
}

struct token take(struct parser *p)
{
    struct token t = p->lx.token;
    lexer_next(&p->lx);
    return t;
}

bool at_symbol(struct parser *p, int symbol) { return token_is_symbol(current(p), symbol); }

bool accept(struct parser *p, int symbol)
{
    if (!at_symbol(p, symbol))
        return false;
    lexer_next(&p->lx);
    return true;
}

bool expect(struct parser *p, int symbol)
{
    if (accept(p, symbol))
        return true;
    char what[4] = {'\'', (char)symbol, '\'', '\0'};
    return unexpected(p, what);
}

bool at_dot(struct parser *p, const char *word) { return current(p)->kind == TOKEN_DOT && token_is(current(p), word); }

bool accept_dot(struct parser *p, const char *word)
{
    if (!at_dot(p, word))
        return false;
    lexer_next(&p->lx);
    return true;
}

struct token expect_name(struct parser *p, const char *what)
{
    if (current(p)->kind != TOKEN_NAME)
        unexpected(p, what);
    return take(p);
}

uint32_t expect_count(struct parser *p, const char *what)
{
    struct token at = *current(p);
    if (!starts_constant(p)) {
        unexpected(p, what);
        return 0;
    }
    int64_t value = parse_integer(p);
    if (value < 0 || value > UINT32_MAX) {
        token_error(p, &at, "%s must be from 0 to %u", what, UINT32_MAX);
        return 0;
    }
    return (uint32_t)value;
}

char *token_text(struct parser *p, const struct token *t) { return arena_strndup(p->arena, t->text, t->length); }

const char *suggest(struct parser *p, const struct token *t, const char *const *names, size_t count)
{
    if (t->length > LONGEST_SHOWN_NAME)
        return "";
    const char *near = nearest_name(token_text(p, t), names, count);
    return near ? arena_printf(p->arena, "; did you mean '%s'?", near) : "";
}
