/* The hottest source lines of a run as a table. Off a terminal it is as wide as it gets, with exact numbers. On one it
 * is made to fit: numbers get three digits, then the widest columns go, and the text of the lines is cut. */
#include "cli/lines.h"

#include "cli/cli.h"
#include "cli/text_table.h"
#include "lines/lines.h"
#include "program/source_file.h"
#include "results/metrics.h"
#include "sm/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_TEXT = 24, INDENT = 2, NO_WIDTH = 1 << 30, MOST_POLICY_COLUMNS = 16, OF_POLICIES = 10 };

/* Columns in their order; the words are those of --sort, too. rank: where there is no room for all, the highest goes
 * first. */
static const struct column {
    const char *title, *word, *name; /* name: of code_line_value */
    int decimals, rank;
} fixed[] = {
    {">issues", "issues", "executions", 0, 1},
    {">waited", "waited", "stalled", 0, 0},
    {"for", NULL, NULL, 0, 2}, /* the largest reasons */
    {">lanes", "lanes", "lanes", 1, 4},
    {">apart", "apart", "divergent", 0, 7},
    {">own hits", "own", "l1d_intra_warp_hits", 0, 3},
    {">others' hits", "other", "l1d_inter_warp_hits", 0, 5},
    {">pending", "pending", "l1d_pending_hits", 0, 9},
    {">misses", "misses", "load_misses", 0, 0},
    {">store misses", "store_misses", "store_misses", 0, 8},
    {">per request", "per_request", "per_request", 1, 6},
    /* with --what-if */
    {">Belady", "belady", "belady_misses", 0, 11},
    {">coalesced accesses", "coalesced_accesses", "coalesced_accesses", 0, 13},
    {">coalesced misses", "coalesced_misses", "coalesced_misses", 0, 12},
    {">full issues", "full_issues", "full_issues", 0, 14},
};
enum { FIXED = sizeof fixed / sizeof *fixed, WHAT_IF = 4 };

struct view {
    struct code_lines *lines;
    uint32_t shown;
    struct column columns[FIXED + MOST_POLICY_COLUMNS];
    uint32_t column_count;
    bool exact;
    int reasons; /* named in a row */
};

bool lines_read_count(const char *text, uint32_t *most)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    bool all = !strcmp(text, "all");
    *most = all || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return all || (isdigit((unsigned char)*text) && !*end && n > 0);
}

/* --sort: a word of the table, a reason for waiting, or a name of the results. NULL: none of these. */
static const char *value_name(const char *word, char out[100])
{
    for (int i = 0; i < FIXED; i++)
        if (fixed[i].word && !strcmp(word, fixed[i].word))
            return fixed[i].name;
    for (int i = 0; i < STALL_COUNT; i++)
        if (!strcmp(word, stall_names[i])) {
            snprintf(out, 100, "cycles.%s", stall_names[i]);
            return out;
        }
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (result_pc_name(&result_metrics[i]) && !strcmp(word, result_pc_name(&result_metrics[i])))
            return result_pc_name(&result_metrics[i]);
    return strchr(word, '.') || !strcmp(word, "requests") || !strcmp(word, "accesses") ? word : NULL; /* policies' */
}

bool lines_may_sort_by(const char *word)
{
    char name[100];
    return value_name(word, name) != NULL;
}

/* ------------------------------------------------------------- cells */

