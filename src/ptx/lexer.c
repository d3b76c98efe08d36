/* PTX text to tokens: names, dot words, numbers in all spellings, strings, comments (PTX ISA 4.1 to 4.5.1).
 * Leaves out: the C preprocessor. Of its output only the lines '# NUMBER "FILE"' are known, and skipped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "ptx/lexer.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_DECIMAL = 400 };

enum { BLANK = 1, DIGIT = 2, HEX = 4, LETTER = 8, NAME_START = 16, NAME = 32 };

#define CLASS_LETTER (LETTER | NAME_START | NAME)
static const unsigned char char_class[256] = {
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\r'] = BLANK,
    ['\f'] = BLANK,
    ['\v'] = BLANK,
    ['0' ... '9'] = DIGIT | HEX | NAME,
    ['a' ... 'f'] = CLASS_LETTER | HEX,
    ['g' ... 'z'] = CLASS_LETTER,
    ['A' ... 'F'] = CLASS_LETTER | HEX,
    ['G' ... 'Z'] = CLASS_LETTER,
    ['_'] = NAME_START | NAME,
    ['$'] = NAME_START | NAME,
    ['%'] = NAME_START,
};

static bool is(int c, int class) { return char_class[(unsigned char)c] & class; }

bool lexer_fail(struct lexer *lx, enum error_kind kind, int line, int column, const char *format, va_list args)
{
    if (!lx->failed) {
        char message[1024];
        vsnprintf(message, sizeof message, format, args);
        error_at(lx->error, kind, lx->source, line, column, "%s", message);
    }
    lx->failed = true;
    lx->at = lx->end;
    lx->token.kind = TOKEN_END;
    lx->token.symbol = 0;
    return false;
}

__attribute__((format(printf, 3, 4))) static void fail(struct lexer *lx, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lexer_fail(lx, ERROR_SYNTAX, lx->line, (int)(at - lx->line_start) + 1, format, args);
    va_end(args);
}

static void newline(struct lexer *lx)
{
    lx->at++;
    lx->line++;
    lx->line_start = lx->at;
}

void lexer_skip_line(struct lexer *lx)
{
    const char *found = memchr(lx->at, '\n', (size_t)(lx->end - lx->at));
    lx->at = found ? found : lx->end;
}

static void skip_block_comment(struct lexer *lx)
{
    int line = lx->line;
    const char *start = lx->at, *line_start = lx->line_start;
    for (lx->at += 2; lx->end - lx->at >= 2;) {
        if (lx->at[0] == '*' && lx->at[1] == '/') {
            lx->at += 2;
            return;
        }
        if (*lx->at == '\n')
            newline(lx);
        else
            lx->at++;
    }
    lx->line = line;
    lx->line_start = line_start;
    fail(lx, start, "this comment is never closed; expected '*/'");
}

/* '# 12 "file.cu"' as a preprocessor leaves it, at the start of a line. */
static bool is_line_marker(const struct lexer *lx)
{
    const char *s = lx->at + 1;
    if (lx->at != lx->line_start)
        return false;
    while (*s == ' ' || *s == '\t')
        s++;
    if (!is(*s, DIGIT))
        return false;
    while (is(*s, DIGIT))
        s++;
    while (*s == ' ' || *s == '\t')
        s++;
    return *s == '"';
}

static void skip_blanks(struct lexer *lx)
{
    while (lx->at < lx->end) {
        char c = *lx->at;
        if (is(c, BLANK))
            lx->at++;
        else if (c == '\n')
            newline(lx);
        else if (c == '/' && lx->at[1] == '/')
            lexer_skip_line(lx);
        else if (c == '/' && lx->at[1] == '*')
            skip_block_comment(lx);
        else if (c == '#' && is_line_marker(lx))
            lexer_skip_line(lx);
        else
            return;
    }
}

int lexer_peek(struct lexer *lx)
{
    skip_blanks(lx);
    return lx->at < lx->end ? (unsigned char)*lx->at : 0;
}

