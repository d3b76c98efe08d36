/* Figures over the instructions of a kernel and over the buckets of histograms: are their numbers those that one gets
 * by hand, and does every mistake in asking for one have its place? */
#include "unit/store_test.h"

#include "experiment/stored.h"
#include "figure/figure.h"
#include "figure/plot.h"

#include <math.h>

static struct arena arena;
static struct experiment experiment;

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

/* Two launches of a kernel with another between them. gto misses half as often; spmv has no probe, and so no rows. */
static json_t *record_with_rows(uint32_t number, bool probed, int factor)
{
    json_t *record = record_of(number, "{}", NULL), *stats = json_object_get(record, "stats"),
           *kernels = json_object_get(stats, "kernels");
    json_object_set_new(stats, "total",
                        json_pack("{s:i, s:i, s:i, s:[i, i, i, i, i], s:{s:i}}", "cycles", 100, "ipc", 10 * factor,
                                  "thread_instructions", 2000, "lanes", 0, 3, 4 * factor, 0, 0, "mine", "all", 7));
    json_array_append_new(kernels, json_deep_copy(json_array_get(kernels, 0)));
    json_array_append_new(kernels, json_deep_copy(json_array_get(kernels, 0)));
    json_object_set_new(json_array_get(kernels, 1), "name", json_string("other"));
    if (!probed)
        return record;
    json_object_set_new(json_object_get(stats, "total"), "far", json_pack("{s:[i, i]}", "distance", 5, 6));
    for (size_t i = 0; i < 3; i++) {
        const char *text =
            i == 1 ? "[{\"pc\": 4, \"line\": 9, \"text\": \"ld.b\", \"executions\": 1, \"mine\": {\"hits\": 100, "
                     "\"misses\": 100}}]"
                   : "[{\"pc\": 2, \"line\": 8, \"text\": \"add\", \"executions\": 3, \"mine\": {\"hits\": 0, "
                     "\"misses\": 0}},"
                     " {\"pc\": 10, \"line\": 12, \"text\": \"ld.c\", \"executions\": 3, \"mine\": {\"hits\": 1}},"
                     " {\"pc\": 4, \"line\": 9, \"text\": \"ld.a\", \"executions\": 3, \"mine\": {\"hits\": 5, "
                     "\"misses\": 8}}]";
        json_t *pcs = record_from(text);
        if (i != 1)
            json_object_set_new(json_object_get(json_array_get(pcs, 2), "mine"), "misses", json_integer(8 / factor));
        json_object_set_new(json_array_get(kernels, i), "pcs", pcs);
    }
    return record;
}

#define HEAD                                                                                                       \
    "[experiment]\nprobes = ./mine.so ./far.so\n[programs]\nbfs\nspmv\n[schedulers]\nlrr\ngto\nBest = best(lrr | " \
    "gto)\n"

/* Leaves the store open, for whoever wants to plot. */
static struct figure_data figure_of(const char *figure)
{
    static int number;
    char name[40];
    struct error e = {0};
    struct figure_data d = {0};
    const char *text = arena_printf(&arena, HEAD "[figure f]\n%s\n", figure);
    if (!experiment_parse(&experiment, &arena, "test", text, strlen(text), "test", &e))
        fail_msg("%s", e.text);
    snprintf(name, sizeof name, "rows-%d.db", number++);
    struct store *s = open_store(file_named(name), STORE_WRITE);
    char(*keys)[KEY_BYTES] = arena_alloc(&arena, experiment.point_count * KEY_BYTES);
    for (uint32_t i = 0; i < experiment.point_count; i++) {
        const struct lab_point *p = &experiment.points[i];
        bool bfs = !strcmp(experiment_label(&experiment, p, AXIS_PROGRAM), "bfs"),
             gto = !strcmp(experiment_label(&experiment, p, AXIS_SCHEDULER), "gto");
        strcpy(keys[i], key_of(i + 1));
        put(s, record_with_rows(i + 1, bfs, gto ? 2 : 1));
    }
    assert_true(experiment_put(s, &experiment, (const char(*)[KEY_BYTES])keys, &e));
    struct figure_source *source = figure_source_open(&arena, s, &experiment, &e);
    if (!source || !figure_compute(&arena, source, &experiment.figures[0], &d, &e))
        fail_msg("%s", e.text);
    store_close(s);
    return d;
}

static void labels(const char *const *found, uint32_t count, const char *wanted)
{
    const char *text = "";
    for (uint32_t i = 0; i < count; i++)
        text = arena_printf(&arena, "%s%s%s", text, i ? "|" : "", found[i]);
    assert_string_equal(text, wanted);
}

