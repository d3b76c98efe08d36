/*
 * Device functions: parameters and results of all types in .param or .reg form, structures, early returns, functions
 * that call functions, recursion of small depth, and calls through pointers taken by mov or from a
 * table. */
#include "random.h"
#include <string.h>

static const char *param_type(char class)
{
    return class == 'f' ? "f32" : class == 'd' ? "f64" : class == 'l' ? "b64" : class == 'h' ? "b16" : "b32";
}

static void declare(struct text *text, int by_register, char class, const char *name)
{
    if (class == 'S')
        text_add(text, ".param .align 8 .b8 %s[16]", name);
    else
        text_add(text, ".%s .%s %s%s", by_register ? "reg" : "param", param_type(class), by_register ? "%" : "", name);
}

static void pick_signature(struct generator *g, struct signature *signature, int indirect)
{
    static const char classes[] = "wwwlfdS", results[] = "wwlfdS";
    signature->by_register = !indirect && rng_percent(&g->rng, 20);
    signature->parameters = 1 + (int)rng_below(&g->rng, MAX_SIGNATURE - 1);
    for (int i = 0; i < signature->parameters; i++)
        signature->parameter[i] = classes[rng_below(&g->rng, signature->by_register ? 6 : 7)];
    signature->results = indirect || rng_percent(&g->rng, 85);
    signature->result[0] = results[rng_below(&g->rng, signature->by_register ? 5 : 6)];
}

static void add_prototype(struct text *text, const struct signature *signature, const char *name, int anonymous)
{
    char parameter[16] = "_";
    if (signature->results) {
        text_add(text, "(");
        declare(text, signature->by_register, signature->result[0], anonymous ? "_" : "result");
        text_add(text, ") ");
    }
    text_add(text, "%s (", name);
    for (int i = 0; i < signature->parameters; i++) {
        if (!anonymous)
            sprintf(parameter, "arg%d", i);
        text_add(text, "%s", i ? ", " : "");
        declare(text, signature->by_register, signature->parameter[i], parameter);
    }
    text_add(text, ")");
}

/* Folds a parameter into %mixed, and keeps it in a register of the pool too. */
static void take_parameter(struct generator *g, const struct signature *signature, int i)
{
    char class = signature->parameter[i];
    struct text *body = &g->body;
    int t = temporary(g);
    if (class == 'S') {
        text_add(body,
                 "    ld.param.b64 %%a%d, [arg%d];\n    ld.param.b64 %%shifted, [arg%d+8];\n    xor.b64 %%mixed, "
                 "%%mixed, %%shifted;\n",
                 t, i, i);
        text_add(body, "    mad.lo.u64 %%mixed, %%mixed, 0x9E3779B97F4A7C15, %%a%d;\n", t);
        return;
    }
    const char *type = param_type(class), *kept = register_pick(g, class);
    if (signature->by_register)
        text_add(body, "    mov.%s %s, %%arg%d;\n", type, kept, i);
    else
        text_add(body, "    ld.param.%s %s, [arg%d];\n", type, kept, i);
    if (class == 'w' || class == 'f')
        text_add(body, "    mov.b32 %%t%d, %s;\n    cvt.u64.u32 %%a%d, %%t%d;\n", t, kept, t, t);
    else
        text_add(body, "    mov.b64 %%a%d, %s;\n", t, kept);
    text_add(body, "    mad.lo.u64 %%mixed, %%mixed, 0x9E3779B97F4A7C15, %%a%d;\n", t);
}

static void give_result(struct generator *g, const struct signature *signature)
{
    char class = signature->result[0];
    if (!signature->results)
        return;
    if (class == 'S') {
        const char *first = register_pick(g, 'l'), *second = register_pick(g, 'd');
        text_add(&g->body, "    st.param.b64 [result], %s;\n    st.param.f64 [result+8], %s;\n", first, second);
        return;
    }
    const char *value = register_pick(g, class);
    if (signature->by_register)
        text_add(&g->body, "    mov.%s %%result, %s;\n", param_type(class), value);
    else
        text_add(&g->body, "    st.param.%s [result], %s;\n", param_type(class), value);
}

void function_return(struct generator *g, int condition)
{
    int over = label(g);
    text_add(&g->body, "    @!%%q%d bra L%d;\n", condition, over);
    give_result(g, g->returning);
    text_add(&g->body, "    ret;\nL%d:\n", over);
}

static void declare_temporaries(struct text *text, const struct generator *g)
{
    int count = g->temporaries + 1;
    text_add(text, "    .reg .b32 %%t<%d>;\n    .reg .b64 %%a<%d>;\n    .reg .b16 %%k<%d>;\n    .reg .pred %%q<%d>;\n",
             count, count, count, count);
    text_add(text, "    .reg .b32 %%c<%d>, %%traced, %%shadow;\n", g->counters + 1);
}

