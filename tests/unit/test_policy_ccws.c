/* Does CCWS score lost locality and hold loads as the paper says, and as a plain model does that walks over all warps
 * in every cycle? */
#include "scheduler_test.h"
#include "victim_tags_model.h"

enum { LINE = 128 };
enum { VTA_HITS, RAISED, THROTTLED_CYCLES, HELD_WARP_CYCLES, RESIDENT_WARP_CYCLES, SCORE_SUM };

static uint64_t held(struct bench *b)
{
    return b->s.choice.scheduler->hold_loads(b->s.state, &b->f.core) & b->f.core.resident;
}

static void evict(struct bench *b, uint32_t owner, uint64_t line, uint32_t by)
{
    on(b)->l1_evict(
        b->s.state, &b->f.core,
        &(struct heddle_l1_evict){
            .address = line * LINE, .owner = (int32_t)owner, .owner_age = b->f.warp[owner].age, .by_warp = by});
}

static void access_line(struct bench *b, uint32_t warp, uint64_t line, enum heddle_outcome outcome, bool store)
{
    on(b)->l1_access(
        b->s.state, &b->f.core,
        &(struct heddle_l1_access){
            .address = line * LINE, .warp = warp, .outcome = outcome, .store = store, .owner = -1, .way = UINT32_MAX});
}

/* The warp misses on a line that it lost. */
static void lose(struct bench *b, uint32_t warp)
{
    evict(b, warp, 1000 + warp, 63);
    access_line(b, warp, 1000 + warp, HEDDLE_MISS, false);
}

static void issue_many(struct bench *b, uint32_t warp, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        issue(b, warp);
}

static void issue_with(struct bench *b, uint32_t warp, uint16_t flags)
{
    struct heddle_instruction in = {.flags = flags};
    on(b)->issued(b->s.state, &b->f.core,
                  &(struct heddle_issue){.warp = warp, .active = ~0u, .path = ~0u, .instruction = &in});
}

/* The example of the paper's figure on scores, base 100: 43 * 400 / 80 is 215. */
static void scores_of_four_warps(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:k_throttle=43", 4);
    assert_int_equal(held(&b), 0);
    issue_many(&b, 1, 80);
    lose(&b, 2);
    assert_int_equal(b.s.counters[SCORE_SUM], 215);
    assert_int_equal(held(&b), W3); /* 215, 315, 415 above W0, W1, W3: W1 straddles 400 */
    issue_many(&b, 1, 80);
    lose(&b, 0);
    assert_int_equal(b.s.counters[SCORE_SUM], 430);
    assert_int_equal(held(&b), W1 | W3);
    b.f.core.cycle += 50;
    assert_int_equal(held(&b), W3); /* 165 and 165 */
    b.f.core.cycle += 14;
    assert_int_equal(held(&b), W3); /* 151, 151, 100: 402 */
    b.f.core.cycle += 1;
    assert_int_equal(held(&b), W3); /* 400 is not less than the cutoff */
    b.f.core.cycle += 1;
    assert_int_equal(held(&b), 0);
    b.f.core.cycle += 24;
    assert_int_equal(held(&b), 0);
    end(&b);
}

/* The cutoff falls when a warp's last lanes end, not when its stores are done; its hits and instructions count until
 * then. */
static void an_end_lowers_the_cutoff_at_once(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:k_throttle=42", 4);
    issue_many(&b, 2, 30);
    issue_many(&b, 1, 30);
    end_lanes(&b, 2);
    lose(&b, 0); /* 42 * 300 / 60 */
    assert_int_equal(b.s.counters[SCORE_SUM], 210);
    assert_int_equal(held(&b), W3);
    lose(&b, 2); /* of a load that was under way: it counts, but is not ranked */
    assert_int_equal(b.s.counters[VTA_HITS], 2);
    assert_int_equal(b.s.counters[SCORE_SUM], 210);
    assert_int_equal(held(&b), W3);
    finish(&b, 2);
    lose(&b, 1); /* 2 hits of W0 and W1 in 30 instructions */
    assert_int_equal(b.s.counters[SCORE_SUM], 210 + 2 * 42 * 300 / 30);
    end(&b);
}

