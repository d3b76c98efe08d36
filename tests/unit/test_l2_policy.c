/* An L1 policy in the slices of an L2: do the hits and misses of a stream of requests match plain models of the same
 * rules? Which policies are refused? */
#include "gpu/l2_policy.h"
#include "partition_test.h"

#include <stdlib.h>

enum { SETS = 16, WAYS = 4, SLICES = 2, REQUESTS = 4000 };

/* A slice, written the plain way: ways in order, an array of lines. */
struct plain_line {
    uint64_t line, used, brought; /* line 0: none */
    uint32_t distance;            /* SRRIP */
};
struct plain {
    struct plain_line ways[SLICES][SETS][WAYS];
    uint64_t clock;
};
typedef uint32_t plain_victim(struct plain_line *ways);

static uint32_t least_used(struct plain_line *ways)
{
    uint32_t best = 0;
    for (uint32_t way = 1; way < WAYS; way++)
        if (ways[way].used < ways[best].used)
            best = way;
    return best;
}

static uint32_t first_in(struct plain_line *ways)
{
    uint32_t best = 0;
    for (uint32_t way = 1; way < WAYS; way++)
        if (ways[way].brought < ways[best].brought)
            best = way;
    return best;
}

static uint32_t farthest(struct plain_line *ways)
{
    for (;;) {
        for (uint32_t way = 0; way < WAYS; way++)
            if (ways[way].distance == 3)
                return way;
        for (uint32_t way = 0; way < WAYS; way++)
            ways[way].distance++;
    }
}

/* True: a hit. A copy of a line that is there is no use of it. */
static bool plain_access(struct plain *p, struct plain_line *ways, uint64_t line, bool copy, plain_victim *victim)
{
    uint32_t way = 0;
    p->clock++;
    while (way < WAYS && ways[way].line != line)
        way++;
    bool hit = way < WAYS;
    if (hit && copy)
        return true;
    for (uint32_t i = 0; !hit && way == WAYS && i < WAYS; i++)
        if (!ways[i].line)
            way = i;
    if (way == WAYS)
        way = victim(ways);
    if (!hit)
        ways[way] = (struct plain_line){.line = line, .brought = p->clock, .distance = 2};
    else
        ways[way].distance = 0;
    ways[way].used = p->clock;
    return hit;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static struct mem_config whole_lines(void)
{
    struct mem_config c = default_config();
    c.l2.cache.sector_bytes = 0;
    return c;
}

struct bench {
    struct rig *rig;
    struct policy_choice choice;
    struct l2_policies *policies;
    struct error error;
};

static bool start(struct bench *b, const struct mem_config *config, const char *spec)
{
    *b = (struct bench){.rig = rig_of(*config)};
    if (!policy_choose(&b->choice, POLICY_L1, spec, &b->error))
        fail_msg("%s", b->error.text);
    return l2_policies_create(&b->policies, &b->rig->arena, &b->choice, &b->rig->config, 1, &b->rig->partition,
                              &b->error);
}

static void stop(struct bench *b)
{
    l2_policies_finish(b->policies);
    policy_release(&b->choice);
    rig_free(b->rig);
}

static uint64_t hits_of(struct bench *b) { return counters_of(b->rig).l2.hits; }

static uint64_t random_line(uint64_t *seed)
{
    uint64_t lines = next_random(seed) % 4 ? 3 * SLICES * SETS : 40 * SLICES * SETS; /* some are used again, most not */
    return (1 + next_random(seed) % lines) * 128;
}

/* Loads, stores of whole lines, and copies from the host, one after the other; now and then all lines go. Each is a hit
 * or a miss as in the plain model. Returns the hits. */
static uint64_t follow(const char *spec, plain_victim *victim)
{
    struct mem_config config = whole_lines();
    struct bench b;
    struct plain *p = calloc(1, sizeof *p);
    uint64_t seed = 88172645463325252ull, hits = 0;
    if (!start(&b, &config, spec))
        fail_msg("%s", b.error.text);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint64_t address = random_line(&seed), what = next_random(&seed) % 16;
        uint32_t slice = address_map_slice(&b.rig->map, address),
                 set = (uint32_t)(address_map_in_slice(&b.rig->map, address) / 128 % SETS);
        if (i % 1000 == 999) {
            partition_flush(b.rig->partition);
            memset(p->ways, 0, sizeof p->ways);
        }
        bool copy = what == 0, hit = plain_access(p, p->ways[slice][set], address, copy, victim);
        if (copy) {
            partition_touch(b.rig->partition, address);
            continue;
        }
        hits += hit;
        send(b.rig, what < 4 ? PACKET_STORE : PACKET_LOAD, 0, address, 128, 0);
        drain(b.rig);
        if (hits_of(&b) != hits)
            fail_msg("%s: request %u: %llu hits, and %llu in the plain model", spec, i, (unsigned long long)hits_of(&b),
                     (unsigned long long)hits);
    }
    assert_true(l2_policies_check(b.policies, &b.error));
    stop(&b);
    free(p);
    return hits;
}

