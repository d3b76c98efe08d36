/* The experiment that is swept, as a file: what the figure shows of the axes, one variant per machine, the figure. It
 * is written out of the parsed experiment, so that what the figure does not need is not in it: other points, probes,
 * samples and replays. */
#include "robust/plan.h"

#include "base/out_of_memory.h"
#include "replay/replay.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line of an axis, and whether the figure as the file has it shows it. */
struct line {
    const char *label;
    uint32_t value;
    bool own;
};

struct writer {
    FILE *out;
    struct arena *arena;
    const struct robust_subject *subject;
    struct robust_plan *plan;
    struct line *lines[AXIS_COUNT];
    uint32_t count[AXIS_COUNT], room[AXIS_COUNT];
};

static const char *const sections[AXIS_COUNT] = {"programs", "machines", "schedulers", "l1", "divergence", "variants"};

/* Quotes keep what would begin a comment. */
static void put_text(FILE *out, const char *key, const char *text)
{
    if (text && *text)
        fprintf(out, strpbrk(text, ";#") && !strchr(text, '"') ? "%s = \"%s\"\n" : "%s = %s\n", key, text);
}

/* ------------------------------------------------------------- axes */

static const struct lab_value *value_at(const struct writer *w, int axis, uint32_t value)
{
    return &w->subject->experiment->axes[axis].values[value];
}

/* The command that --program gave to a label; NULL: none. */
static const char *other_command(const struct writer *w, const char *label)
{
    for (const char **p = w->subject->programs; p && *p; p++) {
        const char *equals = strchr(*p, '=');
        if (lab_word_is(lab_trim(*p, equals), label))
            return equals + 1;
    }
    return NULL;
}

static void put_line(struct writer *w, int axis, struct line line)
{
    for (uint32_t i = 0; i < w->count[axis]; i++)
        if (!strcmp(w->lines[axis][i].label, line.label)) {
            w->lines[axis][i].own |= line.own;
            return;
        }
    w->lines[axis] = lab_grow(w->arena, w->lines[axis], w->count[axis], &w->room[axis], sizeof *w->lines[axis]);
    w->lines[axis][w->count[axis]++] = line;
    const char *text = value_at(w, axis, line.value)->text,
               *other = axis == AXIS_PROGRAM ? other_command(w, line.label) : NULL;
    text = other ? other : text;
    fprintf(w->out, axis == AXIS_MACHINE ? "\"%s\" = \"%s\"\n" : "\"%s\" = %s\n", line.label, text);
}

/* A choice's values are lines of their own, and it is best(a | b). */
static void put_choice(struct writer *w, int axis, const struct lab_item *item, bool own)
{
    for (uint32_t i = 0; i < item->count; i++) {
        uint32_t value = lab_item_value(item, i);
        put_line(w, axis, (struct line){value_at(w, axis, value)->label, value, own});
    }
    fprintf(w->out, "\"%s\" = best(", item->label);
    for (uint32_t i = 0; i < item->count || i < 2; i++)
        fprintf(w->out, "%s\"%s\"", i ? " | " : "",
                value_at(w, axis, lab_item_value(item, i < item->count ? i : 0))->label);
    fputs(")\n", w->out);
}

static bool is_shown(const struct lab_items *items, const char *label)
{
    for (uint32_t i = 0; i < items->count; i++)
        if (!strcmp(items->items[i].label, label))
            return true;
    return false;
}

static void put_item(struct writer *w, int axis, const struct lab_item *item)
{
    bool own = is_shown(&w->subject->own.shown[axis], item->label);
    if (item->best)
        put_choice(w, axis, item, own);
    else
        put_line(w, axis, (struct line){item->label, item->first, own});
}

static void put_axis(struct writer *w, int axis)
{
    const struct figure_layout *l = &w->subject->layout;
    fprintf(w->out, "\n[%s]\n", sections[axis]);
    for (uint32_t i = 0; i < l->shown[axis].count; i++)
        put_item(w, axis, &l->shown[axis].items[i]);
    if (l->base[axis].label && !is_shown(&l->shown[axis], l->base[axis].label))
        put_item(w, axis, &l->base[axis]);
}

static void put_variants(struct writer *w)
{
    fputs("\n[variants]\n", w->out);
    for (uint32_t i = 0; i < w->plan->machine_count; i++) {
        fprintf(w->out, "\"%s\" =", w->plan->machines[i].label);
        for (const char **word = w->plan->machines[i].sets; *word; word++)
            fprintf(w->out, "%s %s", word == w->plan->machines[i].sets ? "" : ",", *word);
        putc('\n', w->out);
    }
}

/* The next combination of lines, the last axis first. False after the last. */
static bool step(const struct writer *w, uint32_t at[AXIS_VARIANT])
{
    for (int axis = AXIS_VARIANT - 1; axis >= 0; axis--) {
        if (++at[axis] < w->count[axis])
            return true;
        at[axis] = 0;
    }
    return false;
}