static void define(struct generator *g, int index)
{
    struct function *function = &g->functions[index];
    struct signature named = function->signature;
    char name[16];
    sprintf(name, "f%d", index);
    g->body = (struct text){0};
    g->temporaries = g->counters = 0;
    g->budget = 4 + (int)rng_below(&g->rng, 8);
    g->break_label = -1;
    g->returning = &named;
    text_add(&g->body, "    mov.u64 %%mixed, %u;\n    mov.u32 %%shadow, 5;\n", rng_below(&g->rng, 1000));
    /* Parameters are folded before the pools get their first values, then read again into the pools. */
    struct text keep = {0};
    for (int i = 0; i < named.parameters; i++) {
        size_t from = g->body.size;
        take_parameter(g, &named, i);
        text_append(&keep, g->body.data + from, g->body.size - from);
    }
    registers_derive(g);
    for (int i = 0; i < LOCAL_BYTES; i += 8)
        text_add(&g->body,
                 "    mad.lo.u64 %%mixed, %%mixed, 2862933555777941757, 3037000493;\n    st.local.b64 [stack+%d], "
                 "%%mixed;\n",
                 i);
    text_append(&g->body, keep.data, keep.size);
    text_free(&keep);
    block_statements(g, g->budget);
    give_result(g, &named);
    text_add(&g->body, "    ret;\n");
    text_add(&g->head, ".func ");
    add_prototype(&g->head, &named, name, 0);
    text_add(&g->head,
             "\n{\n    .local .align 16 .b8 stack[%d];\n    .reg .b64 %%mixed, %%shifted;\n    .reg .b16 %%derived;\n",
             LOCAL_BYTES);
    registers_declare(&g->head);
    declare_temporaries(&g->head, g);
    text_append(&g->head, g->body.data, g->body.size);
    text_add(&g->head, "}\n\n");
    text_free(&g->body);
    g->function_count++;
}

/* The function that calls itself: some arithmetic on the way down, some on the way up. */
static void define_recursion(struct generator *g)
{
    unsigned a = rng_below(&g->rng, 1000000) | 1, b = rng_below(&g->rng, 31) + 1;
    text_add(&g->head, ".func (.param .b32 result) deeper (.param .b32 a0, .param .b32 a1)\n{\n    .reg .b32 %%r<8>;\n "
                       "   .reg .pred %%p;\n");
    text_add(&g->head, "    ld.param.b32 %%r0, [a0];\n    ld.param.b32 %%r1, [a1];\n    setp.eq.u32 %%p, %%r0, 0;\n    "
                       "@%%p bra DONE;\n");
    text_add(&g->head,
             "    mad.lo.u32 %%r2, %%r1, %u, %%r0;\n    sub.u32 %%r3, %%r0, 1;\n    {\n    .param .b32 p0;\n    .param "
             ".b32 p1;\n    .param .b32 q;\n",
             a);
    text_add(&g->head, "    st.param.b32 [p0], %%r3;\n    st.param.b32 [p1], %%r2;\n    call (q), deeper, (p0, p1);\n  "
                       "  ld.param.b32 %%r4, [q];\n    }\n");
    text_add(&g->head,
             "    shf.l.wrap.b32 %%r5, %%r4, %%r4, %u;\n    xor.b32 %%r1, %%r1, %%r5;\nDONE:\n    st.param.b32 "
             "[result], %%r1;\n    ret;\n}\n\n",
             b);
}

void functions_define(struct generator *g)
{
    int direct = (int)rng_below(&g->rng, 3), indirect = rng_percent(&g->rng, 40) ? 2 + (int)rng_below(&g->rng, 2) : 0;
    g->inside_function = 1;
    for (int i = 0; i < direct + indirect; i++) {
        struct function *function = &g->functions[i];
        function->indirect = i >= direct;
        if (i > direct)
            function->signature = g->functions[direct].signature;
        else
            pick_signature(g, &function->signature, function->indirect);
        define(g, i);
    }
    g->recursion = rng_percent(&g->rng, 15);
    if (g->recursion)
        define_recursion(g);
    if (indirect) {
        text_add(&g->head, ".global .align 8 .u64 functions[4] = {");
        for (int i = 0; i < 4; i++)
            text_add(&g->head, "%sf%d", i ? ", " : "", direct + i % indirect);
        text_add(&g->head, "};\n");
    }
    g->inside_function = 0;
    g->temporaries = g->counters = 0;
}

static void store_argument(struct generator *g, char class, int i)
{
    if (class == 'S') {
        const char *first = register_pick(g, 'c'), *second = register_pick(g, 'w'), *third = register_pick(g, 'w');
        text_add(&g->body, "    st.param.b64 [p%d], %s;\n    st.param.v2.b32 [p%d+8], {%s, %s};\n", i, first, i, second,
                 third);
        return;
    }
    text_add(&g->body, "    st.param.%s [p%d], %s;\n", param_type(class), i, register_pick(g, class));
}

