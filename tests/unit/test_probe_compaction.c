/* Does `compaction` count what the masks of a kernel's branches say? Kernels of the workloads whose branches depend on
 * the thread alone, against the same conditions evaluated here and warps counted lane by lane. */
#include "lockstep_run.h"

#include "heddle/compaction.h"

#include <stdio.h>

enum { WAYS = HEDDLE_PERMUTATIONS + 1, MOST_WARPS = 8, QUARTERS = 4 };
static const char *const ways[WAYS] = {"none",   "odd_even", "rotate",  "flip",     "xor_half",
                                       "random", "wid",      "rev_wid", "balanced", "ideal"};

/* What is expected of the P branches of one block. */
struct expected {
    uint32_t divergent, compactable, paths, empty, warps_apart, by_active[QUARTERS];
    uint32_t warps[WAYS], compacted[WAYS], empty_compacted[WAYS], compacted_by_active[WAYS][QUARTERS];
};

static uint32_t warps_needed(int way, const uint32_t *masks, uint32_t warps)
{
    uint32_t threads[32] = {0}, most = 0, all = 0;
    for (uint32_t w = 0; w < warps; w++) {
        uint8_t lanes[32];
        heddle_permutation_fill((enum heddle_permutation)way, w, 5, lanes);
        for (uint32_t lane = 0; lane < 32; lane++)
            if (masks[w] >> lane & 1) {
                all++;
                most = ++threads[lanes[lane]] > most ? threads[lanes[lane]] : most;
            }
    }
    return way < HEDDLE_PERMUTATIONS ? most : (all + 31) / 32;
}

static bool expect_path(struct expected *x, const uint32_t *masks, uint32_t warps, bool empty)
{
    uint32_t apart = 0, threads = 0;
    for (uint32_t w = 0; w < warps; w++) {
        apart += masks[w] != 0;
        threads += (uint32_t)__builtin_popcount(masks[w]);
    }
    uint32_t quarter = QUARTERS * threads / (warps * 32);
    if (empty) {
        x->empty++;
        for (int way = 0; way < WAYS; way++)
            x->empty_compacted[way] += warps_needed(way, masks, warps) < apart;
        return false;
    }
    x->paths++;
    x->by_active[quarter]++;
    x->warps_apart += apart;
    for (int way = 0; way < WAYS; way++) {
        uint32_t needed = warps_needed(way, masks, warps);
        x->warps[way] += needed;
        x->compacted[way] += needed < apart;
        x->compacted_by_active[way][quarter] += needed < apart;
    }
    return warps_needed(WAYS - 1, masks, warps) < apart;
}

/* if (condition) ...; without else: the path on which it does not hold is empty. active: who comes there, NULL: all.
 * Leaves in *then who takes part. */
typedef bool condition(uint32_t thread, uint32_t value);
static void expect_if(struct expected *x, condition *holds, uint32_t value, uint32_t warps, const uint32_t *active,
                      bool has_else, uint32_t *then)
{
    uint32_t other[MOST_WARPS] = {0};
    bool divergent = false;
    memset(then, 0, MOST_WARPS * sizeof *then);
    for (uint32_t thread = 0; thread < warps * 32; thread++)
        if (!active || active[thread / 32] >> thread % 32 & 1)
            (holds(thread, value) ? then : other)[thread / 32] |= 1u << thread % 32;
    for (uint32_t w = 0; w < warps; w++)
        divergent |= then[w] && other[w];
    if (!divergent)
        return;
    bool first = expect_path(x, then, warps, false), second = expect_path(x, other, warps, !has_else);
    x->divergent++;
    x->compactable += first || second;
}

/* Running */

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static uint32_t row_of(const char *name)
{
    extern const struct heddle_probe probe_compaction;
    const struct heddle_counter *c = probe_compaction.policy.counters;
    for (uint32_t i = 0; c[i].name; i++)
        if (!strcmp(c[i].name, name))
            return i;
    fail_msg("no counter %s", name);
    return 0;
}

static uint64_t count_of(const struct kernel_run *k, const char *name)
{
    return policy_counts_of(k->counted->counters.policies, 3)[row_of(name)];
}

static void expect_count(const struct kernel_run *k, const char *start, const char *way, uint64_t expected)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s", start, way);
    if (count_of(k, name) != expected)
        fail_msg("%s is %llu, expected %llu", name, (unsigned long long)count_of(k, name),
                 (unsigned long long)expected);
}

static void expect_histogram(const struct kernel_run *k, const char *start, const char *way, const uint32_t *expected,
                             uint32_t blocks)
{
    extern const struct heddle_probe probe_compaction;
    char name[80];
    snprintf(name, sizeof name, "%s%s", start, way);
    const uint64_t *buckets =
        policy_histogram(&probe_compaction.policy, policy_counts_of(k->counted->counters.policies, 3), row_of(name));
    for (int i = 0; i < QUARTERS; i++)
        assert_int_equal(buckets[i], expected[i] * blocks);
}

