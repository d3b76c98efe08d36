/* Constant expressions (PTX ISA 4.5.3 to 4.5.5): the operators of C on s64, u64 and f64, casts to .s64 and .u64,
 * WARP_SZ. */
#include "ptx/parser.h"

#include <string.h>

enum { WARP_SIZE = 32 };

static struct constant parse_ternary(struct parser *p);

static struct constant of_integer(uint64_t value, bool is_unsigned)
{
    return (struct constant){.integer = (int64_t)value, .is_unsigned = is_unsigned};
}

static struct constant of_float(double value) { return (struct constant){.is_float = true, .float64 = value}; }

static double as_double(struct constant c)
{
    return c.is_float ? c.float64 : c.is_unsigned ? (double)(uint64_t)c.integer : (double)c.integer;
}

static bool is_true(struct constant c) { return c.is_float ? c.float64 != 0 : c.integer != 0; }

bool starts_constant(struct parser *p)
{
    struct token *t = current(p);
    switch (t->kind) {
    case TOKEN_INTEGER:
    case TOKEN_FLOAT: return true;
    case TOKEN_DOT: return t->text[1] >= '0' && t->text[1] <= '9'; /* .5 */
    case TOKEN_NAME: return token_is(t, "WARP_SZ");
    case TOKEN_SYMBOL:
        return t->symbol == '(' || t->symbol == '-' || t->symbol == '+' || t->symbol == '~' || t->symbol == '!';
    default: return false;
    }
}

static struct constant parse_primary(struct parser *p)
{
    if (current(p)->kind == TOKEN_DOT && starts_constant(p))
        lexer_reread_as_number(&p->lx);
    struct token t = *current(p);
    if (t.kind == TOKEN_INTEGER) {
        lexer_next(&p->lx);
        return of_integer(t.integer, t.is_unsigned);
    }
    if (t.kind == TOKEN_FLOAT) {
        lexer_next(&p->lx);
        return (struct constant){
            .is_float = true, .is_float32 = t.is_float32, .float32_bits = t.float32_bits, .float64 = t.float64};
    }
    if (t.kind == TOKEN_NAME && token_is(&t, "WARP_SZ")) {
        lexer_next(&p->lx);
        return of_integer(WARP_SIZE, false);
    }
    if (accept(p, '(')) {
        struct constant c = parse_ternary(p);
        expect(p, ')');
        return c;
    }
    unexpected(p, "a constant");
    return of_integer(0, false);
}

static struct constant negate(struct constant c)
{
    if (!c.is_float)
        return of_integer(0 - (uint64_t)c.integer, c.is_unsigned);
    c.float64 = -c.float64;
    c.float32_bits ^= 0x80000000u;
    return c;
}

static struct constant apply_unary(struct parser *p, const struct token *op, struct constant c)
{
    switch (op->symbol) {
    case '-': return negate(c);
    case '!': return of_integer(!is_true(c), false);
    case '~':
        if (c.is_float)
            token_error(p, op, "'~' needs an integer");
        return of_integer(~(uint64_t)c.integer, c.is_unsigned);
    default: return c;
    }
}

/* (.s64) or (.u64) in front of a value. */
static struct constant parse_cast(struct parser *p)
{
    struct token type = take(p);
    bool to_unsigned = token_is(&type, ".u64");
    if (!to_unsigned && !token_is(&type, ".s64"))
        token_error(p, &type, "expected the cast (.s64) or (.u64)");
    return of_integer(0, to_unsigned);
}

static struct constant parse_unary(struct parser *p)
{
    struct token op = *current(p);
    if (op.kind != TOKEN_SYMBOL || !strchr("+-!~(", op.symbol) || !op.symbol)
        return parse_primary(p);
    if (++p->nesting > DEEPEST_EXPRESSION) {
        token_error(p, &op, "expression nested more than %d deep", DEEPEST_EXPRESSION);
        return of_integer(0, false);
    }
    struct constant c;
    if (op.symbol != '(') {
        lexer_next(&p->lx);
        c = apply_unary(p, &op, parse_unary(p));
    } else if (lexer_peek(&p->lx) == '.') {
        lexer_next(&p->lx);
        struct constant cast = parse_cast(p);
        expect(p, ')');
        c = parse_unary(p);
        if (c.is_float)
            token_error(p, &op, "this cast needs an integer");
        c = of_integer((uint64_t)c.integer, cast.is_unsigned);
    } else {
        c = parse_primary(p);
    }
    p->nesting--;
    return c;
}

static int precedence(int symbol)
{
    switch (symbol) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case TWO('<', '<'):
    case TWO('>', '>'): return 8;
    case '<':
    case '>':
    case TWO('<', '='):
    case TWO('>', '='): return 7;
    case TWO('=', '='):
    case TWO('!', '='): return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case TWO('&', '&'): return 2;
    case TWO('|', '|'): return 1;
    default: return 0;
    }
}