static void an_end_lowers_the_cutoff(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:k_throttle=42", 4);
    issue_many(&b, 2, 500);
    lose(&b, 2);
    finish(&b, 2); /* its hit and its instructions go with it */
    issue_many(&b, 1, 60);
    lose(&b, 0); /* 42 * 300 / 60 */
    assert_int_equal(b.s.counters[SCORE_SUM], 210);
    assert_int_equal(held(&b), W3);
    launch(&b, 2); /* cutoff 400 again: 210, 310, then 410 above W3 */
    assert_int_equal(held(&b), W3);
    b.f.core.cycle += 10;
    assert_int_equal(held(&b), W3); /* 400 */
    b.f.core.cycle += 1;
    assert_int_equal(held(&b), 0);
    end(&b);
}

/* 40 hits in 8000 instructions of 32 warps: 128. 4 hits: 12.8, and the score stays at the base. */
static void arithmetic_of_llds(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws", 32);
    for (uint32_t w = 0; w < 32; w++)
        issue_many(&b, w, 250);
    for (int i = 0; i < 31; i++)
        lose(&b, 9); /* 31: 99.2 */
    assert_int_equal(b.s.counters[VTA_HITS], 31);
    assert_int_equal(b.s.counters[RAISED], 0);
    assert_int_equal(held(&b), 0);
    for (int i = 0; i < 8; i++)
        lose(&b, 9);
    uint64_t before = b.s.counters[SCORE_SUM];
    lose(&b, 9);
    assert_int_equal(b.s.counters[SCORE_SUM] - before, 128);
    assert_int_equal(b.s.counters[RAISED], 9);
    issue_with(&b, 3, HEDDLE_BARRIER); /* not counted; one that was would make it 127 */
    issue_with(&b, 3, HEDDLE_FENCE);
    finish(&b, 31), launch(&b, 31), issue_many(&b, 31, 250 + 200); /* 8200 for 41 hits: the ratio as before */
    before = b.s.counters[SCORE_SUM];
    lose(&b, 9);
    assert_int_equal(b.s.counters[SCORE_SUM] - before, 128);
    end(&b);
}

static void tags_of_the_warp_that_lost_it(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws", 8);
    issue(&b, 3), issue(&b, 5);
    access_line(&b, 3, 77, HEDDLE_MISS, false);
    evict(&b, 3, 77, 5);
    access_line(&b, 5, 77, HEDDLE_MISS, false);
    assert_int_equal(b.s.counters[VTA_HITS], 0);
    access_line(&b, 3, 77, HEDDLE_FAIL, false);
    access_line(&b, 3, 77, HEDDLE_HIT, false);
    assert_int_equal(b.s.counters[VTA_HITS], 0);
    access_line(&b, 3, 77, HEDDLE_MISS, false);
    access_line(&b, 3, 77, HEDDLE_PENDING, false);
    assert_int_equal(b.s.counters[VTA_HITS], 2);
    access_line(&b, 6, 77, HEDDLE_MISS, true);
    access_line(&b, 3, 77, HEDDLE_MISS, false);
    assert_int_equal(b.s.counters[VTA_HITS], 2);
    evict(&b, 3, 78, 5);
    on(&b)->kernel(b.s.state, &b.f.core);
    access_line(&b, 3, 78, HEDDLE_MISS, false);
    assert_int_equal(b.s.counters[VTA_HITS], 2);
    end(&b);
}

/* A score does not stay above what LLDS has come down to. */
static void llds_caps_scores(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:k_throttle=43", 4);
    issue_many(&b, 1, 80);
    lose(&b, 2);
    assert_int_equal(held(&b), W3);
    issue_many(&b, 1, 10);          /* 17200 / 90 = 191 */
    assert_int_equal(held(&b), W3); /* not before the next cycle */
    b.f.core.cycle++;
    assert_int_equal(held(&b), 0);
    issue_many(&b, 1, 10); /* 172: and it had been 191 */
    lose(&b, 2);           /* 344 */
    b.f.core.cycle++;
    assert_int_equal(held(&b), W1 | W3); /* 343, then W0 straddles */
    end(&b);
}

static void scores_fit_their_bits(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:score_bits=10", 32);
    issue(&b, 0), issue(&b, 1), issue(&b, 2), issue(&b, 3);
    for (uint32_t w = 0; w < 5; w++)
        lose(&b, w);
    assert_int_equal(b.s.counters[SCORE_SUM], 5 * 1023);
    assert_int_equal(held(&b), 0xfffffff0u); /* 4 * 1023 is over 3200 */
    end(&b);
    start(&b, "ccws", 32);
    issue(&b, 0);
    lose(&b, 0); /* 8 * 3200 */
    assert_int_equal(held(&b), 0xfffffffeu);
    b.f.core.cycle += 8 * 3200 - 3200;
    assert_int_equal(held(&b), 0xfffffffeu);
    b.f.core.cycle += 1;
    assert_int_equal(held(&b), 0xfffffffcu);
    end(&b);
}

