/* Is a launch called stuck when it is, and only then? And does asking leave everything as it was? */
#include "kernel_test.h"

#include "gpu/hang.h"

enum { MOST_BLOCKS = 2 };

struct stage {
    struct kernel_run k;
    struct exec_launch launch;
    struct exec_cta *blocks[MOST_BLOCKS + 1]; /* one entry stays empty */
    uint32_t count;
};

static uint64_t no_clock(struct exec_launch *l, const struct exec_warp *w)
{
    (void)l, (void)w;
    return 42;
}

static void set_up(struct stage *s, const char *ptx, uint32_t blocks, uint32_t threads)
{
    memset(s, 0, sizeof *s);
    kernel_open(&s->k, ptx);
    if (!s->k.image)
        fail_msg("%s", s->k.error.text);
    memset(s->k.words, 0, KERNEL_WORDS * 4);
    const struct exec_function *kernel = exec_image_function(s->k.image, "kernel");
    struct gpu *g = s->k.gpu;
    s->launch = (struct exec_launch){.memory = g->memory,
                                     .textures = &g->textures,
                                     .image = s->k.image,
                                     .kernel = kernel,
                                     .grid = {blocks, 1, 1},
                                     .block = {threads, 1, 1},
                                     .local_bytes = (kernel->stack_bytes + 1024 + 15) & ~15u,
                                     .core_count = 1,
                                     .warps_per_core = 48,
                                     .clock = no_clock,
                                     .heap = g->heap,
                                     .params_bytes = 8,
                                     .error = &s->k.error};
    s->launch.params = memory_alloc(g->memory, 8, 256, MEMORY_PARAM, "parameters");
    memcpy(memory_pointer(s->launch.params), &s->k.words, 8);
    s->count = blocks + 1;
    for (uint32_t b = 0; b < blocks; b++) {
        s->blocks[b] = exec_cta_create(&s->launch, 0, &s->k.error);
        assert_non_null(s->blocks[b]);
        exec_cta_start(s->blocks[b], (const uint32_t[3]){b, 0, 0});
    }
}

static void tear_down(struct stage *s)
{
    for (uint32_t b = 0; b < s->count; b++)
        exec_cta_destroy(s->blocks[b]);
    kernel_close(&s->k);
}

static struct exec_warp *warp(struct stage *s, uint32_t block, uint32_t index)
{
    return &s->blocks[block]->warps[index];
}

/* Everything that a probe could touch, one piece behind the other. */
struct image {
    uint8_t *bytes;
    size_t count, room;
};

static void add(struct image *m, const void *from, size_t bytes)
{
    if (m->count + bytes > m->room) {
        m->room = (m->count + bytes) * 2;
        m->bytes = realloc(m->bytes, m->room);
        assert_non_null(m->bytes);
    }
    if (bytes)
        memcpy(m->bytes + m->count, from, bytes);
    m->count += bytes;
}

static struct image photograph(const struct stage *s)
{
    struct image m = {0};
    add(&m, &s->launch, sizeof s->launch);
    add(&m, s->k.words, KERNEL_WORDS * 4);
    add(&m, s->k.gpu->memory, sizeof *s->k.gpu->memory);
    add(&m, s->k.gpu->heap, sizeof *s->k.gpu->heap);
    for (uint32_t b = 0; b < s->count; b++) {
        const struct exec_cta *cta = s->blocks[b];
        if (!cta)
            continue;
        add(&m, cta, sizeof *cta);
        add(&m, cta->shared, cta->shared_bytes);
        for (uint64_t lane = 0; cta->local && lane < (uint64_t)cta->warp_count * WARP_LANES; lane++)
            add(&m, cta->local + lane * cta->local_stride, cta->local_bytes);
        for (uint32_t i = 0; i < cta->warp_count; i++) {
            const struct exec_warp *w = &cta->warps[i];
            add(&m, w, sizeof *w);
            add(&m, w->registers, w->registers_bytes);
            add(&m, w->at.stack, w->at.stack_depth * sizeof *w->at.stack);
            add(&m, w->at.frames, w->at.frame_depth * sizeof *w->at.frames);
        }
    }
    return m;
}

