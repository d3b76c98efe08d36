/* Prints where two issue orders part: see schedule_print.h. */
#include "cli/schedule_print.h"

#include "cli/cli.h"
#include "cli/text_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TEXT_WIDTH = 44, NUMBER = 32 };

static const char *grouped(uint64_t n, char out[NUMBER]) { return cli_grouped(n, out, NUMBER); }

/* Runs that do not launch the same kernels cannot have the same order, and that says more than the order does. */
static void print_launches(struct order_file *const f[2], FILE *to)
{
    uint32_t n = 0;
    while (n < f[0]->launch_count && n < f[1]->launch_count &&
           !strcmp(f[0]->launches[n].kernel, f[1]->launches[n].kernel) &&
           f[0]->launches[n].number == f[1]->launches[n].number)
        n++;
    if (n < f[0]->launch_count || n < f[1]->launch_count)
        fprintf(to, "The runs do not launch the same kernels: after %u launches they differ (A has %u, B %u).\n", n,
                f[0]->launch_count, f[1]->launch_count);
    for (int i = 0; i < 2; i++)
        if (f[i]->cut)
            fprintf(to, "%s ends in the middle: what was written before is compared.\n", f[i]->path);
    if (f[0]->cores != f[1]->cores)
        fprintf(to, "The machines have %u and %u cores: those that both have are compared.\n", f[0]->cores,
                f[1]->cores);
}

static void print_runs(struct order_file *const f[2], const char *const names[2], FILE *to)
{
    char n[NUMBER];
    for (int i = 0; i < 2; i++)
        fprintf(to, "%c  %s: %s, machine %s, scheduler %s, L1 policy %s; %s issues\n", 'A' + i, names[i], f[i]->program,
                f[i]->machine, f[i]->scheduler, f[i]->l1, grouped(f[i]->issues, n));
    fputc('\n', to);
    print_launches(f, to);
}

static void print_issue(const struct order_file *f, const struct order_issue *i, FILE *to)
{
    char n[NUMBER];
    fprintf(to, "cycle %s: block %" PRIu64 ", warp %u, pc %u  %.*s", grouped(i->cycle, n), i->warp.block, i->warp.index,
            i->pc, TEXT_WIDTH, order_text(f, i->warp.launch, i->pc));
    if (f->launch_count > 1)
        fprintf(to, "  (launch %" PRIu64 ")", i->warp.launch);
    fputc('\n', to);
}

static void print_first(const struct difference *d, struct order_file *const f[2], FILE *to)
{
    const struct core_difference *c = &d->cores[d->earliest];
    char n[NUMBER];
    fprintf(to, "The issue orders differ on %u of %u cores; first on core %u, after %s common issues:\n", d->differing,
            d->core_count, d->earliest, grouped(c->common, n));
    for (int i = 0; i < 2 && c->common; i++) {
        fprintf(to, "  last common in %c  ", 'A' + i);
        print_issue(f[i], &c->last[i], to);
    }
    for (int i = 0; i < 2; i++) {
        fprintf(to, "  then in %c         ", 'A' + i);
        if (c->has[i])
            print_issue(f[i], &c->first[i], to);
        else
            fputs("no more issues\n", to);
    }
}

static void cell_of_issue(struct text_table *t, const struct core_difference *c, int which)
{
    char n[NUMBER];
    const struct order_issue *i = &c->first[which];
    if (c->has[which])
        text_table_cell(t, "%s: block %" PRIu64 ", warp %u, pc %u", grouped(i->cycle, n), i->warp.block, i->warp.index,
                        i->pc);
    else
        text_table_cell(t, "none");
}

static void print_cores(const struct difference *d, FILE *to)
{
    static const char *const titles[] = {
        ">core", ">issues in A", ">in B", ">common", ">last in cycle (A, B)", "first in A: cycle", "first in B: cycle",
        NULL};
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    char n[NUMBER], m[NUMBER];
    for (uint32_t i = 0; i < d->core_count; i++) {
        const struct core_difference *c = &d->cores[i];
        if (!c->differs)
            continue;
        text_table_cell(&t, "%u", i);
        text_table_cell(&t, "%s", grouped(c->issues[0], n));
        text_table_cell(&t, "%s", grouped(c->issues[1], n));
        text_table_cell(&t, "%s", grouped(c->common, n));
        if (c->common)
            text_table_cell(&t, "%s, %s", grouped(c->last[0].cycle, n), grouped(c->last[1].cycle, m));
        else
            text_table_cell(&t, "-");
        cell_of_issue(&t, c, 0);
        cell_of_issue(&t, c, 1);
    }
    fputc('\n', to);
    text_table_print(&t, "  ", to);
    arena_free(&a);
}

static void print_growth(const struct difference *d, FILE *to)
{
    static const char *const titles[] = {
        ">issues of a core", ">in the same place", ">B later, mean", ">spread", ">least", ">most", NULL};
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    char n[NUMBER];
    for (uint32_t i = 0; i < d->row_count; i++) {
        const struct difference_row *r = &d->rows[i];
        text_table_cell(&t, "up to %s", grouped(r->end, n));
        text_table_cell(&t, "%.1f%%", r->places ? 100.0 * (double)r->same / (double)r->places : 0);
        if (!r->pairs) {
            for (int k = 0; k < 4; k++)
                text_table_cell(&t, "-");
            continue;
        }
        double mean = r->sum / (double)r->pairs, variance = r->squares / (double)r->pairs - mean * mean;
        text_table_cell(&t, "%+.0f", mean);
        text_table_cell(&t, "%.0f", variance > 0 ? sqrt(variance) : 0);
        text_table_cell(&t, "%+" PRId64, r->least);
        text_table_cell(&t, "%+" PRId64, r->most);
    }
    fputs("\nHow the difference grows, all cores together: issues at the same place of a core's order, and by how many "
          "cycles\nB issues the same instruction of the same warp later (spread: standard deviation):\n",
          to);
    text_table_print(&t, "  ", to);
    if (d->one_of > 1)
        fprintf(to, "Cycles are of one warp in %u.\n", d->one_of);
    if (d->lost)
        fprintf(to, "%s instructions of A have none in B: their warps go another way there.\n", grouped(d->lost, n));
    arena_free(&a);
}

static void print_shift(const struct difference *d, FILE *to)
{
    char n[NUMBER];
    fprintf(to, "The issue orders are equal on all %u cores, but not in the same cycles on %u of them:\n",
            d->core_count, d->shifted);
    for (uint32_t i = 0; i < d->core_count; i++)
        if (d->cores[i].later)
            fprintf(to, "  core %u: after %s issues\n", i, grouped(d->cores[i].same_cycles, n));
}

void schedule_print(const struct difference *d, struct order_file *const files[2], const char *const names[2], FILE *to)
{
    print_runs(files, names, to);
    if (!d->row_count) {
        fputs("Neither run has issued anything.\n", to);
        return;
    }
    if (!d->differing && !d->shifted) {
        fprintf(to, "The two issue orders are equal: the same instructions in the same cycles, on all %u cores.\n",
                d->core_count);
        return;
    }
    if (d->differing) {
        print_first(d, files, to);
        print_cores(d, to);
    } else {
        print_shift(d, to);
    }
    print_growth(d, to);
}
