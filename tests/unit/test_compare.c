/* Two runs beside each other: do the parts add up, are launches and instructions matched, does a cause speak exactly
 * where counters prove it, and is every rule of the table well formed? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    arena = (struct arena){0};
    return 0;
}

/* Results whose counters are all 0 but for those given: "cycles=1000 issue.slots=4000 ...". */
static json_t *results_of(const char *counters)
{
    json_t *results = json_pack("{s:s, s:[s,s], s:{s:s}, s:s, s:s, s:s, s:b, s:[{s:s, s:b, s:i}], s:{}}", "program",
                                "/some/where/bfs", "arguments", "--size", "test", "machine", "name", "gtx480",
                                "scheduler", "lrr", "l1", "lru", "divergence", "pdom", "functional", 0, "kernels",
                                "name", "k", "partial", 0, "cycles", 7, "total");
    char *copy = strdup(counters), *save;
    json_t *total = json_object_get(results, "total");
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        json_object_set_new(total, word, json_real(strtod(equals + 1, NULL)));
    }
    free(copy);
    return results;
}

static struct compare_run *read(json_t *results)
{
    struct compare_run *run = arena_new(&arena, struct compare_run);
    struct error e = {0};
    if (!compare_read(&arena, results, "test.json", run, &e))
        fail_msg("%s", e.text);
    return run;
}

static double spent(const struct compare_run *r, const char *part)
{
    for (int i = 0; i < COMPARE_PARTS; i++)
        if (!strcmp(compare_parts[i].name, part))
            return r->spent[i];
    fail_msg("no part %s", part);
    return 0;
}

static double all_spent(const struct compare_run *r)
{
    double sum = 0;
    for (int i = 0; i < COMPARE_PARTS; i++)
        sum += r->spent[i];
    return sum;
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * (fabs(wanted) + 1)))
        fail_msg("%.12g, not %.12g", value, wanted);
}

/* ------------------------------------------------------------- parts */

static void parts_add_up(void **state)
{
    (void)state;
    json_t *results = results_of("cycles=1000 issue.slots=4000 issue.issued=1000 issue.no_ready=2000 "
                                 "issue.descheduled=600 issue.idle=400 stalls.memory=300 stalls.barrier=100 "
                                 "stalls.issued=1000 stalls.held=5000 stalls.not_picked=77");
    struct compare_run *r = read(results);
    assert_near(spent(r, "issued"), 250);
    assert_near(spent(r, "memory"), 375); /* 500 cycles without a ready warp, three quarters of the waits */
    assert_near(spent(r, "barrier"), 125);
    assert_near(spent(r, "held"), 150); /* slots, not warp cycles */
    assert_near(spent(r, "idle"), 100);
    assert_near(spent(r, "rest"), 0);
    assert_near(all_spent(r), 1000);
    json_decref(results);
    results = results_of("cycles=1000 issue.slots=1000 issue.no_ready=1000 stalls.pipeline=80 pipeline.load_store=60 "
                         "pipeline.sp=20 stalls.fetch=20");
    r = read(results); /* what has a row of its own is counted once */
    assert_near(spent(r, "load_store"), 600);
    assert_near(spent(r, "pipeline"), 200);
    assert_near(spent(r, "fetch"), 200);
    json_decref(results);
    results = results_of("cycles=1000 issue.slots=4000 issue.issued=1000 issue.no_ready=2000");
    r = read(results); /* cut short: 1000 slots are not counted, and nobody waited */
    assert_near(spent(r, "rest"), 750);
    assert_near(all_spent(r), 1000);
    json_decref(results);
}

/* Nested, as --stats has it, or flat, as a store has it. */
static void counters_by_name(void **state)
{
    (void)state;
    json_t *results = results_of("cycles=10 l1d.hits=5"), *total = json_object_get(results, "total");
    json_object_set_new(total, "l2", json_pack("{s:i, s:{s:i}}", "hits", 9, "reservation_fail_reasons", "mshr", 3));
    struct compare_run *r = read(results);
    assert_near(compare_value(r, "l1d.hits"), 5);
    assert_near(compare_value(r, "l2.hits"), 9);
    assert_near(compare_value(r, "l2.reservation_fail_reasons.mshr"), 3);
    assert_true(isnan(compare_value(r, "l1d.misses")));
    assert_true(isnan(compare_value(r, "no.such")));
    json_decref(results);
}

/* ------------------------------------------------------------- what is no run */