/* What the experiment leaves out of what the figure shows is left out here. */
static void put_exclusions(struct writer *w)
{
    const struct lab_grid *g = &w->subject->space.grid;
    uint32_t at[AXIS_VARIANT] = {0}, value[AXIS_COUNT], count = 0;
    do {
        bool own = true;
        for (int axis = 0; axis < AXIS_VARIANT; axis++) {
            value[axis] = w->lines[axis][at[axis]].value;
            own &= w->lines[axis][at[axis]].own;
        }
        value[AXIS_VARIANT] = w->subject->layout.shown[AXIS_VARIANT].items[0].first;
        if (!own || g->point[lab_grid_place(g, value)])
            continue;
        fprintf(w->out, "%sas in the experiment %u =", count ? "" : "\n[exclude]\n", count + 1);
        for (int axis = 0; axis < AXIS_VARIANT; axis++)
            fprintf(w->out, " %s=\"%s\"", lab_axis_names[axis], w->lines[axis][at[axis]].label);
        putc('\n', w->out);
        count++;
    } while (step(w, at));
}

/* ------------------------------------------------------------- what runs read and count */

static bool is_read(const struct writer *w, const char *input)
{
    char mark[300];
    snprintf(mark, sizeof mark, "=@%s", input);
    for (uint32_t i = 0; i < w->count[AXIS_SCHEDULER]; i++)
        if (strstr(value_at(w, AXIS_SCHEDULER, w->lines[AXIS_SCHEDULER][i].value)->text, mark))
            return true;
    return false;
}

static void put_words(FILE *out, const char *key, const char **words)
{
    if (!words || !*words)
        return;
    fprintf(out, "%s =", key);
    for (; *words; words++)
        fprintf(out, strpbrk(*words, " \t") ? " \"%s\"" : " %s", *words);
    putc('\n', out);
}

static void put_inputs(const struct writer *w)
{
    static const char *const kinds[] = {"scheduler", "l1", "divergence"};
    const struct experiment *x = w->subject->experiment;
    for (uint32_t i = 0; i < x->input_count; i++) {
        const struct lab_input *in = &x->inputs[i];
        if (!is_read(w, in->name))
            continue;
        fprintf(w->out, "\n[input %s]\n", in->name);
        for (int kind = 0; kind < 3; kind++)
            if (in->policies[kind] && *in->policies[kind])
                fprintf(w->out, "%s = %s\n", kinds[kind], in->policies[kind]);
        put_words(w->out, "arguments", in->arguments);
        if (in->probe)
            fprintf(w->out, "probe = %s\n", in->probe);
        put_words(w->out, "option", in->options);
    }
}

static bool is_counted(const struct robust_subject *s, const char *prefix)
{
    bool found = strstr(s->experiment->best_by, prefix) != NULL;
    for (uint32_t i = 0; i < s->figure.y_count; i++)
        found |= strstr(s->figure.y[i], prefix) != NULL;
    return found;
}

/* Replays and probes only where the figure has a number of theirs. */
static void put_counted(const struct writer *w)
{
    const struct experiment *x = w->subject->experiment;
    bool any = false;
    if (is_counted(w->subject, "l1d.replay."))
        for (uint32_t i = 0, first = 1; i < REPLAY_POLICIES; i++)
            if (x->replay >> i & 1) {
                fprintf(w->out, "%s%s", first ? "replay = " : ", ", replay_policy_names[i]);
                first = 0;
                any = true;
            }
    fputs(any ? "\n" : "", w->out);
    any = false;
    for (uint32_t i = 0; i < x->probe_count; i++) {
        const char *prefix = arena_printf(w->arena, "%.*s.", (int)strcspn(x->probes[i].spec, ":"), x->probes[i].spec);
        if (!is_counted(w->subject, prefix))
            continue;
        fprintf(w->out, "%s \"%s\"", any ? "" : "probes =", x->probes[i].spec);
        any = true;
    }
    fputs(any ? "\n" : "", w->out);
}

/* The file is written beside the store: paths must still start where the experiment's do. */
static void put_folder(const struct writer *w)
{
    const struct experiment *x = w->subject->experiment;
    char whole[PATH_MAX];
    bool any = false;
    for (int axis = 0; axis < AXIS_VARIANT; axis++)
        for (uint32_t i = 0; i < x->axes[axis].value_count; i++) {
            const char *text = x->axes[axis].values[i].text;
            any |= strchr(text, '/') || strstr(text, ".so") || strstr(text, ".ini");
        }
    for (uint32_t i = 0; i < x->probe_count; i++)
        any |= strchr(x->probes[i].spec, '/') != NULL;
    for (const char **p = w->subject->programs; p && *p; p++)
        any |= strchr(*p, '/') != NULL;
    if (any && realpath(*x->folder ? x->folder : ".", whole))
        put_text(w->out, "folder", whole);
}