static void like_plain_models(void **state)
{
    (void)state;
    uint64_t lru = follow("lru", least_used), fifo = follow("fifo", first_in), srrip = follow("srrip", farthest);
    assert_true(lru != fifo && lru != srrip && fifo != srrip);
    assert_true(srrip > lru); /* what is not used again leaves first */
}

/* The answer of store is followed, also one that has lines fetched. */
static enum heddle_write answer;
static enum heddle_write answers(void *state, const struct heddle_core *core, const struct heddle_l1_access *access)
{
    (void)state;
    assert_int_equal(core->l1_sets, SETS);
    assert_true(access->store);
    return answer;
}

static void stores_are_asked(void **state)
{
    (void)state;
    static const struct heddle_l1 l1 = {.policy = {.abi = HEDDLE_POLICY_ABI, .name = "answers"}, .store = answers};
    static const struct {
        enum heddle_write answer;
        uint32_t writes, hits; /* writes to DRAM; hits of a load after the store */
    } cases[] = {{HEDDLE_WRITE_AS_MACHINE, 0, 1},
                 {HEDDLE_WRITE_THROUGH, 1, 0},
                 {HEDDLE_WRITE_THROUGH_TAKE, 1, 1},
                 {HEDDLE_WRITE_BACK_FETCH, 1, 1}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mem_config config = whole_lines();
        struct bench b = {.rig = rig_of(config), .choice = {.policy = &l1.policy, .l1 = &l1}};
        answer = cases[i].answer;
        assert_true(
            l2_policies_create(&b.policies, &b.rig->arena, &b.choice, &b.rig->config, 1, &b.rig->partition, &b.error));
        send(b.rig, PACKET_STORE, 0, 0x1000, 128, 0);
        drain(b.rig);
        assert_int_equal(counters_of(b.rig).dram.requests_written, cases[i].writes);
        send(b.rig, PACKET_LOAD, 0, 0x1000, 128, 0);
        drain(b.rig);
        assert_int_equal(hits_of(&b), cases[i].hits);
        stop(&b);
    }
}

/* Policies that need what a slice does not have. */
static void refused(void **state)
{
    (void)state;
    struct mem_config config = whole_lines();
    struct bench b;
    assert_false(start(&b, &config, "cacp"));
    assert_non_null(strstr(b.error.text, "l2.policy: cacp listens to what warps do"));
    stop(&b);
    config.l2.link_cycles = 10;
    assert_false(start(&b, &config, "reuse-back"));
    assert_non_null(strstr(b.error.text, "an L2 in two halves"));
    stop(&b);
    config = whole_lines();
    config.l2.cache.ways = 65;
    assert_false(start(&b, &config, "srrip"));
    assert_non_null(strstr(b.error.text, "at most 64 ways"));
    stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_plain_models),
        cmocka_unit_test(stores_are_asked),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