void lexer_seek(struct lexer *lx, const char *at)
{
    if (!lx->failed)
        lx->at = at;
}

static void finish(struct lexer *lx, enum token_kind kind, const char *end)
{
    lx->token.kind = kind;
    lx->token.length = (uint32_t)(end - lx->token.text);
    lx->at = end;
}

/* Words after a dot hold "::" as well: shared::cta. */
static const char *dot_word_end(const char *s)
{
    for (;; s++) {
        if (s[0] == ':' && s[1] == ':' && is(s[2], NAME))
            s++;
        else if (!is(*s, NAME))
            return s;
    }
}

/* ".const[3]" of old PTX counts as one word. */
static const char *bank_end(const char *word, const char *s)
{
    if (s - word != 6 || memcmp(word, ".const", 6) != 0 || *s != '[' || !is(s[1], DIGIT))
        return s;
    const char *digits = s + 1;
    while (is(*digits, DIGIT))
        digits++;
    return *digits == ']' ? digits + 1 : s;
}

const char *lexer_suffix_end(const struct lexer *lx, const char *s)
{
    while (s < lx->end && *s == '.' && is(s[1], NAME))
        s = bank_end(s, dot_word_end(s + 1));
    return s;
}

static void read_integer(struct lexer *lx, const char *digits, unsigned base)
{
    struct token *t = &lx->token;
    const char *s = digits;
    uint64_t value = 0;
    for (; is(*s, HEX); s++) {
        unsigned digit = (unsigned)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base) {
            fail(lx, t->text, "integer constant does not fit 64 bits");
            return;
        }
        value = value * base + digit;
    }
    t->integer = value;
    t->is_unsigned = value > INT64_MAX;
    if (*s == 'U' || *s == 'u') {
        t->is_unsigned = true;
        s++;
    }
    if (s == digits || is(*s, NAME)) {
        fail(lx, s, "malformed number: unexpected '%c' in a constant of base %u", is(*s, NAME) ? *s : ' ', base);
        return;
    }
    finish(lx, TOKEN_INTEGER, s);
}

/* 0f and eight hexadecimal digits, 0d and sixteen: the bits of the number. */
static void read_float_bits(struct lexer *lx, int digits)
{
    struct token *t = &lx->token;
    uint64_t bits = 0;
    const char *s = t->text + 2;
    for (int i = 0; i < digits; i++, s++) {
        if (!is(*s, HEX))
            break;
        bits = bits << 4 | (uint64_t)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);
    }
    if (s - t->text != digits + 2 || is(*s, NAME)) {
        fail(lx, t->text, "malformed number: 0%c is followed by exactly %d hexadecimal digits", t->text[1], digits);
        return;
    }
    t->is_float32 = digits == 8;
    if (t->is_float32) {
        float value;
        t->float32_bits = (uint32_t)bits;
        memcpy(&value, &t->float32_bits, sizeof value);
        t->float64 = value;
    } else {
        memcpy(&t->float64, &bits, sizeof bits);
    }
    finish(lx, TOKEN_FLOAT, s);
}

/* The host program may have chosen a locale with another decimal point, hence the detour. */
static double decimal_value(const char *text)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        return strtod(text, NULL);
    double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

static const char *skip_digits(const char *s)
{
    while (is(*s, DIGIT))
        s++;
    return s;
}

static const char *decimal_float_end(const char *s)
{
    s = skip_digits(s);
    if (*s == '.')
        s = skip_digits(s + 1);
    if (*s == 'e' || *s == 'E') {
        const char *exponent = s + 1 + (s[1] == '+' || s[1] == '-');
        if (is(*exponent, DIGIT))
            s = skip_digits(exponent);
    }
    return s;
}