/* Whoever comes down to the base is ranked by its slot again. */
static void ranked_by_slot_at_the_base(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:k_throttle=43", 3);
    issue_many(&b, 0, 100);
    lose(&b, 2); /* 129 */
    b.f.core.cycle += 10;
    issue_many(&b, 0, 20);
    lose(&b, 1); /* 215 when W2 is at 119: W0 has 334 above it */
    assert_int_equal(held(&b), W0);
    b.f.core.cycle += 18;
    assert_int_equal(held(&b), 0); /* 197, 101: 298 */
    end(&b);
    start(&b, "ccws:k_throttle=10", 3);
    issue_many(&b, 0, 10);
    lose(&b, 1); /* 300 */
    issue_many(&b, 0, 19);
    lose(&b, 2); /* 206: and W1 comes down to it */
    b.f.core.cycle += 1;
    assert_int_equal(held(&b), W0);
    end(&b);
}

/* A warp whose loads are held may do all else, and is held no longer than the others' scores last. */
static void nobody_is_held_for_ever(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws", 32);
    issue(&b, 0);
    for (uint32_t w = 0; w < 4; w++)
        lose(&b, w);
    assert_true(held(&b) & BIT(31));
    assert_null(b.s.choice.scheduler->hold);
    assert_int_equal(pick(&b, BIT(31)), 31);
    b.f.core.cycle += 4 * 8 * 3200 - 100; /* the last hit set the highest score: 4 hits in 1 instruction */
    assert_int_equal(held(&b), 0);
    end(&b);
}

static void a_single_warp_is_never_held(void **state)
{
    (void)state;
    struct bench b;
    start(&b, "ccws:k_throttle=1000", 1);
    issue(&b, 0);
    for (int i = 0; i < 100; i++) {
        lose(&b, 0);
        assert_int_equal(held(&b), 0);
        assert_int_equal(cycle(&b, W0), 0);
    }
    end(&b);
}

/* ---------------------------------------------------------------- a plain model */

enum { WARPS = 24 };
struct model {
    uint64_t k, base, most;
    bool resident[WARPS], finished[WARPS];
    int64_t score[WARPS];
    uint64_t hits[WARPS], instructions[WARPS];
    struct model_tags tags;
    uint64_t vta_hits, throttled, held_warps, resident_warps;
};

static uint64_t model_cutoff(const struct model *m)
{
    uint64_t n = 0;
    for (int w = 0; w < WARPS; w++)
        n += m->resident[w];
    return n ? n * m->base : 1;
}

static uint64_t model_llds(const struct model *m)
{
    uint64_t hits = 0, instructions = 0;
    for (int w = 0; w < WARPS; w++)
        if (!m->finished[w]) {
            hits += m->hits[w];
            instructions += m->instructions[w];
        }
    uint64_t score = hits * m->k * model_cutoff(m) / (instructions ? instructions : 1);
    return score < m->base ? m->base : score > m->most ? m->most : score;
}

static void model_cycle(struct model *m)
{
    for (int w = 0; w < WARPS; w++)
        if (m->resident[w]) {
            if (m->score[w] > (int64_t)m->base)
                m->score[w]--;
            if (m->score[w] > (int64_t)model_llds(m))
                m->score[w] = (int64_t)model_llds(m);
        }
}

static uint64_t model_held(const struct model *m)
{
    uint64_t held = 0;
    for (int w = 0; w < WARPS; w++) {
        uint64_t above = 0;
        for (int v = 0; v < WARPS; v++)
            if (m->resident[v] && (m->score[v] > m->score[w] || (m->score[v] == m->score[w] && v < w)))
                above += (uint64_t)m->score[v];
        if (m->resident[w] && above >= model_cutoff(m))
            held |= BIT(w);
    }
    return held;
}

static void model_access(struct model *m, uint32_t warp, uint64_t line)
{
    if (!model_tags_has(&m->tags, warp, line))
        return;
    m->vta_hits++;
    m->hits[warp]++;
    m->score[warp] = (int64_t)model_llds(m);
}

static void model_launch(struct model *m, uint32_t warp)
{
    m->resident[warp] = true;
    m->finished[warp] = false;
    m->score[warp] = (int64_t)m->base;
    m->hits[warp] = m->instructions[warp] = 0;
}