static bool ask(const struct stage *s)
{
    struct image before = photograph(s);
    bool answer = hang_is_certain(s->blocks, s->count, false, NULL, NULL);
    struct image after = photograph(s);
    assert_int_equal(before.count, after.count);
    assert_memory_equal(before.bytes, after.bytes, before.count);
    free(before.bytes);
    free(after.bytes);
    return answer;
}

/* The answer, after a check that asking twice gives it twice and that nothing has moved. */
static bool is_stuck(const struct stage *s)
{
    bool first = ask(s), second = ask(s);
    assert_int_equal(first, second);
    return first;
}

static bool spins(struct stage *s, uint32_t block, uint32_t index)
{
    return exec_would_spin(warp(s, block, index), (struct exec_pending){0});
}

#define SPIN_LOCK                                                                                               \
    KERNEL_HEAD                                                                                                 \
    "L: atom.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra L; atom.global.exch.b32 %r2, " \
    "[%rd0], 0; ret; }"

static void lock_between_lanes(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s, PTX_LOCKSTEP_HEADER SPIN_LOCK, 1, 32);
    assert_false(is_stuck(&s)); /* the lock is free: the first cas takes it */
    assert_int_equal(s.k.words[0], 0);
    exec_run(warp(&s, 0, 0), 2);
    assert_int_equal(s.k.words[0], 1);
    assert_true(is_stuck(&s));          /* lane 0 has it, and will wait behind the loop */
    for (uint32_t i = 0; i < 50; i++) { /* wherever in the loop it is */
        exec_run(warp(&s, 0, 0), 1);
        assert_true(is_stuck(&s));
    }
    s.k.words[0] = 0; /* as if somebody had opened it */
    assert_false(is_stuck(&s));
    tear_down(&s);
}

/* Where lanes go on by themselves, those that wait for the ones that spin will be let go: stuck is only who spins
 * alone. */
static void lanes_that_will_be_let_go(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s, PTX_HEADER SPIN_LOCK, 1, 32);
    exec_run(warp(&s, 0, 0), 100);
    assert_int_equal(s.k.words[0], 1);
    assert_true(spins(&s, 0, 0) == false && !is_stuck(&s));
    tear_down(&s);
    set_up(&s,
           PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra B; L: ld.volatile.global.u32 "
                                  "%r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;\n"
                                  "B: bar.sync 0; st.global.u32 [%rd0+4], 1; ret; }",
           1, 32);
    for (uint32_t i = 0; i < 1000 && !warp(&s, 0, 0)->strands; i++) {
        assert_false(is_stuck(&s));
        exec_run(warp(&s, 0, 0), 256);
    }
    assert_non_null(warp(&s, 0, 0)->strands);
    exec_run(warp(&s, 0, 0), 256);
    assert_true(is_stuck(&s)); /* 31 lanes at the barrier, one that spins */
    s.k.words[0] = 1;
    assert_false(is_stuck(&s));
    exec_run(warp(&s, 0, 0), 256);
    assert_int_equal(s.k.words[1], 1);
    assert_int_equal(warp(&s, 0, 0)->state, WARP_DONE);
    tear_down(&s);
}

static void flag_that_nobody_sets(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER KERNEL_HEAD
           "L: ld.volatile.global.u32 %r1, [%rd0]; nanosleep.u32 20; setp.eq.u32 %p0, %r1, 0; @%p0 bra L; ret; }",
           2, 64);
    assert_true(is_stuck(&s));
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t i = 0; i < 2; i++)
            exec_run(warp(&s, b, i), 1 + b * 2 + i);
    assert_int_equal(warp(&s, 1, 0)->state, WARP_ASLEEP);
    assert_true(is_stuck(&s));
    s.k.words[0] = 1;
    assert_false(is_stuck(&s));
    tear_down(&s);
}

/* 64-bit counting never comes back; a counter of 4096 values does, beyond what some dozen steps would show. */
static void long_loops(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER KERNEL_HEAD
           "mov.u64 %rd1, 0; L: add.u64 %rd1, %rd1, 1; setp.lt.u64 %p0, %rd1, 10000000000; @%p0 bra L; ret; }",
           1, 32);
    exec_run(warp(&s, 0, 0), 1000);
    assert_false(is_stuck(&s));
    tear_down(&s);
    set_up(&s, PTX_HEADER KERNEL_HEAD "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; and.b32 %r1, %r1, 1023; bra L; }", 1,
           32);
    assert_true(is_stuck(&s));
    tear_down(&s);
}

