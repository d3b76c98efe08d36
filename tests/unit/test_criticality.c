/* Criticality prediction (CAWA, algorithms 2 and 3, equation 1), and the schedulers on it. */
#include "heddle/criticality.h"
#include "policy_test.h"

#include <stdio.h>
#include <unistd.h>

enum { LEFT = 0x0000ffff, RIGHT = 0xffff0000, ALL = -1 };

struct bench {
    struct fake_core f;
    struct heddle_criticality c;
};

static void start(struct bench *b, struct heddle_criticality_rules rules)
{
    memset(b, 0, sizeof *b);
    fake_core_init(&b->f);
    assert_ptr_equal(heddle_criticality_join(&b->c, &(struct heddle_setup){.core = &b->f.core}, rules), &b->c);
}

static void launch(struct bench *b, uint32_t warp, uint32_t block)
{
    b->f.warp[warp] = (struct heddle_warp){.age = b->f.ages++, .block = block, .launch_cycle = b->f.core.cycle};
    b->f.core.resident |= UINT64_C(1) << warp;
    heddle_criticality_launched(&b->c, &b->f.core, warp);
}

static void issue_at(struct bench *b, uint32_t warp, uint32_t pc, uint64_t cycle)
{
    b->f.core.cycle = cycle;
    heddle_criticality_issued(&b->c, &b->f.core,
                              &(struct heddle_issue){.warp = warp, .pc = pc, .active = ~0u, .path = ~0u});
}

static void issue(struct bench *b, uint32_t warp, uint32_t pc) { issue_at(b, warp, pc, b->f.core.cycle + 1); }

static void jump(struct bench *b, uint32_t warp, uint32_t pc, uint32_t target, uint32_t taken, uint32_t not_taken)
{
    issue(b, warp, pc);
    heddle_criticality_branch(
        &b->c,
        &(struct heddle_branch){
            .warp = warp, .pc = pc, .taken = taken, .not_taken = not_taken, .target = target, .fall_through = pc + 1});
}

static int64_t instructions(const struct bench *b, uint32_t warp) { return b->c.warp[warp].instructions; }

/* Algorithm 2: 1 branches to 4, 2 adds, 3 jumps to 5, 4 subtracts, 5 is where both meet. */
static void paths_of_algorithm_2(void **state)
{
    (void)state;
    struct bench b;
    start(&b, (struct heddle_criticality_rules){0});
    for (uint32_t w = 0; w < 4; w++)
        launch(&b, w, 0);
    jump(&b, 0, 1, 4, (uint32_t)ALL, 0); /* taken: 4 alone */
    assert_int_equal(instructions(&b, 0), -2);
    issue(&b, 0, 4);
    issue(&b, 0, 5);
    assert_int_equal(instructions(&b, 0), -2);
    jump(&b, 1, 1, 4, 0, (uint32_t)ALL); /* not taken: 2 and 3 */
    assert_int_equal(instructions(&b, 1), 0);
    issue(&b, 1, 2);
    jump(&b, 1, 3, 5, (uint32_t)ALL, 0);
    issue(&b, 1, 5);
    assert_int_equal(instructions(&b, 1), -1);
    jump(&b, 2, 1, 4, LEFT, (uint32_t)RIGHT); /* both, the taken side first */
    assert_int_equal(instructions(&b, 2), 0);
    issue(&b, 2, 4);
    assert_int_equal(instructions(&b, 2), 0);
    issue(&b, 2, 2);
    jump(&b, 2, 3, 5, (uint32_t)RIGHT, 0);
    issue(&b, 2, 5);
    assert_int_equal(instructions(&b, 2), 0);
    jump(&b, 3, 1, 4, LEFT, (uint32_t)RIGHT); /* both, the other side first */
    issue(&b, 3, 2);
    jump(&b, 3, 3, 5, (uint32_t)RIGHT, 0);
    issue(&b, 3, 4); /* the stack changes sides */
    issue(&b, 3, 5);
    assert_int_equal(instructions(&b, 3), 0);
}

/* With as many stalls and four cycles an instruction, who has more to do is more critical. */
static void order_of_algorithm_2(void **state)
{
    (void)state;
    struct bench b;
    start(&b, (struct heddle_criticality_rules){0});
    for (uint32_t w = 0; w < 3; w++)
        launch(&b, w, 0);
    jump(&b, 0, 1, 4, (uint32_t)ALL, 0);
    jump(&b, 1, 1, 4, 0, (uint32_t)ALL);
    issue(&b, 1, 2);
    jump(&b, 1, 3, 5, (uint32_t)ALL, 0);
    jump(&b, 2, 1, 4, LEFT, (uint32_t)RIGHT);
    b.f.core.cycle = 40;
    for (uint32_t w = 0; w < 3; w++) {
        b.c.warp[w].stall_cycles = 7;
        b.c.warp[w].committed = 10;
    }
    assert_true(heddle_criticality_of(&b.c, &b.f.core, 0) == 7 - 2 * 4);
    assert_true(heddle_criticality_of(&b.c, &b.f.core, 1) == 7 - 1 * 4);
    assert_true(heddle_criticality_of(&b.c, &b.f.core, 2) == 7);
    assert_int_equal(heddle_criticality_first(&b.c, &b.f.core, 7), 2);
    assert_int_equal(heddle_criticality_first(&b.c, &b.f.core, 3), 1);
}

