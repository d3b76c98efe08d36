/* Is the timeline JSON that a viewer can read: balanced slices, times inside the window, whatever happened? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/timeline.h"
#include "sm/counters.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char path[64];
    struct timeline *t;
    const struct sm_observer *o;
};

static struct fixture start(uint64_t first, uint64_t end)
{
    struct fixture f = {.path = "/tmp/heddle-timeline-XXXXXX"};
    struct error e = {0};
    close(mkstemp(f.path));
    f.t = timeline_open(f.path, first, end, &e);
    if (!f.t)
        fail_msg("%s", e.text);
    f.o = timeline_observer(f.t);
    return f;
}

static void begin(struct fixture *f, uint32_t core, uint32_t warp, uint64_t cycle, uint64_t block)
{
    f->o->warp_begin(f->o->context, core, warp, cycle, block, warp);
}
static void end(struct fixture *f, uint32_t core, uint32_t warp, uint64_t cycle)
{
    f->o->warp_end(f->o->context, core, warp, cycle);
}
static void issue(struct fixture *f, uint32_t warp, uint64_t cycle)
{
    f->o->issue(f->o->context, 0, 0, warp, cycle, (uint32_t)cycle, 4);
}
static void wait_begin(struct fixture *f, uint32_t warp, uint64_t cycle)
{
    f->o->barrier_begin(f->o->context, 0, warp, cycle);
}
static void wait_end(struct fixture *f, uint32_t warp, uint64_t cycle)
{
    f->o->barrier_end(f->o->context, 0, warp, cycle);
}
static void load_begin(struct fixture *f, uint32_t warp, uint64_t cycle, uint32_t pc)
{
    f->o->load_begin(f->o->context, 0, warp, cycle, pc, 4);
}
static void load_end(struct fixture *f, uint32_t warp, uint64_t cycle, uint32_t pc)
{
    f->o->load_end(f->o->context, 0, warp, cycle, pc);
}

/* The file's object. */
static json_t *finish(struct fixture *f)
{
    struct error e = {0};
    json_error_t why;
    assert_true(timeline_close(f->t, &e));
    assert_true(timeline_close(f->t, &e));
    timeline_destroy(f->t);
    json_t *root = json_load_file(f->path, 0, &why);
    unlink(f->path);
    if (!root)
        fail_msg("%d: %s", why.line, why.text);
    return root;
}

static const char *text(const json_t *event, const char *key)
{
    const char *s = json_string_value(json_object_get(event, key));
    return s ? s : "";
}

static json_int_t number(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(event, key));
}

static json_t *events(json_t *root) { return json_object_get(root, "traceEvents"); }

/* How many events of a phase there are, with that name where one is given. */
static int count(json_t *root, const char *phase, const char *name)
{
    size_t i;
    json_t *event;
    int n = 0;
    json_array_foreach(events(root), i, event) n +=
        !strcmp(text(event, "ph"), phase) && (!name || !strcmp(text(event, "name"), name));
    return n;
}

static const json_t *find(json_t *root, const char *phase, const char *name)
{
    size_t i;
    json_t *event;
    json_array_foreach(events(root), i,
                       event) if (!strcmp(text(event, "ph"), phase) && !strcmp(text(event, "name"), name)) return event;
    fail_msg("no event %s of phase %s", name, phase);
    return NULL;
}

/* Laws of every timeline. */
static void check(json_t *root, json_int_t first, json_int_t last)
{
    enum { THREADS = 4096 };
    int *depth = calloc(THREADS, sizeof *depth), *loads = calloc(THREADS, sizeof *loads);
    json_int_t *run_end = calloc(THREADS, sizeof *run_end), now = 0;
    size_t i;
    json_t *event;
    json_array_foreach(events(root), i, event)
    {
        char phase = text(event, "ph")[0];
        json_int_t tid = number(event, "tid"), ts = number(event, "ts"), duration = number(event, "dur");
        assert_true(phase && strchr("MBEXbeCi", phase));
        assert_true(number(event, "pid") > 0);
        if (phase == 'M')
            continue;
        assert_true(json_is_integer(json_object_get(event, "ts")));
        assert_true(ts >= first && ts + duration <= last);
        if (strchr("BEbe", phase)) { /* in the order in which they happened */
            assert_true(ts >= now);
            now = ts;
        }
        depth[tid] += phase == 'B' ? 1 : phase == 'E' ? -1 : 0;
        assert_true(depth[tid] >= 0);
        if (phase == 'b' || phase == 'e') {
            loads[number(event, "id")] += phase == 'b' ? 1 : -1;
            assert_in_range(loads[number(event, "id")], 0, 1);
        }
        if (phase == 'X') { /* slices of one thread do not overlap */
            assert_true(ts >= run_end[tid] && duration > 0);
            run_end[tid] = ts + duration;
        }
    }
    for (int t = 0; t < THREADS; t++)
        assert_true(depth[t] == 0 && loads[t] == 0);
    free(depth);
    free(loads);
    free(run_end);
}

