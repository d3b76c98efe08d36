/* Loads and stores that take effect later (exec_keep): is what comes out the same, whatever their warp does to the
 * registers of their operands meanwhile? */
#include "kernel_test.h"

#include "exec/lanes.h"

enum { BYTES = KERNEL_WORDS * 4, MOST_KEPT = 32 };

static const char *const transfers =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out) {\n"
    "  .reg .u64 %d<6>; .reg .u32 %r<12>; .reg .u16 %h<3>; .reg .f32 %f<5>; .reg .pred %p;\n"
    "  mov.u32 %r0, %tid.x;\n"
    "  ld.param.u64 %d0, [out];\n"
    "  mad.wide.u32 %d1, %r0, 16, %d0;\n"
    "  setp.ne.u32 %p, %r0, 3;\n"
    "  ld.global.u8 %r1, [%d1];\n"
    "  ld.global.s8 %r2, [%d1+1];\n"
    "  ld.global.s8 %h0, [%d1+2];\n"
    "  ld.global.u16 %h1, [%d1+4];\n"
    "  ld.global.s16 %r3, [%d1+6];\n"
    "  @%p ld.u32 %r4, [%d1+8];\n"
    "  ld.global.s32 %d2, [%d1+8];\n"
    "  ld.global.u64 %d3, [%d1+8];\n"
    "  ld.global.v2.f32 {%f0, %f1}, [%d1];\n"
    "  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d1];\n"
    "  add.u64 %d1, %d1, 4096;\n" /* loads have their addresses */
    "  st.global.u8 [%d1], %r1;\n"
    "  st.global.u32 [%d1+4], %r2;\n"
    "  st.global.u16 [%d1+8], %h0;\n"
    "  st.global.u16 [%d1+10], %h1;\n"
    "  @%p st.u32 [%d1+12], %r3;\n"
    "  st.global.u32 [%d1+1024], %r4;\n"
    "  st.global.u64 [%d1+2048], %d2;\n"
    "  st.global.u8 [%d0+12000], %r0;\n" /* all lanes at one place: the last one stays */
    "  st.global.u64 [%d1+2056], %d3;\n"
    "  st.global.v2.f32 [%d1+3072], {%f0, %f1};\n"
    "  st.global.v4.u32 [%d1+4096], {%r5, %r6, %r7, %r8};\n"
    "  mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r0, 0;\n" /* and stores their data */
    "  mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0;\n"
    "  mov.u16 %h0, 0; mov.u16 %h1, 0; mov.u64 %d2, 0; mov.u64 %d3, 0; mov.f32 %f0, 0f00000000;\n"
    "  mov.u64 %d1, 0; mov.u64 %d0, 0;\n"
    "  ret;\n"
    "}\n";

struct stage {
    struct kernel_run k;
    struct exec_launch launch;
    struct exec_cta *block;
};

static void set_up(struct stage *s, const char *ptx)
{
    memset(s, 0, sizeof *s);
    kernel_open(&s->k, ptx);
    if (!s->k.image)
        fail_msg("%s", s->k.error.text);
    for (uint32_t i = 0; i < KERNEL_WORDS; i++)
        s->k.words[i] = i * 2654435761u ^ 0x80c0f3a5u;
    const struct exec_function *kernel = exec_image_function(s->k.image, "kernel");
    s->launch = (struct exec_launch){.memory = s->k.gpu->memory,
                                     .image = s->k.image,
                                     .kernel = kernel,
                                     .grid = {1, 1, 1},
                                     .block = {WARP_LANES, 1, 1},
                                     .core_count = 1,
                                     .warps_per_core = 48,
                                     .params_bytes = 8,
                                     .error = &s->k.error};
    s->launch.params = memory_alloc(s->k.gpu->memory, 8, 256, MEMORY_PARAM, "parameters");
    memcpy(memory_pointer(s->launch.params), &s->k.words, 8);
    s->block = exec_cta_create(&s->launch, 0, &s->k.error);
    assert_non_null(s->block);
    exec_cta_start(s->block, (const uint32_t[3]){0, 0, 0});
}

static void tear_down(struct stage *s)
{
    exec_cta_destroy(s->block);
    kernel_close(&s->k);
}

static enum ptx_opcode next_opcode(const struct exec_warp *w) { return w->launch->kernel->ptx->insts[w->pc].opcode; }

static bool is_transfer(const struct exec_warp *w)
{
    enum ptx_opcode op = next_opcode(w);
    return (op == PTX_OP_ld || op == PTX_OP_st) && exec_is_plain_transfer(&w->code[w->pc]);
}

/* All loads take effect when the first store is at hand, all stores at the end. Returns how many were kept. */
static uint32_t run_keeping(struct exec_warp *w)
{
    static struct exec_kept kept[MOST_KEPT];
    uint32_t count = 0, done = 0;
    while (w->state == WARP_READY) {
        if (next_opcode(w) == PTX_OP_st && !done)
            for (; done < count; done++)
                exec_perform_kept(&kept[done]);
        if (!is_transfer(w)) {
            exec_step(w);
            continue;
        }
        const struct exec_inst *in = &w->code[w->pc];
        uint32_t mask = exec_advance(w);
        assert_true(count < MOST_KEPT && exec_keep(w, in, mask, &kept[count]));
        assert_int_equal(w->access.mask, mask);
        assert_int_equal(w->access.space, PTX_SPACE_GLOBAL);
        assert_int_equal(w->access.bytes, kept[count].bytes);
        count++;
    }
    for (; done < count; done++)
        exec_perform_kept(&kept[done]);
    return count;
}

static void same_as_at_once(void **state)
{
    (void)state;
    static uint8_t wanted[BYTES];
    struct stage s;
    set_up(&s, transfers);
    while (s.block->warps[0].state == WARP_READY)
        exec_step(&s.block->warps[0]);
    memcpy(wanted, s.k.words, BYTES);
    tear_down(&s);
    set_up(&s, transfers);
    assert_int_equal(run_keeping(&s.block->warps[0]), 21);
    assert_memory_equal(s.k.words, wanted, BYTES);
    tear_down(&s);
}

/* Up to the first load of a vector, which is kept. */
static struct exec_warp *keep_vector(struct stage *s, struct exec_kept *kept)
{
    set_up(s, transfers);
    struct exec_warp *w = &s->block->warps[0];
    while (!(next_opcode(w) == PTX_OP_ld && is_transfer(w) &&
             ptx_has_modifier(&s->launch.kernel->ptx->insts[w->pc], PTX_MOD_V4)))
        exec_step(w);
    const struct exec_inst *in = &w->code[w->pc];
    assert_true(exec_keep(w, in, exec_advance(w), kept));
    return w;
}

/* Of four registers one has been given to another value meanwhile: it stays as it is, the others are loaded. */
static void overwritten(void **state)
{
    (void)state;
    struct stage s;
    struct exec_kept kept;
    struct exec_warp *w = keep_vector(&s, &kept);
    const struct exec_function *kernel = s.launch.kernel;
    const struct ptx_inst *load = &kernel->ptx->insts[kept.in - w->code];
    uint32_t *row[4];
    for (int n = 0; n < 4; n++) {
        row[n] = lane_data(w, kernel->registers[load->operands[0].elements[n].reg->index]);
        memset(row[n], 0x5a, 4 * WARP_LANES);
    }
    exec_note_overwritten(&kept, kernel->registers[load->operands[0].elements[2].reg->index], 4 * WARP_LANES);
    exec_perform_kept(&kept);
    for (int n = 0; n < 4; n++)
        for (int i = 0; i < WARP_LANES; i++)
            assert_int_equal(row[n][i], n == 2 ? 0x5a5a5a5a : s.k.words[4 * i + n]);
    tear_down(&s);
}

/* What would be an error is left to be performed as a whole. */
static void out_of_bounds(void **state)
{
    (void)state;
    struct stage s;
    struct exec_kept kept;
    struct exec_warp *w = keep_vector(&s, &kept);
    assert_true(exec_keep(w, kept.in, UINT32_MAX, &kept));
    const struct ptx_inst *load = &s.launch.kernel->ptx->insts[kept.in - w->code];
    uint64_t *address = lane_data(w, s.launch.kernel->registers[load->operands[1].elements[0].reg->index]);
    address[31] += 4; /* not aligned */
    assert_false(exec_keep(w, kept.in, UINT32_MAX, &kept));
    address[31] += (uint64_t)BYTES * 100;
    assert_false(exec_keep(w, kept.in, UINT32_MAX, &kept));
    assert_true(exec_keep(w, kept.in, UINT32_MAX >> 1, &kept));
    assert_int_equal(w->state, WARP_READY);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_at_once),
        cmocka_unit_test(overwritten),
        cmocka_unit_test(out_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