static void refuses(json_t *results, const char *wanted)
{
    struct compare_run run;
    struct error e = {0};
    assert_false(compare_read(&arena, results, "x.json", &run, &e));
    if (!strstr(e.text, wanted))
        fail_msg("'%s' is not in: %s", wanted, e.text);
    json_decref(results);
}

static void what_is_no_run(void **state)
{
    (void)state;
    refuses(json_pack("{s:i}", "some", 1), "x.json is not the results of a run");
    refuses(json_pack("[i]", 1), "is not the results");
    json_t *functional = results_of("warp_instructions=10"), *none = results_of("cycles=10");
    refuses(functional, "functional run, which has no cycles");
    json_array_clear(json_object_get(none, "kernels"));
    refuses(none, "no kernel was launched");
}

/* ------------------------------------------------------------- names */

static void is_named(const char *field, json_t *a, json_t *b, const char *first, const char *second)
{
    json_t *x = results_of("cycles=10"), *y = results_of("cycles=9");
    json_object_set_new(x, field, a);
    json_object_set_new(y, field, b);
    struct compare_run *p = read(x), *q = read(y);
    struct comparison c;
    compare_runs(&arena, p, q, &c);
    assert_string_equal(p->label, first);
    assert_string_equal(q->label, second);
    json_decref(x);
    json_decref(y);
}

static void runs_have_names(void **state)
{
    (void)state;
    is_named("scheduler", json_string("lrr"), json_string("gto"), "lrr", "gto");
    is_named("scheduler", json_string("gto"), json_string("ccws:k=8,b=1"), "gto", "ccws");
    is_named("scheduler", json_string("swl:limit=2,x=1"), json_string("swl:limit=4,x=1"), "swl:limit=2", "swl:limit=4");
    is_named("scheduler", json_string("/a/b/mine.so"), json_string("gto"), "mine.so", "gto");
    is_named("scheduler", json_string("gto"), json_string("gto"), "A", "B");
    is_named("arguments", json_pack("[s,s]", "--size", "test"), json_pack("[s,s]", "--size", "small"), "test", "small");
    is_named("program", json_string("bfs"), json_string("/x/mum"), "bfs", "mum");
    is_named("machine", json_pack("{s:s, s:{s:i}}", "name", "gtx480", "l1d", "ways", 4),
             json_pack("{s:s, s:{s:i}}", "name", "gtx480", "l1d", "ways", 8), "l1d.ways=4", "l1d.ways=8");
    is_named("machine", json_pack("{s:s, s:{s:i}}", "name", "gtx480", "l1d", "ways", 4),
             json_pack("{s:s, s:{s:i}}", "name", "c2050", "l1d", "ways", 8), "gtx480", "c2050");
    is_named("sets", json_pack("[]"), json_pack("[s]", "l1d.ways=8"), "gtx480", "l1d.ways=8");
}

/* ------------------------------------------------------------- sentences */

/* A run of 1,000 cycles less `saved` waits for memory, on a machine of 4 schedulers. */
static const char *timed(double saved, const char *more)
{
    return arena_printf(&arena,
                        "cycles=%g issue.slots=%g issue.issued=400 issue.no_ready=%g issue.descheduled=0 issue.idle=0 "
                        "stalls.memory=%g warp_instructions=400 thread_instructions=12000 l1d.accesses=1000 "
                        "l1d.write_misses=0 l2.accesses=500 %s",
                        1000 - saved, 4 * (1000 - saved), 4 * (1000 - saved) - 400, 10 * (1000 - saved), more);
}

static void says(const char *a, const char *b, const char *cause, const char *wanted)
{
    json_t *x = results_of(a), *y = results_of(b);
    struct comparison c;
    json_object_set_new(y, "scheduler", json_string("gto"));
    compare_runs(&arena, read(x), read(y), &c);
    const struct compare_sentence *last = &c.sentences[c.sentence_count - 1];
    if (strcmp(last->cause, cause) || !strstr(last->text, wanted))
        fail_msg("%s: %s; wanted %s: %s", last->cause, last->text, cause, wanted);
    json_decref(x);
    json_decref(y);
}