/* Warp 1 counts to a thousand and sets the flag that warp 0 polls. */
static void flag_that_will_be_set(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 32; @%p0 bra S;\n"
                                  "W: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W; ret;\n"
                                  "S: mov.u32 %r2, 0; C: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 1000; @%p2 bra C; "
                                  "st.global.u32 [%rd0], 1; ret; }",
           1, 64);
    while (warp(&s, 0, 1)->state == WARP_READY) {
        exec_run(warp(&s, 0, 0), 50);
        assert_true(spins(&s, 0, 0)); /* as long as nobody else does anything */
        assert_false(is_stuck(&s));
        assert_int_equal(s.k.words[0], 0);
        exec_run(warp(&s, 0, 1), 3003 < warp(&s, 0, 1)->executed + 50 ? 1 : 50);
        if (s.k.words[0])
            break;
    }
    assert_int_equal(s.k.words[0], 1);
    assert_false(is_stuck(&s));
    tear_down(&s);
}

/* Warp 1 spins while the others wait for it at a barrier: stuck. A warp on its way to the barrier is not. */
static void barrier_and_spinning(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %tid.x; shr.u32 %r0, %r0, 5; setp.ne.u32 %p0, %r0, 1; @%p0 bra B; L: "
                                  "ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;\n"
                                  "B: bar.sync 0; ret; }",
           1, 96);
    exec_run(warp(&s, 0, 0), 100);
    exec_run(warp(&s, 0, 1), 100);
    assert_int_equal(warp(&s, 0, 0)->state, WARP_AT_BARRIER);
    assert_false(is_stuck(&s));
    exec_run(warp(&s, 0, 2), 100);
    assert_true(is_stuck(&s));
    s.k.words[0] = 1; /* then warp 1 would come to the barrier */
    assert_false(is_stuck(&s));
    tear_down(&s);
}

/* A warp whose lanes meet within it is one step from arriving at the block's barrier: the other path waits there. */
static void last_path_to_a_barrier(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_LOCKSTEP_HEADER KERNEL_HEAD
           "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 16; @%p0 bra A; L: ld.volatile.global.u32 %r1, [%rd0]; "
           "setp.eq.u32 %p1, %r1, 0; @%p1 bra L; exit;\n"
           "A: bar.sync 0; ret; }",
           1, 64);
    exec_run(warp(&s, 0, 0), 100);
    exec_run(warp(&s, 0, 1), 100);
    assert_int_equal(warp(&s, 0, 0)->state, WARP_READY); /* lanes 16 to 31 */
    assert_true(is_stuck(&s));
    s.k.words[0] = 1;
    assert_false(is_stuck(&s)); /* they would end, and lanes 0 to 15 arrive */
    tear_down(&s);
}

/* Nothing that others could see may happen while a warp is watched: each of these ends the watch, and is undone by
 * never being done. */
static void effects_do_not_happen(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "L: st.global.u32 [%rd0], 7; bra L; }",
        "L: st.global.v2.u64 [%rd0], {%rd0, %rd0}; bra L; }",
        "L: st.shared.u8 [s], 7; bra L; }",
        "L: atom.global.add.u32 %r1, [%rd0], 1; bra L; }",
        "L: red.shared.add.u32 [s], 1; bra L; }",
        "mov.b128 %q, {%rd0, %rd0}; L: atom.global.exch.b128 %q, [%rd0], %q; bra L; }",
        "mov.f32 %f0, 0f3F800000; L: red.global.add.v2.f32 [%rd0], {%f0, %f0}; bra L; }",
        "mov.u32 %r1, s; L: mbarrier.init.shared.b64 [%r1], 32; bra L; }",
        "mov.u32 %r1, s; st.global.u32 [%rd0+64], 0; L: cp.async.ca.shared.global [%r1], [%rd0+1024], 4; bra L; }",
        "L: { .param .b64 a, b; st.param.b64 [a], 64; call (b), malloc, (a); ld.param.b64 %rd1, [b]; } bra L; }",
        "bar.sync 0; L: bra L; }",
        "barrier.arrive 1, 64; L: bra L; }",
        "ret; }",
        "exit; }",
        "trap; }",
        "ld.global.u32 %r1, [0]; L: bra L; }",
        "L: mov.u64 %rd1, %clock64; bra L; }",
        "L: mov.u32 %r1, %clock; bra L; }",
        "L: mov.u64 %rd1, %globaltimer; bra L; }",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char ptx[4096];
        struct stage s;
        snprintf(ptx, sizeof ptx,
                 "%s.extern .func (.param .b64 b) malloc(.param .b64 a);\n%s.shared .align 16 .b8 s[64]; .reg .b128 "
                 "%%q; mov.b64 %%rd8, 0;\n%s",
                 ".version 8.4\n.target sm_90\n.address_size 64\n", KERNEL_HEAD, bodies[i]);
        set_up(&s, ptx, 1, 64);
        s.k.words[256] = 5; /* what the copy would bring */
        if (is_stuck(&s))
            fail_msg("called stuck: %s", bodies[i]);
        tear_down(&s);
    }
}

