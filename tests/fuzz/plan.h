/* How a kernel that a fuzzer made is run: shape, machine, policies. Written as the last line of the PTX text, a comment
 * that begins with `//!` and holds pairs of a word and a number, so that a text that was found says all of itself. With
 * a texture, its handle and a surface's stand at the start of the first buffer.
 *
 *     //! grid 2 block 33 shared 16 machine 1 scheduler 4 l1 0 divergence 0 threads 2 lazy 1 */
#ifndef HEDDLE_TESTS_FUZZ_PLAN_H
#define HEDDLE_TESTS_FUZZ_PLAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PLAN(name, default, count): the numbers that stand for something are below count. */
#define PLAN_FIELDS        \
    PLAN(grid, 2, 9)       \
    PLAN(block, 48, 257)   \
    PLAN(height, 1, 5)     \
    PLAN(shared, 0, 65537) \
    PLAN(cluster, 0, 9)    \
    PLAN(lazy, 0, 2)       \
    PLAN(values, 0, 8)     \
    PLAN(texture, 0, 65)   \
    PLAN(machine, 0, 5)    \
    PLAN(scheduler, 0, 64) PLAN(l1, 0, 64) PLAN(divergence, 0, 64) PLAN(threads, 1, 3) PLAN(races, 0, 2)

struct plan {
#define PLAN(name, standard, count) uint32_t name;
    PLAN_FIELDS
#undef PLAN
};

struct plan plan_read(const char *text, size_t size);
size_t plan_line(const char *text, size_t size); /* where the line begins; size: there is none */
int plan_write(const struct plan *p, char *out, size_t size);

/* The plan's machine with its policies. One that cannot be set up is a finding. */
struct gpu *plan_gpu(const struct plan *p, bool functional);

/* What came of it. */
struct plan_result {
    bool loaded, ended; /* all kernels of the module have */
    struct error error;
    uint64_t memory; /* hash of all that kernels can have written */
    bool raced;      /* functional, with the plan's races: threads accessed the same bytes, and nothing ordered them */
};

/* Loads the text and runs every kernel of it once, without time or on the plan's machine with its policies, within
 * limits. */
void plan_run(const struct plan *p, const char *text, size_t size, bool functional, struct plan_result *result);

#endif
