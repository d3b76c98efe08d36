/* Does a ranking survive? The design matrix, the levels of factors, the generated experiment, and judgements with
 * numbers worked out by hand. */
#include "unit/store_test.h"

#include "experiment/stored.h"
#include "figure/robust.h"
#include "robust/robust.h"

#include <math.h>

/* ------------------------------------------------------------- the design */

/* Every factor is high in half of the runs, and for any two factors each of the four combinations comes three times. */
static void test_design_is_balanced(void **state)
{
    (void)state;
    for (uint32_t f = 0; f < DESIGN_FACTORS; f++)
        for (uint32_t g = f + 1; g < DESIGN_FACTORS; g++) {
            uint32_t seen[2][2] = {{0}};
            for (uint32_t row = 0; row < DESIGN_RUNS; row++)
                seen[robust_design(row, f) > 0][robust_design(row, g) > 0]++;
            for (int i = 0; i < 4; i++)
                assert_int_equal(seen[i / 2][i % 2], 3);
        }
}

/* The second dozen is the first with all signs turned. */
static void test_design_folds_over(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < DESIGN_RUNS; row++)
        for (uint32_t f = 0; f < DESIGN_FACTORS; f++)
            assert_int_equal(robust_design(row + DESIGN_RUNS, f), -robust_design(row, f));
}

/* ------------------------------------------------------------- factors */

static const char *sets_text(struct arena *a, const struct machine *m, enum robust_factor factor, int level)
{
    int8_t levels[ROBUST_FACTORS] = {0};
    levels[factor] = (int8_t)level;
    const char *text = "";
    for (const char **set = robust_sets(a, m, levels); *set; set++)
        text = arena_printf(a, "%s%s%s", text, *text ? " " : "", *set);
    return text;
}

static void test_factors_of_ccws(void **state)
{
    (void)state;
    struct arena a = {0};
    struct machine m;
    struct error e = {0};
    assert_true(machine_load(&m, "machines/ccws.ini", NULL, 0, &e));
    static const struct {
        enum robust_factor factor;
        int level;
        const char *sets, *value;
    } expected[] = {
        {FACTOR_L1_SIZE, -1, "l1d.sets=16", "16 KB"},
        {FACTOR_L1_SIZE, 1, "l1d.sets=64", "64 KB"},
        {FACTOR_L1_WAYS, -1, "l1d.sets=64 l1d.ways=4", "4"},
        {FACTOR_L1_WAYS, 1, "l1d.sets=16 l1d.ways=16", "16"},
        {FACTOR_L1_LATENCY, -1, "l1d.latency_cycles=7", "7 cycles"},
        {FACTOR_L1_LATENCY, 1, "l1d.latency_cycles=15", "15 cycles"},
        {FACTOR_L2_LATENCY, 1, "l2.rop_cycles=173", "173 cycles"},
        {FACTOR_WARPS, -1, "core.warps=24 core.registers=12288 core.blocks=6", "24"},
        {FACTOR_WARPS, 1, "core.warps=48 core.registers=24576 core.blocks=12", "48"},
        {FACTOR_ADDRESS_HASH, -1, "rules.l1d_index=linear", "linear"},
        {FACTOR_ADDRESS_HASH, 1, "rules.l1d_index=hashed", "hashed"},
        {FACTOR_BLOCK_ORDER, -1, "", "first first"},
        {FACTOR_BLOCK_ORDER, 1, "rules.last_block_first=true", "last first"},
        /* half the clock, and half as many cycles: what a row takes is as long as before */
        {FACTOR_DRAM_BANDWIDTH, -1,
         "dram.t_rrd=4 dram.t_rcd=6 dram.t_ras=13 dram.t_rp=5 dram.t_rc=18 dram.t_cl=5 dram.t_wl=4 dram.t_cdlr=3 "
         "dram.t_wr=7 clock.dram_mhz=400",
         "x 1/2"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_string_equal(sets_text(&a, &m, expected[i].factor, expected[i].level), expected[i].sets);
        assert_string_equal(robust_value(&a, &m, expected[i].factor, expected[i].level), expected[i].value);
    }
    arena_free(&a);
}

/* Every machine of both designs is one that can be simulated, on every machine file. */
static void test_all_machines_load(void **state)
{
    (void)state;
    static const char *const files[] = {"machines/gtx480.ini", "machines/ccws.ini", "machines/gtx480-gs4.ini",
                                        "machines/slp.ini", "machines/c2050.ini"};
    struct arena a = {0};
    struct machine m, other;
    struct error e = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_true(machine_load(&m, files[i], NULL, 0, &e));
        for (uint32_t row = 0; row < 2 * DESIGN_RUNS; row++) {
            int8_t level[ROBUST_FACTORS];
            uint32_t count = 0;
            for (uint32_t f = 0; f < ROBUST_FACTORS; f++)
                level[f] = (int8_t)robust_design(row, f);
            const char **sets = robust_sets(&a, &m, level);
            while (sets[count])
                count++;
            if (!machine_load(&other, files[i], sets, count, &e))
                fail_msg("%s, row %u: %s", files[i], row, e.text);
        }
    }
    arena_free(&a);
}