static void causes_need_proof(void **state)
{
    (void)state;
    const char *lost = "l1d.hits=100 l1d.misses=900 l1d.evictions=800 l1d.intra_warp_hits=100 l1d.inter_warp_hits=0",
               *kept = "l1d.hits=600 l1d.misses=400 l1d.evictions=200 l1d.intra_warp_hits=600 l1d.inter_warp_hits=0",
               *shared =
                   "l1d.hits=600 l1d.misses=400 l1d.evictions=200 l1d.intra_warp_hits=100 l1d.inter_warp_hits=500";
    says(
        timed(0, lost), timed(450, kept), "locality inside warps",
        "gto waits 50% less for memory and the load/store unit, since its L1 data caches keep lines until they are "
        "used "
        "again: they evict 75% fewer lines, reads miss 56% less, and most of the read hits gained are by the warp that "
        "had brought the line.");
    says(timed(0, lost), timed(450, shared), "locality between warps", "gto waits 50% less");
    says(timed(450, kept), timed(0, lost), "locality inside warps", "lrr waits 50% less"); /* in either order */
    /* Faster with more misses, or with fewer misses and no less waiting: not proven. */
    says(timed(0, kept), timed(450, lost), "",
         "Nothing clear: gto saves most cycles waiting for memory (450, of a difference of 450)");
    says(timed(0, lost), timed(5, kept), "", "too little");
}

static void the_same(void **state)
{
    (void)state;
    says(timed(0, "l1d.hits=1"), timed(0, "l1d.hits=1"), "", "The two runs are the same: every counter is equal.");
    says(timed(0, "l1d.hits=1"), timed(0, "l1d.hits=2"), "", "Both runs take 1,000 cycles; other counters differ.");
}

/* Fifteen cores of sixteen have nothing to do: that they do it longer explains nothing. */
static void idle_cores(void **state)
{
    (void)state;
    const char *few = "cycles=%g issue.slots=%g issue.issued=100 issue.no_ready=%g issue.idle=%g stalls.barrier=%g";
    const char *slow = arena_printf(&arena, few, 1000.0, 16000.0, 900.0, 15000.0, 800.0),
               *fast = arena_printf(&arena, few, 500.0, 8000.0, 400.0, 7500.0, 400.0),
               *even = arena_printf(&arena, few, 500.0, 8000.0, 7000.0, 900.0, 7000.0);
    says(slow, fast, "barriers", "The warps of gto wait 50% less at barriers.");
    says(slow, even, "idle cores", "Cores of gto are without any warp for 11% of the time instead of 94%");
}

/* The same misses in fewer cycles, whatever the machine does: only another scheduler's order can be the cause. */
static void order_of_warps(void **state)
{
    (void)state;
    const char *same = "l1d.hits=10 l1d.misses=900 occupancy=0.5";
    says(timed(0, same), timed(300, same), "order of warps",
         "gto executes the same instructions with about the same misses, but issues in 14.3 of 100 issue slots instead "
         "of 10.0");
    json_t *x = results_of(timed(0, same)), *y = results_of(timed(300, same));
    struct comparison c;
    compare_runs(&arena, read(x), read(y), &c);
    assert_non_null(strstr(c.sentences[1].text, "Nothing clear"));
    json_decref(x);
    json_decref(y);
}

/* Twice as many warps wait at the same time. */
static void more_warps(void **state)
{
    (void)state;
    const char *same = "l1d.hits=10 l1d.misses=900 stalls.scoreboard=%d";
    says(timed(0, arena_printf(&arena, same, 0)), timed(300, arena_printf(&arena, same, 7000)), "more warps",
         "gto has more warps to overlap waits with: 20 on the machine on average, instead of 10.");
}

/* Work that is not done carries cycles in whatever part. */
static void fewer_instructions(void **state)
{
    (void)state;
    says("cycles=1000 issue.slots=1000 issue.issued=1000 warp_instructions=1000 thread_instructions=16000",
         "cycles=600 issue.slots=600 issue.issued=600 warp_instructions=600 thread_instructions=16000", "fuller warps",
         "gto does the same work in 40% fewer warp instructions: 26.7 lanes of a warp work on average, instead of "
         "16.0.");
}

/* A row with a slip in an expression would be silent for ever. */
static void every_rule_is_well_formed(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < compare_cause_count; i++) {
        const char *wrong = compare_check_cause(&arena, &compare_causes[i]);
        if (wrong)
            fail_msg("%s: %s", compare_causes[i].name, wrong);
        for (uint32_t j = 0; j + 1 < i; j++) /* of a group only the first speaks: its rows follow each other */
            if (!strcmp(compare_causes[i].group, compare_causes[j].group))
                assert_string_equal(compare_causes[i].group, compare_causes[i - 1].group);
    }
    struct compare_cause bad = compare_causes[0];
    bad.when = "fast.no.such > 1";
    assert_non_null(compare_check_cause(&arena, &bad));
    bad.when = "fast.cycles";
    assert_non_null(compare_check_cause(&arena, &bad));
    bad.when = "";
    bad.sentence = "{fast.cycles}";
    assert_non_null(compare_check_cause(&arena, &bad));
}

