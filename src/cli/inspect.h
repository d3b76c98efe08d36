/* Between the files of `heddle inspect`. */
#ifndef HEDDLE_CLI_INSPECT_H
#define HEDDLE_CLI_INSPECT_H

#include "gpu/machine.h"
#include "ptx/cfg.h"
#include "ptx/phases.h"
#include "ptx/taint.h"

#include <stdio.h>

/* A function with its analyses; all in one arena. */
struct inspected {
    struct arena *arena;
    const struct ptx_module *module;
    const struct ptx_function *function;
    struct ptx_cfg *cfg;
    struct ptx_liveness *liveness;
    struct ptx_taints *taints;
    uint64_t shared_bytes; /* static, with what functions it calls use */
    bool dynamic_shared;   /* an extern __shared__ array is in use */
    uint64_t local_bytes;
    uint32_t branch_count, call_count;
};

/* inspect_read.c: the PTX of what was named. False with what is in the way. */
struct inspect_modules {
    struct ptx_module **list;
    uint32_t count;
};
bool inspect_read(struct inspect_modules *out, const char *word, struct error *e);
void inspect_forget(struct inspect_modules *m);

struct inspected *inspect_function(struct arena *a, const struct ptx_module *m, const struct ptx_function *f);
const char *inspect_kind(const struct inspected *p); /* "kernel" or "function" */

/* Where the source has these instructions: "kernel.cu:12-15", "" without .loc. */
const char *inspect_source(const struct inspected *p, uint32_t first, uint32_t end);
/* The loop that a branch goes round, or PTX_NO_LOOP: one of its targets is the loop's header. */
int32_t inspect_loop_ended(const struct inspected *p, uint32_t branch);
/* The outermost loop that a branch may leave, or PTX_NO_LOOP. */
int32_t inspect_loop_left(const struct inspected *p, uint32_t branch);

/* "P", "D" or "uniform": what the condition of a branch depends on. */
const char *inspect_branch_class(const struct inspected *p, uint32_t branch);

void inspect_print_cfg(const struct inspected *p, FILE *to);
void inspect_print_loops(const struct inspected *p, FILE *to);
void inspect_print_branches(const struct inspected *p, FILE *to);
void inspect_print_registers(const struct inspected *p, int target_sm, FILE *to); /* 0: the module's own */
void inspect_print_phases(const struct inspected *p, const struct machine *m, enum ptx_phase_order order, FILE *to);
/* inspect_machine_code.c */
void inspect_print_machine_code(const struct inspected *p, FILE *to);
void inspect_print_dot(const struct inspected *p, FILE *to);
void inspect_print_json(struct inspected *const *list, uint32_t count, const char *file, FILE *to);

#endif
