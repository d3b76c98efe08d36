/* The tokens of PTX text (PTX ISA 4.1 to 4.5). The lexer runs one token ahead of the parser and never looks further
 * than it must, so that a file of noise fails at its first odd byte. After an error every further token is TOKEN_END:
 * the parser's loops then end by themselves. */
#ifndef HEDDLE_PTX_LEXER_H
#define HEDDLE_PTX_LEXER_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME, /* foo, %r1, $L__BB0_1, _ */
    TOKEN_DOT,  /* .global, .v4, .2d, .shared::cta: a dot and what follows it */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_STRING, /* text without its quotes */
    TOKEN_SYMBOL, /* punctuation; .symbol holds the character, or two of them as TWO('<', '<') */
};

#define TWO(a, b) ((a) << 8 | (b))

struct token {
    enum token_kind kind;
    const char *text; /* into the source */
    uint32_t length;
    int line, column;
    int symbol;
    bool is_unsigned; /* INTEGER: has the suffix U, or does not fit s64 */
    bool is_float32;  /* FLOAT: written as 0f... */
    uint64_t integer;
    uint32_t float32_bits;
    double float64;
};

struct lexer {
    const struct source *source;
    const char *at, *end, *line_start;
    int line;
    bool failed;
    struct error *error;
    struct token token;
};

void lexer_start(struct lexer *lx, const struct source *source, struct error *e);
void lexer_next(struct lexer *lx);
/* The next byte after the current token that is neither blank nor comment, or 0 at the end; consumes nothing but
 * blanks. */
int lexer_peek(struct lexer *lx);
/* End of the run of suffixes ".a.b::c" that starts at s with no blanks in it. */
const char *lexer_suffix_end(const struct lexer *lx, const char *s);
/* Moves the reading position within the current line (the parser split a token by hand). */
void lexer_seek(struct lexer *lx, const char *at);
/* ".5" reads as a word after a dot; where a number is due, it is one. */
void lexer_reread_as_number(struct lexer *lx);
/* Skips the rest of the line. */
void lexer_skip_line(struct lexer *lx);
/* Reports the first error and ends the token stream. Always false. */
bool lexer_fail(struct lexer *lx, enum error_kind kind, int line, int column, const char *format, va_list args);

static inline bool token_is(const struct token *t, const char *text)
{
    size_t i = 0;
    for (; i < t->length; i++)
        if (text[i] != t->text[i] || !text[i])
            return false;
    return text[i] == '\0';
}

static inline bool token_is_symbol(const struct token *t, int symbol)
{
    return t->kind == TOKEN_SYMBOL && t->symbol == symbol;
}

#endif
