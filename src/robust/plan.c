/* Which figure is judged, on which machines. A machine that cannot be (a cache of half a way) is left out and named. */
#include "robust/plan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MACHINES = 1 + 2 * ROBUST_FACTORS + 2 * DESIGN_RUNS, MOST_NOTES = 100 };

_Static_assert((int)ROBUST_FACTORS <= (int)DESIGN_FACTORS, "the design has a column for each factor");

void robust_note(struct robust_plan *p, struct arena *a, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!p->notes)
        p->notes = arena_array(a, const char *, MOST_NOTES);
    if (p->note_count < MOST_NOTES)
        p->notes[p->note_count++] = arena_printf(a, "%s", text);
}

/* ------------------------------------------------------------- the figure */

/* NULL, or why a figure cannot be judged. */
static const char *unfit(const struct figure_layout *l)
{
    const struct lab_figure *f = l->figure;
    if (f->kind == FIGURE_SCATTER || f->kind == FIGURE_STACKED || f->over != OVER_AXIS || l->parameter)
        return "it is of another kind than bars, lines or heat over an axis";
    if (l->series_count < 2)
        return "it compares nothing: it has one series";
    if (l->x_axis == AXIS_VARIANT || l->series_axis == AXIS_VARIANT || (f->normalise.labels[AXIS_VARIANT]))
        return "it compares variants, and other machines are variants themselves";
    if (l->shown[AXIS_MACHINE].count > 1)
        return "it compares machines";
    return NULL;
}

static bool lay_out(struct robust_subject *s, struct arena *a, const struct lab_figure *f, struct figure_layout *l,
                    struct error *e)
{
    struct figure_complaint why = {0};
    return figure_layout_make(l, a, s->experiment, &s->space, f, &why) ||
           error_set(e, ERROR_INVALID, "figure %s: %s", f->name, why.text);
}

static const struct lab_figure *find_figure(struct robust_subject *s, struct arena *a, const char *name,
                                            struct error *e)
{
    const struct experiment *x = s->experiment;
    const char **names = arena_array(a, const char *, x->figure_count + 1);
    for (uint32_t i = 0; i < x->figure_count; i++) {
        const struct lab_figure *f = &x->figures[i];
        names[i] = f->name;
        if (name ? strcmp(name, f->name) : f->over != OVER_AXIS)
            continue;
        if (!lay_out(s, a, f, &s->own, e))
            return NULL;
        const char *why = unfit(&s->own);
        if (!why)
            return f;
        if (name) {
            error_set(e, ERROR_INVALID, "figure %s cannot be judged on other machines: %s", name, why);
            return NULL;
        }
    }
    error_set(e, ERROR_NOT_FOUND, name ? "%s has no figure '%s'" : "%s has no figure that compares policies%s", x->name,
              name ? name : "");
    for (uint32_t i = 0; i < x->figure_count; i++)
        error_note(e, "  %-16s %s", names[i], x->figures[i].title);
    return NULL;
}

/* axis=label|label ... as in an experiment. */
static bool read_where(struct robust_subject *s, struct arena *a, const char *where, struct error *e)
{
    struct source source = {"--where", where, strlen(where)};
    struct lab_reader r = {.arena = a, .error = e, .source = &source};
    struct lab_filter filter;
    if (!lab_filter_read(&r, s->experiment, (struct lab_word){where, strlen(where)}, &filter))
        return false;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (filter.labels[axis])
            s->figure.where.labels[axis] = filter.labels[axis];
    return true;
}

static bool choose_figure(struct robust_subject *s, struct arena *a, const struct robust_request *request,
                          struct error *e)
{
    const struct lab_figure *f = find_figure(s, a, request->figure, e);
    if (!f)
        return false;
    s->figure = *f;
    if ((request->where && !read_where(s, a, request->where, e)) || !lay_out(s, a, &s->figure, &s->layout, e))
        return false;
    const char *why = unfit(&s->layout);
    return !why || error_set(e, ERROR_INVALID, "figure %s with %s cannot be judged on other machines: %s", f->name,
                             request->where, why);
}

/* ------------------------------------------------------------- machines */