/* One random event for both. */
static void random_event(struct bench *b, struct model *m, uint32_t random, unsigned issues)
{
    uint32_t what = random >> 26, warp = (random >> 16 & 0x3ff) % WARPS, line = (random >> 4 & 0xfff) % 100;
    bool there = m->resident[warp], gone = m->finished[warp];
    if (what < issues && there) {
        issue(b, warp);
        m->instructions[warp]++;
    } else if (what < 45) {
        evict(b, warp, line, 0);
        model_tags_put(&m->tags, warp, line);
    } else if (what < 60 && !gone) { /* of a warp that has ended too */
        access_line(b, warp, line, what & 1 ? HEDDLE_MISS : HEDDLE_PENDING, false);
        model_access(m, warp, line);
    } else if (what == 61) {
        access_line(b, warp, line, HEDDLE_MISS, true);
        model_tags_forget(&m->tags, line);
    } else if (what == 62 && there) {
        end_lanes(b, warp);
        m->resident[warp] = false;
    } else if (what == 63 && !there && !gone) {
        finish(b, warp);
        m->finished[warp] = true;
    } else if (what == 63 && gone) {
        launch(b, warp);
        model_launch(m, warp);
    }
}

/* issues: how much of what happens is an instruction, of 64; quiet: cycles in which nothing does, of 256. */
static void follow(const char *spec, uint64_t k, uint64_t base, uint64_t most, unsigned sets, unsigned ways,
                   unsigned issues, unsigned quiet)
{
    static struct model m;
    struct bench b;
    uint32_t random = (uint32_t)(k * 31 + base + issues);
    uint64_t differed = 0, last = 0;
    m = (struct model){.k = k, .base = base, .most = most};
    model_tags_start(&m.tags, sets, ways);
    start(&b, spec, WARPS);
    for (uint32_t w = 0; w < WARPS; w++)
        model_launch(&m, w);
    const int cycles = getenv("TEST_SHORT") ? 50000 : 100000; /* sanitizers */
    for (int i = 0; i < cycles; i++) {
        random = random * 1664525 + 1013904223;
        for (unsigned n = random >> 24 < quiet ? 0 : random >> 16 & 3; n; n--) {
            random = random * 1664525 + 1013904223;
            random_event(&b, &m, random, issues);
            if (!(random & 3))
                assert_int_equal(held(&b), model_held(&m)); /* in the middle of a cycle as well */
        }
        uint64_t expected = model_held(&m);
        if (random >> 9 & 3)
            assert_int_equal(held(&b), expected);
        differed += expected != last;
        last = expected;
        m.throttled += expected != 0;
        m.held_warps += (uint64_t)__builtin_popcountll(expected);
        for (int w = 0; w < WARPS; w++)
            m.resident_warps += m.resident[w];
        b.f.core.cycle++;
        model_cycle(&m);
    }
    for (uint32_t w = 0; w < WARPS; w++) /* what was counted up to here is counted when the warps end */
        if (!m.finished[w])
            finish(&b, w);
    assert_int_equal(b.s.counters[VTA_HITS], m.vta_hits);
    assert_int_equal(b.s.counters[THROTTLED_CYCLES], m.throttled);
    assert_int_equal(b.s.counters[HELD_WARP_CYCLES], m.held_warps);
    assert_int_equal(b.s.counters[RESIDENT_WARP_CYCLES], m.resident_warps);
    if (differed <= 100)
        fail_msg("%s: who is held changed %d times only", spec, (int)differed);
    end(&b);
}

static void random_events_as_in_the_model(void **state)
{
    (void)state;
    follow("ccws", 8, 100, UINT32_MAX, 2, 8, 35, 0);
    follow("ccws:score_bits=10", 8, 100, 1023, 2, 8, 30, 240);
    follow("ccws:k_throttle=2", 2, 100, UINT32_MAX, 2, 8, 30, 200);
    follow("ccws:k_throttle=6,base_score=30,score_bits=8", 6, 30, 255, 2, 8, 35, 100);
    follow("ccws:vta_entries=4,base_score=7,score_bits=10", 8, 7, 1023, 1, 4, 35, 100);
    follow("ccws:vta_entries=32,vta_ways=4,score_bits=20,k_throttle=3", 3, 100, (1 << 20) - 1, 8, 4, 20, 220);
    follow("ccws:vta_entries=1,k_throttle=200", 200, 100, UINT32_MAX, 1, 1, 30, 200);
}