static void take_result(struct generator *g, const struct signature *signature, const char **d, char *classes)
{
    if (!signature->results)
        return;
    if (signature->result[0] == 'S') {
        d[0] = register_pick(g, 'l');
        d[1] = register_pick(g, 'd');
        classes[0] = 'l';
        classes[1] = 'd';
        text_add(&g->body, "    ld.param.b64 %s, [q];\n    ld.param.f64 %s, [q+8];\n", d[0], d[1]);
        return;
    }
    classes[0] = signature->result[0];
    d[0] = register_pick(g, classes[0]);
    text_add(&g->body, "    ld.param.%s %s, [q];\n", param_type(classes[0]), d[0]);
}

/* The pointer's register, chosen by the data among the functions of the common signature. */
static int function_pointer(struct generator *g, int first)
{
    int a = temporary(g), t = masked_value(g, 3), q = temporary(g);
    if (rng_percent(&g->rng, 50) && !g->inside_function) {
        text_add(&g->body,
                 "    mov.u64 %%a%d, functions;\n    mad.wide.u32 %%a%d, %%t%d, 8, %%a%d;\n    ld.global.u64 %%a%d, "
                 "[%%a%d];\n",
                 a, a, t, a, a, a);
        return a;
    }
    int b = temporary(g);
    text_add(&g->body, "    mov.u64 %%a%d, f%d;\n    mov.u64 %%a%d, f%d;\n    setp.lt.u32 %%q%d, %%t%d, 2;\n", a, first,
             b, first + 1, q, t);
    text_add(&g->body, "    selp.b64 %%a%d, %%a%d, %%a%d, %%q%d;\n", a, a, b, q);
    return a;
}

static void call_with_registers(struct generator *g, const struct signature *signature, int index)
{
    const char *d = signature->results ? register_pick(g, signature->result[0]) : NULL;
    text_add(&g->body, "    call ");
    if (d)
        text_add(&g->body, "(%s), ", d);
    text_add(&g->body, "f%d, (", index);
    for (int i = 0; i < signature->parameters; i++)
        text_add(&g->body, "%s%s", i ? ", " : "", register_pick(g, signature->parameter[i]));
    text_add(&g->body, ");\n");
    if (d)
        trace(g, signature->result[0], d);
}

static void call_recursion(struct generator *g)
{
    int t = masked_value(g, 3);
    const char *d = register_pick(g, 'w'), *source = register_pick(g, 'w');
    text_add(&g->body,
             "    {\n    .param .b32 p0;\n    .param .b32 p1;\n    .param .b32 q;\n    st.param.b32 [p0], %%t%d;\n    "
             "st.param.b32 [p1], %s;\n",
             t, source);
    text_add(&g->body, "    call (q), deeper, (p0, p1);\n    ld.param.b32 %s, [q];\n    }\n", d);
    trace(g, 'w', d);
}

void call_statement(struct generator *g)
{
    int index = (int)rng_below(&g->rng, (unsigned)g->function_count);
    const struct function *function = &g->functions[index];
    const struct signature *signature = &function->signature;
    const char *d[2] = {NULL, NULL};
    char classes[2] = {0, 0};
    if (g->recursion && !g->inside_function && rng_percent(&g->rng, 30)) {
        call_recursion(g);
        return;
    }
    if (signature->by_register) {
        call_with_registers(g, signature, index);
        return;
    }
    int first = index;
    while (first > 0 && function->indirect && g->functions[first - 1].indirect)
        first--;
    int pointer = -1, prototype = label(g);
    if (function->indirect && first + 1 < g->function_count && rng_percent(&g->rng, 80))
        pointer = function_pointer(g, first);
    int uniform = pointer < 0 && !g->divergent && !g->inside_function && rng_percent(&g->rng, 30);
    text_add(&g->body, "    {\n");
    for (int i = 0; i < signature->parameters; i++) {
        char name[16];
        sprintf(name, "p%d", i);
        text_add(&g->body, "    ");
        declare(&g->body, 0, signature->parameter[i], name);
        text_add(&g->body, ";\n");
    }
    if (signature->results) {
        text_add(&g->body, "    ");
        declare(&g->body, 0, signature->result[0], "q");
        text_add(&g->body, ";\n");
    }
    for (int i = 0; i < signature->parameters; i++)
        store_argument(g, signature->parameter[i], i);
    if (pointer >= 0) {
        text_add(&g->body, "    P%d: .callprototype ", prototype);
        add_prototype(&g->body, signature, "_", 1);
        text_add(&g->body, ";\n");
    }
    text_add(&g->body, "    call%s %s", uniform ? ".uni" : "", signature->results ? "(q), " : "");
    if (pointer >= 0)
        text_add(&g->body, "%%a%d, (", pointer);
    else
        text_add(&g->body, "f%d, (", index);
    for (int i = 0; i < signature->parameters; i++)
        text_add(&g->body, "%sp%d", i ? ", " : "", i);
    if (pointer >= 0)
        text_add(&g->body, "), P%d;\n", prototype);
    else
        text_add(&g->body, ");\n");
    take_result(g, signature, d, classes);
    text_add(&g->body, "    }\n");
    for (int i = 0; i < 2; i++)
        if (d[i])
            trace(g, classes[i], d[i]);
}
