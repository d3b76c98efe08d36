/* What is counted adds up: on every machine and with every scheduler, small kernels that between them diverge, load,
 * store, meet at barriers, use atomics, textures and local memory. Nothing that enters a queue is lost, no cycle of a
 * warp or scheduler is counted twice, results are those of functional mode, and the same run is the same run, on one
 * thread or two.
 * Left out of quick: it runs for eleven seconds.
 * Left out of second builds: it adds up counts that cli/golden has. */
#include "timing_test.h"

enum { BLOCKS = 45, THREADS = 80, WORDS = 1 << 14, TEXELS = 4096, OUT_BYTES = 1 << 17, TEXEL_BYTES = 1 << 18 };

/* In every kernel %rd1 is the buffer, %r1 the thread of the grid, %r2 the thread of the block, %rd3 where the thread's
 * result goes. */
#define PROLOGUE                                                                                                     \
    "ld.param.u64 %rd1, [buffer];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 " \
    "%r1, %r3, %r4, %r2;\n"                                                                                          \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nadd.u64 %rd3, %rd3, 131072;\n"

struct workload {
    const char *name, *body;
    bool l1_only; /* all its loads and stores of device memory pass the L1 */
};

static const struct workload workloads[] = {
    {"divergence",
     "and.b32 %r10, %r1, 15;\nmov.u32 %r11, 0;\n"
     "LOOP:\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra DONE;\nand.b32 %r12, %r10, 1;\nsetp.eq.u32 %p2, %r12, 0;\n@%p2 bra "
     "EVEN;\nmad.lo.u32 %r11, %r11, 3, %r1;\nbra JOIN;\n"
     "EVEN:\nadd.u32 %r11, %r11, %r10;\nJOIN:\nsub.u32 %r10, %r10, 1;\nbra LOOP;\n"
     "DONE:\nst.global.u32 [%rd3], %r11;\n",
     true},
    {"scattered loads and stores",
     "mov.u32 %r10, 0;\nmov.u32 %r11, %r1;\nmov.u32 %r12, 0;\n"
     "LOOP:\nmad.lo.u32 %r11, %r11, 1664525, 1013904223;\nshr.u32 %r13, %r11, 18;\nmul.wide.u32 %rd4, %r13, "
     "4;\nadd.u64 %rd4, %rd4, %rd1;\nld.global.u32 %r14, [%rd4];\n"
     "add.u32 %r12, %r12, %r14;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 6;\n@%p1 bra LOOP;\n"
     "st.global.u32 [%rd3], %r12;\nld.global.u32 %r15, [%rd3];\nadd.u32 %r15, %r15, 1;\nst.global.u32 [%rd3], %r15;\n",
     true},
    {"vectors and past the L1",
     "mul.wide.u32 %rd4, %r2, 16;\nadd.u64 %rd4, %rd4, %rd1;\nld.global.v4.u32 {%r10, %r11, %r12, %r13}, "
     "[%rd4];\nld.global.cg.u32 %r14, [%rd4+32768];\nld.volatile.global.u32 %r15, [%rd4+4];\n"
     "add.u32 %r10, %r10, %r11;\nadd.u32 %r12, %r12, %r13;\nadd.u32 %r10, %r10, %r12;\nadd.u32 %r14, %r14, "
     "%r15;\nadd.u32 %r10, %r10, %r14;\nmembar.gl;\nst.global.u32 [%rd3], %r10;\nmembar.gl;\n",
     false},
    {"atomics",
     ".shared .align 4 .b8 sums[64];\nand.b32 %r10, %r1, 15;\nmul.wide.u32 %rd4, %r10, 4;\nadd.u64 %rd4, %rd4, "
     "%rd1;\natom.global.add.u32 %r11, [%rd4+131072], %r2;\n"
     "red.global.max.u32 [%rd4+131200], %r1;\nmov.u32 %r12, sums;\nshl.b32 %r13, %r10, 2;\nadd.u32 %r12, %r12, "
     "%r13;\nbar.sync 0;\natom.shared.add.u32 %r14, [%r12], 1;\n",
     false},
    {"barriers and shared memory",
     ".shared .align 4 .b8 room[320];\nmov.u32 %r10, room;\nshl.b32 %r11, %r2, 2;\nadd.u32 %r12, %r10, "
     "%r11;\nst.shared.u32 [%r12], %r1;\nbar.sync 0;\n"
     "sub.u32 %r13, 79, %r2;\nshl.b32 %r13, %r13, 2;\nadd.u32 %r13, %r13, %r10;\nld.shared.u32 %r14, [%r13];\nbar.sync "
     "0;\nst.shared.u32 [%r12], %r14;\nbar.sync 0;\n"
     "and.b32 %r15, %r2, 7;\nshl.b32 %r15, %r15, 5;\nadd.u32 %r15, %r15, %r10;\nld.shared.u32 %r16, [%r15];\nadd.u32 "
     "%r14, %r14, %r16;\nst.global.u32 [%rd3], %r14;\n",
     true},
    {"local memory",
     ".local .align 4 .b8 stack[256];\nmov.u64 %rd5, stack;\nmov.u32 %r10, 0;\n"
     "FILL:\nmul.wide.u32 %rd6, %r10, 4;\nadd.u64 %rd6, %rd6, %rd5;\nadd.u32 %r11, %r10, %r1;\nst.local.u32 [%rd6], "
     "%r11;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 24;\n@%p1 bra FILL;\n"
     "mov.u32 %r10, 0;\nCHANGE:\nmul.wide.u32 %rd6, %r10, 4;\nadd.u64 %rd6, %rd6, %rd5;\nld.local.u32 %r11, "
     "[%rd6];\nadd.u32 %r11, %r11, %r10;\nst.local.u32 [%rd6], %r11;\nadd.u32 %r10, %r10, 1;\n"
     "setp.lt.u32 %p1, %r10, 24;\n@%p1 bra CHANGE;\n"
     "and.b32 %r12, %r1, 15;\nmul.wide.u32 %rd6, %r12, 4;\nadd.u64 %rd6, %rd6, %rd5;\nld.local.u32 %r13, "
     "[%rd6];\nld.local.u32 %r14, [%rd5];\nadd.u32 %r13, %r13, %r14;\nst.global.u32 [%rd3], %r13;\n",
     true},
    {"textures",
     "ld.global.u64 %rd5, [%rd1+65536];\nmul.lo.u32 %r10, %r1, 7;\nand.b32 %r10, %r10, 4095;\ntex.1d.v4.u32.s32 {%r11, "
     "%r12, %r13, %r14}, [%rd5, {%r10}];\nadd.u32 %r11, %r11, %r12;\n"
     "and.b32 %r15, %r11, 0;\nadd.u32 %r15, %r15, %r10;\ntex.1d.v4.u32.s32 {%r16, %r12, %r13, %r14}, [%rd5, "
     "{%r15}];\nadd.u32 %r11, %r11, %r16;\nst.global.u32 [%rd3], %r11;\n",
     false},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

/* Long enough for all that is still on its way to arrive. */
#define DRAIN                                                                                                       \
    ".visible .entry drain(.param .u64 buffer)\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 1000;\nLOOP:\nsub.u32 %r1, %r1, " \
    "1;\n.reg .pred %p<2>;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret;\n}\n"

static const char *const machines[] = {"gtx480", "ccws", "c2050", "slp", "gtx480-gs4"};
static const char *const schedulers[] = {"lrr", "rr", "sticky", "oldest", "gto"};

enum { POLICY_VALUES_MOST = 64 };
struct outcome {
    struct gpu_counters counters, drained;
    uint64_t policies[POLICY_VALUES_MOST], warp_instructions;
    uint8_t out[OUT_BYTES];
};

static void fill(struct timed *t)
{
    uint32_t *words = (uint32_t *)(void *)t->buffer, seed = 7;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = seed = seed * 1664525u + 1013904223u;
    uint32_t *texels = (uint32_t *)(void *)(t->buffer + TEXEL_BYTES);
    for (uint32_t i = 0; i < TEXELS; i++)
        texels[i] = i * i;
    struct texture description = {
        .kind = TEXTURE_LINEAR,
        .read_as_integer = true,
        .array = {.data = (uint64_t)(uintptr_t)texels, .width = TEXELS, .format = TEXTURE_U32, .channels = 1}};
    uint64_t handle = texture_create(&t->gpu->textures, &description);
    memcpy(t->buffer + 65536, &handle, sizeof handle);
}

/* What policies counted lies elsewhere, and goes with the launch. */
static void keep(struct outcome *o, struct gpu_counters *to, const struct gpu_counters *from)
{
    const struct policy_counts *p = from->policies;
    *to = *from;
    to->policies = NULL;
    assert_true(!p || p->value_count <= POLICY_VALUES_MOST);
    for (size_t i = 0; p && i < p->value_count; i++)
        o->policies[i] += p->values[i];
}

static void run(struct outcome *o, const struct workload *w, const struct timed_machine *m, const char *const *sets)
{
    struct timed t;
    struct text body = {0};
    say(&body, "%s", PROLOGUE);
    say(&body, "%s", w->body);
    memset(o, 0, sizeof *o);
    timed_open(&t, m, sets, DRAIN, body.s);
    fill(&t);
    timed_launch(&t, BLOCKS, THREADS, 0);
    keep(o, &o->counters, t.counters);
    o->warp_instructions = t.gpu->kernels[0].warp_instructions;
    memcpy(o->out, t.buffer + 131072, OUT_BYTES);
    if (!m->functional) {
        timed_launch_of(&t, "drain", 1, 32, 0);
        keep(o, &o->drained, t.counters);
    }
    timed_close(&t);
    free(body.s);
}

#define SMALL_MEMORY SETS("machine.memory_bytes=256M")

static uint64_t sum(const uint64_t *v, uint32_t count)
{
    uint64_t s = 0;
    for (uint32_t i = 0; i < count; i++)
        s += v[i];
    return s;
}

static void check_cache(const struct cache_counters *c)
{
    assert_int_equal(c->hits + c->misses + c->pending_hits, c->accesses);
    assert_int_equal(c->reads + c->writes, c->accesses);
    assert_true(c->write_hits + c->write_misses <= c->writes);
    assert_true(c->intra_warp_hits + c->inter_warp_hits <= c->hits);
}

static void check_laws(const struct outcome *o, const struct workload *w, const struct machine *m)
{
    const struct gpu_counters *c = &o->counters, *d = &o->drained;
    const struct sm_counters *s = &c->sm;
    assert_true(c->timed && c->cycles);
    /* Instructions. */
    assert_int_equal(sum(c->exec.lanes, 33), o->warp_instructions);
    if (m->sm.issue_per_warp == 1)
        assert_int_equal(s->issued, o->warp_instructions);
    else
        assert_in_range(s->issued, o->warp_instructions / 2, o->warp_instructions);
    /* Cycles of schedulers and of warps. */
    assert_int_equal(s->issued + s->no_ready + s->descheduled + s->idle, c->scheduler_cycles);
    assert_int_equal(c->scheduler_cycles, c->cycles * m->cores * m->sm.schedulers);
    assert_int_equal(sum(s->stalls, STALL_COUNT), s->warp_cycles);
    assert_int_equal(s->stalls[STALL_ISSUED], s->issued);
    assert_true(s->warp_cycles <= c->resident_warps_most && s->active_cycles <= c->cycles * m->cores);
    assert_int_equal(s->blocks, BLOCKS);
    assert_int_equal(s->warps, BLOCKS * ((THREADS + 31) / 32));
    /* Caches. */
    check_cache(&s->l1d);
    check_cache(&s->l1c);
    check_cache(&s->l1t);
    check_cache(&s->l1i);
    check_cache(&c->memory.l2);
    if (w->l1_only && m->sm.l1d.sets && !m->sm.l1_skips_global)
        assert_int_equal(s->l1d.accesses, s->load_accesses + s->store_accesses);
    assert_true(s->load_accesses >= s->load_requests && s->store_accesses >= s->store_requests &&
                s->shared_cycles >= s->shared_requests);
    /* What went down came back: reads of the L1s, reads of DRAM, flits. */
    const struct cache_counters *l2 = &c->memory.l2;
    assert_int_equal(c->memory.dram.requests_read + d->memory.dram.requests_read,
                     l2->misses_sent + d->memory.l2.misses_sent);
    assert_int_equal(l2->fills + d->memory.l2.fills, l2->misses_sent + d->memory.l2.misses_sent);
    assert_true(c->memory.dram.reads >= c->memory.dram.requests_read &&
                c->memory.dram.activates >= c->memory.dram.precharges);
    assert_int_equal(c->requests.packets_in + d->requests.packets_in,
                     c->requests.packets_out + d->requests.packets_out);
    assert_int_equal(c->requests.flits_in + d->requests.flits_in, c->requests.flits_out + d->requests.flits_out);
    assert_int_equal(c->replies.packets_in + d->replies.packets_in, c->replies.packets_out + d->replies.packets_out);
    assert_int_equal(c->replies.flits_in + d->replies.flits_in, c->replies.flits_out + d->replies.flits_out);
}

static struct outcome first, second, functional;

/* Each kernel does what it is there for. */
static void test_workloads_cover(void **state)
{
    (void)state;
    struct gpu_counters sums = {0};
    const struct sm_counters *s = &sums.sm;
    for (uint32_t w = 0; w < WORKLOADS; w++) {
        run(&first, &workloads[w], &(struct timed_machine){.name = "gtx480"}, SMALL_MEMORY);
        uint64_t *to = (uint64_t *)&sums.sm, *from = (uint64_t *)&first.counters.sm;
        for (size_t i = 0; i < sizeof sums.sm / sizeof *to; i++)
            to[i] += from[i];
        sums.exec.divergent_branches += first.counters.exec.divergent_branches;
        sums.memory.dram.writes += first.counters.memory.dram.writes;
        sums.memory.l2.hits += first.counters.memory.l2.hits;
        sums.memory.l2.misses += first.counters.memory.l2.misses;
        sums.memory.l2.writes += first.counters.memory.l2.writes;
    }
    assert_true(sums.exec.divergent_branches && sums.memory.l2.hits && sums.memory.l2.misses && sums.memory.l2.writes);
    assert_true(s->load_requests && s->store_requests && s->shared_cycles > s->shared_requests &&
                s->load_accesses > s->load_requests);
    assert_true(s->l1d.hits && s->l1d.misses && s->l1d.pending_hits && s->l1d.evictions && s->l1d.writebacks &&
                s->l1d.intra_warp_hits && s->l1d.inter_warp_hits);
    assert_true(s->l1t.hits && s->l1t.misses && s->l1c.pending_hits && s->l1i.hits && s->l1i.misses);
    for (int i = 0; i < STALL_COUNT; i++)
        if (i != STALL_HELD) /* no scheduler of these holds warps back */
            assert_true(s->stalls[i]);
}

static void test_laws(void **state)
{
    const bool is_short = getenv("TEST_SHORT"); /* sanitizers: not each scheduler on each machine */
    (void)state;
    for (uint32_t w = 0; w < WORKLOADS; w++)
        for (uint32_t m = 0; m < 5; m++) {
            struct machine machine = machine_of(machines[m], SMALL_MEMORY);
            for (uint32_t s = is_short ? (w + m) % 5 : 0; s < 5; s += is_short ? 5 : 1) {
                run(&first, &workloads[w], &(struct timed_machine){.name = machines[m], .scheduler = schedulers[s]},
                    SMALL_MEMORY);
                check_laws(&first, &workloads[w], &machine);
            }
        }
}

static void test_same_results_as_functional(void **state)
{
    const bool is_short = getenv("TEST_SHORT"); /* two of the machines for each kernel */
    (void)state;
    for (uint32_t w = 0; w < WORKLOADS; w++) {
        run(&functional, &workloads[w], &(struct timed_machine){.name = "gtx480", .functional = true}, SMALL_MEMORY);
        bool any = false;
        for (uint32_t i = 0; i < OUT_BYTES; i++)
            any |= functional.out[i] != 0;
        assert_true(any);
        for (uint32_t m = is_short ? w % 3 : 0; m < 5; m += is_short ? 3 : 1)
            for (uint32_t s = is_short ? 4 * ((w + m) % 2) : 0; s < 5; s += is_short ? 8 : 4) {
                run(&first, &workloads[w], &(struct timed_machine){.name = machines[m], .scheduler = schedulers[s]},
                    SMALL_MEMORY);
                if (memcmp(first.out, functional.out, OUT_BYTES))
                    fail_msg("%s on %s with %s: memory differs from functional mode", workloads[w].name, machines[m],
                             schedulers[s]);
                assert_int_equal(first.warp_instructions, functional.warp_instructions);
                assert_memory_equal(first.counters.exec.lanes, functional.counters.exec.lanes,
                                    sizeof first.counters.exec.lanes);
            }
    }
}

static void check_same(const char *workload, const char *machine, const char *what)
{
    if (memcmp(&first, &second, sizeof first))
        fail_msg("%s on %s: %s", workload, machine, what);
}

static void test_deterministic(void **state)
{
    const bool is_short = getenv("TEST_SHORT"); /* one of the machines for each kernel */
    (void)state;
    for (uint32_t w = 0; w < WORKLOADS; w++)
        for (uint32_t m = is_short ? w % 5 : 0; m < 5; m += is_short ? 5 : 1) {
            run(&first, &workloads[w], &(struct timed_machine){.name = machines[m]}, SMALL_MEMORY);
            run(&second, &workloads[w], &(struct timed_machine){.name = machines[m]}, SMALL_MEMORY);
            check_same(workloads[w].name, machines[m], "the same run again is not the same");
            run(&second, &workloads[w], &(struct timed_machine){.name = machines[m], .threads = 2}, SMALL_MEMORY);
            check_same(workloads[w].name, machines[m], "two threads are not one thread");
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_workloads_cover),
    cmocka_unit_test(test_laws),
    cmocka_unit_test(test_same_results_as_functional),
    cmocka_unit_test(test_deterministic),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
