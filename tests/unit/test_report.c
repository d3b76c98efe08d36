/* The report: what a small store becomes as JSON, that no text of it can break out of the page, and how Vega's modules
 * are put in. */
#include "unit/store_test.h"

#include "experiment/stored.h"
#include "figure/plot.h"
#include "figure/report_parts.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

/* Labels, titles and failures that would end an element, start another, or are no UTF-8. */
static const char experiment_text[] = "[experiment]\n"
                                      "title = Tea & \"biscuits\" </script><script>alert(1)</script>\n"
                                      "about = Ümläuts — and <!-- a comment\n"
                                      "size = test\n"
                                      "[programs]\n"
                                      "bfs\n"
                                      "spmv-scalar\n"
                                      "[machines]\n"
                                      "gtx480\n"
                                      "[schedulers]\n"
                                      "lrr\n"
                                      "gto\n"
                                      "[figure speed]\n"
                                      "kind = bars\n"
                                      "title = Speed\n"
                                      "x = program\n"
                                      "y = ipc\n"
                                      "series = scheduler\n"
                                      "normalise = scheduler=lrr\n"
                                      "mean = arithmetic\n"
                                      "source = a paper\n"
                                      "published.bfs = gto 2.5\n"
                                      "expect = gto > lrr\n"
                                      "[figure parts]\n"
                                      "kind = stacked\n"
                                      "x = program\n"
                                      "y = hits: l1d.hits, misses: l1d.misses\n"
                                      "where = scheduler=gto\n"
                                      "[figure cloud]\n"
                                      "kind = scatter\n"
                                      "x = cycles\n"
                                      "y = ipc\n"
                                      "series = program\n"
                                      "[table printed]\n"
                                      "title = <b>Printed</b>\n"
                                      "source = Table 2 of a paper\n"
                                      "columns = lrr, gto\n"
                                      "row.bfs = 1, 2.5\n"
                                      "row.</script> = \"1,000\", none\n";

static const char failure[] = "kernel 'k</SCRIPT><!--': address \xff\xfe \"0x10\"";

