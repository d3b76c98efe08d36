/* Our counters beside silicon's: is what Nsight Compute writes understood, are launches matched, and are the numbers
 * right that are made of them? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "correlate/correlate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct correlate_filter everything = {.wants = {true, true}};

static void close_to(double seen, double expected)
{
    if (!(fabs(seen - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, not %.12g", seen, expected);
}

/* ------------------------------------------------------------- halves */

/* As `printf %s NAME | sha1sum | cut -c1` says; lengths around the ends of SHA-1's blocks. */
static void halves(void **state)
{
    (void)state;
    static const struct {
        size_t length;
        char digit;
    } of_k[] = {{1, '1'},  {3, '5'},  {54, '7'},  {55, '5'},  {56, '9'},  {57, 'f'}, {63, 'f'},
                {64, 'a'}, {65, 'e'}, {118, '6'}, {119, '5'}, {120, '5'}, {128, '8'}};
    for (size_t i = 0; i < sizeof of_k / sizeof *of_k; i++) {
        char name[200] = "";
        memset(name, 'k', of_k[i].length);
        enum correlate_half half = strchr("02468ace", of_k[i].digit) ? CORRELATE_FIT : CORRELATE_TEST;
        assert_int_equal(correlate_half_of(name), half);
    }
    assert_int_equal(correlate_half_of("abc"), CORRELATE_FIT); /* a9993e36... */
    assert_int_equal(correlate_half_of(""), CORRELATE_TEST);   /* da39a3ee... */
}

/* ------------------------------------------------------------- silicon */

#define HEADS                                                                                                       \
    "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"dram__bytes_read.sum\"," \
    "\"sm__cycles_elapsed.max\",\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"smsp__inst_executed.sum\"\n"
#define UNITS "\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte\",\"cycle\",\"%\",\"inst\"\n"

static bool read_silicon(struct arena *a, const char *text, const struct correlate_filter *f,
                         struct correlate_recording *r, struct error *e)
{
    return correlate_read_silicon(a, "r.csv", text, strlen(text), f, r, e);
}

static void a_recording(void **state)
{
    (void)state;
    static const char text[] =
        "==PROF== Connected to process 12 (/tmp/one)\n"
        "the program said: \"hello\", and 3\n" HEADS UNITS
        "\"0\",\"12\",\"one\",\"add\",\"(256, 2, 1)\",\"(1024, 1, 1)\",\"1,234.5\",\"12,345\",\"50\",\"7,000\"\r\n"
        "==PROF== Disconnected\n"
        "\"1\",\"12\",\"one\",\"void scale<(int)3>(float *, \"\"x\"\")\",\"(32, 1, 1)\",\"(2, 3, "
        "4)\",\"n/a\",\"5\",\"12.5\",\"1\"\n" HEADS
        "\"0\",\"13\",\"two\",\"add\",\"(64, 1, 1)\",\"(8, 1, 1)\",\"96\",\"2\",\"100\",\"3\"";
    struct arena a = {0};
    struct error e = {0};
    struct correlate_recording r;
    assert_true(read_silicon(&a, text, &everything, &r, &e));
    assert_int_equal(r.program_count, 2);
    assert_string_equal(r.programs[0].program, "one");
    assert_int_equal(r.programs[0].count, 2);
    const struct correlate_launch *l = r.programs[0].list;
    assert_string_equal(l[0].kernel, "add");
    assert_int_equal(l[0].grid[0], 1024);
    assert_int_equal(l[0].block[1], 2);
    close_to(l[0].counts[COUNT_DRAM_READ], 1234500);
    close_to(l[0].counts[COUNT_CYCLES], 12345);
    close_to(l[0].counts[COUNT_INSTRUCTIONS], 7000);
    close_to(l[0].counts[COUNT_WARPS], 0.5 * 12345);
    assert_true(isnan(l[0].counts[COUNT_L2_SECTORS]));
    assert_false(r.has[COUNT_L2_SECTORS]);
    assert_string_equal(l[1].kernel, "void scale<(int)3>(float *, \"x\")");
    assert_int_equal(l[1].grid[2], 4);
    assert_true(isnan(l[1].counts[COUNT_DRAM_READ]));
    close_to(r.programs[1].list[0].counts[COUNT_DRAM_READ], 96); /* heads without units: as it is */
    arena_free(&a);
}

