/* For tests that ask how many cycles a kernel takes: a small machine, a kernel written by hand, the cycles of a
 * launch. */
#ifndef HEDDLE_TESTS_TIMING_TEST_H
#define HEDDLE_TESTS_TIMING_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "gpu/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMED_SETS = 48, TIMED_BYTES = 4 << 20 };

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_SETS   ((const char *const[]){NULL})

/* One core and one memory channel with a single slice, all clocks alike, and an instruction cache that holds every
 * test's kernel: what remains is the thing under test. */
#define ONE_CORE                                                                                                 \
    "machine.cores=1", "machine.memory_bytes=256M", "dram.channels=1", "l2.slices_per_channel=1", "l2.sets=512", \
        "clock.interconnect_mhz=700", "clock.l2_mhz=700", "clock.dram_mhz=700", "l1i.sets=64", "l1i.ways=32",    \
        "rules.banks_at_once=false", "rules.banks_by_name=false"

/* Text that grows. */
struct text {
    char *s;
    size_t length, capacity;
};

static inline void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void say(struct text *t, const char *format, ...)
{
    va_list args;
    if (t->capacity - t->length < 1024) {
        t->capacity = t->capacity * 2 + 4096;
        t->s = realloc(t->s, t->capacity);
        assert_non_null(t->s);
    }
    va_start(args, format);
    int n = vsnprintf(t->s + t->length, t->capacity - t->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < t->capacity - t->length);
    t->length += (size_t)n;
}

static inline void say_times(struct text *t, uint32_t times, const char *what)
{
    while (times--)
        say(t, "%s", what);
}

/* A kernel with one parameter, the address of a buffer. Registers declared one by one are numbered in that order: %rN
 * is register N of the register file, in bank N of those of warp slot 0. */
