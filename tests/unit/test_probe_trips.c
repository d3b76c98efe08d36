/* Does `trips` tell this trip from the last one and from all else, as a plain model does that keeps every access? */
#include "probe_test.h"

extern const struct heddle_probe probe_trips;

static void check(const struct probed *p, unsigned this_trip, unsigned last_trip, unsigned other, unsigned same_load,
                  unsigned outside, unsigned unseen)
{
    assert_int_equal(probed_count(p, "this_trip"), this_trip);
    assert_int_equal(probed_count(p, "last_trip"), last_trip);
    assert_int_equal(probed_count(p, "other"), other);
    assert_int_equal(probed_count(p, "same_load"), same_load);
    assert_int_equal(probed_count(p, "outside_loops"), outside);
    assert_int_equal(probed_count(p, "unseen"), unseen);
}

/* A load of warp 0 with one access. */
static void load(struct probed *p, uint32_t pc, uint64_t line, enum heddle_outcome outcome)
{
    probed_load(p, 0, pc, 32, 1);
    probed_access(p, 0, pc, line, outcome, 0, 0);
}

static void enter(struct probed *p, int32_t l) { probed_loop(p, 0, l, HEDDLE_LOOP_ENTER); }
static void iterate(struct probed *p, int32_t l) { probed_loop(p, 0, l, HEDDLE_LOOP_ITERATE); }
static void leave(struct probed *p, int32_t l) { probed_loop(p, 0, l, HEDDLE_LOOP_LEAVE); }

static void this_trip_last_trip_other(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    load(&p, OUTSIDE, 1, HEDDLE_MISS);
    load(&p, OUTSIDE, 1, HEDDLE_HIT);
    check(&p, 0, 0, 0, 0, 1, 0);
    enter(&p, OUTER_LOOP);
    load(&p, OUTER, 1, HEDDLE_HIT); /* used before the loop; the first trip has no last one */
    check(&p, 0, 0, 1, 0, 1, 0);
    load(&p, OUTER + 1, 1, HEDDLE_HIT);
    check(&p, 1, 0, 1, 0, 1, 0);
    iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 1, HEDDLE_HIT);
    check(&p, 1, 1, 1, 0, 1, 0);
    load(&p, OUTER + 1, 1, HEDDLE_HIT);
    check(&p, 2, 1, 1, 0, 1, 0);
    iterate(&p, OUTER_LOOP);
    iterate(&p, OUTER_LOOP); /* a trip without it */
    load(&p, OUTER, 1, HEDDLE_HIT);
    check(&p, 2, 1, 2, 0, 1, 0);
    iterate(&p, OUTER_LOOP);
    leave(&p, OUTER_LOOP);
    enter(&p, OUTER_LOOP); /* another stay */
    load(&p, OUTER, 1, HEDDLE_HIT);
    check(&p, 2, 1, 3, 0, 1, 0);
    leave(&p, OUTER_LOOP);
    load(&p, AFTER, 1, HEDDLE_HIT);
    check(&p, 2, 1, 3, 0, 2, 0);
    probed_end(&p);
}

/* Accesses of one execution do not count for each other. */
static void two_accesses_of_one_load(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    enter(&p, OUTER_LOOP);
    probed_load(&p, 0, OUTER, 32, 2);
    probed_access(&p, 0, OUTER, 5, HEDDLE_MISS, -1, 1);
    probed_access(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 0); /* the line came between the two */
    check(&p, 0, 0, 0, 1, 0, 0);
    iterate(&p, OUTER_LOOP);
    probed_load(&p, 0, OUTER, 32, 2);
    probed_access(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 1);
    probed_access(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 0); /* both by the last trip */
    check(&p, 0, 2, 0, 1, 0, 0);
    probed_load(&p, 0, OUTER, 32, 1); /* another execution of the same load is another load */
    probed_access(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 0);
    check(&p, 1, 2, 0, 1, 0, 0);
    probed_end(&p);
}

/* A line on its way is used, not hit. */
static void pending_is_a_use(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    enter(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_MISS);
    iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_PENDING);
    check(&p, 0, 0, 0, 0, 0, 0);
    iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_HIT);
    check(&p, 0, 1, 0, 0, 0, 0);
    probed_end(&p);
}

