/* heddle.h: does an embedding program get the machine, the numbers, the files and the messages that the command has,
 * and do two handles not know of each other? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/heddle.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char twice_ptx[] =
    ".version 4.2\n.target sm_35\n.address_size 64\n"
    ".visible .global .align 4 .u32 launches;\n"
    ".visible .entry twice(.param .u64 numbers)\n{\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [numbers];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, %r5;\nst.global.u32 [%rd3], %r5;\nret;\n}\n"
    ".visible .entry endless()\n{\nAGAIN:\nbra AGAIN;\n}\n";
enum { BLOCKS = 30, THREADS = 128, COUNT = BLOCKS * THREADS };

struct opened {
    struct heddle *gpu;
    struct heddle_module *module;
    uint64_t numbers;
};

static struct heddle *open_or_fail(const struct heddle_options *o)
{
    struct heddle_error e;
    struct heddle *h = heddle_open(o, &e);
    if (!h)
        fail_msg("%s", e.message);
    assert_string_equal(e.kind, "none");
    return h;
}

static struct opened prepare(const struct heddle_options *o)
{
    struct heddle_error e;
    uint32_t numbers[COUNT];
    struct opened t = {.gpu = open_or_fail(o)};
    t.module = heddle_load(t.gpu, "twice.ptx", twice_ptx, sizeof twice_ptx - 1, &e);
    if (!t.module)
        fail_msg("%s", e.message);
    t.numbers = heddle_alloc(t.gpu, sizeof numbers);
    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = i;
    assert_true(heddle_write(t.gpu, t.numbers, numbers, sizeof numbers, &e));
    return t;
}

static bool launch_twice(const struct opened *t, struct heddle_error *e)
{
    uint64_t numbers = t->numbers;
    struct heddle_launch l = {
        .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .arguments = (void *[]){(void *)&numbers}};
    return heddle_launch(t->gpu, heddle_kernel(t->module, "twice"), &l, e);
}

static double cycles(const struct opened *t, int64_t launch) { return heddle_metric(t->gpu, launch, "cycles"); }

static void test_launches_and_metrics(void **state)
{
    (void)state;
    struct heddle_error e;
    uint32_t numbers[COUNT];
    struct opened t = prepare(NULL);
    assert_true(launch_twice(&t, &e));
    assert_true(launch_twice(&t, &e));
    assert_true(heddle_read(t.gpu, numbers, t.numbers, sizeof numbers, &e));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(numbers[i], i * 4);
    assert_int_equal(heddle_launches(t.gpu), 2);
    assert_true(cycles(&t, 0) > 0 && cycles(&t, HEDDLE_TOTAL) == cycles(&t, 0) + cycles(&t, 1));
    assert_true(heddle_metric(t.gpu, HEDDLE_TOTAL, "launched.blocks") == 2 * BLOCKS);
    assert_true(heddle_metric(t.gpu, 1, "lanes.32") == heddle_metric(t.gpu, 1, "warp_instructions"));
    assert_true(isnan(heddle_metric(t.gpu, 2, "cycles")));
    assert_true(isnan(heddle_metric(t.gpu, 0, "cyclez")) && isnan(heddle_metric(t.gpu, 0, "l1d")));
    assert_true(isnan(heddle_metric(t.gpu, 0, "lanes.x")));
    heddle_close(t.gpu);
}

static void test_options(void **state)
{
    (void)state;
    struct heddle_error e;
    struct opened plain = prepare(NULL),
                  other = prepare(&(struct heddle_options){.machine = "machines/ccws.ini",
                                                           .scheduler = "ccws",
                                                           .l1 = "srrip:bits=3",
                                                           .set = (const char *const[]){"l1d.ways=4", NULL},
                                                           .probes = (const char *const[]){"residency", NULL},
                                                           .pcs = true,
                                                           .interval = 100,
                                                           .threads = 2,
                                                           .program = "mine"}),
                  bundle = prepare(&(struct heddle_options){.policies = "cawa"}),
                  functional = prepare(&(struct heddle_options){.functional = true});
    assert_true(launch_twice(&plain, &e) && launch_twice(&other, &e) && launch_twice(&bundle, &e) &&
                launch_twice(&functional, &e));
    assert_true(cycles(&plain, 0) != cycles(&other, 0));
    assert_true(isnan(cycles(&functional, 0)));
    assert_true(heddle_metric(functional.gpu, 0, "warp_instructions") ==
                heddle_metric(plain.gpu, 0, "warp_instructions"));
    assert_false(isnan(heddle_metric(other.gpu, 0, "ccws.vta_hits")));
    char *text = heddle_json(other.gpu);
    json_t *root = json_loads(text, 0, NULL), *machine = json_object_get(root, "machine");
    json_t *kernel = json_array_get(json_object_get(root, "kernels"), 0);
    assert_string_equal(json_string_value(json_object_get(machine, "name")), "ccws");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(machine, "l1d"), "ways")), 4);
    assert_non_null(strstr(json_string_value(json_object_get(root, "l1")), "srrip:bits=3"));
    assert_string_equal(json_string_value(json_object_get(root, "program")), "mine");
    assert_true(json_array_size(json_object_get(kernel, "pcs")) > 5);
    assert_non_null(json_object_get(kernel, "series"));
    assert_true(json_is_true(json_object_get(json_object_get(root, "checks"), "passed")));
    json_decref(root);
    free(text);
    text = heddle_json(bundle.gpu);
    assert_non_null(strstr(text, "\"gcaws"));
    free(text);
    struct opened all[] = {plain, other, bundle, functional};
    for (int i = 0; i < 4; i++)
        heddle_close(all[i].gpu);
}

static void refused(const struct heddle_options *o, const char *kind, const char *part)
{
    struct heddle_error e;
    struct heddle *h = heddle_open(o, &e);
    assert_null(h);
    if (strcmp(e.kind, kind) || !strstr(e.message, part))
        fail_msg("%s: %s; expected %s: %s", e.kind, e.message, kind, part);
}

static void test_wrong_options(void **state)
{
    (void)state;
    refused(&(struct heddle_options){.machine = "gtx481"}, "not-found", "did you mean gtx480?");
    refused(&(struct heddle_options){.set = (const char *const[]){"l1d.wayz=4", NULL}}, "syntax", "ways");
    refused(&(struct heddle_options){.scheduler = "gtoo"}, "not-found", "gto");
    refused(&(struct heddle_options){.scheduler = "./none.so"}, "not-found", "none.so");
    refused(&(struct heddle_options){.races = true}, "invalid", "functional");
    refused(&(struct heddle_options){.trace = "/no/such/folder/trace"}, "io", "/no/such/folder/trace");
    refused(&(struct heddle_options){.policies = "cawa", .scheduler = "gto"}, "invalid", "cawa");
    assert_null(heddle_open(&(struct heddle_options){.machine = "gtx481"}, NULL));
}

static void test_wrong_calls(void **state)
{
    (void)state;
    struct heddle_error e;
    uint64_t size;
    static const char wrong[] =
        ".version 4.2\n.target sm_35\n.address_size 64\n.visible .entry k()\n{\n  ad.u32 %r1;\n}\n";
    struct opened t = prepare(&(struct heddle_options){.exact_bounds = true});
    assert_null(heddle_load(t.gpu, "wrong.ptx", wrong, sizeof wrong - 1, &e));
    assert_int_equal(e.line, 6);
    assert_int_equal(e.column, 3);
    assert_non_null(strstr(e.message, "wrong.ptx:6:3"));
    assert_null(heddle_load_file(t.gpu, "none.ptx", &e));
    assert_string_equal(e.kind, "io");
    assert_null(heddle_kernel(t.module, "thrice"));
    assert_false(heddle_launch(t.gpu, NULL, &(struct heddle_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}}, &e));
    assert_string_equal(e.kind, "not-found");
    assert_true(heddle_global(t.module, "launches", &size) && size == 4);
    assert_int_equal(heddle_global(t.module, "lunches", NULL), 0);
    assert_false(heddle_write(t.gpu, t.numbers + 4, twice_ptx, COUNT * 4, &e));
    assert_string_equal(e.kind, "address");
    assert_false(heddle_read(t.gpu, &size, 64, 8, &e));
    assert_false(heddle_fill(t.gpu, t.numbers, 0, COUNT * 4 + 1, &e));
    assert_true(heddle_fill(t.gpu, t.numbers, 0, COUNT * 4, &e));
    struct opened nowhere = t; /* the kernel gets an address that is nothing's */
    nowhere.numbers = 4096;
    assert_false(launch_twice(&nowhere, &e));
    assert_string_equal(e.kind, "address");
    assert_non_null(strstr(e.message, "twice"));
    assert_true(launch_twice(&t, &e)); /* the next one may be tried */
    assert_true(heddle_free(t.gpu, t.numbers) && !heddle_free(t.gpu, t.numbers));
    heddle_close(t.gpu);
}