static void read_decimal_float(struct lexer *lx, const char *end)
{
    char copy[LONGEST_DECIMAL + 1];
    size_t length = (size_t)(end - lx->token.text);
    if (length > LONGEST_DECIMAL || is(*end, NAME)) {
        fail(lx, length > LONGEST_DECIMAL ? lx->token.text : end, "malformed number");
        return;
    }
    memcpy(copy, lx->token.text, length);
    copy[length] = '\0';
    lx->token.float64 = decimal_value(copy);
    lx->token.is_float32 = false;
    finish(lx, TOKEN_FLOAT, end);
}

static void read_number(struct lexer *lx)
{
    const char *s = lx->at;
    if (s[0] == '0') {
        switch (s[1]) {
        case 'x':
        case 'X': read_integer(lx, s + 2, 16); return;
        case 'b':
        case 'B': read_integer(lx, s + 2, 2); return;
        case 'f':
        case 'F': read_float_bits(lx, 8); return;
        case 'd':
        case 'D': read_float_bits(lx, 16); return;
        }
    }
    const char *end = decimal_float_end(s);
    if (end != skip_digits(s))
        read_decimal_float(lx, end);
    else
        read_integer(lx, s, s[0] == '0' ? 8 : 10);
}

void lexer_reread_as_number(struct lexer *lx)
{
    if (!lx->failed)
        read_decimal_float(lx, decimal_float_end(lx->token.text));
}

static void read_string(struct lexer *lx)
{
    const char *s = lx->at + 1;
    while (s < lx->end && *s != '"' && *s != '\n')
        s += *s == '\\' && s + 1 < lx->end && s[1] != '\n' ? 2 : 1;
    if (s >= lx->end || *s != '"') {
        fail(lx, lx->at, "this string is never closed; expected '\"'");
        return;
    }
    lx->token.text = lx->at + 1;
    lx->token.kind = TOKEN_STRING;
    lx->token.length = (uint32_t)(s - lx->token.text);
    lx->at = s + 1;
}

static void read_symbol(struct lexer *lx)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    const char *s = lx->at;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (s[0] == pairs[i][0] && s[1] == pairs[i][1]) {
            lx->token.symbol = TWO(s[0], s[1]);
            finish(lx, TOKEN_SYMBOL, s + 2);
            return;
        }
    if (*s && strchr("{}[]()<>,;:+-*/%&|^~!=?@", *s)) {
        lx->token.symbol = *s;
        finish(lx, TOKEN_SYMBOL, s + 1);
        return;
    }
    unsigned char c = (unsigned char)*s;
    if (c > 32 && c < 127)
        fail(lx, s, "unexpected character '%c'", c);
    else
        fail(lx, s, "unexpected byte 0x%02x: this is not PTX text", c);
}

void lexer_next(struct lexer *lx)
{
    skip_blanks(lx);
    struct token *t = &lx->token;
    t->text = lx->at;
    t->line = lx->line;
    t->column = (int)(lx->at - lx->line_start) + 1;
    t->symbol = 0;
    if (lx->at >= lx->end) {
        t->kind = TOKEN_END;
        t->length = 0;
        return;
    }
    const char *s = lx->at;
    char c = *s;
    if (is(c, NAME_START) && (c != '%' || is(s[1], NAME))) {
        for (s++; is(*s, NAME); s++)
            ;
        finish(lx, TOKEN_NAME, s);
    } else if (is(c, DIGIT)) {
        read_number(lx);
    } else if (c == '.' && is(s[1], NAME)) {
        finish(lx, TOKEN_DOT, dot_word_end(s + 1));
    } else if (c == '"') {
        read_string(lx);
    } else {
        read_symbol(lx);
    }
}

/* The text must end in a NUL byte that source->size_bytes does not count: it stops the scans above. */
void lexer_start(struct lexer *lx, const struct source *source, struct error *e)
{
    *lx = (struct lexer){.source = source,
                         .at = source->text,
                         .end = source->text + source->size_bytes,
                         .line_start = source->text,
                         .line = 1,
                         .error = e};
    lexer_next(lx);
}