/* ------------------------------------------------------------- the generated experiment */

static const char source[] =
    "[experiment]\nsize = test\nbest_by = ipc\ninterval = 100\nreplay = lru\n"
    "[programs]\nbfs = bfs --edges 100\nbig = bfs --edges 200\nreduct\n[machines]\nccws\n"
    "[schedulers]\nlrr\nrr\nSWL = swl:limit={1,2}\nBest = best(swl:limit={1,2})\nprofiled = "
    "daws:mode=profiled,profile=@p\n"
    "[variants]\nplain =\nsmall = l1d.sets=4, core.warps=16\n"
    "[exclude]\nno limits there = program=bfs scheduler=SWL variant=small\n"
    "[input p]\nscheduler = gto\narguments = --seed 7\nprobe = daws-profile:file=@\n"
    "[figure runs]\nkind = scatter\nx = ipc\ny = cycles\n"
    "[figure speed]\nx = program\nseries = scheduler\ny = ipc\nnormalise = scheduler=lrr\nmean = harmonic\n"
    "where = program=bfs|reduct scheduler=rr|Best variant=small\nexpect = Best > rr, at least 2: Best > rr\n"
    "[figure variants]\nx = variant\nseries = scheduler\ny = ipc\nwhere = program=bfs scheduler=lrr|rr\n";

static void make(struct arena *a, const struct robust_request *request, struct robust_plan *p, struct experiment *made)
{
    struct experiment x;
    struct error e = {0};
    if (!experiment_parse(&x, a, "mine", source, strlen(source), NULL, &e) ||
        !robust_plan_make(p, a, &x, request, &e) ||
        !experiment_parse(made, a, p->name, p->text, strlen(p->text), NULL, &e))
        fail_msg("%s", e.text);
}

static void test_generated_experiment(void **state)
{
    (void)state;
    struct arena a = {0};
    struct robust_plan p;
    struct experiment x;
    make(&a, &(struct robust_request){.sample = 12}, &p, &x);
    assert_string_equal(p.name, "mine-speed-robust"); /* a scatter is passed over */
    assert_int_equal(p.alone, 17);
    assert_int_equal(p.sampled, 12);
    assert_int_equal(p.machine_count, 30);
    assert_string_equal(p.machines[0].sets[0], "l1d.sets=4"); /* the figure's variant is the base */
    assert_string_equal(p.machines[1].sets[0], "core.warps=16");
    assert_string_equal(p.machines[1].sets[1], "l1d.sets=2");
    /* two programs under lrr (the divisor), rr, and of the limits those that the experiment has: reduct's */
    assert_int_equal(x.point_count, 30 * (2 + 4));
    assert_true(!x.interval_cycles && !x.replay && !x.input_count);
    assert_true(x.figure_count == 1 && x.figures[0].robust && x.figures[0].expected_count == 2);
    arena_free(&a);
}

static void test_request_narrows(void **state)
{
    (void)state;
    struct arena a = {0};
    struct robust_plan p;
    struct experiment x;
    const char *sets[] = {"machine.cores=3", NULL}, *programs[] = {"big = bfs --edges 300", NULL};
    make(&a,
         &(struct robust_request){.where = "program=big scheduler=lrr|profiled variant=plain",
                                  .factors = "L1 size, block order",
                                  .sets = sets,
                                  .programs = programs},
         &p, &x);
    assert_int_equal(p.machine_count, 4); /* no sample */
    assert_int_equal(x.point_count, 4 * 2);
    assert_int_equal(x.input_count, 1); /* `profiled` reads it */
    assert_string_equal(x.axes[AXIS_PROGRAM].values[0].text, "bfs --edges 300");
    assert_string_equal(p.machines[3].sets[0], "machine.cores=3");
    assert_string_equal(p.machines[3].sets[1], "rules.last_block_first=true");
    assert_int_equal(x.figures[0].expected_count, 0); /* neither claim can be asked */
    assert_int_equal(p.note_count, 2);
    arena_free(&a);
}