static void test_limits(void **state)
{
    (void)state;
    struct heddle_error e;
    volatile int interrupt = 0;
    struct heddle_launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .max_cycles = 1000};
    struct opened t = prepare(&(struct heddle_options){.interrupt = &interrupt});
    for (int i = 0; i < 2; i++) {
        assert_false(heddle_launch(t.gpu, heddle_kernel(t.module, "endless"), &l, &e));
        assert_string_equal(e.kind, "limit");
    }
    assert_true(launch_twice(&t, &e)); /* the limit was those launches' own */
    interrupt = 1;
    l.max_cycles = 0;
    assert_false(heddle_launch(t.gpu, heddle_kernel(t.module, "endless"), &l, &e));
    assert_string_equal(e.kind, "interrupted");
    heddle_close(t.gpu);
    t = prepare(&(struct heddle_options){.max_cycles = 2000});
    assert_true(launch_twice(&t, &e));
    assert_false(heddle_launch(t.gpu, heddle_kernel(t.module, "endless"), &l, &e));
    assert_false(launch_twice(&t, &e));
    assert_string_equal(e.kind, "limit");
    heddle_close(t.gpu);
}

static void test_files(void **state)
{
    (void)state;
    struct heddle_error e;
    struct stat st;
    char folder[] = "/tmp/heddle-embed-XXXXXX", paths[4][100];
    static const char *const names[4] = {"timeline.json", "l1.trace", "warps.csv", "results.json"};
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    struct opened t = prepare(&(struct heddle_options){.timeline = paths[0], .trace = paths[1], .warps = paths[2]});
    assert_true(launch_twice(&t, &e));
    assert_true(heddle_finish(t.gpu, &e) && heddle_finish(t.gpu, &e));
    assert_false(launch_twice(&t, &e));
    assert_non_null(strstr(e.message, "heddle_finish"));
    assert_true(heddle_save(t.gpu, paths[3], &e));
    assert_false(heddle_save(t.gpu, "/no/such/folder/results.json", &e));
    assert_string_equal(e.kind, "io");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stat(paths[i], &st), 0);
        assert_true(st.st_size > 100);
        unlink(paths[i]);
    }
    rmdir(folder);
    heddle_close(t.gpu);
}