/* ------------------------------------------------------------- kernels and instructions */

static json_t *launch(const char *name, int cycles, int stalled, const char *text)
{
    return json_pack("{s:s, s:b, s:i, s:[{s:i, s:i, s:s, s:i, s:i, s:{s:i, s:i}}, {s:i, s:i, s:s, s:i}]}", "name", name,
                     "partial", 0, "cycles", cycles, "pcs", "pc", 0, "line", 10, "text", "ld.global", "stalled",
                     stalled, "l1d_misses", 2, "cycles", "memory", stalled - 2, "fetch", 2, "pc", 1, "line", 11, "text",
                     text, "stalled", 5);
}

static void kernels_and_instructions(void **state)
{
    (void)state;
    json_t *x = results_of("cycles=600"), *y = results_of("cycles=500");
    struct comparison c;
    json_object_set_new(
        x, "kernels",
        json_pack("[o,o,o]", launch("k", 100, 30, "add"), launch("other", 200, 7, "add"), launch("k", 300, 50, "add")));
    json_object_set_new(y, "kernels",
                        json_pack("[o,o,o,o]", launch("k", 110, 10, "mul"), launch("k", 180, 20, "mul"),
                                  launch("other", 200, 7, "add"), launch("k", 10, 1, "mul")));
    compare_runs(&arena, read(x), read(y), &c);
    assert_int_equal(c.kernel_count, 1); /* the other took as long in both */
    assert_string_equal(c.kernels[0].name, "k");
    assert_int_equal(c.kernels[0].launches, 2);
    assert_int_equal(c.kernels[0].only_a, 0);
    assert_int_equal(c.kernels[0].only_b, 1);
    assert_near(c.kernels[0].a, 400);
    assert_near(c.kernels[0].b, 290);
    assert_int_equal(c.kernels[0].most, 1);
    assert_near(c.kernels[0].most_a, 300);
    assert_near(c.kernels[0].most_b, 180);
    assert_true(c.has_lines);
    assert_int_equal(c.line_count, 1); /* pc 1 of k has another text, and those of the other kernel are equal */
    assert_string_equal(c.lines[0].a->text, "ld.global");
    assert_near(c.lines[0].a->stalled, 80);
    assert_near(c.lines[0].b->stalled, 31);
    assert_near(c.lines[0].b->misses, 6);
    assert_string_equal(compare_line_reason(&c.lines[0]), "memory");
    json_t *json = comparison_json(&c);
    assert_int_equal(json_array_size(json_object_get(json, "instructions")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "parts")), COMPARE_PARTS);
    json_decref(json);
    json_decref(x);
    json_decref(y);
}

/* What carries cycles is a part; rare events are left out. */
static void metrics_by_change(void **state)
{
    (void)state;
    json_t *x = results_of("cycles=10 issue.issued=5 stalls.memory=9 warp_instructions=10000 l1d.hits=1000 "
                           "l1d.misses=100 l2.hits=2 occupancy=0.5"),
           *y = results_of("cycles=9 issue.issued=4 stalls.memory=1 warp_instructions=10000 l1d.hits=900 "
                           "l1d.misses=200 l2.hits=9 occupancy=0.4");
    struct comparison c;
    compare_runs(&arena, read(x), read(y), &c);
    assert_int_equal(c.metric_count, 3);
    assert_string_equal(c.metrics[0].name, "l1d.misses");
    assert_string_equal(c.metrics[1].name, "occupancy");
    assert_string_equal(c.metrics[2].name, "l1d.hits");
    json_decref(x);
    json_decref(y);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, free_arena)
    const struct CMUnitTest tests[] = {
        TEST(parts_add_up),
        TEST(counters_by_name),
        TEST(what_is_no_run),
        TEST(runs_have_names),
        TEST(causes_need_proof),
        TEST(the_same),
        TEST(fewer_instructions),
        TEST(idle_cores),
        TEST(order_of_warps),
        TEST(more_warps),
        TEST(every_rule_is_well_formed),
        TEST(kernels_and_instructions),
        TEST(metrics_by_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
