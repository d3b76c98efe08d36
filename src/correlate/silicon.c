/* What Nsight Compute wrote: ncu --page raw --csv. Names of columns, a row of units, one row per launch; what a program
 * printed and ncu's own lines (==PROF== ...) may stand before and between, and the heads come again with each program
 * of several. Numbers have thousands separators; units may have a prefix (Kbyte). */
#include "correlate/correlate.h"

#include "base/demangle.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const correlate_columns[CORRELATE_COUNTS] = {
#define COUNT(id, name, nsight, ours) nsight,
#include "correlate/counts.def"
};
const char *const correlate_count_names[CORRELATE_COUNTS] = {
#define COUNT(id, name, nsight, ours) name,
#include "correlate/counts.def"
};

enum { COLUMNS = 4096 };
enum { COLUMN_ID, COLUMN_PROGRAM, COLUMN_KERNEL, COLUMN_GRID, COLUMN_BLOCK, OWN_COLUMNS };
static const char *const own_columns[OWN_COLUMNS] = {"ID", "Process Name", "Kernel Name", "Grid Size", "Block Size"};

struct reader {
    struct arena *arena;
    const struct correlate_filter *filter;
    struct correlate_recording *to;
    char *at, *end; /* of a copy of the file */
    char *fields[COLUMNS];
    uint32_t field_count;
    /* Of the heads that were read last. */
    uint32_t head_count;
    int own[OWN_COLUMNS], counts[CORRELATE_COUNTS]; /* places of columns; -1: not there */
    double factors[CORRELATE_COUNTS];               /* by the units */
    bool by_metric;                                 /* one row per metric: not the raw page */
};

/* ------------------------------------------------------------- records */

static void skip_line(struct reader *r)
{
    char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline + 1 : r->end;
}

/* One field, which becomes a text in place, and what ended it. "" inside quotes is a quote. */
static char read_field(struct reader *r, char **out)
{
    char *to = *out = r->at, *line_end = r->at + strcspn(r->at, "\n");
    if (*r->at == '"') {
        for (r->at++; r->at < line_end; *to++ = *r->at++)
            if (*r->at == '"' && *++r->at != '"')
                break;
    } else {
        r->at = to += strcspn(r->at, ",\r\n");
    }
    while (r->at < line_end && *r->at != ',')
        r->at++;
    char ended_by = *r->at;
    r->at += r->at < r->end;
    *to = '\0';
    return ended_by;
}

/* The next line that can be a record. */
static bool read_record(struct reader *r)
{
    while (r->at < r->end && *r->at != '"' && !isdigit((unsigned char)*r->at) && *r->at != ',' &&
           strncmp(r->at, "ID,", 3) != 0)
        skip_line(r);
    if (r->at >= r->end)
        return false;
    r->field_count = 0;
    while (r->field_count < COLUMNS && read_field(r, &r->fields[r->field_count++]) == ',')
        ;
    if (r->field_count == COLUMNS)
        skip_line(r);
    return true;
}

/* ------------------------------------------------------------- heads and units */

static int place_of(const struct reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->field_count; i++)
        if (!strcmp(r->fields[i], name))
            return (int)i;
    return -1;
}

static void read_heads(struct reader *r)
{
    r->head_count = r->field_count;
    r->by_metric = place_of(r, "Metric Name") >= 0;
    for (int i = 0; i < OWN_COLUMNS; i++)
        r->own[i] = place_of(r, own_columns[i]);
    for (int i = 0; i < CORRELATE_COUNTS; i++) {
        r->counts[i] = place_of(r, correlate_columns[i]);
        r->factors[i] = 1;
        r->to->has[i] |= r->counts[i] >= 0;
    }
}

/* "Kbyte" is 1000 bytes; "%" is a hundredth. */
static double factor_of(const char *unit)
{
    if (!strcmp(unit, "%"))
        return 0.01;
    if (!islower((unsigned char)unit[*unit != '\0']))
        return 1;
    switch (*unit) {
    case 'K': return 1e3;
    case 'M': return 1e6;
    case 'G': return 1e9;
    case 'T': return 1e12;
    default: return 1;
    }
}

static void read_units(struct reader *r)
{
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        if (r->counts[i] >= 0)
            r->factors[i] = factor_of(r->fields[r->counts[i]]);
}

/* ------------------------------------------------------------- launches */

static double read_number(const char *text)
{
    char digits[64], *end;
    size_t n = 0;
    for (; *text && n + 1 < sizeof digits; text++)
        if (*text != ',')
            digits[n++] = *text;
    digits[n] = '\0';
    double value = strtod(digits, &end);
    return end == digits || *end ? NAN : value;
}

/* "(16, 16, 1)" */
static bool read_shape(const char *text, uint32_t shape[3])
{
    return sscanf(text, "(%" SCNu32 ", %" SCNu32 ", %" SCNu32 ")", &shape[0], &shape[1], &shape[2]) == 3;
}