/* Three factors have eight combinations, and a sample of twelve has four of them twice. */
static void test_no_machine_twice(void **state)
{
    (void)state;
    struct arena a = {0};
    struct robust_plan p;
    struct experiment x;
    make(&a, &(struct robust_request){.factors = "L1 size,DRAM bandwidth,L2 latency", .sample = 12}, &p, &x);
    assert_int_equal(p.alone, 6);
    assert_int_equal(p.sampled, 8);
    for (uint32_t i = 0; i < x.axes[AXIS_VARIANT].value_count; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(x.axes[AXIS_VARIANT].values[i].text, x.axes[AXIS_VARIANT].values[k].text);
    arena_free(&a);
}

static void test_refusals(void **state)
{
    (void)state;
    const struct {
        struct robust_request request;
        const char *message;
    } cases[] = {
        {{.figure = "variants"}, "it compares variants"},
        {{.figure = "runs"}, "of another kind"},
        {{.figure = "sped"}, "has no figure 'sped'"},
        {{.factors = "L3 size"}, "unknown factor 'L3 size'"},
        {{.where = "scheduler=gto"}, "unknown scheduler 'gto'"},
        {{.where = "scheduler=rr"}, "it has one series"},
        {{.programs = (const char *[]){"big = bfs", NULL}}, "shows no program 'big'"},
    };
    struct arena a = {0};
    struct experiment x;
    struct error e = {0};
    assert_true(experiment_parse(&x, &a, "mine", source, strlen(source), NULL, &e));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct robust_plan p;
        struct error why = {0};
        assert_false(robust_plan_make(&p, &a, &x, &cases[i].request, &why));
        if (!strstr(why.text, cases[i].message))
            fail_msg("%s instead of: %s", why.text, cases[i].message);
    }
    arena_free(&a);
}

/* ------------------------------------------------------------- judgements */

/* IPC of two programs alike; 0: never run. */
static const struct {
    const char *machine;
    double a, b, c;
} given[] = {{"base", 20, 10, 10.05},   {"size: small", 5, 10, 10},  {"size: large", 10, 10.05, 20},
             {"order: other", 0, 0, 0}, {"sample 1 +-", 12, 10, 10}, {"sample 2 -+", 8, 10, 10}};
enum { GIVEN = sizeof given / sizeof *given };

static double given_ipc(const char *machine, const char *scheduler)
{
    for (int i = 0; i < GIVEN; i++)
        if (!strcmp(given[i].machine, machine))
            return !strcmp(scheduler, "A") ? given[i].a : !strcmp(scheduler, "B") ? given[i].b : given[i].c;
    return 0;
}

static void judge(struct arena *a, struct robust_data *d)
{
    static const char text[] =
        "[programs]\np = bfs\nq = reduct\n[schedulers]\nA = lrr\nB = gto\nC = rr\n"
        "[variants]\nbase =\nsize: small = l1d.sets=4\nsize: large = l1d.sets=16\norder: other = "
        "rules.last_block_first=true\n"
        "sample 1 +- = l1d.sets=16, core.warps=40\nsample 2 -+ = l1d.sets=4, core.warps=40\n"
        "[figure f]\nx = program\nseries = scheduler\ny = ipc\nmean = geometric\nwhere = variant=base\n"
        "expect = A > B, A > 3 * C\nrobust = yes\n";
    struct experiment *x = arena_new(a, struct experiment);
    struct error e = {0};
    if (!experiment_parse(x, a, "test", text, strlen(text), "test", &e))
        fail_msg("%s", e.text);
    struct store *s = open_store(file_named("robust.db"), STORE_WRITE);
    char(*keys)[KEY_BYTES] = arena_alloc(a, x->point_count * KEY_BYTES);
    for (uint32_t i = 0; i < x->point_count; i++) {
        double ipc = given_ipc(experiment_label(x, &x->points[i], AXIS_VARIANT),
                               experiment_label(x, &x->points[i], AXIS_SCHEDULER));
        strcpy(keys[i], key_of(i + 1));
        if (ipc > 0)
            put(s, record_of(i + 1, arena_printf(a, "{\"cycles\": 100, \"ipc\": %g}", ipc), NULL));
    }
    assert_true(experiment_put(s, x, (const char(*)[KEY_BYTES])keys, &e));
    struct figure_source *numbers = figure_source_open(a, s, x, &e);
    if (!numbers || !figure_robust(a, numbers, &x->figures[0], d, &e))
        fail_msg("%s", e.text);
    store_close(s);
}