/* "12,345,678", or "12.3M". */
static void number_cell(struct text_table *t, double value, bool exact)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    char text[40];
    int unit = 0;
    if (exact || value < 10000) {
        text_table_cell(t, "%s", cli_grouped((unsigned long long)(value + 0.5), text, sizeof text));
        return;
    }
    for (; value >= 999.5 && unit < 5; unit++)
        value /= 1000;
    text_table_cell(t, "%.*f%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

static void value_cell(struct text_table *t, const struct view *v, const struct code_line *line, const struct column *c)
{
    double value = code_line_value(v->lines, line, c->name);
    if (isnan(value) || (value == 0 && strcmp(c->name, "executions") != 0))
        text_table_cell(t, "%s", "");
    else if (c->decimals)
        text_table_cell(t, "%.*f", c->decimals, value);
    else
        number_cell(t, value, v->exact);
}

/* "memory 62%, scoreboard 20%" */
static void reasons_cell(struct text_table *t, const struct view *v, const struct code_line *line)
{
    double stalled = code_line_value(v->lines, line, "stalled");
    char text[200] = "", name[100];
    bool named[STALL_COUNT] = {[STALL_ISSUED] = true, [STALL_DRAIN] = true}; /* in these it does not wait */
    for (int n = 0; n < v->reasons; n++) {
        int most = -1;
        double cycles = 0;
        for (int i = 0; i < STALL_COUNT; i++) {
            snprintf(name, sizeof name, "cycles.%s", stall_names[i]);
            if (!named[i] && code_line_value(v->lines, line, name) > cycles) {
                cycles = code_line_value(v->lines, line, name);
                most = i;
            }
        }
        if (most < 0 || cycles < 0.005 * stalled)
            break;
        named[most] = true;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %.0f%%", used ? ", " : "", stall_names[most],
                 100 * cycles / stalled);
    }
    for (char *p = text; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    text_table_cell(t, "%s", text);
}

static void place_cell(struct text_table *t, const struct code_line *line)
{
    const char *slash = line->file ? strrchr(line->file, '/') : NULL;
    text_table_cell(t, "%s:%u", slash ? slash + 1 : line->file ? line->file : "ptx", line->number);
}

/* ------------------------------------------------------------- the table */

static struct text_table make(const struct view *v, struct arena *a)
{
    const char **titles = arena_array(a, const char *, v->column_count + 3);
    titles[0] = "line";
    for (uint32_t i = 0; i < v->column_count; i++)
        titles[i + 1] = v->columns[i].title;
    titles[v->column_count + 1] = "text";
    struct text_table t = text_table_start(a, titles);
    for (uint32_t i = 0; i < v->shown; i++) {
        const struct code_line *line = &v->lines->list[i];
        place_cell(&t, line);
        for (uint32_t k = 0; k < v->column_count; k++) {
            if (v->columns[k].name)
                value_cell(&t, v, line, &v->columns[k]);
            else
                reasons_cell(&t, v, line);
        }
        text_table_cell(&t, "%s", line->text);
    }
    return t;
}

/* Whether any line has something in it. */
static bool is_empty(const struct view *v, const struct column *c)
{
    return !code_lines_have(v->lines, c->name ? c->name : "stalled");
}

static void choose_columns(struct view *v, bool what_if)
{
    for (int i = 0; i < FIXED - (what_if ? 0 : WHAT_IF); i++)
        if (!is_empty(v, &fixed[i]))
            v->columns[v->column_count++] = fixed[i];
    for (uint32_t i = 0; i < v->lines->column_count; i++) {
        const char *name = v->lines->columns[i].name;
        struct column own = {arena_printf(&v->lines->arena, ">%s", name), name, name, 0, OF_POLICIES};
        if (strchr(name, '.') && strncmp(name, "cycles.", 7) != 0 && v->column_count < FIXED + MOST_POLICY_COLUMNS &&
            !is_empty(v, &own))
            v->columns[v->column_count++] = own;
    }
}

static void drop_column(struct view *v, const char *sort)
{
    uint32_t at = 0;
    int highest = -1;
    for (uint32_t i = 0; i < v->column_count; i++) {
        const struct column *c = &v->columns[i];
        bool needed = c->name && !strcmp(c->name, sort);
        if (!needed && c->rank >= highest) {
            highest = c->rank;
            at = i;
        }
    }
    v->column_count--;
    memmove(&v->columns[at], &v->columns[at + 1], (v->column_count - at) * sizeof *v->columns);
}

/* Returns how many columns had to go. */
static uint32_t fit(struct view *v, struct arena *a, struct text_table *t, int width, const char *sort)
{
    uint32_t all = v->column_count;
    *t = make(v, a);
    for (int step = 0; text_table_width(t) + LEAST_TEXT > width; step++) {
        if (step == 0)
            v->exact = false;
        else if (step == 1)
            v->reasons = 1;
        else if (v->column_count > 2)
            drop_column(v, sort);
        else
            break;
        *t = make(v, a);
    }
    return all - v->column_count;
}

static void say_more(const struct view *v, const struct lines_request *r, uint32_t left_out, FILE *to)
{
    uint32_t all = v->lines->count;
    fprintf(to, "\n  %u of %u lines, by %s", v->shown, all, r->sort ? r->sort : "cycles that warps waited");
    if (v->shown < all)
        fputs("; --lines=all shows all", to);
    fputs(".\n", to);
    fputs("  waited: warp cycles, counted where a value is needed; own hits: by the warp that had brought the line;\n"
          "  pipeline: no room, mostly in the load/store unit. docs/profile.md explains every column.\n",
          to);
    if (left_out)
        fprintf(to, "  The window is too narrow for %u of the columns.\n", left_out);
}

bool lines_print(const struct lines_request *r, const char *program, const char *trace, const json_t *results, FILE *to)
{
    struct code_lines lines = {.count = 0};
    struct source_files files = {.program = program};
    struct arena a = {0};
    struct error e = {0};
    struct text_table t;
    char name[100];
    bool timed = json_is_false(json_object_get(results, "functional"));
    const char *sort = r->sort ? value_name(r->sort, name) : timed ? "stalled" : "executions";
    code_lines_of_results(&lines, results);
    if (lines.count && trace && !code_lines_replay(&lines, trace, &e))
        fprintf(stderr, "heddle: no replay of the run: %s\n", e.text);
    bool known = !lines.count || !r->sort || !strchr(sort, '.') || code_lines_have(&lines, sort);
    if (!known)
        fprintf(stderr, "heddle: no line has anything in the column '%s'\n", r->sort);
    if (known && lines.count) {
        code_lines_sort(&lines, sort);
        code_lines_find_texts(&lines, &files);
        struct view v = {.lines = &lines, .exact = true, .reasons = 2};
        v.shown = r->most < lines.count ? r->most : lines.count;
        choose_columns(&v, r->what_if);
        int width = cli_columns(fileno(to), NO_WIDTH) - INDENT;
        uint32_t left_out = fit(&v, &a, &t, width, sort);
        text_table_cut(&t, width);
        fputc('\n', to);
        text_table_print(&t, "  ", to);
        say_more(&v, r, left_out, to);
    }
    arena_free(&a);
    source_files_free(&files);
    code_lines_free(&lines);
    return known;
}