static void what_is_wanted(void **state)
{
    (void)state;
    char text[4000], *to = text + sprintf(text, "%s%s", HEADS, UNITS);
    const char *const names[] = {"abc", "k", "abcd"};
    for (int i = 0; i < 6; i++)
        to += sprintf(to, "\"%d\",\"1\",\"%s\",\"%s\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1\",\"1\",\"1\",\"1\"\n", i,
                      i < 3 ? "one" : "two", names[i % 3]);
    struct arena a = {0};
    struct correlate_recording r;
    for (int half = 0; half < CORRELATE_HALVES; half++) {
        struct correlate_filter f = {.wants = {half == CORRELATE_FIT, half == CORRELATE_TEST}};
        assert_true(read_silicon(&a, text, &f, &r, NULL));
        for (uint32_t p = 0; p < r.program_count; p++) {
            assert_int_equal(r.programs[p].recorded, 3);
            for (uint32_t i = 0; i < r.programs[p].count; i++)
                assert_int_equal(correlate_half_of(r.programs[p].list[i].kernel), half);
        }
    }
    struct correlate_filter some = {.wants = {true, true},
                                    .kernels = (const char *const[]){"x", "ab*", NULL},
                                    .programs = (const char *const[]){"none", "two", NULL}};
    assert_true(read_silicon(&a, text, &some, &r, NULL));
    assert_int_equal(r.programs[0].count, 0);
    assert_int_equal(r.programs[1].count, 2);
    arena_free(&a);
}

static void no_recordings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "no launches"},
        {"a,b\n1,2\n", "no launches"},
        {HEADS UNITS, "no launches"},
        {"\"ID\",\"Process Name\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n", "one row per metric"},
        {"\"ID\",\"Process Name\",\"Kernel Name\",\"Grid Size\"\n", "Block Size"},
        {"\"ID\",\"Process Name\",\"Kernel Name\",\"Grid Size\",\"Block Size\"\n", "sm__cycles_elapsed.max"},
        {HEADS "\"0\",\"1\",\"p\",\"k\",\"(1, 1)\",\"(1, 1, 1)\",\"1\",\"1\",\"1\",\"1\"\n", "no grid and block"},
        {HEADS "\"0\",\"1\",\"p\n", "no launches"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena a = {0};
        struct error e = {0};
        struct correlate_recording r;
        assert_false(read_silicon(&a, wrong[i].text, &everything, &r, &e));
        assert_non_null(strstr(e.text, wrong[i].message));
        arena_free(&a);
    }
}

/* ------------------------------------------------------------- ours */

static const char nested[] =
    "{\"program\": \"/x/bfs\", \"arguments\": [\"--size\", \"small\"], \"machine\": {\"name\": \"h200\", \"dram\": "
    "{\"channels\": 2, \"chips\": 3, \"chip_bus_bytes\": 4, \"data_rate\": 5}, \"clock\": {\"dram_mhz\": 10, "
    "\"core_mhz\": 20}}, \"kernels\": [{\"name\": \"k\", \"grid\": [1, 2, 3], \"block\": [4, 5, 6], \"cycles\": 1000, "
    "\"warp_instructions\": 99, \"occupancy\": 0.25, \"issue\": {\"issued\": 70, \"idle\": 50, "
    "\"slots\": 100}, \"l2\": {\"accesses\": 50}, \"sectors\": {\"l2\": 100, \"l2_read_misses\": 30, "
    "\"load_requests\": 8, \"loads\": 32, \"load_hits\": 4, \"store_requests\": 2, \"stores\": 6, \"dram_reads\": 3, "
    "\"dram_writes\": 1}}]}";
static const char flat[] = "{\"program\": \"bfs\", \"kernels\": [{\"name\": \"k\", \"grid\": [1, 2, 3], \"block\": [4, "
                           "5, 6], \"cycles\": 1000, \"warp_instructions\": 99, \"sectors.load_requests\": 8, "
                           "\"sectors.loads\": 0, \"sectors.load_hits\": 0}]}";