static struct constant apply_float(struct parser *p, const struct token *op, double a, double b)
{
    switch (op->symbol) {
    case '*': return of_float(a * b);
    case '/':
        return of_float(b == 0 ? (a == 0 || a != a ? __builtin_nan("") : a * __builtin_copysign(__builtin_inf(), b))
                               : a / b);
    case '+': return of_float(a + b);
    case '-': return of_float(a - b);
    case '<': return of_integer(a < b, false);
    case '>': return of_integer(a > b, false);
    case TWO('<', '='): return of_integer(a <= b, false);
    case TWO('>', '='): return of_integer(a >= b, false);
    case TWO('=', '='): return of_integer(a == b, false);
    case TWO('!', '='): return of_integer(a != b, false);
    case TWO('&', '&'): return of_integer(a != 0 && b != 0, false);
    case TWO('|', '|'): return of_integer(a != 0 || b != 0, false);
    default: token_error(p, op, "this operator needs integers"); return of_float(0);
    }
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned)
{
    if (is_unsigned)
        return a / b;
    return (int64_t)b == -1 ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b); /* INT64_MIN / -1 traps in C */
}

static uint64_t shift(uint64_t a, uint64_t count, bool left, bool is_unsigned)
{
    bool fill = !is_unsigned && (int64_t)a < 0;
    if (left)
        return count > 63 ? 0 : a << count;
    if (is_unsigned)
        return count > 63 ? 0 : a >> count;
    return count > 63 ? (fill ? UINT64_MAX : 0) : (uint64_t)((int64_t)a >> count);
}

static bool less(uint64_t a, uint64_t b, bool is_unsigned) { return is_unsigned ? a < b : (int64_t)a < (int64_t)b; }

static struct constant apply_integer(struct parser *p, const struct token *op, struct constant x, struct constant y)
{
    uint64_t a = (uint64_t)x.integer, b = (uint64_t)y.integer;
    bool u = x.is_unsigned || y.is_unsigned;
    switch (op->symbol) {
    case '*': return of_integer(a * b, u);
    case '/':
    case '%':
        if (b == 0) {
            token_error(p, op, "division by zero in a constant expression");
            return x;
        }
        return of_integer(op->symbol == '%' ? a % b : divide(a, b, u),
                          u); /* the real assembler's remainder is unsigned */
    case '+': return of_integer(a + b, u);
    case '-': return of_integer(a - b, u);
    case TWO('<', '<'): return of_integer(shift(a, b, true, x.is_unsigned), x.is_unsigned);
    case TWO('>', '>'): return of_integer(shift(a, b, false, x.is_unsigned), x.is_unsigned);
    case '<': return of_integer(less(a, b, u), false);
    case '>': return of_integer(less(b, a, u), false);
    case TWO('<', '='): return of_integer(!less(b, a, u), false);
    case TWO('>', '='): return of_integer(!less(a, b, u), false);
    case TWO('=', '='): return of_integer(a == b, false);
    case TWO('!', '='): return of_integer(a != b, false);
    case '&': return of_integer(a & b, u);
    case '^': return of_integer(a ^ b, u);
    case '|': return of_integer(a | b, u);
    case TWO('&', '&'): return of_integer(a && b, false);
    default: return of_integer(a || b, false);
    }
}

/* "5 %x" reads as a name; where an operator is due, its first character is one. */
static void split_percent(struct parser *p)
{
    struct token *t = current(p);
    if (t->kind != TOKEN_NAME || t->text[0] != '%')
        return;
    lexer_seek(&p->lx, t->text + 1);
    t->kind = TOKEN_SYMBOL;
    t->symbol = '%';
    t->length = 1;
}

static struct constant parse_binary(struct parser *p, int lowest)
{
    struct constant left = parse_unary(p);
    for (;;) {
        split_percent(p);
        struct token op = *current(p);
        int level = op.kind == TOKEN_SYMBOL ? precedence(op.symbol) : 0;
        if (level == 0 || level < lowest)
            return left;
        lexer_next(&p->lx);
        struct constant right = parse_binary(p, level + 1);
        left = left.is_float || right.is_float ? apply_float(p, &op, as_double(left), as_double(right))
                                               : apply_integer(p, &op, left, right);
    }
}

static struct constant parse_ternary(struct parser *p)
{
    if (++p->nesting > DEEPEST_EXPRESSION) {
        token_error(p, current(p), "expression nested more than %d deep", DEEPEST_EXPRESSION);
        return of_integer(0, false);
    }
    struct constant c = parse_binary(p, 1);
    if (accept(p, '?')) {
        struct constant yes = parse_ternary(p);
        expect(p, ':');
        struct constant no = parse_ternary(p);
        c = is_true(c) ? yes : no;
    }
    p->nesting--;
    return c;
}

struct constant parse_constant(struct parser *p) { return parse_ternary(p); }

int64_t parse_integer(struct parser *p)
{
    struct token at = *current(p);
    struct constant c = parse_constant(p);
    if (c.is_float)
        token_error(p, &at, "expected an integer, found a floating-point constant");
    return c.integer;
}

int64_t parse_offset(struct parser *p)
{
    uint64_t offset = 0;
    while (at_symbol(p, '+') || at_symbol(p, '-')) {
        bool minus = at_symbol(p, '-');
        lexer_next(&p->lx);
        struct token at = *current(p);
        struct constant c = parse_binary(p, 10); /* up to the next + or - */
        if (c.is_float)
            token_error(p, &at, "an offset is an integer");
        offset += minus ? 0 - (uint64_t)c.integer : (uint64_t)c.integer;
    }
    return (int64_t)offset;
}