/* At any point that all lanes have come to: the distance from the first instruction, whatever the way. */
static void loops_come_out_even(void **state)
{
    (void)state;
    struct bench b;
    start(&b, (struct heddle_criticality_rules){.whole_program = true});
    launch(&b, 0, 0);
    assert_int_equal(instructions(&b, 0), 1); /* the bench's program has one */
    int64_t committed = 0;
    for (int trip = 0; trip < 5; trip++) { /* 0: if (done) goto 4; 1; 2; 3: goto 0 */
        bool parts = trip == 2;            /* half of the lanes leave early, and wait at 4 */
        jump(&b, 0, 0, 4, parts ? LEFT : 0, (uint32_t)(trip < 2 ? ALL : RIGHT));
        for (uint32_t pc = 1; pc < 3; pc++)
            issue(&b, 0, pc);
        jump(&b, 0, 3, 0, (uint32_t)RIGHT, 0);
        for (int i = 0; i < 4; i++, committed++)
            heddle_criticality_committed(&b.c, 0);
        assert_int_equal(instructions(&b, 0), 1);
    }
    jump(&b, 0, 0, 4, (uint32_t)RIGHT, 0);
    heddle_criticality_committed(&b.c, 0);
    assert_int_equal(instructions(&b, 0), 1 - 4);
    jump(&b, 0, 4, 2, LEFT, (uint32_t)RIGHT); /* some go back */
    assert_int_equal(instructions(&b, 0), 1 - 4 + 3);
}

static void literal_branches(void **state)
{
    (void)state;
    struct bench b;
    start(&b, (struct heddle_criticality_rules){.literal = true});
    launch(&b, 0, 0);
    jump(&b, 0, 1, 4, (uint32_t)ALL, 0);
    assert_int_equal(instructions(&b, 0), 4 - 1 + 1);
    jump(&b, 0, 4, 9, 0, (uint32_t)ALL);
    assert_int_equal(instructions(&b, 0), 4 + 2);
    jump(&b, 0, 5, 9, LEFT, (uint32_t)RIGHT);
    assert_int_equal(instructions(&b, 0), 6 + 5);
    issue(&b, 0, 6);
    assert_int_equal(instructions(&b, 0), 11);
}

static void stalls_of_algorithm_3(void **state)
{
    (void)state;
    static const uint64_t cycles[] = {10, 11, 31};
    static const int64_t between[] = {0, 0, 19}, full[] = {0, 1, 21};
    for (int rule = 0; rule < 2; rule++) {
        struct bench b;
        start(&b, (struct heddle_criticality_rules){.stall = (enum heddle_criticality_stall)rule});
        launch(&b, 0, 0);
        for (uint32_t i = 0; i < 3; i++) {
            issue_at(&b, 0, i, cycles[i]);
            assert_int_equal(b.c.warp[0].stall_cycles, rule ? full[i] : between[i]);
        }
    }
}

/* What a warp waits at a barrier is the others' delay. */
static void stalls_without_barriers(void **state)
{
    (void)state;
    for (int rule = HEDDLE_STALL_BETWEEN; rule <= HEDDLE_STALL_RUNNING; rule++) {
        struct bench b;
        start(&b, (struct heddle_criticality_rules){.stall = (enum heddle_criticality_stall)rule});
        launch(&b, 0, 0);
        issue_at(&b, 0, 0, 10);
        heddle_criticality_committed(&b.c, 0);
        b.f.core.cycle = 12;
        heddle_criticality_waits(&b.c, &b.f.core, 0);
        b.f.core.cycle = 30;
        assert_true(heddle_criticality_of(&b.c, &b.f.core, 0) == (rule == HEDDLE_STALL_RUNNING ? -12 : -30));
        b.f.core.cycle = 40;
        heddle_criticality_passed(&b.c, &b.f.core, 0);
        issue_at(&b, 0, 1, 43);
        assert_int_equal(b.c.warp[0].stall_cycles, rule == HEDDLE_STALL_RUNNING ? 4
                                                   : rule == HEDDLE_STALL_FULL  ? 33
                                                                                : 32);
        b.c.warp[0].stall_cycles = 0;
        assert_true(heddle_criticality_of(&b.c, &b.f.core, 0) == (rule == HEDDLE_STALL_RUNNING ? -(43 - 28) : -43));
    }
}

