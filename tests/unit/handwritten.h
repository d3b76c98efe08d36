/* For tests made of small PTX modules as people write them by hand: a table of texts, each with the words its kernel
 * leaves behind. Those words are what an H200 left, where its assembler takes the text; else the PTX ISA says what they
 * must be. */
#ifndef HEDDLE_TESTS_HANDWRITTEN_H
#define HEDDLE_TESTS_HANDWRITTEN_H

#include "kernel_test.h"

#define HEADER PTX_HEADER
#define KERNEL                                                                                                      \
    ".visible .entry kernel(.param .u64 buffer) { .reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 " \
    "%rd<16>; "                                                                                                     \
    ".reg .f32 %f<16>; .reg .f64 %d<16>; ld.param.u64 %rd0, [buffer]; "

struct hand_case {
    const char *name;
    uint32_t blocks, threads, shared_bytes;
    uint32_t count, words[32];
    const char *ptx;
};

static inline bool hand_launch(struct kernel_run *k, const struct hand_case *c)
{
    uint64_t buffer[16] = {(uint64_t)(uintptr_t)k->words}; /* kernels with more parameters get zeros */
    struct gpu_launch launch = {.kernel = exec_image_function(k->image, "kernel"),
                                .grid = {c->blocks, 1, 1},
                                .block = {c->threads, 1, 1},
                                .dynamic_shared_bytes = c->shared_bytes,
                                .params = buffer};
    assert_non_null(launch.kernel);
    launch.params_bytes = launch.kernel->ptx->param_bytes;
    const uint32_t *cluster = launch.kernel->ptx->reqnctapercluster;
    for (int i = 0; cluster[0] && i < 3; i++)
        launch.cluster[i] = cluster[i] ? cluster[i] : 1;
    return gpu_launch(k->gpu, &launch, &k->error);
}

static inline bool hand_check(const struct hand_case *c)
{
    struct kernel_run k;
    kernel_open(&k, c->ptx);
    bool good = k.image && hand_launch(&k, c);
    if (!good)
        print_error("%s: %s\n", c->name, k.error.text);
    for (uint32_t i = 0; good && i < c->count; i++)
        if (k.words[i] != c->words[i]) {
            print_error("%s: word %u is 0x%x, expected 0x%x\n", c->name, i, k.words[i], c->words[i]);
            good = false;
        }
    kernel_close(&k);
    return good;
}

static inline void hand_check_all(const struct hand_case *cases, size_t count)
{
    int failed = 0;
    for (size_t i = 0; i < count; i++)
        failed += !hand_check(&cases[i]);
    assert_int_equal(failed, 0);
}

#endif
