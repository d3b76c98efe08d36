/*
 * Control flow: if and else, conditions of two branches, jumps between the arms, loops whose trip counts depend on the
 * data, breaks out of nested code, switches through brx.idx, threads that leave on their own. Everything ends: trip
 * counts are
 * small. */
#include "random.h"

static int fresh_condition(struct generator *g)
{
    static const char *const compares[] = {"eq.u32", "ne.s32", "lt.u32", "ge.u32", "gt.u32"};
    int t = masked_value(g, 7), q = temporary(g);
    const char *compare = compares[rng_below(&g->rng, 5)];
    text_add(&g->body, "    setp.%s %%q%d, %%t%d, %u;\n", compare, q, t, rng_below(&g->rng, 8));
    return q;
}

/* The same for all threads of the block. */
static int uniform_condition(struct generator *g)
{
    int t = temporary(g), u = temporary(g), q = temporary(g);
    text_add(&g->body,
             "    mov.u32 %%t%d, %%ctaid.x;\n    ld.param.u32 %%t%d, [word];\n    shr.u32 %%t%d, %%t%d, %u;\n", t, u, u,
             u, rng_below(&g->rng, 30));
    text_add(&g->body,
             "    xor.b32 %%t%d, %%t%d, %%t%d;\n    and.b32 %%t%d, %%t%d, 1;\n    setp.eq.u32 %%q%d, %%t%d, 0;\n", t, t,
             u, t, t, q, t);
    return q;
}

static void if_statement(struct generator *g)
{
    int uniform = !g->inside_function && rng_percent(&g->rng, 30), with_else = rng_percent(&g->rng, 50);
    int q = uniform ? uniform_condition(g) : fresh_condition(g);
    int other = label(g), end = label(g);
    text_add(&g->body, "    @%%q%d bra%s L%d;\n", q, uniform && rng_percent(&g->rng, 50) ? ".uni" : "", other);
    g->divergent += !uniform;
    block_statements(g, 1 + (int)rng_below(&g->rng, 4));
    if (with_else)
        text_add(&g->body, "    bra L%d;\n", end);
    text_add(&g->body, "L%d:\n", other);
    if (with_else) {
        block_statements(g, 1 + (int)rng_below(&g->rng, 4));
        text_add(&g->body, "L%d:\n", end);
    }
    g->divergent -= !uniform;
}

/* if (a && b) or if (a || b), with one test after the other. */
static void two_conditions(struct generator *g)
{
    int first = fresh_condition(g), both = rng_percent(&g->rng, 50);
    int other = label(g), end = label(g), then = label(g);
    text_add(&g->body, "    @%s%%q%d bra L%d;\n", both ? "!" : "", first, both ? other : then);
    g->divergent++;
    if (rng_percent(&g->rng, 40))
        pattern_statement(g);
    int second = fresh_condition(g);
    text_add(&g->body, "    @!%%q%d bra L%d;\nL%d:\n", second, other, then);
    block_statements(g, 1 + (int)rng_below(&g->rng, 3));
    text_add(&g->body, "    bra L%d;\nL%d:\n", end, other);
    block_statements(g, 1 + (int)rng_below(&g->rng, 3));
    text_add(&g->body, "L%d:\n", end);
    g->divergent--;
}

/* Some lanes of the first arm go on in the middle of the second. */
static void crossing_arms(struct generator *g)
{
    int q = fresh_condition(g), other = label(g), middle = label(g), end = label(g);
    text_add(&g->body, "    @%%q%d bra L%d;\n", q, other);
    g->divergent++;
    block_statements(g, 1 + (int)rng_below(&g->rng, 2));
    int across = fresh_condition(g);
    text_add(&g->body, "    @%%q%d bra L%d;\n", across, middle);
    block_statements(g, 1 + (int)rng_below(&g->rng, 2));
    text_add(&g->body, "    bra L%d;\nL%d:\n", end, other);
    block_statements(g, 1 + (int)rng_below(&g->rng, 2));
    text_add(&g->body, "L%d:\n", middle);
    block_statements(g, 1 + (int)rng_below(&g->rng, 2));
    text_add(&g->body, "L%d:\n", end);
    g->divergent--;
}

static void maybe_jump(struct generator *g, int target)
{
    if (!rng_percent(&g->rng, 35))
        return;
    int q = fresh_condition(g);
    text_add(&g->body, "    @%%q%d bra L%d;\n", q, target);
}