static void small_run(void **state)
{
    (void)state;
    struct fixture f = start(0, 1000);
    begin(&f, 0, 0, 5, 7);
    begin(&f, 0, 1, 5, 7);
    issue(&f, 0, 10);
    issue(&f, 0, 11);
    issue(&f, 0, 11); /* dual issue */
    issue(&f, 0, 12);
    load_begin(&f, 0, 13, 3);
    issue(&f, 1, 13);
    load_begin(&f, 0, 14, 4); /* overlaps the first */
    issue(&f, 1, 15);         /* a cycle without issue before it */
    f.o->outstanding(f.o->context, 0, 15, 1);
    f.o->outstanding(f.o->context, 0, 15, 2);
    wait_begin(&f, 0, 16);
    load_end(&f, 0, 20, 3);
    wait_end(&f, 0, 25);
    load_end(&f, 0, 30, 4);
    f.o->outstanding(f.o->context, 0, 30, 0);
    end(&f, 0, 0, 40);
    end(&f, 0, 1, 41);
    begin(&f, 0, 0, 40 + 1, 8); /* the slot's next warp */
    end(&f, 0, 0, 60);
    timeline_kernel(f.t, "vadd", 0, 70);
    json_t *root = finish(&f);
    check(root, 0, 70);
    assert_int_equal(count(root, "B", "block 7"), 2);
    assert_int_equal(count(root, "B", "block 8"), 1);
    assert_int_equal(count(root, "B", "barrier"), 1);
    assert_int_equal(count(root, "b", "warp 00 loads"), 2);
    assert_int_equal(count(root, "X", "warp 0"), 1);
    assert_int_equal(count(root, "X", "warp 1"), 2);
    const json_t *run = find(root, "X", "warp 0");
    assert_int_equal(number(run, "ts"), 10);
    assert_int_equal(number(run, "dur"), 3);
    assert_int_equal(number(json_object_get(run, "args"), "instructions"), 4);
    assert_true(json_real_value(json_object_get(json_object_get(run, "args"), "lanes")) == 4.0);
    assert_int_equal(count(root, "C", "outstanding misses"), 2); /* two changes in one cycle are one */
    assert_int_equal(number(json_object_get(find(root, "C", "outstanding misses"), "args"), "value"), 2);
    assert_int_equal(number(find(root, "X", "vadd"), "dur"), 70);
    json_decref(root);
}

/* The same events in windows that cut them anywhere. */
static void every_window(void **state)
{
    (void)state;
    for (uint64_t first = 0; first < 30; first++) {
        for (uint64_t last = first + 1; last < 32; last += 3) {
            struct fixture f = start(first, last);
            begin(&f, 0, 0, 2, 1);
            begin(&f, 1, 0, 3, 2);
            issue(&f, 0, 4);
            issue(&f, 0, 5);
            load_begin(&f, 0, 6, 1);
            wait_begin(&f, 0, 8);
            issue(&f, 1, 9); /* a warp whose launch was not seen */
            f.o->outstanding(f.o->context, 0, 9, 5);
            wait_end(&f, 0, 12);
            load_end(&f, 0, 14, 1);
            load_begin(&f, 1, 14, 1);
            f.o->outstanding(f.o->context, 0, 18, 1);
            end(&f, 0, 0, 20);
            begin(&f, 0, 0, 20, 3);
            wait_begin(&f, 0, 22);
            end(&f, 1, 0, 24); /* the rest is cut off by an interrupt */
            timeline_kernel(f.t, "k", 1, 25);
            json_t *root = finish(&f);
            check(root, (json_int_t)first, (json_int_t)last);
            assert_int_equal(count(root, "B", "block 1"), first <= 20 && last > 2);
            assert_int_equal(count(root, "B", "block 3"), first <= 24 && last > 20);
            json_decref(root);
        }
    }
}

/* Slots 0 and 1 of a core have the reasons in these cycles. */
static void reasons(struct fixture *f, uint64_t from, uint64_t to, enum stall first, enum stall second)
{
    uint64_t slots[STALL_COUNT] = {0};
    slots[first] |= 1;
    slots[second] |= 2;
    f->o->reasons(f->o->context, 0, from, to, slots);
}

static json_int_t cycles_of(json_t *root, const char *name)
{
    size_t i;
    json_t *event;
    json_int_t sum = 0;
    json_array_foreach(events(root), i, event) sum += !strcmp(text(event, "name"), name) ? number(event, "dur") : 0;
    return sum;
}