/* A machine's sets: those of the figure's variant that are not given anew, and the new ones. */
static const char **joined(struct arena *a, const char **base, const char **more)
{
    uint32_t count = 0;
    for (const char **w = base; w && *w; w++)
        count++;
    for (const char **w = more; *w; w++)
        count++;
    const char **out = arena_array(a, const char *, count + 1), **to = out;
    for (const char **w = base; w && *w; w++) {
        size_t key = strcspn(*w, "=") + 1;
        bool again = false;
        for (const char **n = more; *n; n++)
            again |= strncmp(*n, *w, key) == 0;
        if (!again)
            *to++ = *w;
    }
    for (const char **w = more; *w; w++)
        *to++ = *w;
    return out;
}

struct machines {
    struct robust_plan *plan;
    struct arena *arena;
    const char *name;  /* of the machine */
    const char **base; /* what the figure's variant sets */
    struct machine *own, *scratch;
    bool used[ROBUST_FACTORS];
};

static uint32_t words(const char **list)
{
    uint32_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

static bool same(const char **a, const char **b)
{
    for (; *a && *b && !strcmp(*a, *b); a++)
        b++;
    return !*a && !*b;
}

/* With few factors a sample has combinations twice, or one that is a machine with a single factor changed. */
static bool is_there(const struct machines *m, const char **sets)
{
    for (uint32_t i = 0; i < m->plan->machine_count; i++)
        if (same(m->plan->machines[i].sets, sets))
            return true;
    return false;
}

/* False: there is no such machine, and a note says so; or it is there already. */
static bool add_machine(struct machines *m, const char *label, const int8_t level[ROBUST_FACTORS])
{
    const char **sets = joined(m->arena, m->base, robust_sets(m->arena, m->own, level));
    struct error why = {0};
    if (is_there(m, sets))
        return false;
    if (!machine_load(m->scratch, m->name, sets, words(sets), &why)) {
        robust_note(m->plan, m->arena, "%s is left out: %.*s", label, (int)strcspn(why.text, "\n"), why.text);
        return false;
    }
    m->plan->machines[m->plan->machine_count++] = (struct robust_machine){label, sets};
    return true;
}

static void add_alone(struct machines *m)
{
    for (int factor = 0; factor < ROBUST_FACTORS; factor++) {
        uint32_t before = m->plan->machine_count;
        for (int turn = LEVEL_LOW; m->used[factor] && turn <= LEVEL_HIGH; turn += 2) {
            int8_t level[ROBUST_FACTORS] = {0};
            level[factor] = (int8_t)turn;
            const char *value = robust_value(m->arena, m->own, (enum robust_factor)factor, turn);
            add_machine(m, arena_printf(m->arena, "%s: %s", robust_factor_names[factor], value), level);
        }
        if (m->used[factor] && m->plan->machine_count == before) {
            robust_note(m->plan, m->arena, "%s is left out: the machine has no other value of it",
                        robust_factor_names[factor]);
            m->used[factor] = false;
        }
    }
    m->plan->alone = m->plan->machine_count - 1;
}

/* A sample's signs are part of its label, in the order in which the factors come: figure/robust.c reads them there. */
static void add_sample(struct machines *m, uint32_t rows)
{
    uint32_t before = m->plan->machine_count;
    for (uint32_t row = 0; row < rows; row++) {
        int8_t level[ROBUST_FACTORS] = {0};
        char signs[ROBUST_FACTORS + 1];
        uint32_t count = 0;
        for (uint32_t factor = 0; factor < ROBUST_FACTORS; factor++)
            if (m->used[factor]) {
                level[factor] = (int8_t)robust_design(row, count);
                signs[count++] = level[factor] < 0 ? '-' : '+';
            }
        signs[count] = '\0';
        if (count)
            add_machine(m, arena_printf(m->arena, "sample %u %s", row + 1, signs), level);
    }
    m->plan->sampled = m->plan->machine_count - before;
}

/* --factors: names, separated by commas. */
static bool choose_factors(struct machines *m, const char *list, struct error *e)
{
    for (int i = 0; i < ROBUST_FACTORS; i++)
        m->used[i] = !list;
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ",");
        struct lab_word word = lab_trim(at, at + length);
        int found = 0;
        while (found < ROBUST_FACTORS && !lab_word_is(word, robust_factor_names[found]))
            found++;
        if (found == ROBUST_FACTORS) {
            error_set(e, ERROR_NOT_FOUND, "unknown factor '%.*s'", (int)word.length, word.at);
            for (int i = 0; i < ROBUST_FACTORS; i++)
                error_note(e, "there is '%s'", robust_factor_names[i]);
            return false;
        }
        m->used[found] = true;
        at += length + (at[length] == ',');
    }
    return true;
}