/* Equation 1, and a slot that is used again. */
static void counter(void **state)
{
    (void)state;
    struct bench b;
    start(&b, (struct heddle_criticality_rules){0});
    b.f.core.cycle = 100;
    launch(&b, 3, 0);
    issue_at(&b, 3, 0, 110);
    issue_at(&b, 3, 1, 121);
    assert_true(heddle_criticality_of(&b.c, &b.f.core, 3) == 10); /* nothing committed yet */
    for (int i = 0; i < 2; i++)
        heddle_criticality_committed(&b.c, 3);
    b.f.core.cycle = 130;
    assert_true(heddle_criticality_of(&b.c, &b.f.core, 3) == -2 * (30.0 / 2) + 10);
    launch(&b, 3, 0);
    assert_true(heddle_criticality_of(&b.c, &b.f.core, 3) == 0);
}

static void set_criticality(struct bench *b, uint32_t warp, int64_t value) { b->c.warp[warp].stall_cycles = value; }

/* Of equals, the older comes first. */
static void who_is_critical(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t count;
        int64_t value[5];
        unsigned block_half, top, sm_range;
    } rows[] = {
        {"one", 1, {3}, 1, 1, 0},
        {"two", 2, {3, 5}, 2, 2, 2},
        {"two alike", 2, {4, 4}, 1, 1, 0},
        {"three", 3, {1, 9, 4}, 2 | 4, 2, 2},
        {"four", 4, {1, 9, 4, 6}, 2 | 8, 2, 2 | 8},
        {"four, three alike", 4, {5, 5, 1, 5}, 1 | 2, 1, 1 | 2 | 8},
        {"five", 5, {1, 2, 3, 4, 90}, 4 | 8 | 16, 16, 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        start(&b, (struct heddle_criticality_rules){0});
        for (uint32_t w = 0; w < rows[i].count; w++) {
            launch(&b, w, 2);
            set_criticality(&b, w, rows[i].value[w]);
        }
        unsigned block_half = 0, top = 0, range = 0;
        for (uint32_t w = 0; w < rows[i].count; w++) {
            block_half |= (unsigned)heddle_criticality_is_critical(&b.c, &b.f.core, w, HEDDLE_CRITICAL_BLOCK_HALF) << w;
            top |= (unsigned)heddle_criticality_is_critical(&b.c, &b.f.core, w, HEDDLE_CRITICAL_TOP) << w;
            range |= (unsigned)heddle_criticality_is_critical(&b.c, &b.f.core, w, HEDDLE_CRITICAL_SM_RANGE) << w;
        }
        if (block_half != rows[i].block_half || top != rows[i].top || range != rows[i].sm_range)
            fail_msg("%s: %x %x %x", rows[i].name, block_half, top, range);
    }
}

/* Blocks are looked at by themselves, a core's range over all. */
static void blocks_are_apart(void **state)
{
    (void)state;
    struct bench b;
    start(&b, (struct heddle_criticality_rules){0});
    for (uint32_t w = 0; w < 4; w++) {
        launch(&b, w, w / 2);
        set_criticality(&b, w, w * 10);
    }
    assert_true(heddle_criticality_is_critical(&b.c, &b.f.core, 1, HEDDLE_CRITICAL_BLOCK_HALF));
    assert_false(heddle_criticality_is_critical(&b.c, &b.f.core, 2, HEDDLE_CRITICAL_BLOCK_HALF));
    assert_false(heddle_criticality_is_critical(&b.c, &b.f.core, 1, HEDDLE_CRITICAL_SM_RANGE));
    assert_true(heddle_criticality_is_critical(&b.c, &b.f.core, 2, HEDDLE_CRITICAL_SM_RANGE));
    b.f.core.resident &= ~UINT64_C(8); /* its neighbour ends: it is alone */
    assert_true(heddle_criticality_is_critical(&b.c, &b.f.core, 2, HEDDLE_CRITICAL_BLOCK_HALF));
}

/* Who is made first on a core owns it. */
static void one_a_core(void **state)
{
    (void)state;
    struct fake_core f;
    struct heddle_criticality first = {0}, second = {0};
    struct heddle_setup setup = {.core = &f.core};
    fake_core_init(&f);
    assert_ptr_equal(heddle_criticality_join(&first, &setup, (struct heddle_criticality_rules){.literal = true}),
                     &first);
    assert_ptr_equal(heddle_criticality_join(&second, &setup, (struct heddle_criticality_rules){0}), &first);
    assert_true(first.mine && !second.mine);
    assert_true(first.rules.literal);
}