/* bfs lrr, bfs gto, spmv lrr end well; spmv gto fails. */
static struct store *small_store(struct arena *a, const char *name)
{
    static const double ipc[] = {10, 20, 30};
    struct error e = {0};
    struct experiment x;
    if (!experiment_parse(&x, a, "small", experiment_text, strlen(experiment_text), "test", &e))
        fail_msg("%s", e.text);
    assert_int_equal(x.point_count, 4);
    struct store *s = open_store(file_named(name), STORE_WRITE);
    char(*keys)[KEY_BYTES] = arena_alloc(a, sizeof *keys * x.point_count);
    uint32_t done = 0;
    for (uint32_t i = 0; i < x.point_count; i++) {
        const char *program = experiment_label(&x, &x.points[i], AXIS_PROGRAM),
                   *scheduler = experiment_label(&x, &x.points[i], AXIS_SCHEDULER);
        bool fails = !strcmp(program, "spmv-scalar") && !strcmp(scheduler, "gto");
        char total[200], more[300];
        snprintf(total, sizeof total,
                 "{\"cycles\": %u, \"ipc\": %g, \"l1d\": {\"hits\": %u, \"misses\": 5, \"accesses\": 20}}", 100 + i,
                 fails ? 0 : ipc[done++], i);
        snprintf(more, sizeof more, "{\"program\": \"%s\", \"scheduler\": \"%s\"%s}", program, scheduler,
                 fails ? ", \"exit\": 5, \"stats\": null, \"failure\": \"to be replaced\"" : "");
        json_t *record = record_of(i, total, more);
        strcpy(keys[i], key_of(i));
        put(s, record);
    }
    sqlite3_stmt
        *q; /* as a damaged or foreign record might have left it: the record's own way would have refused such bytes */
    assert_int_equal(sqlite3_prepare_v2(s->db, "UPDATE run SET failure = ? WHERE failure IS NOT NULL", -1, &q, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(q, 1, failure, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(q), SQLITE_DONE);
    sqlite3_finalize(q);
    if (!experiment_put(s, &x, (const char(*)[KEY_BYTES])keys, &e))
        fail_msg("%s", e.text);
    return s;
}

static json_t *data_of(struct arena *a, struct store *s, const struct report_options *o)
{
    struct error e = {0};
    json_t *data = report_data(a, s, "/some/where/small.db", o, &e);
    if (!data)
        fail_msg("%s", e.text);
    return data;
}

/* The member at a path of names and indices: "experiments.0.title". */
static const json_t *at(const json_t *json, const char *path)
{
    char name[64];
    while (*path) {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(name)) : json_object_get(json, name);
        path += length + (path[length] == '.');
    }
    return json;
}

#define assert_text(json, path, text) assert_string_equal(json_string_value(at(json, path)), text)
#define assert_number(json, path, number) \
    assert_true(fabs(json_number_value(at(json, path)) - (number)) < 1e-9 && json_is_number(at(json, path)))

/* ------------------------------------------------------------- content */

static void content_of_a_small_store(void **state)
{
    struct arena a = {0};
    (void)state;
    struct store *s = small_store(&a, "content.db");
    json_t *data = data_of(&a, s, &(struct report_options){0});
    assert_text(data, "title", "Tea & \"biscuits\" </script><script>alert(1)</script>");
    assert_text(data, "store", "small.db");
    assert_text(data, "experiments.0.about", "Ümläuts — and <!-- a comment");
    assert_text(data, "experiments.0.command",
                "heddle sweep small.ini --size test -o small.db && heddle report small.db");
    assert_text(data, "experiments.0.text", experiment_text);
    assert_number(data, "experiments.0.points", 4);
    assert_number(data, "experiments.0.failed", 1);
    assert_number(data, "experiments.0.missing", 0);
    assert_int_equal(json_array_size(at(data, "experiments.0.tables")), 1);
    assert_text(data, "experiments.0.tables.0.name", "printed");
    assert_text(data, "experiments.0.tables.0.title", "<b>Printed</b>");
    assert_text(data, "experiments.0.tables.0.caption", "");
    assert_text(data, "experiments.0.tables.0.source", "Table 2 of a paper");
    assert_text(data, "experiments.0.tables.0.columns.1", "gto");
    assert_text(data, "experiments.0.tables.0.rows.1.label", "</script>");
    assert_text(data, "experiments.0.tables.0.rows.1.values.0", "1,000");
    assert_int_equal(json_array_size(at(data, "runs.rows")), 4);
    assert_int_equal(json_array_size(at(data, "runs.columns")), json_array_size(at(data, "runs.rows.0")));
    assert_int_equal(json_array_size(at(data, "machines")), 1);
    assert_text(data, "machines.0.text", "[core]\n");
    json_decref(data);
    store_close(s);
    arena_free(&a);
}

static const json_t *cell_named(const json_t *figure, const char *x, const char *series)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(figure, "cells"), i, cell)
    {
        if (!strcmp(json_string_value(json_object_get(cell, "x")), x) &&
            !strcmp(json_string_value(json_object_get(cell, "series")), series))
            return cell;
    }
    fail_msg("no cell %s %s", x, series);
    return NULL;
}

static void figures_of_a_small_store(void **state)
{
    struct arena a = {0};
    (void)state;
    struct store *s = small_store(&a, "figures.db");
    json_t *data = data_of(&a, s, &(struct report_options){0});
    const json_t *speed = at(data, "experiments.0.figures.0"), *cell = cell_named(speed, "bfs", "gto");
    assert_text(speed, "kind", "bars");
    assert_text(speed, "normalised_to", "scheduler=lrr");
    assert_text(speed, "mean", "arithmetic");
    assert_text(speed, "xs.2", "mean");
    assert_text(speed, "series.1", "gto");
    assert_number(cell, "value", 2);
    assert_number(cell, "published", 2.5);
    assert_text(cell, "run", key_of(1));
    assert_true(json_is_null(at(cell_named(speed, "spmv-scalar", "gto"), "value")));
    assert_null(at(cell_named(speed, "spmv-scalar", "gto"), "published"));
    assert_number(speed, "verdict.compared", 1);
    assert_number(speed, "verdict.median_deviation", 0.2);
    assert_text(speed, "verdict.expectations.0.text", "gto > lrr");
    assert_true(json_is_true(at(speed, "verdict.expectations.0.held")));
    const json_t *parts = at(data, "experiments.0.figures.1");
    assert_text(parts, "kind", "stacked");
    assert_text(parts, "parts.1", "misses");
    assert_text(parts, "cells.1.part", "misses");
    assert_number(parts, "cells.1.value", 5);
    const json_t *cloud = at(data, "experiments.0.figures.2");
    assert_text(cloud, "kind", "scatter");
    assert_number(cloud, "cells.0.at", 100);
    assert_number(cloud, "cells.0.value", 10);
    json_decref(data);
    store_close(s);
    arena_free(&a);
}

