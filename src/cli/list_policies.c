/* heddle list schedulers, l1, divergence: all from the tables that the policies declare. */
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
    const struct { uint32_t bits; const char *of; } rows[] = {{p->bits_per_warp, "warp"}, {p->bits_per_core, "core"}, {p->bits_per_line, "cache line"}};
    out[0] = '\0';
    for (int i = 0; i < 3; i++)
        if (rows[i].bits)
            snprintf(out + strlen(out), size - strlen(out), "%s%u bit%s a %s", *out ? ", " : "", rows[i].bits, rows[i].bits == 1 ? "" : "s", rows[i].of);
    if (!*out)
        snprintf(out, size, "none");
}

static void print_plain(const struct heddle_policy *p)
{
    char range[256], storage[128];
    write_storage(p, storage, sizeof storage);
    printf("%s\n    %s\n", p->name, p->help);
    for (const struct heddle_param *q = p->params; q && q->name; q++) {
        write_range(q, range, sizeof range);
        printf("    %s=%s  %s%s%s%s\n", q->name, q->default_value, q->help, *range ? " (" : "", range, *range ? ")" : "");
    }
    for (const struct heddle_counter *c = p->counters; c && c->name; c++)
        printf("    counts %s.%s (%s): %s\n", p->name, c->name, c->unit, c->help);
    printf("    storage: %s\n", storage);
}

static void print_markdown(const struct heddle_policy *p)
{
    char range[256], storage[128];
    write_storage(p, storage, sizeof storage);
    printf("| `%s` | %s | ", p->name, p->help);
    for (const struct heddle_param *q = p->params; q && q->name; q++) {
        write_range(q, range, sizeof range);
        printf("%s`%s=%s` %s%s%s%s", q == p->params ? "" : "; ", q->name, q->default_value, q->help, *range ? " (" : "", range, *range ? ")" : "");
    }
    printf(" | %s |\n", storage);
}

void list_policies(enum policy_kind kind, bool markdown)
{
    const struct heddle_policy *p;
    if (markdown)
        puts("| name | rule | parameters, with their defaults | storage |\n|---|---|---|---|");
    for (size_t i = 0; (p = policy_builtin(kind, i)); i++)
        markdown ? print_markdown(p) : print_plain(p);
}
