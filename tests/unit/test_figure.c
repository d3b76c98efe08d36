/* Are the numbers of figures those that one gets by hand: choices, quotients, means, what is missing, and the verdict
 * against a paper? */
#include "unit/store_test.h"

#include "experiment/stored.h"
#include "figure/figure.h"

#include <math.h>

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena = (struct arena){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* What the runs gave; a run that is not listed was never made. stalls.memory, stalls.fetch and l2.misses are there for
 * parts and scatters. */
struct given {
    const char *program, *scheduler;
    double ipc, memory, fetch, misses;
};

static const struct given runs[] = {
    {"bfs", "lrr", 10, 30, 10, 1},  {"bfs", "gto", 12, 10, 10, 2},  {"bfs", "swl 1", 5, 1, 1, 3},
    {"bfs", "swl 2", 15, 1, 1, 4},  {"bfs", "swl 4", 20, 1, 1, 5},  {"spmv", "lrr", 20, 60, 20, 6},
    {"spmv", "gto", 10, 40, 0, 7},  {"spmv", "swl 1", 40, 1, 1, 8}, {"spmv", "swl 2", 30, 1, 1, 9},
    {"spmv", "swl 4", 10, 1, 1, 0}, {"lost", "lrr", 8, 1, 1, 1},    {"bfs", "cap 2", 7, 1, 1, 1},
    {"bfs", "cap 8", 9, 1, 1, 1},
};

static const struct given *find(const char *program, const char *scheduler)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(runs[i].program, program) == 0 && strcmp(runs[i].scheduler, scheduler) == 0)
            return &runs[i];
    return NULL;
}

/* Samples over time, of two launches; spmv has none. */
static void put_samples(json_t *record, const struct given *g)
{
    json_t *kernels = json_object_get(json_object_get(record, "stats"), "kernels"),
           *second = json_deep_copy(json_array_get(kernels, 0));
    json_object_set_new(second, "name", json_string("second"));
    json_object_set_new(json_array_get(kernels, 0), "series",
                        json_pack("{s:i, s:[i, i, f], s:{s:[i, n, f], s:[i, i, i]}}", "interval", 100, "cycles", 100,
                                  200, 200 + g->ipc, "values", "l1d.misses", 1, g->ipc, "l1d.accesses", 2, 4, 8));
    json_array_append_new(kernels, second);
    json_t *cycles = json_array(), *ipc = json_array();
    for (int i = 1; i <= 4999; i++) {
        json_array_append_new(cycles, json_integer(i * 10));
        json_array_append_new(ipc, json_integer(i));
    }
    json_object_set_new(second, "series",
                        json_pack("{s:i, s:o, s:{s:o}}", "interval", 10, "cycles", cycles, "values", "ipc", ipc));
}

static void put_runs(struct store *s, const struct experiment *x, char (*keys)[KEY_BYTES])
{
    for (uint32_t i = 0; i < x->point_count; i++) {
        const char *program = experiment_label(x, &x->points[i], AXIS_PROGRAM),
                   *scheduler = experiment_label(x, &x->points[i], AXIS_SCHEDULER);
        const struct given *g = find(program, scheduler);
        char total[200];
        strcpy(keys[i], key_of(i + 1));
        if (strcmp(program, "counted") == 0) {
            put(s, record_of(i + 1, "{\"warp_instructions\": 50}", NULL)); /* without time */
        } else if (g) {
            snprintf(
                total, sizeof total,
                "{\"cycles\": 100, \"ipc\": %g, \"stalls\": {\"memory\": %g, \"fetch\": %g}, \"l2\": {\"misses\": %g}}",
                g->ipc, g->memory, g->fetch, g->misses);
            json_t *record = record_of(i + 1, total, NULL);
            if (x->interval_cycles && strcmp(program, "spmv") != 0)
                put_samples(record, g);
            put(s, record);
        } else if (strcmp(scheduler, "gto") == 0) {
            put(s,
                record_of(i + 1, "null", "{\"failure\": \"not finished after 60 s\", \"exit\": 137, \"stats\": null}"));
        }
    }
}

static struct experiment experiment;