/* A machine file's path starts from the experiment's folder. */
static const char *machine_path(struct arena *a, const struct experiment *x, const char *text)
{
    const char *dot = strrchr(text, '.');
    bool path = *text != '/' && (strchr(text, '/') || (dot && !strcmp(dot, ".ini")));
    return path ? arena_printf(a, "%s%s", x->folder, text) : text;
}

static bool make_machines(struct robust_plan *p, struct arena *a, const struct robust_subject *s,
                          const struct robust_request *request, struct error *e)
{
    const struct experiment *x = s->experiment;
    const struct lab_item *variant = &s->layout.shown[AXIS_VARIANT].items[0],
                          *machine = &s->layout.shown[AXIS_MACHINE].items[0];
    struct machines m = {.plan = p,
                         .arena = a,
                         .name = machine_path(a, x, x->axes[AXIS_MACHINE].values[machine->first].text),
                         .own = arena_new(a, struct machine),
                         .scratch = arena_new(a, struct machine)};
    for (uint32_t i = 0; i < x->point_count && !m.base; i++)
        if (x->points[i].value[AXIS_VARIANT] ==
            s->space.grid.value[AXIS_VARIANT][s->space.grid.rank[AXIS_VARIANT][variant->first]])
            m.base = x->points[i].sets;
    m.base = joined(a, m.base, request->sets ? request->sets : (const char *[]){NULL});
    if (!machine_load(m.own, m.name, m.base, words(m.base), e) || !choose_factors(&m, request->factors, e))
        return false;
    p->machines = arena_array(a, struct robust_machine, MOST_MACHINES);
    p->machines[p->machine_count++] = (struct robust_machine){"base", m.base};
    add_alone(&m);
    add_sample(&m, request->sample);
    return p->machine_count > 1 || error_set(e, ERROR_INVALID, "there is no factor to change on machine %s", m.name);
}

/* "LABEL = COMMAND" for a program of the figure. */
static bool check_programs(const struct robust_subject *s, const char **programs, struct error *e)
{
    for (const char **p = programs; p && *p; p++) {
        const char *equals = strchr(*p, '=');
        struct lab_word label = lab_trim(*p, equals ? equals : *p);
        const struct lab_items *shown = &s->layout.shown[AXIS_PROGRAM];
        bool found = false;
        for (uint32_t i = 0; i < shown->count; i++)
            found |= lab_word_is(label, shown->items[i].label);
        if (!equals || !lab_trim(equals + 1, *p + strlen(*p)).length)
            return error_set(e, ERROR_INVALID, "--program '%s': expected LABEL = COMMAND", *p);
        if (!found)
            return error_set(e, ERROR_INVALID, "--program '%s': the figure shows no program '%.*s'", *p,
                             (int)label.length, label.at);
    }
    return true;
}

/* A name that is a file's. */
static const char *file_name(struct arena *a, const char *experiment, const char *figure)
{
    char *name = arena_printf(a, "%s-%s-robust", experiment, figure);
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            *at = '-';
    return name;
}

bool robust_plan_make(struct robust_plan *p, struct arena *a, const struct experiment *x,
                      const struct robust_request *request, struct error *e)
{
    struct robust_subject *s = arena_new(a, struct robust_subject);
    *p = (struct robust_plan){0};
    s->experiment = x;
    s->programs = request->programs;
    lab_space_make(&s->space, a, x);
    if (!choose_figure(s, a, request, e) || !check_programs(s, request->programs, e) ||
        !make_machines(p, a, s, request, e))
        return false;
    p->name = file_name(a, x->name, s->figure.name);
    p->figure = s->figure.name;
    p->text = robust_text(p, a, s);
    return true;
}