/* Values in the order of the cells: "5 8|1 0". */
static void values(const struct figure_data *d, const char *wanted)
{
    const char *text = "";
    for (uint32_t i = 0; i < d->cell_count; i++) {
        assert_int_equal(d->cells[i].x, i / (d->cell_count / d->x_count));
        text = arena_printf(&arena, "%s%s%.6g", text, i ? d->cells[i].x != d->cells[i - 1].x ? "|" : " " : "",
                            d->cells[i].value);
    }
    assert_string_equal(text, wanted);
}

static void instructions_of_a_kernel(void **state)
{
    (void)state;
    struct figure_data d = figure_of(
        "kind=stacked\nx=pc\nkernel=k\ny=hits: mine.hits, misses: mine.misses\nwhere=program=bfs scheduler=lrr");
    labels(d.xs, d.x_count, "4|10"); /* pc 2 counted nothing */
    labels(d.series, d.series_count, "");
    values(&d, "10 16|2 0"); /* over two launches; 10 has no misses of its own */
    assert_string_equal(d.cells[0].detail, "line 9: ld.a");
    assert_string_equal(d.cells[3].detail, "line 12: ld.c");
    assert_non_null(d.cells[0].key);
    assert_true(isnan(d.cells[0].x_number) && isnan(d.cells[0].published));
    assert_int_equal(d.missing, 0);
    d = figure_of("kind=stacked\nx=pc\ny=hits: mine.hits, misses: mine.misses\nwhere=program=bfs scheduler=lrr");
    values(&d, "10 16|2 0"); /* the kernel of the first launch */
    d = figure_of(
        "kind=stacked\nx=pc\nkernel=1\ny=hits: mine.hits, misses: mine.misses\nwhere=program=bfs scheduler=lrr");
    values(&d, "100 100");
    d = figure_of(
        "kind=stacked\nx=pc\nkernel=2\ny=hits: mine.hits, misses: mine.misses\nwhere=program=bfs scheduler=lrr");
    values(&d, "5 8|1 0");
    d = figure_of("kind=stacked\nx=pc\nkernel=k\ny=hits: mine.hits, misses: mine.misses\nshares=yes\nwhere=program=bfs "
                  "scheduler=lrr");
    values(&d, "0.384615 0.615385|1 0");
}

static void with_series_and_totals(void **state)
{
    (void)state;
    struct figure_data d =
        figure_of("x=pc\nkernel=k\ny=1000 * mine.misses / thread_instructions\nseries=scheduler\nwhere=program=bfs");
    labels(d.series, d.series_count, "lrr|gto|Best");
    labels(d.xs, d.x_count, "4");
    values(&d, "8 4 4");
    d = figure_of("x=pc\nkernel=k\ny=mine.hits + mine.all\nwhere=program=bfs scheduler=gto"); /* a counter, and a metric
                                                                                                 of the same policy */
    labels(d.xs, d.x_count, "2|4|10");
    values(&d, "7|17|9");
    d = figure_of(
        "x=pc\nkernel=k\ny=A: mine.hits, B: mine.misses\nseries=scheduler\nwhere=program=bfs scheduler=lrr|gto");
    labels(d.series, d.series_count, "lrr A|lrr B|gto A|gto B");
    values(&d, "10 16 10 8|2 0 2 0");
    d = figure_of("x=pc\nkernel=k\ny=A: mine.hits, B: mine.misses\nwhere=program=bfs scheduler=lrr");
    labels(d.series, d.series_count, "A|B"); /* beside each other, without an axis */
    values(&d, "10 16|2 0");
    d = figure_of("x=program\ny=ipc, C: cycles\nwhere=scheduler=gto\nsource=a\npublished.bfs = C 90\nexpect = C > ipc");
    assert_float_equal(d.cells[1].published, 90, 0);
    assert_int_equal(figure_expectation(&d, "C > ipc"), 1);
    labels(d.series, d.series_count, "ipc|C");
    values(&d, "20 100|20 100");
}

static void runs_without_rows(void **state)
{
    (void)state;
    struct figure_data d = figure_of("x=pc\nkernel=k\ny=mine.misses + 0 * cycles\nseries=program\nwhere=scheduler=lrr");
    assert_int_equal(d.missing, 1);
    values(&d, "16 nan");
    d = figure_of("x=pc\nkernel=nosuch\ny=mine.misses\nseries=program\nwhere=scheduler=lrr");
    assert_int_equal(d.missing, 2);
    assert_int_equal(d.cell_count + d.x_count, 0);
    d = figure_of("x=bucket\ny=far.distance\nseries=program\nwhere=scheduler=lrr");
    assert_int_equal(d.missing, 1);
    values(&d, "5 nan|6 nan");
}