/* What an inner loop did belongs to the outer one's trip; a new stay in the inner one has no last trip. */
static void nested_loops(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    enter(&p, OUTER_LOOP);
    enter(&p, INNER_LOOP);
    load(&p, INNER, 3, HEDDLE_MISS);
    iterate(&p, INNER_LOOP);
    load(&p, INNER, 3, HEDDLE_HIT);
    check(&p, 0, 1, 0, 0, 0, 0);
    iterate(&p, INNER_LOOP), iterate(&p, INNER_LOOP);
    leave(&p, INNER_LOOP);
    load(&p, OUTER, 3, HEDDLE_HIT); /* this trip of the outer loop */
    check(&p, 1, 1, 0, 0, 0, 0);
    iterate(&p, OUTER_LOOP);
    enter(&p, INNER_LOOP);
    load(&p, INNER, 3, HEDDLE_HIT); /* before the inner loop */
    check(&p, 1, 1, 1, 0, 0, 0);
    leave(&p, INNER_LOOP);
    iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 3, HEDDLE_HIT); /* the inner loop of the last trip */
    check(&p, 1, 2, 1, 0, 0, 0);
    probed_end(&p);
}

/* A function that is called in a loop: its loads are in the caller's trip, and a loop of its own has depth 1 again. */
static void called_functions(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    enter(&p, OUTER_LOOP);
    load(&p, OUTER, 3, HEDDLE_MISS);
    iterate(&p, OUTER_LOOP);
    load(&p, AFTER, 3, HEDDLE_HIT);
    check(&p, 0, 1, 0, 0, 0, 0);
    enter(&p, OUTER_LOOP), iterate(&p, OUTER_LOOP), iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 3, HEDDLE_HIT);
    check(&p, 0, 1, 1, 0, 0, 0);
    leave(&p, OUTER_LOOP);
    load(&p, OUTER, 3, HEDDLE_HIT);
    check(&p, 1, 1, 1, 0, 0, 0);
    iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 3, HEDDLE_HIT);
    check(&p, 1, 2, 1, 0, 0, 0);
    for (int i = 0; i < 100; i++) /* deeper than there is room for */
        enter(&p, OUTER_LOOP), iterate(&p, OUTER_LOOP), load(&p, OUTER, 3, HEDDLE_HIT);
    for (int i = 0; i < 100; i++)
        leave(&p, OUTER_LOOP);
    load(&p, OUTER, 3, HEDDLE_HIT);
    check(&p, 2, 2, 101, 0, 0, 0);
    probed_end(&p);
}

/* The trip is that of the load, not of the time at which its access is made. */
static void accesses_come_late(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    enter(&p, OUTER_LOOP);
    probed_load(&p, 0, OUTER, 32, 1);
    iterate(&p, OUTER_LOOP);
    probed_load(&p, 0, OUTER + 1, 32, 2);
    iterate(&p, OUTER_LOOP);
    leave(&p, OUTER_LOOP);
    probed_load(&p, 0, AFTER, 32, 1);
    probed_access(&p, 0, OUTER, 5, HEDDLE_MISS, -1, 0);
    probed_access(&p, 0, OUTER + 1, 5, HEDDLE_FAIL, -1, 1);
    probed_access(&p, 0, OUTER + 1, 5, HEDDLE_HIT, 0, 1);
    probed_access(&p, 0, OUTER + 1, 5, HEDDLE_FAIL, -1, 0);
    probed_access(&p, 0, OUTER + 1, 5, HEDDLE_HIT, 0, 0);
    check(&p, 0, 2, 0, 0, 0, 0);
    probed_access(&p, 0, AFTER, 5, HEDDLE_HIT, 0, 0);
    check(&p, 0, 2, 0, 0, 1, 0);
    probed_end(&p);
}

/* Hits of another warp count for neither, nor do those of the next warp in the slot. */
static void only_the_warp_that_brought_it(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    for (uint32_t w = 0; w < 2; w++)
        probed_loop(&p, w, OUTER_LOOP, HEDDLE_LOOP_ENTER);
    load(&p, OUTER, 5, HEDDLE_MISS);
    probed_load(&p, 1, OUTER, 32, 1);
    probed_access(&p, 1, OUTER, 5, HEDDLE_HIT, 0, 0);
    iterate(&p, OUTER_LOOP), iterate(&p, OUTER_LOOP);
    probed_load(&p, 1, OUTER, 32, 1);
    probed_access(&p, 1, OUTER, 5, HEDDLE_HIT, 0, 0);
    check(&p, 0, 0, 0, 0, 0, 0);
    load(&p, OUTER, 5, HEDDLE_HIT); /* the other's use is no use of its own */
    check(&p, 0, 0, 1, 0, 0, 0);
    struct heddle_l1_access e = probed_event(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 0);
    probed_launch(&p, 0);
    enter(&p, OUTER_LOOP);
    probed_load(&p, 0, OUTER, 32, 1);
    probed_tell(&p, &e);
    check(&p, 0, 0, 1, 0, 0, 0);
    load(&p, OUTER, 5, HEDDLE_MISS); /* brought again, by the new warp */
    load(&p, OUTER, 5, HEDDLE_HIT);
    check(&p, 1, 0, 1, 0, 0, 0);
    probed_launch(&p, 0); /* ended inside the loop */
    load(&p, AFTER, 5, HEDDLE_MISS);
    load(&p, AFTER, 5, HEDDLE_HIT);
    check(&p, 1, 0, 1, 0, 1, 0);
    probed_end(&p);
}