static bool is_wanted(const struct reader *r, const char *program, const char *kernel)
{
    const struct correlate_filter *f = r->filter;
    bool kernel_wanted = !f->kernels || !*f->kernels, program_wanted = !f->programs || !*f->programs;
    for (const char *const *k = f->kernels; !kernel_wanted && *k; k++)
        kernel_wanted = demangled_is(kernel, *k);
    for (const char *const *p = f->programs; !program_wanted && *p; p++)
        program_wanted = !strcmp(program, *p);
    return kernel_wanted && program_wanted && f->wants[correlate_half_of(kernel)];
}

static struct correlate_launches *launches_of(struct reader *r, const char *program)
{
    struct correlate_recording *to = r->to;
    for (uint32_t i = 0; i < to->program_count; i++)
        if (!strcmp(to->programs[i].program, program))
            return &to->programs[i];
    struct correlate_launches *all = arena_array(r->arena, struct correlate_launches, to->program_count + 1);
    if (to->program_count)
        memcpy(all, to->programs, to->program_count * sizeof *all);
    to->programs = all;
    all[to->program_count] = (struct correlate_launches){.program = program};
    return &all[to->program_count++];
}

static struct correlate_launch *next_launch(struct arena *a, struct correlate_launches *l)
{
    if (l->count == l->room) {
        struct correlate_launch *old = l->list;
        l->room = l->room ? 2 * l->room : 16;
        l->list = arena_array(a, struct correlate_launch, l->room);
        if (l->count)
            memcpy(l->list, old, l->count * sizeof *old);
    }
    return &l->list[l->count++];
}

static bool read_launch(struct reader *r, struct error *e)
{
    const char *program = r->fields[r->own[COLUMN_PROGRAM]], *kernel = r->fields[r->own[COLUMN_KERNEL]];
    struct correlate_launch launch = {.kernel = kernel};
    if (!read_shape(r->fields[r->own[COLUMN_GRID]], launch.grid) ||
        !read_shape(r->fields[r->own[COLUMN_BLOCK]], launch.block))
        return error_set(e, ERROR_SYNTAX, "%s: launch %s of %s: '%s' and '%s' are no grid and block, as in (16, 16, 1)",
                         r->to->path, r->fields[r->own[COLUMN_ID]], program, r->fields[r->own[COLUMN_GRID]],
                         r->fields[r->own[COLUMN_BLOCK]]);
    struct correlate_launches *to = launches_of(r, program);
    to->recorded++;
    if (!is_wanted(r, program, kernel))
        return true;
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        launch.counts[i] = r->counts[i] < 0 ? NAN : read_number(r->fields[r->counts[i]]) * r->factors[i];
    launch.counts[COUNT_WARPS] *= launch.counts[COUNT_CYCLES];
    *next_launch(r->arena, to) = launch;
    return true;
}

static bool check_heads(const struct reader *r, struct error *e)
{
    if (r->by_metric) {
        error_set(e, ERROR_SYNTAX, "%s has one row per metric, not one per launch", r->to->path);
        error_note(e, "record it with 'ncu --page raw --csv ...', as bench/silicon/counters.sh does");
        return false;
    }
    for (int i = 0; i < OWN_COLUMNS; i++)
        if (r->own[i] < 0)
            return error_set(e, ERROR_SYNTAX, "%s has no column \"%s\"", r->to->path, own_columns[i]);
    if (!r->to->has[COUNT_CYCLES])
        return error_set(e, ERROR_SYNTAX, "%s has no column \"%s\": no cycles to compare with", r->to->path,
                         correlate_columns[COUNT_CYCLES]);
    return true;
}

static bool read_all(struct reader *r, uint32_t *launches, struct error *e)
{
    while (read_record(r)) {
        if (!strcmp(r->fields[0], own_columns[COLUMN_ID])) {
            read_heads(r);
            if (!check_heads(r, e))
                return false;
        } else if (!r->head_count || r->field_count != r->head_count) {
            continue; /* what a program printed */
        } else if (!*r->fields[0]) {
            read_units(r);
        } else if (strspn(r->fields[0], "0123456789") == strlen(r->fields[0])) {
            if (!read_launch(r, e))
                return false;
            ++*launches;
        }
    }
    return true;
}

bool correlate_read_silicon(struct arena *a, const char *path, const char *text, size_t bytes,
                            const struct correlate_filter *f, struct correlate_recording *out, struct error *e)
{
    struct reader *r = calloc(1, sizeof *r);
    uint32_t launches = 0;
    if (!r)
        return error_set(e, ERROR_NO_MEMORY, "%s: out of memory", path);
    *out = (struct correlate_recording){.path = path};
    char *copy = arena_strndup(a, text, bytes);
    *r = (struct reader){.arena = a, .filter = f, .to = out, .at = copy, .end = copy + strlen(copy)};
    bool good = read_all(r, &launches, e);
    if (good && !launches) {
        good = error_set(e, ERROR_NOT_FOUND, "%s has no launches in it", path);
        error_note(e, "expected is the CSV of 'ncu --page raw --csv', whose first column is \"ID\"");
    }
    free(r);
    return good;
}