/* Without a constant nothing is held: greedy then oldest that counts. */
static void without_throttling_it_is_gto(void **state)
{
    (void)state;
    struct bench a, b;
    uint32_t random = 11;
    start(&a, "ccws:k_throttle=0", 24);
    start(&b, "gto", 24);
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        lose(&a, (random >> 20) % 24);
        if (random >> 28 == 0)
            finish(&a, 5), finish(&b, 5), launch(&a, 5), launch(&b, 5);
        assert_int_equal(held(&a), 0);
        assert_int_equal(cycle(&a, random >> 6 & 0xffffff), cycle(&b, random >> 6 & 0xffffff));
    }
    assert_int_equal(a.s.counters[VTA_HITS], 3000);
    end(&a);
    end(&b);
}

/* Two schedulers of a core have one table: both hear all, both answer the same, and it is counted once. */
static void schedulers_share_the_scores(void **state)
{
    (void)state;
    static struct fake_core f;
    static struct instance s[2];
    fake_core_init(&f);
    f.core.scheduler_count = 2;
    for (uint32_t k = 0; k < 2; k++)
        instance_start_as(&s[k], &f, POLICY_SCHEDULER, "ccws:k_throttle=43", UINT64_C(0x5555555555555555) << k, k);
    const struct heddle_scheduler *p = s[0].choice.scheduler;
    struct heddle_instruction in = {0};
    for (uint32_t w = 0; w < 4; w++)
        for (int k = 0; k < 2; k++) {
            f.warp[w].age = w;
            f.core.resident |= BIT(w);
            p->policy.on.launched(s[k].state, &f.core, w);
        }
    for (int i = 0; i < 80; i++)
        for (int k = 0; k < 2; k++)
            p->policy.on.issued(s[k].state, &f.core, &(struct heddle_issue){.warp = 1, .instruction = &in});
    for (int k = 0; k < 2; k++)
        p->policy.on.l1_evict(s[k].state, &f.core, &(struct heddle_l1_evict){.address = 0, .owner = 2});
    for (int k = 0; k < 2; k++)
        p->policy.on.l1_access(s[k].state, &f.core,
                               &(struct heddle_l1_access){.address = 0, .warp = 2, .outcome = HEDDLE_MISS});
    for (int k = 0; k < 2; k++)
        assert_int_equal(p->hold_loads(s[k].state, &f.core) & 0xf, W3);
    assert_int_equal(s[0].counters[VTA_HITS], 1);
    assert_int_equal(s[1].counters[VTA_HITS], 0);
    assert_int_equal(p->pick(s[1].state, &f.core, W1 | W3), 1); /* greedy for its own */
    assert_int_equal(p->pick(s[0].state, &f.core, W0 | W2), 0);
    instance_end(&s[0]);
    instance_end(&s[1]);
}

static void refuses(const char *spec)
{
    static struct fake_core f;
    struct error e = {0};
    struct policy_choice choice;
    uint64_t counters[16] = {0};
    fake_core_init(&f);
    assert_true(policy_choose(&choice, POLICY_SCHEDULER, spec, &e));
    void *instance = calloc(1, choice.policy->state_bytes);
    assert_non_null(instance);
    assert_false(choice.policy->init(
        instance,
        &(struct heddle_setup){.core = &f.core, .values = choice.values, .counters = counters, .warps = ~UINT64_C(0)}));
    free(instance);
    policy_release(&choice);
}

static void tags_must_fill_their_sets(void **state)
{
    (void)state;
    refuses("ccws:vta_entries=12");
    refuses("ccws:vta_entries=16,vta_ways=3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_four_warps),          cmocka_unit_test(an_end_lowers_the_cutoff_at_once),
        cmocka_unit_test(an_end_lowers_the_cutoff),      cmocka_unit_test(arithmetic_of_llds),
        cmocka_unit_test(tags_of_the_warp_that_lost_it), cmocka_unit_test(llds_caps_scores),
        cmocka_unit_test(scores_fit_their_bits),         cmocka_unit_test(ranked_by_slot_at_the_base),
        cmocka_unit_test(nobody_is_held_for_ever),       cmocka_unit_test(a_single_warp_is_never_held),
        cmocka_unit_test(random_events_as_in_the_model), cmocka_unit_test(without_throttling_it_is_gto),
        cmocka_unit_test(schedulers_share_the_scores),   cmocka_unit_test(tags_must_fill_their_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