static void a_run(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error e = {0};
    struct correlate_run run;
    json_t *results = json_loads(nested, 0, NULL);
    assert_true(correlate_read_run(&a, results, "run.json", &run, &e));
    json_decref(results);
    const double *c = run.launches.list[0].counts;
    assert_string_equal(run.launches.program, "bfs");
    assert_string_equal(run.size, "small");
    assert_string_equal(run.machine, "h200");
    assert_true(run.estimates);
    close_to(run.dram_peak, 60);
    assert_int_equal(run.launches.list[0].block[2], 6);
    close_to(c[COUNT_CYCLES], 1000);
    close_to(c[COUNT_INSTRUCTIONS], 70);
    close_to(c[COUNT_LOAD_SECTORS], 32);
    close_to(c[COUNT_L2_HITS], 70); /* of 100, 30 reads missed */
    close_to(c[COUNT_DRAM_READ], 96);
    close_to(c[COUNT_DRAM_WRITTEN], 32);
    close_to(c[COUNT_WARPS] / c[COUNT_CYCLES], 0.5); /* half of the cores' cycles had a warp */
    results = json_loads(flat, 0, NULL);
    assert_true(correlate_read_run(&a, results, "run.json", &run, &e));
    json_decref(results);
    c = run.launches.list[0].counts;
    assert_false(run.estimates);
    assert_null(run.size);
    close_to(c[COUNT_INSTRUCTIONS], 99);
    close_to(c[COUNT_LOAD_REQUESTS], 8);
    assert_true(isnan(c[COUNT_LOAD_SECTORS]) && isnan(c[COUNT_LOAD_HITS])); /* an L1 without sectors */
    arena_free(&a);
}

static void no_run(void **state)
{
    (void)state;
    struct arena a = {0};
    struct correlate_run run;
    const char *const wrong[] = {"[]", "{}", "{\"functional\": true, \"kernels\": []}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error e = {0};
        json_t *results = json_loads(wrong[i], 0, NULL);
        assert_false(correlate_read_run(&a, results, "run.json", &run, &e));
        assert_non_null(strstr(e.text, "run.json"));
        json_decref(results);
    }
    arena_free(&a);
}

/* ------------------------------------------------------------- points */

/* A launch of which only the cycles are known. */
static struct correlate_launch launch(const char *kernel, uint32_t blocks, double cycles)
{
    struct correlate_launch l = {.kernel = kernel, .grid = {blocks, 1, 1}, .block = {32, 1, 1}};
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        l.counts[i] = NAN;
    l.counts[COUNT_CYCLES] = cycles;
    return l;
}

static void matching(void **state)
{
    (void)state;
    struct arena a = {0};
    struct correlation c = {.arena = &a};
    struct correlate_launch there[] = {launch("k", 1, 100), launch("k", 2, 10), launch("k", 1, 50), launch("l", 1, 7),
                                       launch("my::f", 1, 8)};
    struct correlate_launch here[] = {launch("k", 1, 90),  launch("k", 1, 70), launch("k", 2, 11),
                                      launch("k", 1, 999), launch("m", 1, 1),  launch("_ZN2my1fEv", 1, 9)};
    struct correlate_launches silicon = {.program = "p", .list = there, .count = 5, .recorded = 5},
                              ours = {.program = "p", .list = here, .count = 6};
    correlate_match(&c, &silicon, "small", &ours);
    assert_int_equal(c.point_count, 3);
    assert_int_equal(c.points[0].launches, 2);
    close_to(c.points[0].silicon[COUNT_CYCLES], 150);
    close_to(c.points[0].ours[COUNT_CYCLES], 160);
    close_to(c.points[1].ours[COUNT_CYCLES], 11);
    assert_string_equal(c.points[2].kernel, "my::f");
    close_to(c.points[2].ours[COUNT_CYCLES], 9);
    assert_int_equal(c.note_count, 2);
    assert_non_null(strstr(c.notes[0], "1 launch of l"));
    assert_non_null(strstr(c.notes[0], "on silicon only"));
    assert_non_null(strstr(c.notes[1], "1 launch of k"));
    assert_non_null(strstr(c.notes[1], "in our run only"));
    arena_free(&a);
}