static void options_choose(void **state)
{
    struct arena a = {0};
    struct error e = {0};
    (void)state;
    struct store *s = small_store(&a, "choose.db");
    put(s, record_of(77, "{\"cycles\": 1}", NULL)); /* a run of no experiment */
    json_t *all = data_of(&a, s, &(struct report_options){0}),
           *one = data_of(&a, s, &(struct report_options){.experiment = "small", .figure = "parts", .title = "Mine"});
    assert_int_equal(json_array_size(at(all, "runs.rows")), 5);
    assert_int_equal(json_array_size(at(one, "runs.rows")), 4);
    assert_int_equal(json_array_size(at(one, "experiments.0.figures")), 1);
    assert_text(one, "experiments.0.figures.0.name", "parts");
    assert_int_equal(json_array_size(at(one, "experiments.0.tables")), 0); /* that figure and nothing else */
    assert_text(one, "title", "Mine");
    json_decref(all);
    json_decref(one);
    assert_null(report_data(&a, s, "x.db", &(struct report_options){.experiment = "smal"}, &e));
    assert_int_equal(e.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(e.text, "did you mean 'small'?"));
    e = (struct error){0};
    assert_null(report_data(&a, s, "x.db", &(struct report_options){.figure = "zebra"}, &e));
    assert_non_null(strstr(e.text, "there is 'speed'"));
    store_close(s);
    arena_free(&a);
}

static void an_empty_store(void **state)
{
    struct arena a = {0};
    (void)state;
    struct store *s = open_store(file_named("empty.db"), STORE_WRITE);
    json_t *data = data_of(&a, s, &(struct report_options){0});
    assert_text(data, "title", "Results in small.db");
    assert_int_equal(json_array_size(at(data, "experiments")), 0);
    assert_int_equal(json_array_size(at(data, "runs.rows")), 0);
    json_decref(data);
    store_close(s);
    arena_free(&a);
}

/* Machines of one name: the first as a whole, the next as what differs. */
static void machines_differ(void **state)
{
    struct arena a = {0};
    (void)state;
    struct store *s = open_store(file_named("machines.db"), STORE_WRITE);
    put(s, record_of(1, "{\"cycles\": 1}", "{\"machine_text\": \"[core]\\na = 1\\nb = 2\\n\"}"));
    put(s, record_of(2, "{\"cycles\": 1}",
                     "{\"machine_text\": \"[core]\\na = 1\\nb = 33\\n\", \"sets\": [\"core.b=33\"]}"));
    put(s, record_of(3, "{\"cycles\": 1}", "{\"machine_text\": \"[core]\\na = 1\\n\", \"sets\": [\"core.c=1\"]}"));
    json_t *data = data_of(&a, s, &(struct report_options){0});
    assert_int_equal(json_array_size(at(data, "machines")), 3);
    assert_text(data, "machines.0.text", "[core]\na = 1\nb = 2\n");
    assert_text(data, "machines.1.changes", "b = 33\n");
    assert_null(at(data, "machines.1.text"));
    assert_text(data, "machines.2.text", "[core]\na = 1\n");
    json_decref(data);
    store_close(s);
    arena_free(&a);
}

/* ------------------------------------------------------------- escaping */

/* What a function writes. */
#define written(text, call)                                \
    do {                                                   \
        size_t written_bytes;                              \
        FILE *out = open_memstream(&text, &written_bytes); \
        assert_non_null(out);                              \
        call;                                              \
        fclose(out);                                       \
    } while (0)