static void expect_counts(const struct kernel_run *k, const struct expected *x, uint32_t blocks)
{
    expect_count(k, "launches", "", 1);
    expect_count(k, "uncounted_launches", "", 0);
    expect_count(k, "blocks_left", "", 0);
    expect_count(k, "warps_apart", "", k->counted->warp_instructions);
    expect_count(k, "p_divergent", "", x->divergent * blocks);
    expect_count(k, "p_compactable", "", x->compactable * blocks);
    expect_count(k, "p_paths", "", x->paths * blocks);
    expect_count(k, "p_empty", "", x->empty * blocks);
    expect_count(k, "p_warps_apart", "", x->warps_apart * blocks);
    expect_histogram(k, "p_paths_by_active", "", x->by_active, blocks);
    for (int way = 0; way < WAYS; way++) {
        expect_count(k, "p_warps_", ways[way], x->warps[way] * blocks);
        expect_count(k, "p_compacted_", ways[way], x->compacted[way] * blocks);
        expect_count(k, "p_empty_compacted_", ways[way], x->empty_compacted[way] * blocks);
        expect_histogram(k, "p_compacted_by_active_", ways[way], x->compacted_by_active[way], blocks);
        assert_true(count_of(k, "lanes") <= 32 * count_of(k, "warps_ideal"));
    }
}

struct launched {
    const char *file, *kernel;
    uint32_t grid[3], block[3];
    const void *params;
    uint32_t params_bytes;
};

static void launch(struct kernel_run *k, const struct launched *l)
{
    struct gpu_launch launch = {
        .kernel = exec_image_function(k->image, l->kernel), .params = l->params, .params_bytes = l->params_bytes};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    assert_non_null(launch.kernel);
    if (!gpu_launch(k->gpu, &launch, &k->error))
        fail_msg("%s", k->error.text);
    k->counted = &k->gpu->kernels[k->gpu->kernel_count - 1];
}

static void open_workload(struct kernel_run *k, const char *path)
{
    char *text = read_text(path);
    lockstep_open(k, text, "compaction", NULL);
    if (!k->image)
        fail_msg("%s", k->error.text);
    free(text);
}

/* Workloads */

static bool partner_is_above(uint32_t thread, uint32_t j) { return (thread ^ j) > thread; }
static bool goes_up(uint32_t thread, uint32_t k) { return !(thread & k); }
static bool is_multiple(uint32_t thread, uint32_t of) { return thread % of == 0; }
static bool row_is_multiple(uint32_t thread, uint32_t of) { return thread / 16 % of == 0; }
static bool is_first_of_row(uint32_t thread, uint32_t row) { return thread % row == 0; }

static void bitonic(void **state)
{
    (void)state;
    struct kernel_run k;
    struct expected x = {0};
    uint32_t working[MOST_WARPS], up[MOST_WARPS];
    for (uint32_t round = 2; round <= 256; round *= 2)
        for (uint32_t j = round / 2; j; j /= 2) {
            expect_if(&x, partner_is_above, j, 8, NULL, false, working);
            expect_if(&x, goes_up, round, 8, working, true, up);
        }
    assert_int_equal(x.paths + x.empty, 80); /* of 30 and 10 branches; 30 have no else */
    assert_int_equal(x.empty, 30);
    assert_int_equal(x.compacted[HEDDLE_PERMUTE_NONE], 0);
    assert_int_equal(x.compacted[HEDDLE_PERMUTE_BALANCED], 50);
    assert_int_equal(x.empty_compacted[HEDDLE_PERMUTE_BALANCED], 30);
    open_workload(&k, "workloads/bitonic/bitonic.ptx");
    for (uint32_t i = 0; i < 512; i++)
        k.words[i] = i * 2654435761u;
    uint64_t keys = (uint64_t)(uintptr_t)k.words;
    launch(&k, &(struct launched){
                   .kernel = "bitonic", .grid = {2, 1, 1}, .block = {256, 1, 1}, .params = &keys, .params_bytes = 8});
    for (uint32_t i = 1; i < 512; i++)
        assert_true(i == 256 || k.words[i - 1] <= k.words[i]);
    expect_counts(&k, &x, 2);
    assert_true(count_of(&k, "d_divergent") > 0);
    kernel_close(&k);
}