static void buckets(void **state)
{
    (void)state;
    struct figure_data d = figure_of("x=bucket\ny=lanes\nseries=scheduler\nwhere=program=spmv scheduler=lrr|gto");
    labels(d.xs, d.x_count, "0|1|2"); /* what is behind the last that is not 0 is left out */
    values(&d, "0 0|3 3|4 8");
    assert_float_equal(d.cells[5].x_number, 2, 0);
    assert_null(d.cells[0].detail);
    d = figure_of("kind=lines\nx=bucket\ny=lanes / thread_instructions\nwhere=program=spmv scheduler=Best");
    values(&d, "0|0.0015|0.004");
    assert_string_equal(d.cells[0].detail, "gto");
    d = figure_of("kind=stacked\nx=bucket\ny=a: lanes, b: far.distance\nwhere=program=bfs scheduler=lrr");
    values(&d, "0 5|3 6|4 0");
}

static void plots(void **state)
{
    (void)state;
    char *script, *data;
    size_t script_size, data_size;
    struct figure_data d = figure_of(
        "kind=stacked\nx=pc\nkernel=k\ny=hits: mine.hits, misses: mine.misses\nwhere=program=bfs scheduler=lrr");
    FILE *to_script = open_memstream(&script, &script_size), *to_data = open_memstream(&data, &data_size);
    assert_true(plot_script(to_script, to_data, &d, "f.dat", "f.pdf"));
    fclose(to_script);
    fclose(to_data);
    assert_non_null(strstr(script, "set xtics ('4' 0, '10' 1)"));
    assert_non_null(strstr(script, "set xlabel 'pc'"));
    assert_non_null(strstr(data, "# misses\n"));
    free(script);
    free(data);
}

static void refused(const char *figure, int line, int column, const char *wanted)
{
    struct error e = {0};
    const char *text = arena_printf(
        &arena, "[experiment]\npcs = yes\n[programs]\nbfs\n[schedulers]\nlrr\ngto\n[figure f]\n%s\n", figure);
    assert_false(experiment_parse(&experiment, &arena, "test", text, strlen(text), NULL, &e));
    if (!strstr(e.text, wanted) || e.line != line || e.column != column)
        fail_msg("wanted %d:%d and '%s', not: %s", line, column, wanted, e.text);
}

static void mistakes(void **state)
{
    (void)state;
    refused("x=pc\nkind=lines\ny=executions\nwhere=scheduler=lrr", 9, 3, "expected kind = bars or stacked");
    refused("x=bucket\nkind=heat\ny=lanes\nwhere=scheduler=lrr", 9, 3, "expected kind = bars, stacked or lines");
    refused("x=pc\nkernel=\ny=executions\nwhere=scheduler=lrr", 10, 8, "expected the name of a kernel");
    refused("x=program\nkernel=k\ny=ipc\nwhere=scheduler=lrr", 10, 1,
            "kernel is for figures over its instructions: x = pc");
    refused("x=bucket\nkernel=k\ny=lanes\nwhere=scheduler=lrr", 10, 1,
            "kernel is for figures over its instructions: x = pc");
    refused("x=pc\nlaunch=0\ny=executions\nwhere=scheduler=lrr", 10, 1, "launch is for figures over time");
    refused("x=pc\ny=execution\nwhere=scheduler=lrr", 10, 3,
            "unknown counter of instructions 'execution'; did you mean 'executions'?");
    refused("x=bucket\ny=lane\nwhere=scheduler=lrr", 10, 3, "unknown histogram 'lane'; did you mean 'lanes'?");
    refused("x=program\ny=executions\nwhere=scheduler=lrr", 10, 3, "unknown metric 'executions'");
    refused("x=pc\ny=executions", 8, 9, "scheduler has 2 entries and the figure shows one");
    refused("x=pc\ny=executions\nmean=arithmetic\nwhere=scheduler=lrr", 11, 1,
            "a figure over instructions has no mean");
    refused("x=bucket\ny=lanes\nnormalise=scheduler=lrr\nseries=scheduler", 11, 1,
            "a figure over buckets has no normalise");
    refused("x=pc\ny=loads.misses\nwhere=scheduler=lrr", 10, 3,
            "no run has the probe loads: expected probes = loads in [experiment], or a line in [probes]");
    refused("x=program\ny=1 + trips.this_trip\nwhere=scheduler=lrr", 10, 7, "no run has the probe trips");
    struct error e = {0};
    static const char without[] = "[programs]\nbfs\n[figure f]\nx=pc\ny=executions\n";
    assert_false(experiment_parse(&experiment, &arena, "test", without, sizeof without - 1, NULL, &e));
    assert_non_null(strstr(e.text, "expected pcs = yes in [experiment]"));
    refused("x=pcs\ny=ipc\nwhere=scheduler=lrr", 9, 3, "unknown axis 'pcs'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(instructions_of_a_kernel, start, end),
        cmocka_unit_test_setup_teardown(with_series_and_totals, start, end),
        cmocka_unit_test_setup_teardown(runs_without_rows, start, end),
        cmocka_unit_test_setup_teardown(buckets, start, end),
        cmocka_unit_test_setup_teardown(plots, start, end),
        cmocka_unit_test_setup_teardown(mistakes, start, end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