static void html_is_escaped(void **state)
{
    char *text;
    (void)state;
    written(text, escape_html(out, "<a href=\"x\">'&amp;' ü</a>"));
    assert_string_equal(text, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39; ü&lt;/a&gt;");
    free(text);
}

static void scripts_cannot_be_ended(void **state)
{
    static const char source[] = "a = '</script>' + \"</SCRIPT >\" + /<!--/ + '<' + 1 <2</scrip";
    char *text;
    (void)state;
    written(text, escape_script(out, source, strlen(source)));
    assert_string_equal(text, "a = '<\\/script>' + \"<\\/SCRIPT >\" + /<\\!--/ + '<' + 1 <2</scrip");
    free(text);
    written(text, escape_script(out, "</script", 7)); /* only what it was told to look at */
    assert_string_equal(text, "</scrip");
    free(text);
}

static void json_keeps_its_text(void **state)
{
    static const char *const texts[] = {
        "</script>", "<!-- <script>", "\"quoted\" \\ back", "ümläut — 漢字 \xf0\x9f\xa6\x93", "", "line\nline\ttab"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text;
        json_t *value = json_pack("{s:o}", "t", text_json(texts[i]));
        written(text, escape_json(out, value));
        assert_null(strchr(text, '<'));
        json_t *back = json_loads(text, 0, NULL);
        assert_non_null(back);
        assert_text(back, "t", texts[i]);
        json_decref(back);
        json_decref(value);
        free(text);
    }
}

static void bytes_that_are_no_text(void **state)
{
    (void)state;
    json_t *value = text_json("a\xff\xc3(\xe2\x82 \xed\xa0\x80 ü"); /* a byte alone, sequences cut short, a surrogate */
    assert_non_null(json_string_value(value));
    assert_memory_equal(json_string_value(value), "a\xef\xbf\xbd\xef\xbf\xbd(", 8);
    assert_non_null(strstr(json_string_value(value), " ü"));
    json_decref(value);
    value = text_json(NULL);
    assert_true(json_is_null(value));
    json_decref(value);
}

static void numbers_as_json(void **state)
{
    static const struct {
        double value;
        const char *text;
    } numbers[] = {{NAN, "null"},
                   {INFINITY, "null"},
                   {0, "0"},
                   {-3, "-3"},
                   {123456789012345.0, "123456789012345"},
                   {0.1, "0.1"},
                   {1e300, "1e300"},
                   {2.0 / 3, "0.6666666667"}};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *text, expected[64];
        json_t *value = json_pack("[o]", number_json(numbers[i].value));
        snprintf(expected, sizeof expected, "[%s]", numbers[i].text);
        written(text, escape_json(out, value));
        assert_string_equal(text, expected);
        json_decref(value);
        free(text);
    }
}

/* ------------------------------------------------------------- the page */

static char *contents(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    char *text = calloc(1, size + 1);
    rewind(f);
    assert_int_equal(fread(text, 1, size, f), size);
    fclose(f);
    return text;
}

/* Modules as Vega's are, each with something that would break the page. */
static void make_vega(const char *path)
{
    static const char *const names[] = {
        "util",   "time",       "format",          "loader",    "dataflow",       "statistics", "scale",
        "canvas", "scenegraph", "expression",      "selection", "event-selector", "functions",  "runtime",
        "view",   "transforms", "view-transforms", "encode",    "parser"};
    mkdir(path, 0777);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[200];
        snprintf(file, sizeof file, "%s/vega-%s.min.js", path, names[i]);
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fprintf(f, "exports.mark = \"made up %s </script>\";\n//# sourceMappingURL=vega.min.js.map\n", names[i]);
        fclose(f);
    }
}