static inline char *timed_kernel(const char *globals, const char *body)
{
    struct text t = {0};
    say(&t, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (const char *part = globals; *part; part += strnlen(part, 500))
        say(&t, "%.500s", part);
    say(&t, "\n.visible .entry kernel(.param .u64 buffer)\n{\n.reg .b32 %%r0");
    for (uint32_t i = 1; i < 64; i++)
        say(&t, ", %%r%u", i);
    say(&t, ";\n.reg .f32 %%f<64>;\n.reg .b64 %%rd<32>;\n.reg .f64 %%fd<16>;\n.reg .pred %%p<8>;\n");
    for (const char *part = body; *part; part += strnlen(part, 500))
        say(&t, "%.500s", part);
    say(&t, "\nret;\n}\n");
    return t.s;
}

struct timed {
    struct gpu *gpu;
    struct exec_image *image;
    char *source;
    uint8_t *buffer; /* device memory: the kernel's parameter */
    struct error error;
    const struct gpu_counters *counters; /* of the last launch */
};

struct timed_machine {
    const char *name, *scheduler;
    bool functional, lockstep;
    uint32_t threads;
};

static inline void timed_open(struct timed *t, const struct timed_machine *m, const char *const *sets,
                              const char *globals, const char *body)
{
    char path[256];
    uint32_t count = 0;
    struct gpu_options options = {
        .functional = m->functional, .lockstep = m->lockstep, .threads = m->threads, .max_cycles = 20000000};
    memset(t, 0, sizeof *t);
    while (sets[count])
        count++;
    snprintf(path, sizeof path, "machines/%s.ini", m->name);
    struct gpu_setup setup = {.machine = path, .sets = sets, .set_count = count, .scheduler = m->scheduler};
    if (!gpu_setup(&options, &setup, &t->error))
        fail_msg("%s", t->error.text);
    if (m->functional)
        gpu_setup_release(&options);
    t->gpu = gpu_create(&options, &t->error);
    if (!t->gpu)
        fail_msg("%s", t->error.text);
    t->source = timed_kernel(globals, body);
    struct ptx_module *module = ptx_parse("test.ptx", t->source, strlen(t->source), &t->error);
    t->image = module ? exec_image_create(t->gpu->memory, &module, 1, &t->error) : NULL;
    if (!t->image)
        fail_msg("%s", t->error.text);
    t->buffer = memory_pointer(memory_alloc(t->gpu->memory, TIMED_BYTES, TIMED_BYTES, MEMORY_DEVICE, NULL));
}

static inline void timed_close(struct timed *t)
{
    exec_image_destroy(t->image);
    gpu_destroy(t->gpu);
    free(t->source);
}

/* Cycles of a launch. */
static inline uint64_t timed_launch_of(struct timed *t, const char *kernel, uint32_t blocks, uint32_t threads,
                                       uint32_t dynamic_shared_bytes)
{
    uint64_t buffer = (uint64_t)(uintptr_t)t->buffer;
    struct gpu_launch launch = {.kernel = exec_image_function(t->image, kernel),
                                .grid = {blocks, 1, 1},
                                .block = {threads, 1, 1},
                                .params = &buffer,
                                .params_bytes = 8,
                                .dynamic_shared_bytes = dynamic_shared_bytes};
    assert_non_null(launch.kernel);
    if (!gpu_launch(t->gpu, &launch, &t->error))
        fail_msg("%s", t->error.text);
    t->counters = &t->gpu->kernels[t->gpu->kernel_count - 1].counters;
    return t->counters->cycles;
}

static inline uint64_t timed_launch(struct timed *t, uint32_t blocks, uint32_t threads, uint32_t dynamic_shared_bytes)
{
    return timed_launch_of(t, "kernel", blocks, threads, dynamic_shared_bytes);
}

/* Cycles of the second of two launches: instructions, constants and the L2 are warm, the L1 data cache is empty. */
static inline uint64_t warm_cycles(const char *machine, const char *const *sets, const char *body, uint32_t blocks,
                                   uint32_t threads)
{
    struct timed t;
    timed_open(&t, &(struct timed_machine){.name = machine}, sets, "", body);
    timed_launch(&t, blocks, threads, 0);
    uint64_t cycles = timed_launch(&t, blocks, threads, 0);
    timed_close(&t);
    return cycles;
}

/* A load whose first so many lanes each touch a line of their own, done `times` times, the later ones waiting for those
 * before: cycles of the second launch, and what it counted, if that is asked for. */
#define WIDE_LOAD "ld.global.u64 %rd3, [%rd1];\n"
enum { WIDE_LINE = 128 };

static inline uint64_t wide_cycles(const char *machine, const char *const *sets, uint32_t lines, uint32_t times,
                                   const char *load, struct sm_counters *counters)
{
    struct text body = {0};
    struct timed t;
    say(&body,
        "ld.param.u64 %%rd1, [buffer];\nmov.u32 %%r1, %%tid.x;\nmin.u32 %%r1, %%r1, %u;\nmul.wide.u32 %%rd2, %%r1, "
        "%u;\nadd.u64 %%rd1, %%rd1, %%rd2;\n",
        lines - 1, WIDE_LINE);
    for (uint32_t i = 0; i < times; i++)
        say(&body, "%sadd.u64 %%rd1, %%rd1, %%rd3;\n", load);
    timed_open(&t, &(struct timed_machine){.name = machine}, sets, "", body.s);
    timed_launch(&t, 1, 32, 0);
    uint64_t cycles = timed_launch(&t, 1, 32, 0);
    if (counters)
        *counters = t.counters->sm;
    timed_close(&t);
    free(body.s);
    return cycles;
}

/* What each warp of a block reads off %clock64, which is the cycle in which the instruction that reads it issues: into
 * %rd10 to %rd13. In the body %r60 is the thread and %r61 the warp. */
enum { CLOCKS = 4 };

static inline void read_clocks(const char *machine, const char *const *sets, const char *body, uint32_t warps,
                               uint64_t clocks[][CLOCKS])
{
    struct timed t;
    struct text all = {0};
    say(&all, "mov.u32 %%r60, %%tid.x;\nshr.u32 %%r61, %%r60, 5;\n%s", body);
    say(&all, "ld.param.u64 %%rd20, [buffer];\nmul.wide.u32 %%rd21, %%r61, %u;\nadd.u64 %%rd20, %%rd20, %%rd21;\n",
        CLOCKS * 8);
    for (uint32_t i = 0; i < CLOCKS; i++)
        say(&all, "st.global.u64 [%%rd20+%u], %%rd%u;\n", i * 8, 10 + i);
    timed_open(&t, &(struct timed_machine){.name = machine}, sets, "", all.s);
    timed_launch(&t, 1, warps * 32, 0);
    timed_launch(&t, 1, warps * 32, 0);
    memcpy(clocks, t.buffer, warps * CLOCKS * 8);
    timed_close(&t);
    free(all.s);
}

/* The resolved machine, for the numbers that formulas are made of. */
static inline struct machine machine_of(const char *machine, const char *const *sets)
{
    struct machine m;
    struct error e = {0};
    char path[256];
    uint32_t count = 0;
    while (sets[count])
        count++;
    snprintf(path, sizeof path, "machines/%s.ini", machine);
    if (!machine_load(&m, path, sets, count, &e))
        fail_msg("%s", e.text);
    return m;
}

#endif
