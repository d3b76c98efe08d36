/* Kernels of tests/random, which have one result under any schedule: the input is a seed, in digits or as bytes.
 * Without time, and with it under every scheduler and divergence unit, on one host thread and on two, all must leave
 * the same output. */
#include "plan.h"

#include "../random/random.h"
#include "gpu/gpu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_CYCLES = 10000000 }; /* all of these kernels end */

static uint64_t take_buffer(struct gpu *g, size_t bytes)
{
    uint64_t at = memory_alloc(g->memory, bytes, 256, MEMORY_DEVICE, NULL);
    if (!at)
        abort();
    return at;
}

/* False: this machine refuses it. */
static bool run(struct gpu *g, const struct kernel *k, unsigned char *out, struct error *e)
{
    struct ptx_module *m = ptx_parse("random.ptx", k->ptx.data, k->ptx.size, e);
    struct exec_image *image = m ? exec_image_create(g->memory, &m, 1, e) : NULL;
    if (!image)
        return false;
    struct parameters p = k->parameters;
    p.in = take_buffer(g, INPUT_BYTES);
    p.out = take_buffer(g, k->out_bytes);
    kernel_fill_input(k, memory_pointer(p.in));
    kernel_fill_output(k, memory_pointer(p.out));
    struct gpu_launch l = {.kernel = exec_image_function(image, "kernel"),
                           .grid = {k->grid[0], k->grid[1], k->grid[2]},
                           .block = {k->block[0], k->block[1], k->block[2]},
                           .dynamic_shared_bytes = k->dynamic_shared_bytes,
                           .params = &p};
    l.params_bytes = l.kernel->ptx->param_bytes;
    bool good = gpu_launch(g, &l, e);
    memcpy(out, memory_pointer(p.out), k->out_bytes);
    gpu_spare_free(g);
    exec_image_destroy(image);
    return good;
}

static void report(const struct kernel *k, const struct plan *p, const struct error *e, size_t differs)
{
    char where[400] = "it failed", line[400];
    if (!e->kind)
        kernel_describe(k, differs, where, sizeof where);
    plan_write(p, line, sizeof line);
    fprintf(stderr, "seed %" PRIu64 ": %s\n%s\n%s\n", k->seed, where, e->text, line);
    abort();
}

static void compare(const struct kernel *k, const struct plan *p, bool functional, const unsigned char *expected,
                    unsigned char *out)
{
    static struct error e;
    memset(&e, 0, sizeof e);
    struct gpu *g = plan_gpu(p, functional);
    g->options.max_cycles = MOST_CYCLES;
    if (!run(g, k, out, &e)) {
        /* A unit that mixes warps refuses some, and a block may not fit. */
        if (functional || (e.kind != ERROR_UNSUPPORTED && e.kind != ERROR_RESOURCES && e.kind != ERROR_INVALID))
            report(k, p, &e, 0);
    } else if (expected) {
        for (size_t i = 0; i < k->out_bytes; i++)
            if (out[i] != expected[i])
                report(k, p, &e, i);
    }
    gpu_destroy(g);
}

static uint64_t seed_of(const uint8_t *data, size_t size)
{
    uint64_t seed = 0;
    size_t digits = 0;
    for (; digits < size && data[digits] >= '0' && data[digits] <= '9'; digits++)
        seed = seed * 10 + (data[digits] - '0');
    if (digits < size && data[digits] != '\n')
        memcpy(&seed, data, size < sizeof seed ? size : sizeof seed);
    return seed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t seed = seed_of(data, size);
    struct kernel k;
    kernel_generate(&k, seed);
    unsigned char *expected = calloc(1, k.out_bytes), *out = calloc(1, k.out_bytes);
    struct plan p = plan_read("", 0);
    if (!expected || !out)
        abort();
    compare(&k, &p, true, NULL, expected);
    p.machine = (uint32_t)(seed % 5);
    for (p.scheduler = 0; policy_builtin(POLICY_SCHEDULER, p.scheduler); p.scheduler++) {
        p.threads = 1 + (p.scheduler + (uint32_t)seed) % 2;
        p.l1 = p.scheduler;
        compare(&k, &p, false, expected, out);
    }
    for (p.divergence = 1; policy_builtin(POLICY_DIVERGENCE, p.divergence); p.divergence++) {
        p.scheduler = p.divergence + (uint32_t)(seed >> 8);
        compare(&k, &p, false, expected, out);
    }
    free(expected);
    free(out);
    kernel_free(&k);
    return 0;
}