/* A store that changes nothing is no progress. */
static void idle_writes(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER KERNEL_HEAD
           "L: st.global.u32 [%rd0], 7; atom.global.max.u32 %r1, [%rd0], 3; red.global.or.b32 [%rd0], 1; bra L; }",
           1, 32);
    s.k.words[0] = 7;
    assert_true(is_stuck(&s));
    tear_down(&s);
}

/* Local memory is the warp's own: two calls with other arguments each turn write it again and again; a counter kept
 * there goes on. */
static void local_memory_is_state(void **state)
{
    (void)state;
    struct stage s;
    set_up(
        &s,
        PTX_HEADER
        ".func (.param .b32 r) next(.param .b32 n) { .local .b32 t; .reg .b32 %a; ld.param.u32 %a, [n]; st.local.u32 "
        "[t], %a; add.u32 %a, %a, 1; st.param.b32 [r], %a; ret; }\n" KERNEL_HEAD
        "L: { .param .b32 x; .param .b32 y; st.param.b32 [x], 1; call (y), next, (x); ld.param.b32 %r1, [y]; }\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), next, (x); ld.param.b32 %r2, [y]; } bra L; }",
        1, 32);
    for (uint32_t i = 0; i < 40; i++) {
        assert_true(is_stuck(&s));
        exec_run(warp(&s, 0, 0), 1);
    }
    tear_down(&s);
    set_up(&s,
           PTX_HEADER KERNEL_HEAD ".local .b64 n; L: ld.local.u64 %rd1, [n]; add.u64 %rd1, %rd1, 1; st.local.u64 [n], "
                                  "%rd1; setp.gt.u64 %p0, %rd1, 100000000; mov.u64 %rd1, 0; @!%p0 bra L; ret; }",
           1, 32);
    exec_run(warp(&s, 0, 0), 100);
    assert_false(is_stuck(&s));
    tear_down(&s);
}

/* The same function called from two places, with the same registers everywhere: the warp was not there before. */
static void calls_from_two_places(void **state)
{
    (void)state;
    struct stage s;
    char ptx[8192] = PTX_HEADER ".func pass() { .reg .b32 %a; mov.u32 %a, 1; mov.u32 %a, 2; ret; }\n" KERNEL_HEAD;
    for (int i = 0; i < 40; i++)
        strcat(ptx, "call pass; ");
    strcat(ptx, "ret; }");
    set_up(&s, ptx, 1, 32);
    assert_false(is_stuck(&s));
    exec_run(warp(&s, 0, 0), 10);
    assert_false(is_stuck(&s));
    tear_down(&s);
}

