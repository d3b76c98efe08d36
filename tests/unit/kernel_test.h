/* For tests that run a small kernel: one buffer in, one out, its address the only parameter. */
#ifndef HEDDLE_TESTS_KERNEL_TEST_H
#define HEDDLE_TESTS_KERNEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#define PTX_HEADER          ".version 8.0\n.target sm_90\n.address_size 64\n"
#define PTX_LOCKSTEP_HEADER ".version 8.0\n.target sm_60\n.address_size 64\n" /* before lanes went on by themselves */
#define KERNEL_HEAD                                                                                                   \
    ".visible .entry kernel(.param .u64 buffer) {\n.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 " \
    "%f<8>;\nld.param.u64 %rd0, [buffer];\n"

enum { KERNEL_WORDS = 4096 };

struct kernel_run {
    struct gpu *gpu;
    struct exec_image *image;
    uint32_t *words; /* device memory */
    struct error error;
    const struct gpu_kernel *counted;
};

static inline void kernel_open(struct kernel_run *k, const char *ptx)
{
    struct gpu_options options = {
        .functional = true,
        .machine = {.name = "test",
                    .cores = 4,
                    .sm = {.warps = 48, .blocks = 8, .registers = 32768, .register_granule = 8, .shared_bytes = 49152},
                    .memory_bytes = 1 << 30}};
    memset(k, 0, sizeof *k);
    k->gpu = gpu_create(&options, &k->error);
    assert_non_null(k->gpu);
    struct ptx_module *m = ptx_parse("test.ptx", ptx, strlen(ptx), &k->error);
    k->image = m ? exec_image_create(k->gpu->memory, &m, 1, &k->error) : NULL;
    k->words = memory_pointer(memory_alloc(k->gpu->memory, KERNEL_WORDS * 4, 256, MEMORY_DEVICE, NULL));
}

static inline bool kernel_launch(struct kernel_run *k, uint32_t blocks, uint32_t threads)
{
    if (!k->image)
        fail_msg("%s", k->error.text);
    uint64_t buffer = (uint64_t)(uintptr_t)k->words;
    struct gpu_launch launch = {.kernel = exec_image_function(k->image, "kernel"),
                                .grid = {blocks, 1, 1},
                                .block = {threads, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8};
    assert_non_null(launch.kernel);
    bool ok = gpu_launch(k->gpu, &launch, &k->error);
    k->counted = k->gpu->kernel_count ? &k->gpu->kernels[k->gpu->kernel_count - 1] : NULL;
    return ok;
}

static inline void kernel_run_ok(struct kernel_run *k, const char *ptx, uint32_t blocks, uint32_t threads)
{
    kernel_open(k, ptx);
    if (!kernel_launch(k, blocks, threads))
        fail_msg("%s", k->error.text);
}

static inline void kernel_run_fails(struct kernel_run *k, const char *ptx, uint32_t blocks, uint32_t threads,
                                    enum error_kind kind, const char *text)
{
    kernel_open(k, ptx);
    assert_false(kernel_launch(k, blocks, threads));
    if (k->error.kind != kind || !strstr(k->error.text, text))
        fail_msg("expected kind %d and '%s', got kind %d: %s", kind, text, k->error.kind, k->error.text);
}

static inline void kernel_close(struct kernel_run *k)
{
    exec_image_destroy(k->image);
    gpu_destroy(k->gpu);
}

#endif