static void reasons_of_warps(void **state)
{
    (void)state;
    struct fixture f = start(10, 50);
    begin(&f, 0, 0, 5, 1);
    begin(&f, 0, 1, 5, 1);
    reasons(&f, 5, 12, STALL_FETCH, STALL_FETCH); /* cut at the front */
    reasons(&f, 12, 20, STALL_FETCH, STALL_MEMORY);
    reasons(&f, 20, 21, STALL_ISSUED, STALL_MEMORY);
    f.o->queues(f.o->context, 0, 22, 4, 1);
    f.o->queues(f.o->context, 0, 23, 3, 1);
    timeline_channel(f.t, 1, 23, 7);
    timeline_channel(f.t, 1, 24, 7);
    timeline_channel(f.t, 1, 25, 0);
    issue(&f, 0, 60);                               /* the window is over for all cores, */
    reasons(&f, 21, 70, STALL_MEMORY, STALL_DRAIN); /* and what is told late is still shown */
    json_t *root = finish(&f);
    check(root, 10, 50);
    assert_int_equal(count(root, "X", "fetch"), 2);
    assert_int_equal(cycles_of(root, "fetch"), 10 + 2);
    assert_int_equal(count(root, "X", "memory"), 2);
    assert_int_equal(cycles_of(root, "memory"), 9 + 29);
    assert_int_equal(cycles_of(root, "issued"), 1);
    assert_int_equal(cycles_of(root, "drain"), 29);
    assert_int_equal(count(root, "C", "load/store unit: accesses to send"), 2);
    assert_int_equal(count(root, "C", "L1D miss queue"), 1);
    assert_int_equal(count(root, "C", "DRAM channel 1 queue"), 2);
    assert_int_equal(count(root, "i", NULL), 1); /* it says where it ends */
    json_decref(root);
}

/* A slot that is empty for a while has no slice there, whoever comes next. */
static void reasons_with_a_gap(void **state)
{
    (void)state;
    struct fixture f = start(0, 100);
    reasons(&f, 5, 10, STALL_MEMORY, STALL_MEMORY);
    reasons(&f, 20, 30, STALL_MEMORY, STALL_FETCH);
    json_t *root = finish(&f);
    check(root, 0, 100);
    assert_int_equal(count(root, "X", "memory"), 3);
    assert_int_equal(cycles_of(root, "memory"), 5 + 5 + 10);
    json_decref(root);
}

static void nothing_happened(void **state)
{
    (void)state;
    struct fixture f = start(0, 10);
    json_t *root = finish(&f);
    assert_int_equal(json_array_size(events(root)), 0);
    json_decref(root);
}

static void wants(void **state)
{
    (void)state;
    struct fixture f = start(10, 20);
    assert_false(timeline_wants(f.t, 9));
    assert_true(timeline_wants(f.t, 10));
    assert_true(timeline_wants(f.t, 19));
    assert_false(timeline_wants(f.t, 20));
    json_decref(finish(&f));
}

static void size_limit(void **state)
{
    (void)state;
    enum { LIMIT = 20000 };
    struct fixture f = start(0, 100000);
    timeline_set_limit(f.t, LIMIT);
    begin(&f, 0, 0, 0, 0);
    begin(&f, 0, 1, 0, 0);
    wait_begin(&f, 1, 1);
    for (uint64_t cycle = 2; cycle < 5000; cycle += 2)
        issue(&f, 0, cycle);
    uint64_t from = timeline_dropped_from(f.t);
    assert_in_range(from, 3, 4998);
    assert_false(timeline_wants(f.t, from));
    json_t *root = finish(&f);
    check(root, 0, (json_int_t)from + 1);
    char *whole = json_dumps(root, JSON_COMPACT);
    assert_in_range(strlen(whole), LIMIT / 2, LIMIT + 2000);
    free(whole);
    json_decref(root);

    f = start(0, 100);
    begin(&f, 0, 0, 0, 0);
    assert_true(timeline_dropped_from(f.t) == UINT64_MAX);
    json_decref(finish(&f));
}

static void names_cannot_break_it(void **state)
{
    (void)state;
    struct fixture f = start(0, 100);
    timeline_kernel(f.t, "a\"b\\c\n\xff", 0, 10);
    json_t *root = finish(&f);
    assert_int_equal(count(root, "X", "a?b?c??"), 1);
    json_decref(root);
}

static void cannot_be_written(void **state)
{
    (void)state;
    struct error e = {0};
    assert_null(timeline_open("/nonexistent/t.json", 0, 10, &e));
    assert_non_null(strstr(e.text, "/nonexistent/t.json"));
    e = (struct error){0};
    struct timeline *t = timeline_open("/dev/full", 0, 10, &e);
    assert_non_null(t);
    assert_false(timeline_close(t, &e));
    assert_non_null(strstr(e.text, "/dev/full"));
    timeline_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_run),         cmocka_unit_test(every_window),
        cmocka_unit_test(reasons_of_warps),  cmocka_unit_test(reasons_with_a_gap),
        cmocka_unit_test(nothing_happened),  cmocka_unit_test(wants),
        cmocka_unit_test(size_limit),        cmocka_unit_test(names_cannot_break_it),
        cmocka_unit_test(cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
