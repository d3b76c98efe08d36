/* Judging a figure on every variant: the figure is computed for each, and orders of pairs and expectations are compared
 * with those of the base. */
#include "figure/robust.h"
#include "figure/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double too_close = 0.01; /* what is no difference */
enum { MOST_FACTORS = 64, NAMED_MACHINES = 4 };

const char *const robust_outcome_names[] = {"unknown", "turned", "holds", "level"};

enum robust_outcome robust_outcome_of(double ratio)
{
    if (isnan(ratio))
        return ROBUST_UNKNOWN;
    return fabs(ratio - 1) < too_close ? ROBUST_LEVEL : ratio > 1 ? ROBUST_HOLDS : ROBUST_TURNED;
}

/* ------------------------------------------------------------- machines */

static int factor_number(struct robust_data *d, struct arena *a, const char *name, size_t length)
{
    for (uint32_t i = 0; i < d->factor_count; i++)
        if (strlen(d->factors[i]) == length && !memcmp(d->factors[i], name, length))
            return (int)i;
    if (d->factor_count == MOST_FACTORS)
        return -1;
    d->factors[d->factor_count] = arena_strndup(a, name, length);
    return (int)d->factor_count++;
}

/* Signs at the end of the label, one for each factor. */
static const char *levels_of(const struct robust_data *d, const char *label)
{
    const char *blank = strrchr(label, ' ');
    bool signs = blank && d->factor_count && strlen(blank + 1) == d->factor_count;
    return signs && strspn(blank + 1, "+-") == d->factor_count ? blank + 1 : NULL;
}

static void find_machines(struct robust_data *d, struct arena *a, const struct experiment *x)
{
    const struct lab_axis_values *axis = &x->axes[AXIS_VARIANT];
    const char *base = d->figure->where.labels[AXIS_VARIANT];
    struct lab_items items = lab_items_of(a, axis);
    d->machines = arena_array(a, struct robust_variant, items.count + 1);
    d->factors = arena_array(a, const char *, MOST_FACTORS);
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < items.count; i++) {
            const char *label = items.items[i].label, *colon = strstr(label, ": ");
            bool is_base = base ? !strcmp(base, label) : i == 0;
            if (items.items[i].best || is_base != (turn == 0))
                continue;
            struct robust_variant *m = &d->machines[d->machine_count++];
            *m = (struct robust_variant){label, -1, "", NULL};
            if (colon && !is_base) {
                m->factor = factor_number(d, a, label, (size_t)(colon - label));
                m->value = colon + 2;
            }
        }
    for (uint32_t i = 1; i < d->machine_count; i++)
        if (d->machines[i].factor < 0)
            d->machines[i].levels = levels_of(d, d->machines[i].label);
}

/* ------------------------------------------------------------- what is judged */

static double value_at(const struct figure_data *d, uint32_t x, uint32_t series)
{
    for (uint32_t i = 0; i < d->cell_count; i++)
        if (d->cells[i].x == x && d->cells[i].series == series)
            return d->cells[i].value;
    return NAN;
}

static struct robust_judgement *add_judgement(struct robust_data *d, struct arena *a)
{
    struct robust_judgement *j = &d->judgements[d->judgement_count++];
    j->ratios = arena_array(a, double, d->machine_count);
    j->outcomes = arena_array(a, enum robust_outcome, d->machine_count);
    j->effect = j->least = -1;
    return j;
}

static void count_outcomes(const struct robust_data *d, struct robust_judgement *j)
{
    for (uint32_t m = 0; m < d->machine_count; m++) {
        j->known += j->outcomes[m] != ROBUST_UNKNOWN;
        j->held += j->outcomes[m] == ROBUST_HOLDS;
        j->level += j->outcomes[m] == ROBUST_LEVEL;
        j->turned += j->outcomes[m] == ROBUST_TURNED;
        if (!isnan(j->ratios[m]) && (j->least < 0 || j->ratios[m] < j->ratios[j->least]))
            j->least = (int)m;
    }
}

/* Half of a sample's machines have the factor high, half low; the other factors are balanced over both. */
static void find_effect(const struct robust_data *d, struct robust_judgement *j)
{
    for (uint32_t f = 0; f < d->factor_count; f++) {
        double sum[2] = {0};
        uint32_t count[2] = {0};
        for (uint32_t m = 0; m < d->machine_count; m++) {
            const char *levels = d->machines[m].levels;
            if (!levels || !(j->ratios[m] > 0))
                continue;
            sum[levels[f] == '+'] += log(j->ratios[m]);
            count[levels[f] == '+']++;
        }
        double effect = count[0] && count[1] ? sum[1] / count[1] - sum[0] / count[0] : 0;
        if (effect != 0 && (j->effect < 0 || fabs(effect) > fabs(log(j->effect_by)))) {
            j->effect = (int)f;
            j->effect_by = exp(effect);
        }
    }
}

static void judge_claim(struct robust_data *d, struct arena *a, const struct figure_data *shown, const char *text)
{
    struct robust_judgement *j = add_judgement(d, a);
    j->is_claim = true;
    j->text = text;
    for (uint32_t m = 0; m < d->machine_count; m++) {
        int held = figure_expectation(&shown[m], text);
        j->ratios[m] = NAN;
        j->outcomes[m] = held < 0 ? ROBUST_UNKNOWN : held ? ROBUST_HOLDS : ROBUST_TURNED;
    }
    count_outcomes(d, j);
}

