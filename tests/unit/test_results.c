/* The table of metrics: does each row read its own counter, stand in its object, and make the total that it says? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/profile.h"
#include "results/counters_json.h"
#include "results/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MOST = 1000 };

static const struct result_metric *metric(const char *name, uint32_t *index)
{
    for (*index = 0; *index < result_metric_count; ++*index)
        if (!strcmp(result_metrics[*index].name, name))
            return &result_metrics[*index];
    fail_msg("no metric %s", name);
    return NULL;
}

static struct result_value value_of(const struct gpu_counters *c, bool timed, const char *name)
{
    struct result_value values[VALUES_MOST];
    uint32_t index;
    metric(name, &index);
    result_values(c, timed, values);
    return values[index];
}

static bool same_object(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return a[length] == '.' && length == strcspn(b, ".") && !strncmp(a, b, length + 1);
}

/* Rows of one object are neighbours: else the JSON's order is not the table's. */
static void test_names(void **state)
{
    (void)state;
    assert_in_range(result_metric_count, 100, VALUES_MOST);
    for (uint32_t i = 0; i < result_metric_count; i++) {
        const struct result_metric *m = &result_metrics[i];
        assert_true(*m->help);
        bool left = false;
        for (uint32_t k = i + 1; k < result_metric_count; k++) {
            if (!strcmp(m->name, result_metrics[k].name))
                fail_msg("%s has two rows", m->name);
            if (!result_is_counter(m) || !result_is_counter(&result_metrics[k]))
                continue;
            bool same = same_object(m->name, result_metrics[k].name);
            if (same && left)
                fail_msg("%s is apart from %s", result_metrics[k].name, m->name);
            left |= !same;
        }
    }
}

/* Every word of the counters is another number. */
static struct gpu_counters distinct(void)
{
    struct gpu_counters c = {.timed = true};
    uint64_t *words[] = {(uint64_t *)&c.exec, &c.cycles};
    size_t counts[] = {sizeof c.exec / 8, (sizeof c - offsetof(struct gpu_counters, cycles)) / 8};
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < counts[i]; k++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            words[i][k] = random >> 24;
        }
    return c;
}

static void test_each_reads_its_own(void **state)
{
    (void)state;
    struct gpu_counters c = distinct();
    struct result_value values[VALUES_MOST];
    result_values(&c, true, values);
    for (uint32_t i = 0; i < result_metric_count; i++) {
        if (values[i].kind != RESULT_COUNT || !strcmp(result_metrics[i].name, "l1d.vta_hits"))
            continue;
        assert_true(values[i].count);
        for (uint32_t k = i + 1; k < result_metric_count; k++)
            if (values[k].kind == RESULT_COUNT && values[i].count == values[k].count)
                fail_msg("%s and %s read the same", result_metrics[i].name, result_metrics[k].name);
    }
    assert_true(value_of(&c, true, "l1d.hits").count == c.sm.l1d.hits);
    assert_true(value_of(&c, true, "l2.hits").count == c.memory.l2.hits);
    assert_true(value_of(&c, true, "icnt.flits").count == c.requests.flits_in + c.replies.flits_in);
    assert_true(value_of(&c, true, "stalls.drain").count == c.sm.stalls[STALL_DRAIN]);
}

static void test_without_time(void **state)
{
    (void)state;
    struct gpu_counters c = distinct();
    c.timed = false;
    assert_int_equal(value_of(&c, false, "cycles").kind, RESULT_NULL);
    assert_int_equal(value_of(&c, false, "ipc").kind, RESULT_NULL);
    assert_int_equal(value_of(&c, false, "energy.l2_nj").kind, RESULT_NULL);
    assert_true(value_of(&c, false, "branches.executed").count == c.exec.branches);
    assert_true(value_of(&c, false, "loads.requests").count == c.exec.load_requests);
    assert_int_equal(value_of(&c, false, "lanes").kind, RESULT_LIST);
    assert_int_equal(value_of(&c, false, "lanes").count, 33);
}

static void test_totals(void **state)
{
    (void)state;
    struct gpu_kernel a = {.launches = 1, .counters = {.timed = true, .cycles = 100}}, b = a, sum = {0};
    a.counters.exec.lanes[32] = 10;
    b.counters.cycles = 300;
    b.counters.exec.lanes[16] = 40;
    gpu_kernel_add(&sum, &a);
    gpu_kernel_add(&sum, &b);
    assert_true(value_of(&sum.counters, true, "cycles").count == 400);
    assert_true(value_of(&sum.counters, true, "warp_instructions").count == 50);
    assert_true(fabs(value_of(&sum.counters, true, "ipc").real - 2.4) < 1e-12);
    assert_true(fabs(value_of(&sum.counters, true, "simd_utilization").real - 0.6) < 1e-12);
    assert_int_equal(value_of(&(struct gpu_counters){.timed = true}, true, "ipc").kind, RESULT_NULL);
    uint32_t unused;
    assert_string_equal(metric("cycles", &unused)->total, "sum");
    assert_string_equal(metric("ipc", &unused)->total, "mean");
}

/* A dot in a name is an object in the JSON, and what is sampled alone is not in it. */
static void test_json(void **state)
{
    (void)state;
    struct gpu_counters c = distinct();
    struct gpu_options o = {.functional = false};
    json_t *to = json_object();
    put_counters(to, &c, &o);
    json_t *why = json_object_get(json_object_get(to, "l1d"), "reservation_fail_reasons");
    assert_true(json_integer_value(json_object_get(why, "mshr")) == (json_int_t)c.sm.l1d.fails[CACHE_FAIL_MSHR]);
    assert_int_equal(json_array_size(json_object_get(to, "lanes")), 33);
    assert_null(json_object_get(to, "resident_warps"));
    assert_null(json_object_get(json_object_get(to, "l1d"), "replay"));
    json_decref(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_each_reads_its_own),
        cmocka_unit_test(test_without_time), cmocka_unit_test(test_totals),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