/* The first figure of an experiment, with the runs above. */
static struct figure_data figure_of(const char *axes, const char *figure)
{
    static int number;
    char name[40];
    struct error e = {0};
    const char *text = arena_printf(&arena, "%s[figure f]\n%s\n", axes, figure);
    if (!experiment_parse(&experiment, &arena, "test", text, strlen(text), "test", &e))
        fail_msg("%s", e.text);
    snprintf(name, sizeof name, "figure-%d.db", number++);
    struct store *s = open_store(file_named(name), STORE_WRITE);
    char(*keys)[KEY_BYTES] = arena_alloc(&arena, experiment.point_count * KEY_BYTES);
    put_runs(s, &experiment, keys);
    struct figure_data d = {0};
    assert_true(experiment_put(s, &experiment, (const char(*)[KEY_BYTES])keys, &e));
    struct figure_source *source = figure_source_open(&arena, s, &experiment, &e);
    if (!source || !figure_compute(&arena, source, &experiment.figures[0], &d, &e))
        fail_msg("%s", e.text);
    store_close(s);
    return d;
}

static const struct figure_cell *cell(const struct figure_data *d, const char *x, const char *series, const char *part)
{
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct figure_cell *c = &d->cells[i];
        if (strcmp(d->xs[c->x], x) == 0 && strcmp(d->series[c->series], series) == 0 &&
            (!part || strcmp(d->figure->y_labels[c->part], part) == 0))
            return c;
    }
    fail_msg("no cell %s, %s", x, series);
    return NULL;
}

static void equals(const struct figure_data *d, const char *x, const char *series, double value)
{
    double found = cell(d, x, series, NULL)->value;
    if (isnan(value) ? !isnan(found) : !(fabs(found - value) < 1e-12))
        fail_msg("%s, %s: %.15g, not %.15g", x, series, found, value);
}

static void labels(const char *const *found, uint32_t count, const char *wanted)
{
    char text[400] = "";
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "", found[i]);
    assert_string_equal(text, wanted);
}

#define TWO        "[programs]\nbfs\nspmv\n"
#define SCHEDULERS "[schedulers]\nlrr\nbest swl = best(swl:limit={1,2,4})\ngto\nswl = swl:limit={1,2,4}\n"