static void judge_pair(struct robust_data *d, struct arena *a, const struct figure_data *shown, uint32_t x, uint32_t s,
                       uint32_t t)
{
    const struct figure_data *base = &shown[0];
    struct robust_judgement *j = add_judgement(d, a);
    bool mean = d->figure->mean != MEAN_NONE, turned = value_at(base, x, s) < value_at(base, x, t);
    uint32_t greater = turned ? t : s, lesser = turned ? s : t;
    j->x = base->xs[x];
    j->greater = base->series[greater];
    j->lesser = base->series[lesser];
    for (uint32_t m = 0; m < d->machine_count; m++) {
        double below = value_at(&shown[m], x, lesser);
        j->ratios[m] = below > 0 ? value_at(&shown[m], x, greater) / below : NAN;
        j->outcomes[m] = robust_outcome_of(j->ratios[m]);
    }
    j->is_close = j->outcomes[0] != ROBUST_HOLDS;
    j->text = arena_printf(a, "%s%s%s %s %s", mean ? "" : j->x, mean ? "" : ": ", j->greater, j->is_close ? "~" : ">",
                           j->lesser);
    count_outcomes(d, j);
    find_effect(d, j);
}

/* Pairs with the least certain first; those that are not judged last. */
static int by_certainty(const void *left, const void *right)
{
    const struct robust_judgement *a = left, *b = right;
    if (a->is_claim != b->is_claim)
        return b->is_claim - a->is_claim;
    if (a->is_close != b->is_close)
        return a->is_close - b->is_close;
    double x = a->known ? (double)a->held / a->known : 0, y = b->known ? (double)b->held / b->known : 0;
    return (x > y) - (x < y);
}

static bool compute_all(struct robust_data *d, struct arena *a, struct figure_source *source, struct figure_data *shown,
                        struct error *e)
{
    for (uint32_t m = 0; m < d->machine_count; m++) {
        struct lab_figure *f = arena_new(a, struct lab_figure);
        *f = *d->figure;
        f->where.labels[AXIS_VARIANT] = d->machines[m].label;
        if (!figure_compute(a, source, f, &shown[m], e))
            return false;
    }
    return true;
}

bool figure_robust(struct arena *a, struct figure_source *source, const struct lab_figure *f, struct robust_data *out,
                   struct error *e)
{
    *out = (struct robust_data){.figure = f};
    find_machines(out, a, source->experiment);
    struct figure_data *shown = arena_array(a, struct figure_data, out->machine_count + 1);
    if (!compute_all(out, a, source, shown, e))
        return false;
    uint32_t series = shown[0].series_count, xs = shown[0].x_count, first = f->mean != MEAN_NONE ? xs - 1 : 0;
    out->judgements = arena_array(a, struct robust_judgement,
                                  f->expected_count + (size_t)xs * series * (series ? series - 1 : 0) / 2 + 1);
    for (uint32_t i = 0; i < f->expected_count; i++)
        judge_claim(out, a, shown, f->expected[i]);
    for (uint32_t x = first; x < xs; x++)
        for (uint32_t s = 0; s < series; s++)
            for (uint32_t t = s + 1; t < series; t++)
                judge_pair(out, a, shown, x, s, t);
    uint32_t claims = f->expected_count;
    qsort(out->judgements + claims, out->judgement_count - claims, sizeof *out->judgements, by_certainty);
    return true;
}

/* ------------------------------------------------------------- in words */

static const char *one_turned(struct arena *a, const struct robust_data *d, const struct robust_judgement *j,
                              uint32_t m)
{
    return j->is_claim ? d->machines[m].label : arena_printf(a, "%s (%.2f)", d->machines[m].label, j->ratios[m]);
}

const char *robust_turned_by(struct arena *a, const struct robust_data *d, const struct robust_judgement *j)
{
    const char *text = "";
    uint32_t named = 0, sampled = 0, samples = 0, more = 0;
    for (uint32_t m = 1; m < d->machine_count; m++) {
        samples += d->machines[m].levels != NULL;
        if (j->outcomes[m] != ROBUST_TURNED)
            continue;
        if (d->machines[m].levels)
            sampled++;
        else if (named == NAMED_MACHINES)
            more++;
        else
            text = arena_printf(a, "%s%s%s", text, named++ ? ", " : "", one_turned(a, d, j, m));
    }
    if (more)
        text = arena_printf(a, "%s and %u more", text, more);
    if (!sampled)
        return text;
    text = arena_printf(a, "%s%s%u of %u of the sample", text, named ? "; " : "no factor alone; ", sampled, samples);
    return j->effect < 0 || named ? text : arena_printf(a, "%s, there mostly %s", text, d->factors[j->effect]);
}

static void csv_text(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

void robust_csv(const struct robust_data *d, FILE *to)
{
    fputs("figure,kind,order,machine,factor,value,levels,ratio,outcome,judged\n", to);
    for (uint32_t i = 0; i < d->judgement_count; i++) {
        const struct robust_judgement *j = &d->judgements[i];
        for (uint32_t m = 0; m < d->machine_count; m++) {
            const struct robust_variant *v = &d->machines[m];
            csv_text(to, d->figure->name);
            fprintf(to, ",%s,", j->is_claim ? "claim" : "pair");
            csv_text(to, j->text), putc(',', to), csv_text(to, v->label), putc(',', to);
            csv_text(to, v->factor < 0 ? "" : d->factors[v->factor]), putc(',', to), csv_text(to, v->value);
            fprintf(to, ",%s,", v->levels ? v->levels : "");
            if (!isnan(j->ratios[m]))
                fprintf(to, "%.6g", j->ratios[m]);
            fprintf(to, ",%s,%s\n", robust_outcome_names[j->outcomes[m] + 1], j->is_close ? "no" : "yes");
        }
    }
}