static void put_head(const struct writer *w)
{
    const struct experiment *x = w->subject->experiment;
    fprintf(w->out,
            "; Written by heddle robust: figure %s of experiment %s on other machines. docs/robust.md\n"
            "[experiment]\nabout = Figure %s of experiment %s on %u machines: as it is, with one factor changed, and "
            "with all of them changed at once.\nsize = %s\nbest_by = %s\n",
            w->plan->figure, x->name, w->plan->figure, x->name, w->plan->machine_count, x->size, x->best_by);
    put_text(w->out, "title", arena_printf(w->arena, "Does it survive? %s", x->title));
    if (x->time_limit_seconds > 0)
        fprintf(w->out, "time_limit = %gs\n", x->time_limit_seconds);
    if (x->memory_limit_bytes)
        fprintf(w->out, "memory_limit = %llu\n", (unsigned long long)x->memory_limit_bytes);
    put_folder(w);
    put_counted(w);
}

/* ------------------------------------------------------------- the figure */

static void put_labels(const struct writer *w, int axis)
{
    const struct lab_items *items = &w->subject->layout.shown[axis];
    fprintf(w->out, " %s=", lab_axis_names[axis]);
    for (uint32_t i = 0; i < items->count; i++)
        fprintf(w->out, "%s\"%s\"", i ? "|" : "", items->items[i].label);
}

/* NULL, or the label of the claim that the figure does not show here. */
static const char *unknown_side(const struct writer *w, const struct figure_claim *c)
{
    const struct figure_layout *l = &w->subject->layout;
    for (uint32_t i = 0; i < c->count; i++) {
        bool known = !c->sides[i].label.length;
        for (uint32_t s = 0; s < l->series_count; s++)
            known |= lab_word_is(c->sides[i].label, l->series[s]);
        if (!known)
            return arena_strndup(w->arena, c->sides[i].label.at, c->sides[i].label.length);
    }
    return NULL;
}

static void put_claims(const struct writer *w)
{
    const struct lab_figure *f = &w->subject->figure;
    const char *between = "expect = ", *at;
    for (uint32_t i = 0; i < f->expected_count; i++) {
        struct figure_claim claim;
        figure_claim_read(&claim, (struct lab_word){f->expected[i], strlen(f->expected[i])}, &at);
        const char *unknown = unknown_side(w, &claim);
        if (unknown || claim.at_least > w->subject->layout.x_count) {
            robust_note(w->plan, w->arena, "the claim '%s' is left out: %s is not shown", f->expected[i],
                        unknown ? unknown : "so much");
            continue;
        }
        fprintf(w->out, "%s%s", between, f->expected[i]);
        between = ", ";
    }
    fputs(*between == ',' ? "\n" : "", w->out);
}

static void put_figure(const struct writer *w)
{
    static const char *const kinds[] = {"bars", "stacked", "lines", "scatter", "heat"};
    static const char *const means[] = {"none", "arithmetic", "geometric", "harmonic"};
    const struct lab_figure *f = &w->subject->figure;
    fprintf(w->out, "\n[figure %s]\nkind = %s\nx = %s\n", f->name, kinds[f->kind], f->x);
    put_text(w->out, "series", f->series);
    put_text(w->out, "title", f->title);
    put_text(w->out, "caption", f->caption);
    put_text(w->out, "x_title", f->x_title);
    put_text(w->out, "y_title", f->y_title);
    for (uint32_t i = 0; i < f->y_count; i++)
        fprintf(w->out, "%s\"%s\": %s", i ? ", " : "y = ", f->y_labels[i], f->y[i]);
    fputs("\nwhere =", w->out);
    for (int axis = 0; axis < AXIS_VARIANT; axis++)
        put_labels(w, axis);
    fputs(" variant=\"base\"\n", w->out);
    fputs(f->has_normalise ? "normalise =" : "", w->out);
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (f->normalise.labels[axis])
            fprintf(w->out, " %s=\"%s\"", lab_axis_names[axis], f->normalise.labels[axis]);
    fprintf(w->out, "%smean = %s\n", f->has_normalise ? "\n" : "", means[f->mean]);
    put_claims(w);
    fputs("robust = yes\n", w->out);
}

const char *robust_text(struct robust_plan *p, struct arena *a, const struct robust_subject *s)
{
    char *text = NULL;
    size_t size = 0;
    struct writer w = {.out = open_memstream(&text, &size), .arena = a, .subject = s, .plan = p};
    if (!w.out)
        out_of_memory();
    put_head(&w);
    for (int axis = 0; axis < AXIS_VARIANT; axis++)
        put_axis(&w, axis);
    put_variants(&w);
    put_exclusions(&w);
    put_inputs(&w);
    put_figure(&w);
    if (fclose(w.out))
        out_of_memory();
    const char *copy = arena_strndup(a, text, size);
    free(text);
    return copy;
}