/* Section 3.2: greedy, then the most critical, of equals the oldest; W1 is older than W2. W0 is alone in its block. */
static void gcaws_is_greedy_then_critical(void **state)
{
    (void)state;
    static const uint64_t issues[3][2] = {{1, 7}, {2, 12}, {3, 13}}; /* 5, 9 and 9 stalls */
    for (int by_block = 0; by_block < 2; by_block++) {
        struct fake_core f;
        struct instance s;
        fake_core_init(&f);
        instance_start(&s, &f, POLICY_SCHEDULER, by_block ? "gcaws" : "gcaws:compare=core", 15);
        const struct heddle_events *on = &s.choice.policy->on;
        for (uint32_t w = 0; w < 4; w++) {
            f.warp[w].age = w;
            f.warp[w].block = w > 0;
            f.core.resident |= UINT64_C(1) << w;
            on->launched(s.state, &f.core, w);
        }
        for (int w = 2; w >= 0; w--)
            for (uint32_t i = 0; i < 2; i++) {
                f.core.cycle = issues[w][i];
                on->issued(s.state, &f.core, &(struct heddle_issue){.warp = (uint32_t)w, .pc = i});
            }
        assert_int_equal(s.choice.scheduler->pick(s.state, &f.core, 7), 0);
        assert_int_equal(s.choice.scheduler->pick(s.state, &f.core, 6), 1);
        assert_int_equal(s.choice.scheduler->pick(s.state, &f.core, 4), 2);
        on->issued(s.state, &f.core, &(struct heddle_issue){.warp = 40, .pc = 2}); /* another scheduler's */
        assert_int_equal(s.choice.scheduler->pick(s.state, &f.core, 7), 0);
        on->issued(s.state, &f.core, &(struct heddle_issue){.warp = 3, .pc = 0}); /* its own, and it stalls */
        assert_int_equal(s.choice.scheduler->pick(s.state, &f.core, 7), by_block ? 0 : 1);
        instance_end(&s);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The slowest of the earlier run first, of equals and of those unknown the oldest; not greedy. */
static void caws_goes_by_an_earlier_run(void **state)
{
    (void)state;
    struct fake_core f;
    struct instance s[2];
    char path[] = "/tmp/heddle-caws-XXXXXX", spec[64];
    static const uint64_t block[4] = {5, 5, 5, 8};
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_file(path, "launch,block,warp,begin,end\n1,5,0,10,40\n1,5,1,10,90\n1,5,2,20,100\n0,8,3,0,900\n");
    snprintf(spec, sizeof spec, "caws:times=%s", path);
    fake_core_init(&f);
    for (uint32_t k = 0; k < 2; k++)
        instance_start_as(&s[k], &f, POLICY_SCHEDULER, spec, k ? 0xf0 : 0xf, k);
    f.core.kernel = 1;
    for (uint32_t w = 0; w < 4; w++) {
        f.warp[w] = (struct heddle_warp){.age = w, .index = w, .block_index = block[w]};
        s[0].choice.policy->on.launched(s[0].state, &f.core, w);
    }
    const struct heddle_scheduler *caws = s[0].choice.scheduler;
    assert_int_equal(caws->pick(s[0].state, &f.core, 0xf), 1); /* 80 cycles, as 2, and older */
    assert_int_equal(caws->pick(s[0].state, &f.core, 0xd), 2);
    assert_int_equal(caws->pick(s[0].state, &f.core, 0x9), 0);
    assert_int_equal(caws->pick(s[0].state, &f.core, 0x8), 3); /* the file has it in another launch alone */
    for (int k = 1; k >= 0; k--)
        instance_end(&s[k]);
    unlink(path);
}

static void caws_refuses_without_times(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"caws", "--warps"},
                                          {"caws:times=/nowhere", "times=/nowhere: it cannot be opened"}};
    for (size_t i = 0; i < 2; i++) {
        struct fake_core f;
        struct policy_choice choice;
        struct error e = {0};
        const char *why = NULL;
        fake_core_init(&f);
        assert_true(policy_choose(&choice, POLICY_SCHEDULER, rows[i][0], &e));
        void *instance = calloc(1, choice.policy->state_bytes);
        assert_false(choice.policy->init(
            instance, &(struct heddle_setup){.core = &f.core, .values = choice.values, .why = &why}));
        assert_non_null(strstr(why, rows[i][1]));
        free(instance);
        policy_release(&choice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_algorithm_2),
        cmocka_unit_test(order_of_algorithm_2),
        cmocka_unit_test(loops_come_out_even),
        cmocka_unit_test(literal_branches),
        cmocka_unit_test(stalls_of_algorithm_3),
        cmocka_unit_test(stalls_without_barriers),
        cmocka_unit_test(counter),
        cmocka_unit_test(who_is_critical),
        cmocka_unit_test(blocks_are_apart),
        cmocka_unit_test(one_a_core),
        cmocka_unit_test(gcaws_is_greedy_then_critical),
        cmocka_unit_test(caws_goes_by_an_earlier_run),
        cmocka_unit_test(caws_refuses_without_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
