/* heddle list schedulers, l1, divergence, probes, bundles: all from the tables that the policies declare. */
#include "cli/list_policies.h"

#include <stdio.h>
#include <string.h>

/* What a parameter may be: "1 to 8", "warp, block". */
static void write_range(const struct heddle_param *p, char *out, size_t size)
{
    out[0] = '\0';
    if (p->type == HEDDLE_FLAG)
        snprintf(out, size, "on, off");
    else if (p->type == HEDDLE_CHOICE)
        for (int i = 0; p->choices[i]; i++)
            snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? ", " : "", p->choices[i]);
    else if (p->type != HEDDLE_TEXT && (p->least != 0 || p->most != 0))
        snprintf(out, size, "%g to %g", p->least, p->most);
}

/* The storage card: bits of hardware, for a core with 64 warps. */
static void write_storage(const struct heddle_policy *p, char *out, size_t size)
{
    const struct {
        uint32_t bits;
        const char *of;
    } rows[] = {{p->bits_per_warp, "warp"}, {p->bits_per_core, "core"}, {p->bits_per_line, "cache line"}};
    out[0] = '\0';
    for (int i = 0; i < 3; i++)
        if (rows[i].bits)
            snprintf(out + strlen(out), size - strlen(out), "%s%u bit%s per %s", *out ? ", " : "", rows[i].bits,
                     rows[i].bits == 1 ? "" : "s", rows[i].of);
    if (!*out)
        snprintf(out, size, "none");
}

/* What a counter is counted in, and where it is not a sum, what it is. */
static void write_unit(const struct heddle_counter *c, char *out, size_t size)
{
    snprintf(out, size, "%s", c->unit);
    if (c->kind == HEDDLE_MAXIMUM)
        snprintf(out, size, "%s, maximum", c->unit);
    else if (c->kind == HEDDLE_HISTOGRAM)
        snprintf(out, size, "%s, histogram of %u buckets", c->unit, c->buckets);
}

static void print_plain(enum policy_kind kind, const struct heddle_policy *p)
{
    char range[256], storage[128], unit[128];
    write_storage(p, storage, sizeof storage);
    printf("%s\n    %s\n", p->name, p->help);
    for (const struct heddle_param *q = p->params; q && q->name; q++) {
        write_range(q, range, sizeof range);
        printf("    %s=%s  %s%s%s%s\n", q->name, q->default_value, q->help, *range ? " (" : "", range,
               *range ? ")" : "");
    }
    for (const struct heddle_counter *c = p->counters; c && c->name; c++) {
        write_unit(c, unit, sizeof unit);
        printf("    counts %s.%s (%s): %s\n", p->name, c->name, unit, c->help);
    }
    for (const struct heddle_counter *c = p->instructions; c && c->name; c++) {
        write_unit(c, unit, sizeof unit);
        printf("    counts for each instruction %s (%s): %s\n", c->name, unit, c->help);
    }
    if (kind != POLICY_PROBE)
        printf("    storage: %s\n", storage);
}

static void print_params(const struct heddle_policy *p)
{
    char range[256];
    for (const struct heddle_param *q = p->params; q && q->name; q++) {
        write_range(q, range, sizeof range);
        printf("%s`%s=%s` %s%s%s%s", q == p->params ? "" : "; ", q->name, q->default_value, q->help, *range ? " (" : "",
               range, *range ? ")" : "");
    }
}

/* Probes are no hardware, and docs/probes.md says what they count. */
static void print_markdown(enum policy_kind kind, const struct heddle_policy *p)
{
    char storage[128];
    write_storage(p, storage, sizeof storage);
    printf("| `%s` | %s | ", p->name, p->help);
    print_params(p);
    if (kind != POLICY_PROBE)
        printf(" | %s", storage);
    printf(" |\n");
}

void list_policies(enum policy_kind kind, bool markdown)
{
    const struct heddle_policy *p;
    if (markdown)
        printf(kind == POLICY_PROBE
                   ? "| name | rule | parameters, with their defaults |\n|---|---|---|\n"
                   : "| name | rule | parameters, with their defaults | storage |\n|---|---|---|---|\n");
    for (size_t i = 0; (p = policy_builtin(kind, i)); i++)
        markdown ? print_markdown(kind, p) : print_plain(kind, p);
}

void list_policy_names(enum policy_kind kind)
{
    const struct heddle_policy *p;
    for (size_t i = 0; (p = policy_builtin(kind, i)); i++)
        puts(p->name);
}

/* "-s gcaws --l1 cacp" */
static void write_members(const struct policy_bundle *b, char *out, size_t size)
{
    static const char *const options[POLICY_KINDS] = {"-s", "--l1", "--divergence", "--probe"};
    out[0] = '\0';
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        const char *member = policy_bundle_member(b, (enum policy_kind)kind);
        if (member)
            snprintf(out + strlen(out), size - strlen(out), "%s%s %s", *out ? " " : "", options[kind], member);
    }
}

void list_bundles(const struct policy_bundle *table, bool markdown)
{
    char members[512];
    if (markdown)
        printf("| name | what it is | stands for |\n|---|---|---|\n");
    for (const struct policy_bundle *b = table; b->name; b++) {
        write_members(b, members, sizeof members);
        if (markdown)
            printf("| `%s` | %s | `%s` |\n", b->name, b->help, members);
        else
            printf("%s\n    %s\n    stands for %s, with the parameters of these\n", b->name, b->help, members);
    }
}