/* Nsight stopped at so many: that there are more is no news. */
static void more_than_recorded(void **state)
{
    (void)state;
    struct arena a = {0};
    struct correlation c = {.arena = &a};
    struct correlate_launch there[] = {launch("k", 1, 100)}, here[] = {launch("k", 1, 90), launch("k", 1, 70)};
    struct correlate_launches silicon = {.program = "p", .list = there, .count = 1, .recorded = CORRELATE_RECORDED},
                              ours = {.program = "p", .list = here, .count = 2};
    correlate_match(&c, &silicon, NULL, &ours);
    assert_int_equal(c.point_count, 1);
    assert_int_equal(c.note_count, 0);
    arena_free(&a);
}

static struct correlate_point point(const char *kernel, uint32_t blocks, double silicon, double ours)
{
    struct correlate_point p = {.program = "p",
                                .size = "small",
                                .kernel = kernel,
                                .grid = {blocks, 1, 1},
                                .launches = 1,
                                .half = correlate_half_of(kernel)};
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        p.silicon[i] = p.ours[i] = NAN;
    p.silicon[COUNT_CYCLES] = silicon;
    p.ours[COUNT_CYCLES] = ours;
    return p;
}

static void scores(void **state)
{
    (void)state;
    struct arena a = {0};
    /* Two kernels of the fitting half, one of them with two grids, and one of the test half. */
    struct correlate_point points[] = {point("abc", 1, 1000, 1100), point("kk", 1, 1e6, 0.7e6),
                                       point("kk", 2, 1e6, 0.9e6), point("", 1, 100, 300)};
    assert_int_equal(points[1].half, CORRELATE_FIT);
    points[0].silicon[COUNT_LOAD_REQUESTS] = points[0].ours[COUNT_LOAD_REQUESTS] = 0; /* none, and none: exact */
    points[1].silicon[COUNT_LOAD_REQUESTS] = 0;
    points[1].ours[COUNT_LOAD_REQUESTS] = 5; /* endlessly off */
    points[0].silicon[COUNT_WARPS] = 500;
    points[0].ours[COUNT_WARPS] = 0.54 * 1100;
    struct correlation c = {.arena = &a, .points = points, .point_count = 4};
    correlate_finish(&c);
    const struct correlate_score *fit = &c.scores[CORRELATE_FIT][COMPARED_CYCLES],
                                 *test = &c.scores[CORRELATE_TEST][COMPARED_CYCLES],
                                 *all = &c.scores[CORRELATE_HALVES][COMPARED_CYCLES];
    close_to(fit->kernels, 2);
    assert_int_equal(fit->points, 3);
    close_to(fit->mean, (0.1 + (0.3 + 0.1) / 2) / 2); /* each kernel once */
    close_to(fit->within, 0.75);
    assert_int_equal(fit->far, 0);
    close_to(fit->most, 0.3);
    close_to(test->mean, 2);
    assert_int_equal(test->far, 1);
    assert_true(isnan(test->correlation));
    close_to(all->kernels, 3);
    close_to(all->median, 0.2); /* 0.1 (1.5 of 3), then 0.3 */
    assert_true(all->correlation > 0.9 && all->correlation < 1);
    const struct correlate_score *requests = &c.scores[CORRELATE_FIT][COMPARED_LOAD_REQUESTS];
    close_to(requests->kernels, 1.5);
    close_to(requests->within, 1 / 1.5);
    close_to(requests->mean, 0);
    close_to(c.scores[CORRELATE_FIT][COMPARED_OCCUPANCY].mean, 4);
    assert_string_equal(c.points[0].kernel, ""); /* the worst first */
    close_to(c.halves[CORRELATE_FIT], 2);
    arena_free(&a);
}

/* ------------------------------------------------------------- causes */