/* Stores, loads past the L1D or without accesses, and the lines of the launch before leave no trace. */
static void what_does_not_count(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    struct heddle_coalesced e = {.pc = AFTER, .active = 1, .accesses = 1, .store = true, .through_l1 = true};
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    probed_store(&p, 0, 5);
    e.store = e.through_l1 = false; /* no accesses follow */
    probed_on(&p)->coalesced(p.state, &p.core, &e);
    probed_load(&p, 0, AFTER, 32, 0);
    enter(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_MISS);
    load(&p, OUTER, 5, HEDDLE_HIT);
    check(&p, 1, 0, 0, 0, 0, 0);
    iterate(&p, OUTER_LOOP), iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_HIT);
    check(&p, 1, 0, 1, 0, 0, 0);
    probed_load(&p, 0, OUTER, 32, 1); /* cut short: its access never comes */
    probed_on(&p)->kernel(p.state, &p.core);
    probed_on(&p)->launched(p.state, &p.core, 0);
    enter(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_HIT); /* nobody has brought it in this launch */
    check(&p, 1, 0, 1, 0, 0, 1);
    load(&p, OUTER, 5, HEDDLE_MISS);
    iterate(&p, OUTER_LOOP);
    load(&p, OUTER, 5, HEDDLE_HIT);
    check(&p, 1, 1, 1, 0, 0, 1);
    probed_end(&p);
}

/* A line whose arrival was not told, as where lines are taken when they are filled. */
static void lines_that_were_not_seen(void **state)
{
    (void)state;
    struct probed p;
    probed_start(&p, &probe_trips, NULL);
    enter(&p, OUTER_LOOP);
    struct heddle_l1_access e = probed_event(&p, 0, OUTER, 5, HEDDLE_MISS, -1, 0);
    e.way = UINT32_MAX;
    probed_load(&p, 0, OUTER, 32, 1);
    probed_tell(&p, &e);
    probed_load(&p, 0, OUTER, 32, 2);
    probed_access(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 1);
    probed_access(&p, 0, OUTER, 5, HEDDLE_HIT, 0, 0);
    check(&p, 0, 0, 0, 0, 0, 2);
    load(&p, OUTER, 5, HEDDLE_HIT); /* from then on it is known */
    check(&p, 1, 0, 0, 0, 0, 2);
    load(&p, OUTER, 5 + PROBE_SETS * PROBE_WAYS, HEDDLE_HIT); /* another in its place */
    check(&p, 1, 0, 0, 0, 0, 3);
    probed_launch(&p, 0);
    enter(&p, OUTER_LOOP);
    load(&p, OUTER, 5 + PROBE_SETS * PROBE_WAYS, HEDDLE_HIT); /* the same, brought by another warp of the slot */
    check(&p, 1, 0, 0, 0, 0, 4);
    probed_end(&p);
}

static void needs_a_cache(void **state)
{
    (void)state;
    struct probed p;
    assert_false(probed_try(&p, &probe_trips, NULL, 0));
    assert_string_equal(p.why, "it needs an L1 data cache");
    probed_end(&p);
}

/* ---------------------------------------------------------------- a plain model */

enum { MODEL_WARPS = 4, MODEL_LINES = 48, HISTORY = 4096, QUEUE = 8 };

/* Every access of a warp to a line since the warp brought it: when (trips so far of each loop), and by which load. */
struct use {
    uint64_t load;
    int32_t loop;
    uint64_t stay[2], trip[2];
};
struct model {
    struct {
        bool there;
        uint32_t owner;
    } line[MODEL_LINES];
    struct use history[MODEL_LINES][HISTORY];
    unsigned used[MODEL_LINES];
    int32_t loop[MODEL_WARPS];
    uint64_t stay[MODEL_WARPS][2], trip[MODEL_WARPS][2], loads;
    struct {
        struct use at;
        uint32_t pc, left;
    } queue[MODEL_WARPS][QUEUE];
    unsigned queued[MODEL_WARPS];
    unsigned count[6];
};