/* In turn, and at the same time: each as if it were alone. */
static void *run_alone(void *user)
{
    struct heddle_error e;
    struct opened t = prepare(user);
    for (int i = 0; i < 3; i++)
        assert_true(launch_twice(&t, &e));
    double *sum = malloc(sizeof *sum);
    *sum = cycles(&t, HEDDLE_TOTAL);
    heddle_close(t.gpu);
    return sum;
}

static void test_two_machines(void **state)
{
    (void)state;
    struct heddle_error e;
    struct heddle_options options[2] = {{.machine = "gtx480", .scheduler = "gto"}, {.machine = "ccws"}};
    struct opened both[2] = {prepare(&options[0]), prepare(&options[1])};
    pthread_t threads[2];
    for (int i = 0; i < 6; i++)
        assert_true(launch_twice(&both[i % 2], &e));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &options[i]), 0);
    for (int i = 0; i < 2; i++) {
        double *alone = run_alone(&options[i]);
        void *beside;
        pthread_join(threads[i], &beside);
        assert_true(*alone > 0 && *alone == cycles(&both[i], HEDDLE_TOTAL) && *alone == *(double *)beside);
        free(alone);
        free(beside);
        heddle_close(both[i].gpu);
    }
}

static void test_glossary(void **state)
{
    (void)state;
    struct heddle_metric_info m;
    uint32_t count = 0;
    bool found = false;
    for (; heddle_metric_info(count, &m); count++)
        found |= !strcmp(m.name, "l1d.misses") && !strcmp(m.unit, "accesses");
    assert_true(found && count > 100);
    assert_true(*heddle_version());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_and_metrics),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_two_machines),
        cmocka_unit_test(test_glossary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