/* Deeper calls than before grow the stacks of the copy, not the warp's. */
static void deep_calls(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER
           ".func deep(.param .b32 n) { .reg .pred %p; .reg .b32 %a; .reg .b32 %t; ld.param.u32 %a, [n]; mov.u32 %t, "
           "%laneid; setp.eq.u32 %p, %a, 0; @%p bra Z; setp.lt.u32 %p, %t, %a; @%p bra Q;\n"
           "{ .param .b32 x; sub.u32 %a, %a, 1; st.param.b32 [x], %a; call deep, (x); } bra Z;\n"
           "Q: { .param .b32 x; sub.u32 %a, %a, 1; st.param.b32 [x], %a; call deep, (x); } Z: ret; }\n" KERNEL_HEAD
           "L: { .param .b32 x; st.param.b32 [x], 9; call deep, (x); } bra L; }",
           1, 32);
    assert_int_equal(warp(&s, 0, 0)->at.frame_capacity, 0);
    (void)is_stuck(&s);
    assert_int_equal(warp(&s, 0, 0)->at.frame_capacity, 0);
    assert_false(warp(&s, 0, 0)->owns_registers);
    tear_down(&s);
}

/* Atomics that were issued and have not reached memory */

struct under_way {
    const struct exec_warp *w;
    struct exec_pending what;
    bool known;
};

static bool pending_of(void *context, const struct exec_warp *w, struct exec_pending *out)
{
    const struct under_way *u = context;
    if (u->w == w)
        *out = u->what;
    return u->w != w || u->known;
}

/* Issues the instruction, an atomic, as a timed run does: the warp goes on, and nothing happens yet. */
static struct under_way issue(struct exec_warp *w)
{
    struct under_way u = {.w = w, .known = true};
    u.what.in = &w->code[w->pc];
    u.what.mask = exec_advance(w);
    return u;
}

static void atomics_under_way(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s, PTX_LOCKSTEP_HEADER SPIN_LOCK, 1, 32);
    struct exec_warp *w = warp(&s, 0, 0);
    exec_run(w, 1);
    struct under_way u = issue(w);
    assert_false(hang_is_certain(s.blocks, s.count, false, pending_of, &u)); /* lane 0 will get the lock */
    exec_perform(w, u.what.in, 1);
    u.what.mask &= ~1u;
    assert_int_equal(s.k.words[0], 1);
    assert_true(hang_is_certain(s.blocks, s.count, false, pending_of, &u)); /* the other lanes will not */
    assert_int_equal(s.k.words[0], 1);
    u.known = false;
    assert_false(hang_is_certain(s.blocks, s.count, false, pending_of, &u));
    u.known = true;
    w->state = WARP_AT_BARRIER;
    assert_false(hang_is_certain(s.blocks, s.count, false, pending_of, &u));
    u.what.mask = 0;
    assert_true(hang_is_certain(s.blocks, s.count, false, pending_of, &u));
    tear_down(&s);
}

/* Two blocks, of which one has ended: what is left is stuck, unless the free slot is for a block that is yet to come.
 * All ended: nothing to be stuck. */
static void ended_blocks(void **state)
{
    (void)state;
    struct stage s;
    set_up(&s,
           PTX_HEADER KERNEL_HEAD "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 0; @%p0 bra E; L: "
                                  "ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; E: ret; }",
           2, 32);
    assert_false(is_stuck(&s));
    exec_run(warp(&s, 0, 0), 100);
    assert_int_equal(warp(&s, 0, 0)->state, WARP_DONE);
    assert_true(is_stuck(&s));
    assert_false(hang_is_certain(s.blocks, 2, true, NULL, NULL));
    assert_true(hang_is_certain(s.blocks + 1, 1, true, NULL, NULL));
    assert_false(hang_is_certain(s.blocks + 1, 2, true, NULL, NULL)); /* a slot that was never used */
    s.k.words[0] = 1;
    exec_run(warp(&s, 1, 0), 100);
    assert_int_equal(warp(&s, 1, 0)->state, WARP_DONE);
    assert_false(is_stuck(&s));
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock_between_lanes),
        cmocka_unit_test(lanes_that_will_be_let_go),
        cmocka_unit_test(flag_that_nobody_sets),
        cmocka_unit_test(long_loops),
        cmocka_unit_test(flag_that_will_be_set),
        cmocka_unit_test(barrier_and_spinning),
        cmocka_unit_test(last_path_to_a_barrier),
        cmocka_unit_test(effects_do_not_happen),
        cmocka_unit_test(idle_writes),
        cmocka_unit_test(local_memory_is_state),
        cmocka_unit_test(calls_from_two_places),
        cmocka_unit_test(deep_calls),
        cmocka_unit_test(atomics_under_way),
        cmocka_unit_test(ended_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