static void reduct(void **state)
{
    (void)state;
    struct kernel_run k;
    struct expected x = {0};
    uint32_t then[MOST_WARPS];
    for (uint32_t s = 1; s < 128; s *= 2)
        expect_if(&x, is_multiple, 2 * s, 4, NULL, false, then);
    expect_if(&x, is_multiple, 128, 4, NULL, false, then);
    open_workload(&k, "workloads/reduct/reduct.ptx");
    for (uint32_t i = 0; i < 384; i++)
        k.words[i] = i;
    struct {
        uint64_t in, sums;
        uint32_t count;
    } params = {(uint64_t)(uintptr_t)k.words, (uint64_t)(uintptr_t)(k.words + 1024), 384};
    launch(&k, &(struct launched){.kernel = "reduct",
                                  .grid = {3, 1, 1},
                                  .block = {128, 1, 1},
                                  .params = &params,
                                  .params_bytes = sizeof params});
    assert_int_equal(k.words[1024] + k.words[1025] + k.words[1026], 383 * 384 / 2);
    expect_counts(&k, &x, 3);
    kernel_close(&k);
}

static void backprop(void **state)
{
    (void)state;
    struct kernel_run k;
    struct expected x = {0};
    uint32_t then[MOST_WARPS];
    expect_if(&x, is_first_of_row, 16, 8, NULL, false, then);
    for (uint32_t s = 1; s < 16; s *= 2)
        expect_if(&x, row_is_multiple, 2 * s, 8, NULL, false, then);
    expect_if(&x, is_first_of_row, 16, 8, NULL, false, then);
    open_workload(&k, "workloads/backprop/backprop.ptx");
    struct {
        uint64_t nodes, weights, sums;
    } params = {(uint64_t)(uintptr_t)k.words, (uint64_t)(uintptr_t)(k.words + 256),
                (uint64_t)(uintptr_t)(k.words + 2048)};
    launch(&k, &(struct launched){.kernel = "backprop_forward",
                                  .grid = {1, 2, 1},
                                  .block = {16, 16, 1},
                                  .params = &params,
                                  .params_bytes = sizeof params});
    expect_counts(&k, &x, 2);
    kernel_close(&k);
}

/* Instructions: 8 by all 64 threads, 5 by lane 0 of both warps, 2 by all. The guard of the last store is no branch. */
static void utilization(void **state)
{
    (void)state;
    struct kernel_run k;
    lockstep_open(&k,
                  PTX_HEADER KERNEL_HEAD
                  "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nmov.u32 %r1, 1;\n"
                  "and.b32 %r2, %r0, 31;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra MEET;\n"
                  "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n"
                  "add.u32 %r1, %r1, 1;\nMEET: @%p0 st.global.u32 [%rd1], %r1;\nret;\n}\n",
                  "compaction", NULL);
    if (!kernel_launch(&k, 1, 64))
        fail_msg("%s", k.error.text);
    assert_int_equal(count_of(&k, "instructions"), 8 + 5 + 2);
    assert_int_equal(count_of(&k, "lanes"), 10 * 64 + 5 * 2);
    assert_int_equal(count_of(&k, "warps_apart"), 10 * 2 + 5 * 2);
    assert_int_equal(count_of(&k, "warps_none"), 10 * 2 + 5 * 2);
    assert_int_equal(count_of(&k, "warps_odd_even"), 10 * 2 + 5);
    assert_int_equal(count_of(&k, "warps_balanced"), 10 * 2 + 5);
    assert_int_equal(count_of(&k, "warps_ideal"), 10 * 2 + 5);
    assert_int_equal(count_of(&k, "p_branches"), 1);
    assert_int_equal(count_of(&k, "d_branches"), 0);
    const uint64_t *row = policy_tables_of(k.counted->tables, 3) + 7 * 7; /* the branch is instruction 7 */
    const uint64_t expected[7] = {1, 1, 0, 1, 0, 1, 1}; /* lane 0 of two warps; the other 31 have nothing to do */
    assert_memory_equal(row, expected, sizeof expected);
    kernel_close(&k);
}

/* A branch on what was loaded is D. */
static void data_branches(void **state)
{
    (void)state;
    struct kernel_run k;
    lockstep_open(&k,
                  PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\n"
                                         "ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra MEET;\n"
                                         "st.global.u32 [%rd1], 5;\nMEET: ret;\n}\n",
                  "compaction", NULL);
    k.words[3] = k.words[40] = 1;
    if (!kernel_launch(&k, 1, 64))
        fail_msg("%s", k.error.text);
    assert_int_equal(count_of(&k, "p_branches"), 0);
    assert_int_equal(count_of(&k, "d_divergent"), 1);
    assert_int_equal(count_of(&k, "d_paths"), 1);
    assert_int_equal(count_of(&k, "d_empty"), 1);
    assert_int_equal(count_of(&k, "d_compacted_none"), 1);
    assert_int_equal(count_of(&k, "d_compacted_ideal"), 1);
    kernel_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bitonic),     cmocka_unit_test(reduct),        cmocka_unit_test(backprop),
        cmocka_unit_test(utilization), cmocka_unit_test(data_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
