/* Expressions over metrics: recursive descent into a small tree, evaluated again and again.
 *
 *   sum     = product { ('+' | '-') product }
 *   product = factor { ('*' | '/') factor }
 *   factor  = number | name | '(' sum ')' | '-' factor
 *
 * A name is words of letters, digits and '_' with dots between. Its first word may hold '-' between letters
 * ("two-level.switches"), as the names of policies do, so a minus after a name needs a blank. Whether a metric of a
 * name exists is not asked here. */
#include "experiment/expression.h"
#include "experiment/reader.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 100, LONGEST = 5000 /* nodes: a long chain is a deep tree, and evaluation goes down it */ };

struct node {
    char kind; /* + - * / of two, n negated left, # number, m metric */
    struct node *left, *right;
    double number;
    uint32_t metric;
};

struct expression {
    struct node *root;
    const char **names;
    uint32_t name_count, name_room;
};

struct parsing {
    struct arena *arena;
    struct expression *out;
    const char *text, *at;
    const struct source *source;
    int line, column, depth, nodes;
    struct error *error;
};

static struct node *wrong(struct parsing *p, const char *at, const char *expected)
{
    error_at(p->error, ERROR_SYNTAX, p->source, p->line, p->column + (int)(at - p->text), "%s", expected);
    return NULL;
}

static char peek(struct parsing *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
    return *p->at;
}

static struct node *new_node(struct parsing *p, char kind, struct node *left, struct node *right)
{
    struct node *n = arena_new(p->arena, struct node);
    *n = (struct node){.kind = kind, .left = left, .right = right};
    return p->nodes++ < LONGEST ? n : wrong(p, p->at, "this expression is too long");
}

static struct node *parse_sum(struct parsing *p);

static struct node *parse_number(struct parsing *p)
{
    const char *start = p->at;
    while (isdigit((unsigned char)*p->at) || *p->at == '.')
        p->at++;
    if ((*p->at == 'e' || *p->at == 'E') &&
        (isdigit((unsigned char)p->at[1]) ||
         ((p->at[1] == '+' || p->at[1] == '-') && isdigit((unsigned char)p->at[2])))) {
        p->at += 2;
        while (isdigit((unsigned char)*p->at))
            p->at++;
    }
    struct node *n = new_node(p, '#', NULL, NULL);
    if (!n)
        return NULL;
    if (isalpha((unsigned char)*p->at) || *p->at == '_' ||
        !lab_number((struct lab_word){start, (size_t)(p->at - start)}, &n->number))
        return wrong(p, start, "expected a number");
    return n;
}

static bool in_name(const char *at, bool first_word)
{
    return isalnum((unsigned char)*at) || *at == '_' || *at == '.' ||
           (first_word && *at == '-' && isalpha((unsigned char)at[1]));
}

static uint32_t metric_number(struct parsing *p, const char *name, size_t length)
{
    struct expression *x = p->out;
    for (uint32_t i = 0; i < x->name_count; i++)
        if (strlen(x->names[i]) == length && memcmp(x->names[i], name, length) == 0)
            return i;
    x->names = lab_grow(p->arena, x->names, x->name_count, &x->name_room, sizeof *x->names);
    x->names[x->name_count] = arena_strndup(p->arena, name, length);
    return x->name_count++;
}

static struct node *parse_name(struct parsing *p)
{
    const char *start = p->at;
    bool first_word = true;
    for (; in_name(p->at, first_word); p->at++)
        first_word &= *p->at != '.';
    struct node *n = new_node(p, 'm', NULL, NULL);
    if (n)
        n->metric = metric_number(p, start, (size_t)(p->at - start));
    return n;
}

static struct node *parse_factor(struct parsing *p)
{
    char c = peek(p);
    const char *start = p->at;
    struct node *inner = NULL;
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(p);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_name(p);
    if (c != '(' && c != '-')
        return wrong(p, start, "expected a metric, a number or '('");
    if (p->depth == DEEPEST)
        return wrong(p, start, "this expression is nested too deeply");
    p->at++;
    p->depth++;
    if (c == '-') {
        inner = parse_factor(p);
        inner = inner ? new_node(p, 'n', inner, NULL) : NULL;
    } else {
        inner = parse_sum(p);
        if (inner && peek(p) != ')')
            inner = *p->at ? wrong(p, p->at, "expected an operator or ')'") : wrong(p, start, "this '(' is not closed");
        else if (inner)
            p->at++;
    }
    p->depth--;
    return inner;
}

static struct node *parse_product(struct parsing *p)
{
    struct node *left = parse_factor(p);
    while (left && (peek(p) == '*' || *p->at == '/')) {
        char kind = *p->at++;
        struct node *right = parse_factor(p);
        left = right ? new_node(p, kind, left, right) : NULL;
    }
    return left;
}

static struct node *parse_sum(struct parsing *p)
{
    struct node *left = parse_product(p);
    while (left && (peek(p) == '+' || *p->at == '-')) {
        char kind = *p->at++;
        struct node *right = parse_product(p);
        left = right ? new_node(p, kind, left, right) : NULL;
    }
    return left;
}

struct expression *expression_parse(struct arena *a, const char *text, const struct source *source, int line,
                                    int column, struct error *e)
{
    struct expression *x = arena_new(a, struct expression);
    struct parsing p = {
        .arena = a, .out = x, .text = text, .at = text, .source = source, .line = line, .column = column, .error = e};
    x->root = parse_sum(&p);
    if (x->root && peek(&p))
        x->root =
            wrong(&p, p.at, *p.at == ')' ? "this ')' closes nothing" : "expected an operator (+ - * /) or the end");
    return x->root ? x : NULL;
}

uint32_t expression_names(const struct expression *x, const char *const **names)
{
    *names = x->names;
    return x->name_count;
}

static double value_of(const struct node *n, const double *values)
{
    if (n->kind == '#')
        return n->number;
    if (n->kind == 'm')
        return values[n->metric];
    double left = value_of(n->left, values);
    if (n->kind == 'n')
        return -left;
    double right = value_of(n->right, values);
    switch (n->kind) {
    case '+': return left + right;
    case '-': return left - right;
    case '*': return left * right;
    default: return right == 0 ? NAN : left / right;
    }
}

double expression_value(const struct expression *x, const double *values)
{
    double value = value_of(x->root, values);
    return isfinite(value) ? value : NAN;
}