static const struct robust_judgement *pair(const struct robust_data *d, const char *text)
{
    for (uint32_t i = 0; i < d->judgement_count; i++)
        if (!d->judgements[i].is_claim && !strcmp(d->judgements[i].text, text))
            return &d->judgements[i];
    fail_msg("no pair %s", text);
    return NULL;
}

static void test_pair(void **state)
{
    (void)state;
    struct arena a = {0};
    struct robust_data d;
    judge(&a, &d);
    assert_int_equal(d.machine_count, GIVEN);
    assert_int_equal(d.factor_count, 2);
    const struct robust_judgement *j = pair(&d, "A > B");
    const double ratios[GIVEN] = {2, 0.5, 10 / 10.05, NAN, 1.2, 0.8};
    const enum robust_outcome outcomes[GIVEN] = {ROBUST_HOLDS,   ROBUST_TURNED, ROBUST_LEVEL,
                                                 ROBUST_UNKNOWN, ROBUST_HOLDS,  ROBUST_TURNED};
    for (int i = 0; i < GIVEN; i++) {
        assert_true(isnan(ratios[i]) ? isnan(j->ratios[i]) : fabs(j->ratios[i] - ratios[i]) < 1e-9);
        assert_int_equal(j->outcomes[i], outcomes[i]);
    }
    assert_true(j->known == 5 && j->held == 2 && j->level == 1 && j->turned == 2 && j->least == 1);
    assert_string_equal(d.factors[j->effect], "size");
    assert_true(fabs(j->effect_by - 1.5) < 1e-9); /* 1.2 where it is high, 0.8 where it is low */
    assert_string_equal(robust_turned_by(&a, &d, j), "size: small (0.50); 1 of 2 of the sample");
    /* C is ahead of B by half a percent on the base machine: nothing to hold. It comes last. */
    j = &d.judgements[d.judgement_count - 1];
    assert_true(j->is_close);
    assert_string_equal(j->text, "C ~ B");
    arena_free(&a);
}

static void test_claim(void **state)
{
    (void)state;
    struct arena a = {0};
    struct robust_data d;
    judge(&a, &d);
    const struct robust_judgement *j = &d.judgements[0];
    assert_true(j->is_claim && j->outcomes[0] == ROBUST_HOLDS);
    assert_true(j->known == 5 && j->held == 2 && j->turned == 3); /* a claim has no 'level': 10 is not above 10.05 */
    assert_string_equal(robust_turned_by(&a, &d, j), "size: small, size: large; 1 of 2 of the sample");
    j = &d.judgements[1]; /* A > 3 * C: nowhere */
    assert_true(j->is_claim && j->held == 0 && j->known == 5);
    arena_free(&a);
}

static void test_one_percent(void **state)
{
    (void)state;
    assert_int_equal(robust_outcome_of(1.011), ROBUST_HOLDS);
    assert_int_equal(robust_outcome_of(1.009), ROBUST_LEVEL);
    assert_int_equal(robust_outcome_of(0.991), ROBUST_LEVEL);
    assert_int_equal(robust_outcome_of(0.989), ROBUST_TURNED);
    assert_int_equal(robust_outcome_of(NAN), ROBUST_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_design_is_balanced),
        cmocka_unit_test(test_design_folds_over),
        cmocka_unit_test(test_factors_of_ccws),
        cmocka_unit_test(test_all_machines_load),
        cmocka_unit_test(test_generated_experiment),
        cmocka_unit_test(test_request_narrows),
        cmocka_unit_test(test_no_machine_twice),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_claim),
        cmocka_unit_test(test_one_percent),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