static const char *cause_of(struct arena *a, struct correlate_point p, double dram_peak)
{
    struct correlation c = {.arena = a, .points = &p, .point_count = 1, .dram_peak = dram_peak};
    correlate_find_causes(&c);
    return p.cause;
}

static void causes(void **state)
{
    (void)state;
    struct arena a = {0};
    struct correlate_point p = point("k", 1, 100000, 150000);
    assert_string_equal(cause_of(&a, p, 0), ""); /* nothing is known */
    p.silicon[COUNT_INSTRUCTIONS] = 1000;
    p.ours[COUNT_INSTRUCTIONS] = 1450;
    assert_non_null(strstr(cause_of(&a, p, 0), "instructions differ by about the same factor: x1.45"));
    p.ours[COUNT_INSTRUCTIONS] = 700; /* fewer cannot make it slower */
    assert_string_equal(cause_of(&a, p, 0), "");
    p.ours[COUNT_INSTRUCTIONS] = 1150; /* and a few more not so much */
    assert_string_equal(cause_of(&a, p, 0), "");
    p.silicon[COUNT_L2_SECTORS] = p.ours[COUNT_L2_SECTORS] = 1000;
    p.silicon[COUNT_L2_HITS] = 900;
    p.ours[COUNT_L2_HITS] = 500;
    assert_string_equal(cause_of(&a, p, 0), "L2 hit rate 50% here, 90% on silicon");
    p.ours[COUNT_CYCLES] = 50000; /* fewer hits do not make it faster */
    assert_string_equal(cause_of(&a, p, 0), "");
    p.silicon[COUNT_DRAM_READ] = p.ours[COUNT_DRAM_READ] = 4e6;
    p.silicon[COUNT_DRAM_WRITTEN] = p.ours[COUNT_DRAM_WRITTEN] = 0;
    p.ours[COUNT_CYCLES] = 150000;
    p.ours[COUNT_L2_HITS] = 900;
    assert_string_equal(cause_of(&a, p, 50),
                        "bound by DRAM on silicon but not here: 40 bytes per cycle on silicon, 27 here, of 50");
    assert_string_equal(cause_of(&a, p, 500), "");
    p.launches = 50;
    assert_string_equal(cause_of(&a, p, 500), "short: 2000 cycles per launch on silicon");
    p.ours[COUNT_CYCLES] = 105000; /* near enough */
    assert_string_equal(cause_of(&a, p, 500), "");
    arena_free(&a);
}

/* ------------------------------------------------------------- what is written */

static void written(void **state)
{
    (void)state;
    struct arena a = {0};
    struct correlate_point points[] = {point("abc", 1, 1000, 1100), point("a,\"b\"", 1, 100, 300)};
    struct correlation c = {.arena = &a, .points = points, .point_count = 2};
    correlate_note(&c, "%s is missing", "bfs");
    correlate_finish(&c);
    json_t *json = correlation_json(&c), *row = json_array_get(json_object_get(json, "points"), 1);
    assert_int_equal(json_array_size(json_object_get(json, "compared")), CORRELATE_COMPARED);
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "notes"), 0)), "bfs is missing");
    assert_string_equal(json_string_value(json_object_get(row, "kernel")), "abc");
    close_to(json_number_value(json_array_get(json_object_get(row, "errors"), COMPARED_CYCLES)), 0.1);
    assert_true(json_is_null(json_array_get(json_object_get(row, "ours"), COMPARED_DRAM_BYTES)));
    json_decref(json);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    correlation_csv(&c, out);
    fclose(out);
    assert_non_null(strstr(text, "\"p\",small,\"a,\"\"b\"\"\","));
    assert_non_null(strstr(text, ",1,1000,1100,,,"));
    free(text);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves),         cmocka_unit_test(a_recording),
                                       cmocka_unit_test(what_is_wanted), cmocka_unit_test(no_recordings),
                                       cmocka_unit_test(a_run),          cmocka_unit_test(no_run),
                                       cmocka_unit_test(matching),       cmocka_unit_test(more_than_recorded),
                                       cmocka_unit_test(scores),         cmocka_unit_test(causes),
                                       cmocka_unit_test(written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
