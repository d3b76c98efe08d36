/*
 * compiled.h: the parts of the program `compiled`, which runs kernels compiled from CUDA C++ and compares their output
 * with
 * silicon's. */
#ifndef COMPILED_H
#define COMPILED_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum fill {
    FILL_BITS,     /* random bits, one word in eight an edge value */
    FILL_WIDE,     /* the same in words of 64 bits */
    FILL_F32,      /* floats of all kinds: moderate, extreme, whole, zeros, infinities, NaNs */
    FILL_F64,      /* the same as doubles */
    FILL_F32_MILD, /* floats between 2^-6 and 2^4, either sign */
    FILL_F32_UNIT, /* floats between -1 and 1 */
    FILL_F64_MILD, /* doubles between 2^-6 and 2^4, either sign */
};

enum compare {
    COMPARE_BITS,     /* word for word */
    COMPARE_ULPS,     /* floats, at most `tolerance` representable values apart */
    COMPARE_ABSOLUTE, /* floats, at most `tolerance` times 2^-23 apart */
};

enum {
    RUN_COOPERATIVE = 1, /* launched with cuLaunchCooperativeKernel */
    RUN_PRINTS = 2,      /* what it prints is compared too */
    RUN_STRUCT = 4,      /* takes the structure `by_value` of control.cu and two small integers */
};

struct kernel {
    const char *source; /* NAME.cu */
    const char *name;
    unsigned grid[2], block[2], shared_bytes;
    size_t in_bytes, out_bytes;
    enum fill fill;
    enum compare compare;
    unsigned tolerance;
    unsigned flags;
};

extern const struct kernel kernels[];
extern const size_t kernel_count;

void fill_input(void *in, const struct kernel *kernel);

/* What one launch gave. `text` is what the kernel printed. */
struct result {
    void *out;
    char *text;
};

int device_open(void);
/* A context anew, without its modules: an illegal access must not spoil what comes after it. */
int device_renew(void);
/* `level` is the assembler's optimisation level; PTX for a debugger is always assembled without. A file NAME.BUILD.ptx
 * is linked with NAME_second.BUILD.ptx where there is one. */
int device_load(CUmodule *module, const char *path, int level);
int device_run(CUmodule module, const struct kernel *kernel, struct result *result);
void result_free(struct result *result);
char *read_file(const char *path, size_t *size);

#endif