static void bars(void **state)
{
    (void)state;
    struct figure_data d = figure_of(TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler");
    labels(d.xs, d.x_count, "bfs|spmv");
    labels(d.series, d.series_count, "lrr|best swl|gto|swl 1|swl 2|swl 4");
    assert_int_equal(d.cell_count, 12);
    assert_int_equal(d.missing, 0);
    equals(&d, "bfs", "gto", 12);
    equals(&d, "spmv", "swl 2", 30);
    assert_int_equal(d.cells[6].x, 1); /* by x, then series */
    assert_int_equal(d.cells[7].series, 1);
    assert_true(isnan(d.cells[0].x_number) && isnan(d.cells[0].published));
    assert_non_null(d.cells[0].key);
    assert_null(d.cells[0].detail);
}

static void the_best_of_a_range(void **state)
{
    (void)state;
    struct figure_data d = figure_of(TWO SCHEDULERS, "x=program\ny=l2.misses\nseries=scheduler");
    equals(&d, "bfs", "best swl", 5); /* ipc chooses, misses are shown */
    assert_string_equal(cell(&d, "bfs", "best swl", NULL)->detail, "swl 4");
    assert_string_equal(cell(&d, "bfs", "best swl", NULL)->key, cell(&d, "bfs", "swl 4", NULL)->key);
    assert_string_equal(cell(&d, "spmv", "best swl", NULL)->detail, "swl 1");
    equals(&d, "spmv", "best swl", 8);
    d = figure_of("[experiment]\nbest_by = l2.misses\n" TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler");
    assert_string_equal(cell(&d, "spmv", "best swl", NULL)->detail, "swl 2");
    equals(&d, "spmv", "best swl", 30);
}

/* best(gto | lrr): as a series, as what others are divided by, and what it chose. */
static void the_better_of_two_lines(void **state)
{
    (void)state;
    static const char schedulers[] = TWO "[schedulers]\nbetter one = best(gto | lrr)\nlrr\ngto\nswl = "
                                         "swl:limit={1,2,4}\nbest of all = best(better one | swl)\n";
    struct figure_data d = figure_of(
        schedulers, "x=program\ny=l2.misses\nseries=scheduler\nwhere=scheduler=\"better one\"|lrr|gto|\"best of all\"");
    labels(d.series, d.series_count, "better one|lrr|gto|best of all");
    equals(&d, "bfs", "better one", 2); /* gto: ipc 12 against 10 */
    assert_string_equal(cell(&d, "bfs", "better one", NULL)->detail, "gto");
    assert_string_equal(cell(&d, "bfs", "better one", NULL)->key, cell(&d, "bfs", "gto", NULL)->key);
    equals(&d, "spmv", "better one", 6);
    assert_string_equal(cell(&d, "spmv", "better one", NULL)->detail, "lrr");
    equals(&d, "bfs", "best of all", 5);
    assert_string_equal(cell(&d, "bfs", "best of all", NULL)->detail, "swl 4");
    d = figure_of(schedulers, "x=program\ny=ipc\nseries=scheduler\nwhere=scheduler=gto|\"swl 4\"|\"better "
                              "one\"\nnormalise=scheduler=\"better one\"\nmean=geometric");
    equals(&d, "bfs", "swl 4", 20.0 / 12);
    equals(&d, "spmv", "swl 4", 0.5);
    equals(&d, "bfs", "gto", 1);
    equals(&d, "spmv", "gto", 0.5);
    equals(&d, "mean", "better one", 1);
    d = figure_of(schedulers, "x=program\ny=ipc\nwhere=scheduler=\"better one\"");
    equals(&d, "spmv", "", 20);
    d = figure_of(schedulers, "kind=scatter\nx=l2.misses\ny=ipc\nseries=program");
    assert_int_equal(d.cell_count, 10); /* a choice is none of its own */
    d = figure_of("[programs]\nbfs\nlost\n[schedulers]\nlrr\ngto\nbetter = best(gto | lrr)\n",
                  "x=program\ny=ipc\nseries=scheduler");
    equals(&d, "lost", "better", 8); /* the other one failed */
    assert_string_equal(cell(&d, "lost", "better", NULL)->detail, "lrr");
}

static void normalised_with_means(void **state)
{
    (void)state;
    struct figure_data d = figure_of(TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler\nwhere=scheduler=gto|\"best "
                                                     "swl\"\nnormalise=scheduler=lrr\nmean=geometric");
    labels(d.xs, d.x_count, "bfs|spmv|mean");
    labels(d.series, d.series_count, "best swl|gto");
    equals(&d, "bfs", "gto", 1.2);
    equals(&d, "spmv", "gto", 0.5);
    equals(&d, "mean", "gto", sqrt(1.2 * 0.5));
    equals(&d, "mean", "best swl", 2);
    assert_null(cell(&d, "mean", "gto", NULL)->key);
    d = figure_of(TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler\nmean=harmonic");
    equals(&d, "mean", "lrr", 2 / (1 / 10.0 + 1 / 20.0));
    d = figure_of(TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler\nmean=arithmetic\nnormalise=program=spmv");
    equals(&d, "bfs", "lrr", 0.5);
    equals(&d, "mean", "lrr", 0.75);
    d = figure_of(TWO SCHEDULERS,
                  "x=program\ny=l2.misses\nseries=scheduler\nwhere=scheduler=\"swl 4\"\nmean=geometric");
    equals(&d, "mean", "swl 4", NAN); /* one of them is 0 */
    d = figure_of(TWO SCHEDULERS, "x=program\ny=l2.misses\nseries=scheduler\nnormalise=scheduler=\"swl 4\"");
    equals(&d, "spmv", "lrr", NAN);
}

/* "lost" has no run of swl, and its gto failed. */
static void what_is_missing(void **state)
{
    (void)state;
    struct figure_data d = figure_of("[programs]\nbfs\nlost\nspmv\n" SCHEDULERS,
                                     "x=program\ny=ipc\nseries=scheduler\nwhere=scheduler=lrr|gto|\"best "
                                     "swl\"\nmean=arithmetic\nnormalise=scheduler=lrr");
    assert_int_equal(d.missing, 2);
    equals(&d, "lost", "lrr", 1);
    equals(&d, "lost", "gto", NAN);
    equals(&d, "lost", "best swl", NAN);
    assert_null(cell(&d, "lost", "best swl", NULL)->detail);
    equals(&d, "mean", "lrr", 1);
    equals(&d, "mean", "gto", (1.2 + 0.5) / 2); /* over those that all have */
    d = figure_of(TWO SCHEDULERS "[exclude]\nwhy = program=spmv scheduler=gto|\"swl 1\"\n",
                  "x=program\ny=ipc\nseries=scheduler\nmean=arithmetic");
    assert_int_equal(d.missing, 0); /* left out on purpose */
    assert_int_equal(d.cell_count, 18);
    equals(&d, "spmv", "gto", NAN);
    assert_null(cell(&d, "spmv", "gto", NULL)->key);
    assert_string_equal(cell(&d, "spmv", "best swl", NULL)->detail, "swl 2");
    equals(&d, "mean", "lrr", 10);
    d = figure_of("[programs]\ncounted\nnone\n[schedulers]\nlrr\n", "x=program\ny=warp_instructions\nseries=scheduler");
    assert_int_equal(d.missing, 1); /* a run without time is there, though it has no cycles */
    equals(&d, "counted", "lrr", 50);
}

static void lines_over_a_parameter(void **state)
{
    (void)state;
    struct figure_data d =
        figure_of(TWO SCHEDULERS,
                  "kind=lines\nx=scheduler.limit\ny=ipc\nseries=program\nnormalise=scheduler=lrr\nmean=geometric");
    labels(d.xs, d.x_count, "1|2|4");
    labels(d.series, d.series_count, "bfs|spmv|mean");
    equals(&d, "4", "bfs", 2);
    equals(&d, "4", "spmv", 0.5);
    equals(&d, "4", "mean", 1);
    equals(&d, "2", "mean", 1.5);
    assert_true(cell(&d, "4", "spmv", NULL)->x_number == 4 && cell(&d, "4", "mean", NULL)->x_number == 4);
    d = figure_of("[programs]\nbfs\n[schedulers]\ncap = cap:limit={8,2}\nswl = swl:limit={1,2,4}\nlrr\n",
                  "kind=lines\nx=scheduler.limit\ny=ipc\nseries=scheduler");
    labels(d.xs, d.x_count, "1|2|4|8");
    labels(d.series, d.series_count, "cap|swl");
    equals(&d, "2", "cap", 7);
    equals(&d, "8", "cap", 9);
    equals(&d, "8", "swl", NAN);
    assert_int_equal(d.missing, 0);
}

static void stacked(void **state)
{
    (void)state;
    struct figure_data d =
        figure_of(TWO SCHEDULERS, "kind=stacked\nx=program\ny=memory: stalls.memory, fetch: "
                                  "stalls.fetch\nwhere=scheduler=gto\nnormalise=scheduler=lrr\nmean=arithmetic\n"
                                  "source = Figure 1\npublished.bfs = memory 0.3, fetch 0.2");
    labels(d.series, d.series_count, "");
    assert_int_equal(d.cell_count, 6);
    assert_int_equal(d.cells[1].part, 1);
    assert_float_equal(cell(&d, "bfs", "", "memory")->value, 0.25, 1e-12); /* 10 of 30 + 10 */
    assert_float_equal(cell(&d, "spmv", "", "memory")->value, 0.5, 1e-12);
    assert_float_equal(cell(&d, "spmv", "", "fetch")->value, 0, 0);
    assert_float_equal(cell(&d, "mean", "", "memory")->value, 0.375, 1e-12);
    assert_float_equal(cell(&d, "bfs", "", "fetch")->published, 0.2, 0);
    d = figure_of(TWO SCHEDULERS, "kind=stacked\nx=program\ny=memory: stalls.memory, fetch: "
                                  "stalls.fetch\nseries=scheduler\nwhere=scheduler=gto|lrr\nshares=yes\n"
                                  "source = Figure 2\npublished.bfs = lrr memory 0.7, gto fetch 0.1");
    assert_float_equal(cell(&d, "bfs", "lrr", "memory")->value, 0.75, 1e-12);
    assert_float_equal(cell(&d, "spmv", "gto", "memory")->value, 1, 1e-12);
    assert_float_equal(cell(&d, "bfs", "lrr", "memory")->published, 0.7, 0);
    assert_float_equal(cell(&d, "bfs", "gto", "fetch")->published, 0.1, 0);
    assert_true(isnan(cell(&d, "bfs", "gto", "memory")->published));
}

static void scatter(void **state)
{
    (void)state;
    struct figure_data d = figure_of(TWO SCHEDULERS, "kind=scatter\nx=2 * l2.misses\ny=ipc\nseries=program");
    assert_int_equal(d.cell_count, 10); /* the choice is none of its own */
    labels(d.series, d.series_count, "bfs|spmv");
    const struct figure_cell *c = cell(&d, "spmv, swl 1", "spmv", NULL);
    assert_float_equal(c->x_number, 16, 0);
    assert_float_equal(c->value, 40, 0);
    assert_string_equal(c->detail, "spmv, swl 1");
    assert_string_equal(d.xs[c->x], "spmv, swl 1");
    d = figure_of(TWO SCHEDULERS,
                  "kind=scatter\nx=l2.misses\ny=ipc\nseries=scheduler\nwhere=program=bfs scheduler=gto|\"best swl\"");
    assert_int_equal(d.cell_count, 2);
    equals(&d, "bfs, best swl (swl 4)", "best swl", 20);
}

static void lines_over_cycles(void **state)
{
    (void)state;
#define SAMPLED "[experiment]\ninterval = 100\n" TWO SCHEDULERS
    struct figure_data d =
        figure_of(SAMPLED, "kind=lines\nx=cycle\ny=l1d.misses / l1d.accesses\nseries=scheduler\nwhere=program=bfs "
                           "scheduler=lrr|\"best swl\"");
    labels(d.xs, d.x_count, "100|200|210|220");
    labels(d.series, d.series_count, "lrr|best swl");
    assert_int_equal(d.cell_count, 6);
    assert_int_equal(d.missing, 0);
    equals(&d, "100", "lrr", 0.5);
    equals(&d, "200", "lrr", NAN); /* one of the two was not sampled */
    equals(&d, "210", "lrr", 10.0 / 8);
    equals(&d, "220", "best swl", 20.0 / 8);
    assert_float_equal(cell(&d, "210", "lrr", NULL)->x_number, 210, 0);
    assert_string_equal(cell(&d, "220", "best swl", NULL)->detail, "swl 4");
    assert_non_null(cell(&d, "220", "best swl", NULL)->key);
    assert_int_equal(d.cells[1].series, 1); /* by x, then series */
    /* Another launch, with more samples than are shown: means of neighbours, the last of fewer. */
    d = figure_of(SAMPLED, "kind=lines\nx=cycle\ny=ipc\nlaunch=second\nwhere=program=bfs scheduler=lrr");
    assert_int_equal(d.cell_count, 1667);
    equals(&d, "30", "", 2);
    equals(&d, "49980", "", 4997);
    equals(&d, "49990", "", 4999);
    d = figure_of(SAMPLED, "kind=lines\nx=cycle\ny=ipc\nlaunch=1\nwhere=program=bfs scheduler=lrr");
    assert_int_equal(d.cell_count, 1667);
    /* Without samples, without such a launch. */
    d = figure_of(SAMPLED, "kind=lines\nx=cycle\ny=l1d.misses\nseries=program\nwhere=scheduler=lrr");
    assert_int_equal(d.cell_count, 2);
    assert_int_equal(d.missing, 1);
    d = figure_of(SAMPLED, "kind=lines\nx=cycle\ny=l1d.misses\nlaunch=2\nseries=program\nwhere=scheduler=lrr");
    assert_int_equal(d.cell_count, 0);
    assert_int_equal(d.missing, 2);
}

static void heat(void **state)
{
    (void)state;
    struct figure_data d =
        figure_of(TWO SCHEDULERS, "kind=heat\nx=scheduler\ny=ipc\nseries=program\nwhere=scheduler=swl");
    labels(d.xs, d.x_count, "swl 1|swl 2|swl 4");
    labels(d.series, d.series_count, "bfs|spmv");
    equals(&d, "swl 2", "spmv", 30);
}

/* gto: 1.2 and 0.5, swl 2: 1.5 and 1.5, swl 4: 2 and 0.5 times lrr. */
static void verdict(void **state)
{
    (void)state;
    struct figure_data d = figure_of(
        TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler\nwhere=scheduler=lrr|gto|\"swl 2\"|\"swl "
                        "4\"\nnormalise=scheduler=lrr\nmean=geometric\nsource=A paper, Figure 7\n"
                        "published.bfs = lrr 1, gto 1.25, swl 2 1.25, swl 4 2.5\npublished.spmv = gto 1.1, swl 2 1.51\n"
                        "expect = swl 2 > gto, gto > lrr, swl 2 >= 1.5 * lrr, swl 4 = 1.01 * lrr, swl 2 > swl 4 > gto");
    assert_float_equal(cell(&d, "bfs", "gto", NULL)->published, 1.25, 0);
    assert_true(isnan(cell(&d, "spmv", "lrr", NULL)->published));
    struct figure_verdict v;
    figure_judge(&d, &v);
    assert_int_equal(v.compared, 6);
    /* 0, 0.04, 0.2, 0.2, 6/11, 1/151: the middle is between 0.04 and 0.2 */
    assert_float_equal(v.median_deviation, 0.12, 1e-12);
    assert_int_equal(v.directions, 5);      /* lrr itself does not count */
    assert_int_equal(v.directions_held, 4); /* not gto on spmv */
    assert_int_equal(v.rankings, 6);        /* bfs: all pairs but gto and swl 2, spmv: one */
    assert_int_equal(v.rankings_held, 6);
    assert_int_equal(v.expected, 5);
    assert_int_equal(v.expected_held, 4); /* gto is below lrr in the mean */
    assert_int_equal(figure_expectation(&d, "gto > lrr"), 0);
    assert_int_equal(figure_expectation(&d, "lrr = 1"), 1);
    assert_int_equal(figure_expectation(&d, "lrr = 1.03"), 0);
    assert_int_equal(figure_expectation(&d, "lrr < 0.9 * swl 2"), 1);
    assert_int_equal(figure_expectation(&d, "lrr <= lrr"), 1);
    assert_int_equal(figure_expectation(&d, "lrr > none"), -1);
    assert_int_equal(figure_expectation(&d, "lrr"), -1);
}

static void rankings_that_do_not_hold(void **state)
{
    (void)state;
    struct figure_data d = figure_of(
        TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler\nsource=x\npublished.spmv = lrr 5, gto 9, swl 2 9.1");
    struct figure_verdict v;
    figure_judge(&d, &v);
    assert_int_equal(v.rankings, 2);
    assert_int_equal(v.rankings_held, 1);
    assert_int_equal(v.directions, 0);
    assert_int_equal(v.compared, 3);
}

static void expectations_without_a_mean(void **state)
{
    (void)state;
    const char *figure = "x=program\ny=ipc\nseries=scheduler\nexpect = gto > lrr, swl 2 > lrr";
    struct figure_data d = figure_of(TWO SCHEDULERS, figure);
    assert_int_equal(figure_expectation(&d, d.figure->expected[0]), 0); /* not on spmv */
    assert_int_equal(figure_expectation(&d, d.figure->expected[1]), 1);
    d = figure_of("[programs]\nbfs\nlost\n" SCHEDULERS, figure);
    assert_int_equal(figure_expectation(&d, d.figure->expected[1]), -1); /* holds on bfs, and lost has no run */
    struct figure_verdict v;
    figure_judge(&d, &v);
    assert_int_equal(v.expected, 0);
    assert_true(isnan(v.median_deviation));
    d = figure_of(TWO SCHEDULERS, "x=scheduler\ny=ipc\nwhere=program=bfs\nexpect = gto > lrr, swl 4 = best swl");
    assert_int_equal(figure_expectation(&d, d.figure->expected[0]), 1); /* one series: xs are compared */
    assert_int_equal(figure_expectation(&d, d.figure->expected[1]), 1);
    d = figure_of(TWO SCHEDULERS, "kind=stacked\nx=program\nwhere=scheduler=lrr\ny=memory: stalls.memory, fetch: "
                                  "stalls.fetch\nexpect = memory >= 3 * fetch");
    assert_int_equal(figure_expectation(&d, d.figure->expected[0]), 1);
}

/* "2lvl" is a label, not 2 times something. */
/* Several expressions: a bar for each beside those of the other series. */
static void bars_beside_each_other(void **state)
{
    (void)state;
    struct figure_data d =
        figure_of(TWO SCHEDULERS,
                  "x=program\ny=a: stalls.memory, b: stalls.fetch\nseries=scheduler\nwhere=scheduler=lrr|gto|\"best "
                  "swl\"\nmean=arithmetic\nsource=A paper\n"
                  "published.bfs = lrr a 30, lrr b 10, gto a 11\nexpect = lrr a > gto a > lrr b > gto b, at least 1: "
                  "gto a > lrr a");
    assert_int_equal(d.series_count, 6);
    assert_string_equal(d.series[0], "lrr a");
    assert_string_equal(d.series[5], "gto b");
    assert_int_equal(d.cell_count, 3 * 6);
    equals(&d, "bfs", "lrr a", 30);
    equals(&d, "bfs", "lrr b", 10);
    equals(&d, "spmv", "gto a", 40);
    equals(&d, "spmv", "gto b", 0);
    equals(&d, "mean", "gto a", 25);
    equals(&d, "mean", "gto b", 5);
    assert_string_equal(cell(&d, "bfs", "best swl b", NULL)->detail, "swl 4");
    assert_float_equal(cell(&d, "bfs", "lrr b", NULL)->published, 10, 0);
    assert_true(isnan(cell(&d, "bfs", "gto b", NULL)->published));
    struct figure_verdict v;
    figure_judge(&d, &v);
    assert_int_equal(v.compared, 3);
    assert_int_equal(v.rankings, 3);
    assert_int_equal(v.expected_held, 1); /* 45 > 25 > 15 > 5; gto waits less for memory on both */
}

static void at_how_many(void **state)
{
    (void)state;
    struct figure_data d = figure_of(TWO SCHEDULERS, "x=program\ny=ipc\nseries=scheduler\nmean=arithmetic");
    assert_int_equal(figure_expectation(&d, "gto > lrr"), 0); /* in the mean */
    assert_int_equal(figure_expectation(&d, "at least 1: gto > lrr"), 1);
    assert_int_equal(figure_expectation(&d, "at least 2: gto > lrr"), 0);
    assert_int_equal(figure_expectation(&d, "at least 1: swl 4 > 1.5 * lrr > 0"), 1);
    assert_int_equal(figure_expectation(&d, "at least 3: lrr > 0"), 0); /* the mean is no x of its own */
    d = figure_of("[programs]\nbfs\nlost\n" SCHEDULERS, "x=program\ny=ipc\nseries=scheduler");
    assert_int_equal(figure_expectation(&d, "at least 1: swl 2 > lrr"), 1);
    assert_int_equal(figure_expectation(&d, "at least 2: swl 2 > lrr"), -1); /* lost has no run */
    assert_int_equal(figure_expectation(&d, "at least 2: swl 1 > lrr"), 0);  /* whatever it would be there */
}

static void labels_that_begin_with_a_digit(void **state)
{
    (void)state;
    struct figure_data d = figure_of("[programs]\nbfs\n[schedulers]\nlrr\ngto\n2lvl = gto\n",
                                     "x=program\ny=ipc\nseries=scheduler\nnormalise=scheduler=lrr");
    assert_int_equal(figure_expectation(&d, "2lvl < 1.3 * lrr"), 1);
    assert_int_equal(figure_expectation(&d, "2lvl > 1.3 * lrr"), 0);
    assert_int_equal(figure_expectation(&d, "0.5 * 2lvl < 0.7"), 1);
}

static void the_shipped_experiments(void **state)
{
    (void)state;
    struct error e = {0};
    if (!experiment_load(&experiment, &arena, "experiments/quick.ini", NULL, &e))
        fail_msg("%s", e.text);
    assert_string_equal(experiment.name, "quick");
    assert_string_equal(experiment.size, "test");
    assert_true(experiment.figure_count >= 5);
    assert_int_equal(experiment.point_count,
                     experiment.axes[AXIS_PROGRAM].entry_count * experiment.axes[AXIS_SCHEDULER].entry_count);
    struct store *s = open_store(file_named("empty.db"), STORE_WRITE); /* nothing was run yet */
    struct figure_source *source = figure_source_open(&arena, s, &experiment, &e);
    for (uint32_t i = 0; source && i < experiment.figure_count; i++) {
        struct figure_data d;
        assert_true(figure_compute(&arena, source, &experiment.figures[i], &d, &e));
        assert_true(d.cell_count > 0 && d.missing > 0);
    }
    if (!source)
        fail_msg("%s", e.text);
    store_close(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(bars),
        TEST(the_best_of_a_range),
        TEST(the_better_of_two_lines),
        TEST(normalised_with_means),
        TEST(what_is_missing),
        TEST(lines_over_a_parameter),
        TEST(stacked),
        TEST(scatter),
        TEST(lines_over_cycles),
        TEST(heat),
        TEST(verdict),
        TEST(rankings_that_do_not_hold),
        TEST(expectations_without_a_mean),
        TEST(bars_beside_each_other),
        TEST(at_how_many),
        TEST(labels_that_begin_with_a_digit),
        TEST(the_shipped_experiments),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
