/* Kernels and instructions that moved. Launches are matched by the kernel's name and their order; instructions by
 * kernel, pc and text, so that those of another program match only where they are the same. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- kernels */

static struct compare_kernel *kernel_named(struct comparison *c, const char *name)
{
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (!strcmp(c->kernels[i].name, name))
            return &c->kernels[i];
    c->kernels[c->kernel_count] = (struct compare_kernel){.name = name};
    return &c->kernels[c->kernel_count++];
}

/* The next launch of this kernel, from *at on; NULL: there is none. */
static const struct compare_launch *next_launch(const struct compare_run *r, const char *kernel, uint32_t *at)
{
    while (*at < r->launch_count)
        if (!strcmp(r->launches[(*at)++].kernel, kernel))
            return &r->launches[*at - 1];
    return NULL;
}

static void match_launches(const struct comparison *c, struct compare_kernel *k)
{
    uint32_t at_a = 0, at_b = 0;
    for (;;) {
        const struct compare_launch *a = next_launch(c->a, k->name, &at_a), *b = next_launch(c->b, k->name, &at_b);
        if (!a && !b)
            return;
        k->only_a += !b;
        k->only_b += !a;
        if (!a || !b)
            continue;
        if (fabs(b->cycles - a->cycles) > fabs(k->most_b - k->most_a)) {
            k->most = k->launches;
            k->most_a = a->cycles;
            k->most_b = b->cycles;
        }
        k->launches++;
        k->a += a->cycles;
        k->b += b->cycles;
    }
}

static int by_cycles(const void *a, const void *b)
{
    const struct compare_kernel *x = a, *y = b;
    double dx = fabs(x->b - x->a), dy = fabs(y->b - y->a);
    return dx != dy ? (dx < dy) - (dx > dy) : strcmp(x->name, y->name);
}

static void list_kernels(struct arena *a, struct comparison *c)
{
    uint32_t kept = 0;
    c->kernels = arena_array(a, struct compare_kernel, c->a->launch_count + c->b->launch_count + 1);
    for (uint32_t i = 0; i < c->a->launch_count; i++)
        kernel_named(c, c->a->launches[i].kernel);
    for (uint32_t i = 0; i < c->b->launch_count; i++)
        kernel_named(c, c->b->launches[i].kernel);
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        struct compare_kernel *k = &c->kernels[i];
        match_launches(c, k);
        if (k->only_a || k->only_b || k->most_a != k->most_b)
            c->kernels[kept++] = *k;
    }
    c->kernel_count = kept;
    if (kept)
        qsort(c->kernels, kept, sizeof *c->kernels, by_cycles);
}

/* ------------------------------------------------------------- instructions */

static int same_instruction(const struct compare_instruction *x, const struct compare_instruction *y)
{
    int order = strcmp(x->kernel, y->kernel);
    if (!order)
        order = (x->pc > y->pc) - (x->pc < y->pc);
    return order ? order : strcmp(x->text, y->text);
}

static int by_stalled(const void *a, const void *b)
{
    const struct compare_line *x = a, *y = b;
    double dx = fabs(x->b->stalled - x->a->stalled), dy = fabs(y->b->stalled - y->a->stalled);
    return dx != dy ? (dx < dy) - (dx > dy) : same_instruction(x->a, y->a);
}

const char *compare_line_reason(const struct compare_line *l)
{
    int most = -1;
    double moved = 0;
    for (int i = 0; i < COMPARE_MOST_REASONS; i++)
        if (fabs(l->b->waits[i] - l->a->waits[i]) > moved) {
            moved = fabs(l->b->waits[i] - l->a->waits[i]);
            most = i;
        }
    return most < 0 ? "" : compare_reason((uint32_t)most);
}

static void list_lines(struct arena *a, struct comparison *c)
{
    uint32_t i = 0, j = 0;
    c->has_lines = c->a->has_instructions && c->b->has_instructions;
    c->lines = arena_array(a, struct compare_line, c->a->instruction_count + 1);
    while (c->has_lines && i < c->a->instruction_count && j < c->b->instruction_count) {
        const struct compare_instruction *x = &c->a->instructions[i], *y = &c->b->instructions[j];
        int order = same_instruction(x, y);
        if (!order && x->stalled != y->stalled)
            c->lines[c->line_count++] = (struct compare_line){x, y};
        i += order <= 0;
        j += order >= 0;
    }
    if (c->line_count)
        qsort(c->lines, c->line_count, sizeof *c->lines, by_stalled);
}

void compare_launches(struct arena *a, struct comparison *c)
{
    list_kernels(a, c);
    list_lines(a, c);
}