static uint32_t count(const char *text, const char *word)
{
    uint32_t n = 0;
    for (; (text = strcasestr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void the_page_is_whole(void **state)
{
    struct arena a = {0};
    struct error e = {0};
    (void)state;
    make_vega(file_named("vega"));
    setenv("HEDDLE_VEGA", file_named("vega"), 1);
    struct store *s = small_store(&a, "page.db");
    if (!report_write_html(s, file_named("page.db"), file_named("page.html"), &(struct report_options){0}, &e))
        fail_msg("%s", e.text);
    char *page = contents(file_named("page.html"));
    assert_non_null(strstr(page, "<title>Tea &amp; &quot;biscuits&quot; &lt;/script&gt;"));
    assert_int_equal(count(page, "</script"), count(report_html, "</script")); /* those of the template, and no other */
    assert_int_equal(count(page, "<!--"), count(report_html, "<!--"));
    assert_null(strstr(page, "{{"));
    assert_null(strstr(page, "sourceMappingURL"));
    assert_non_null(strstr(page, "vega_modules[\"vega-selections\"] = function (exports, module, require) "
                                 "{\nexports.mark = \"made up selection <\\/script>\";"));
    char *block = strstr(page, "id=\"data\">");
    assert_non_null(block);
    block += strlen("id=\"data\">");
    *strstr(block, "</script") = '\0';
    json_t *data = json_loads(block, 0, NULL);
    assert_non_null(data);
    assert_text(data, "experiments.0.title", "Tea & \"biscuits\" </script><script>alert(1)</script>");
    const char *seen = NULL;
    for (size_t i = 0; i < 4 && !seen; i++)
        seen = json_string_value(json_array_get(json_array_get(at(data, "runs.rows"), i), 17));
    assert_string_equal(seen, "kernel 'k</SCRIPT><!--': address \xef\xbf\xbd\xef\xbf\xbd \"0x10\"");
    json_decref(data);
    free(page);
    store_close(s);
    arena_free(&a);
}

static void failed_pages_leave_nothing(void **state)
{
    struct arena a = {0};
    struct error e = {0};
    char missing[200];
    (void)state;
    make_vega(file_named("vega"));
    snprintf(missing, sizeof missing, "%s/vega/vega-scale.min.js", folder);
    unlink(missing);
    setenv("HEDDLE_VEGA", file_named("vega"), 1);
    struct store *s = small_store(&a, "failed.db");
    assert_false(report_write_html(s, "failed.db", file_named("failed.html"), &(struct report_options){0}, &e));
    assert_int_equal(e.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(e.text, missing));
    assert_non_null(strstr(e.text, "apt-get install libjs-vega"));
    assert_int_equal(access(file_named("failed.html"), F_OK), -1);
    make_vega(file_named("vega"));
    e = (struct error){0};
    assert_false(report_write_html(s, "failed.db", folder, &(struct report_options){0}, &e)); /* a folder */
    assert_non_null(strstr(e.text, "Is a directory"));
    if (access("/dev/full", W_OK) == 0) { /* the old page stays where the new one has no room */
        e = (struct error){0};
        char beside[300];
        FILE *f = fopen(file_named("failed.html"), "w");
        fputs("old", f);
        fclose(f);
        snprintf(beside, sizeof beside, "%s/failed.html.%ld.part", folder, (long)getpid());
        assert_int_equal(symlink("/dev/full", beside), 0);
        assert_false(report_write_html(s, "failed.db", file_named("failed.html"), &(struct report_options){0}, &e));
        assert_non_null(strstr(e.text, strerror(ENOSPC)));
        char *old = contents(file_named("failed.html"));
        assert_string_equal(old, "old");
        free(old);
    }
    store_close(s);
    arena_free(&a);
}

/* ------------------------------------------------------------- plots */

static void plots_quote_their_text(void **state)
{
    static const char *xs[] = {"it's", "b\nc"}, *series[] = {"one", "two"};
    static struct figure_cell cells[] = {{.x = 0, .series = 0, .x_number = NAN, .value = 1, .published = NAN},
                                         {.x = 0, .series = 1, .x_number = NAN, .value = 2, .published = 2.5},
                                         {.x = 1, .series = 0, .x_number = NAN, .value = NAN, .published = NAN},
                                         {.x = 1, .series = 1, .x_number = NAN, .value = 4, .published = NAN}};
    struct lab_figure figure = {.name = "f", .title = "don't", .kind = FIGURE_BARS, .x_title = "x", .y_title = "y"};
    struct figure_data d = {.figure = &figure,
                            .xs = xs,
                            .series = series,
                            .x_count = 2,
                            .series_count = 2,
                            .cells = cells,
                            .cell_count = 4};
    char *script, *data;
    size_t script_bytes, data_bytes;
    (void)state;
    FILE *script_file = open_memstream(&script, &script_bytes), *data_file = open_memstream(&data, &data_bytes);
    assert_true(plot_script(script_file, data_file, &d, "f.dat", "f.pdf"));
    fclose(script_file);
    fclose(data_file);
    assert_non_null(strstr(script, "('it''s' 0, 'b c' 1)"));
    assert_non_null(strstr(script, "title 'published'"));
    assert_non_null(strstr(data, " 2.5 2\n"));
    assert_non_null(strstr(data, " NaN NaN\n"));
    free(script);
    free(data);
    for (int i = 0; i < 4; i++)
        cells[i].value = NAN;
    assert_false(plot_script(stdout, stdout, &d, "f.dat", "f.pdf")); /* nothing to draw, and nothing written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_of_a_small_store), cmocka_unit_test(figures_of_a_small_store),
        cmocka_unit_test(options_choose),           cmocka_unit_test(an_empty_store),
        cmocka_unit_test(machines_differ),          cmocka_unit_test(html_is_escaped),
        cmocka_unit_test(scripts_cannot_be_ended),  cmocka_unit_test(json_keeps_its_text),
        cmocka_unit_test(bytes_that_are_no_text),   cmocka_unit_test(numbers_as_json),
        cmocka_unit_test(the_page_is_whole),        cmocka_unit_test(failed_pages_leave_nothing),
        cmocka_unit_test(plots_quote_their_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