/* Walks back over all uses: any by another load in this trip, any in the last one? */
static unsigned model_class(const struct model *m, unsigned line, const struct use *now)
{
    bool this_trip = false, last_trip = false, others = false;
    for (unsigned i = 0; i < m->used[line]; i++) {
        const struct use *u = &m->history[line][i];
        if (u->load == now->load)
            continue;
        others = true;
        if (now->loop < 0)
            continue;
        bool inside = u->loop >= now->loop; /* of the two loops, the inner one has the higher number */
        bool stay = inside && u->stay[now->loop] == now->stay[now->loop];
        this_trip |= stay && u->trip[now->loop] == now->trip[now->loop];
        last_trip |= stay && u->trip[now->loop] + 1 == now->trip[now->loop];
    }
    return !others ? 3 : now->loop < 0 ? 4 : this_trip ? 0 : last_trip ? 1 : 2;
}

static void model_step(struct model *m, struct probed *p, uint32_t warp, unsigned what)
{
    int32_t *at = &m->loop[warp];
    if (what == 0 && *at < 1) {
        ++*at;
        m->stay[warp][*at]++;
        m->trip[warp][*at] = 0;
        probed_loop(p, warp, *at, HEDDLE_LOOP_ENTER);
    } else if (what == 1 && *at >= 0) {
        probed_loop(p, warp, *at, HEDDLE_LOOP_LEAVE);
        --*at;
    } else if (*at >= 0) {
        m->trip[warp][*at]++;
        probed_loop(p, warp, *at, HEDDLE_LOOP_ITERATE);
    }
}

static void model_load(struct model *m, struct probed *p, uint32_t warp, uint32_t accesses)
{
    if (m->queued[warp] == QUEUE)
        return;
    unsigned q = m->queued[warp]++;
    uint32_t pc = m->loop[warp] < 0 ? OUTSIDE : m->loop[warp] ? INNER : OUTER;
    struct use now = {.load = ++m->loads, .loop = m->loop[warp]};
    memcpy(now.stay, m->stay[warp], sizeof now.stay);
    memcpy(now.trip, m->trip[warp], sizeof now.trip);
    m->queue[warp][q].at = now;
    m->queue[warp][q].pc = pc;
    m->queue[warp][q].left = accesses;
    probed_load(p, warp, pc, 32, accesses);
}

/* One access of the warp's oldest load. A line that shares its place with this one leaves. */
static void model_access(struct model *m, struct probed *p, uint32_t warp, unsigned line, bool pending)
{
    if (!m->queued[warp])
        return;
    struct use now = m->queue[warp][0].at;
    uint32_t pc = m->queue[warp][0].pc, left = --m->queue[warp][0].left;
    bool there = m->line[line].there, own = there && m->line[line].owner == warp;
    enum heddle_outcome outcome = !there ? HEDDLE_MISS : pending ? HEDDLE_PENDING : HEDDLE_HIT;
    if (own && outcome == HEDDLE_HIT)
        m->count[model_class(m, line, &now)]++;
    probed_access(p, warp, pc, line, outcome, there ? (int32_t)m->line[line].owner : -1, left);
    if (!there) {
        for (unsigned l = line % (PROBE_SETS * PROBE_WAYS); l < MODEL_LINES; l += PROBE_SETS * PROBE_WAYS)
            m->line[l].there = false;
        m->line[line].there = true;
        m->line[line].owner = warp;
        m->used[line] = 0;
    }
    if (!there || own) {
        assert_true(m->used[line] < HISTORY);
        m->history[line][m->used[line]++] = now;
    }
    if (!left)
        memmove(m->queue[warp], m->queue[warp] + 1, --m->queued[warp] * sizeof m->queue[warp][0]);
}

static void random_events_as_in_the_model(void **state)
{
    (void)state;
    static struct model m;
    struct probed p;
    uint32_t random = 7;
    probed_start(&p, &probe_trips, NULL);
    for (int w = 0; w < MODEL_WARPS; w++)
        m.loop[w] = -1;
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t what = random >> 27, warp = random >> 25 & 3, line = (random >> 12 & 0xfff) % MODEL_LINES;
        if (what < 4)
            model_step(&m, &p, warp, what < 2 ? what : 2);
        else if (what < 14)
            model_load(&m, &p, warp, 1 + (random >> 10 & 3));
        else
            model_access(&m, &p, warp, random >> 8 & 1 ? line : warp, !(random >> 5 & 7));
    }
    for (int i = 0; i < 5; i++)
        assert_true(m.count[i] > 20);
    check(&p, m.count[0], m.count[1], m.count[2], m.count[3], m.count[4], 0);
    probed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_trip_last_trip_other),
        cmocka_unit_test(two_accesses_of_one_load),
        cmocka_unit_test(pending_is_a_use),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(called_functions),
        cmocka_unit_test(accesses_come_late),
        cmocka_unit_test(only_the_warp_that_brought_it),
        cmocka_unit_test(what_does_not_count),
        cmocka_unit_test(lines_that_were_not_seen),
        cmocka_unit_test(needs_a_cache),
        cmocka_unit_test(random_events_as_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