static void loop_statement(struct generator *g)
{
    int uniform = rng_percent(&g->rng, 30), test_first = rng_percent(&g->rng, 50);
    int start = label(g), latch = label(g), end = label(g), outer_break = g->break_label, counter = g->counters++,
        q = temporary(g);
    if (uniform) {
        text_add(&g->body, "    mov.u32 %%c%d, %u;\n", counter, 1 + rng_below(&g->rng, 4));
    } else {
        int t = masked_value(g, 7);
        text_add(&g->body, "    mov.u32 %%c%d, %%t%d;\n", counter, t);
    }
    text_add(&g->body, "L%d:\n", start);
    if (test_first)
        text_add(&g->body, "    setp.eq.s32 %%q%d, %%c%d, 0;\n    @%%q%d bra L%d;\n", q, counter, q, end);
    g->divergent += !uniform;
    g->loop_depth++;
    g->uniform_loops += uniform;
    g->break_label = uniform ? -1 : end;
    block_statements(g, 1 + (int)rng_below(&g->rng, 3));
    if (!uniform) {
        maybe_jump(g, rng_percent(&g->rng, 50) ? end : latch);
        block_statements(g, 1 + (int)rng_below(&g->rng, 3));
    }
    g->break_label = outer_break;
    g->uniform_loops -= uniform;
    g->loop_depth--;
    g->divergent -= !uniform;
    text_add(&g->body, "L%d:\n    sub.s32 %%c%d, %%c%d, 1;\n", latch, counter, counter);
    if (test_first)
        text_add(&g->body, "    bra L%d;\n", start);
    else
        text_add(&g->body, "    setp.gt.s32 %%q%d, %%c%d, 0;\n    @%%q%d bra L%d;\n", q, counter, q, start);
    text_add(&g->body, "L%d:\n", end);
}

static void switch_statement(struct generator *g)
{
    unsigned cases = 2 + rng_below(&g->rng, 4);
    int targets = label(g), end = label(g), first = g->labels, t = masked_value(g, 63);
    g->labels += (int)cases;
    text_add(&g->body, "    rem.u32 %%t%d, %%t%d, %u;\nT%d: .branchtargets ", t, t, cases, targets);
    for (unsigned i = 0; i < cases; i++)
        text_add(&g->body, "%sL%d", i ? ", " : "", first + (int)i);
    text_add(&g->body, ";\n    brx.idx %%t%d, T%d;\n", t, targets);
    g->divergent++;
    for (unsigned i = 0; i < cases; i++) {
        text_add(&g->body, "L%d:\n", first + (int)i);
        block_statements(g, 1 + (int)rng_below(&g->rng, 2));
        if (i + 1 < cases && rng_percent(&g->rng, 70))
            text_add(&g->body, "    bra L%d;\n", end);
    }
    g->divergent--;
    text_add(&g->body, "L%d:\n", end);
}

/* Lanes leave in the middle of divergent code: the kernel, the function, or the loop around. */
static void leave_alone(struct generator *g)
{
    int q = fresh_condition(g);
    if (g->break_label >= 0 && rng_percent(&g->rng, 60)) {
        text_add(&g->body, "    @%%q%d bra L%d;\n", q, g->break_label);
    } else if (g->inside_function) {
        function_return(g, q);
    } else if (g->uniform_loops == 0 && g->budget < 15) {
        int r = fresh_condition(g);
        text_add(&g->body, "    and.pred %%q%d, %%q%d, %%q%d;\n    @%%q%d %s;\n", q, q, r, q,
                 rng_percent(&g->rng, 50) ? "exit" : "ret");
        g->collectives_end = 1;
    }
}

void flow_statement(struct generator *g)
{
    g->depth++;
    unsigned kind = rng_below(&g->rng, 100);
    if (kind < 30)
        if_statement(g);
    else if (kind < 40)
        two_conditions(g);
    else if (kind < 48)
        crossing_arms(g);
    else if (kind < 74)
        loop_statement(g);
    else if (kind < 88 && !g->mixable)
        switch_statement(g);
    else if (kind < 88)
        crossing_arms(g);
    else if (g->divergent || g->inside_function)
        leave_alone(g);
    else
        loop_statement(g);
    g->depth--;
}

static void statement(struct generator *g)
{
    int together = !g->divergent && !g->collectives_end && !g->inside_function;
    unsigned kind = rng_below(&g->rng, 100);
    g->budget--;
    if ((kind < 16 || (g->mixable && kind >= 85)) && g->depth < 4)
        flow_statement(g);
    else if (kind < 21 && g->function_count)
        call_statement(g);
    else if (kind < 35)
        memory_statement(g);
    else if (kind < 39 && !g->inside_function)
        atomic_statement(g);
    else if (kind < 52 && together)
        warp_statement(g);
    else
        pattern_statement(g);
}

void block_statements(struct generator *g, int count)
{
    for (int i = 0; i < count && g->budget > 0; i++)
        statement(g);
}
