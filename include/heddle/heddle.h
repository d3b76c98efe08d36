/* Heddle inside another C program: a machine, a module, memory, launches, results. Link with libheddle.
 *
 *     char message[HEDDLE_MESSAGE_BYTES];
 *     struct heddle *h = heddle_open("gtx480", message);
 *     struct heddle_module *m = heddle_load(h, "kernel.ptx", text, strlen(text), message);
 *     uint64_t x = heddle_alloc(h, 4096);
 *     ...
 *     heddle_launch(h, heddle_kernel(m, "add"), &(struct heddle_launch){ .grid = {16, 1, 1}, .block = {256, 1, 1},
 * .params = &params, .params_bytes = sizeof params }, message);
 *
 * Functions that can fail take a buffer for the message (or NULL), and return false, NULL or 0. A handle is not to be
 * used from two threads at once; two handles are independent. */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_MESSAGE_BYTES 3000

struct heddle;
struct heddle_module;
struct heddle_kernel;

struct heddle *heddle_open(const char *machine, char *message); /* a name of machines/, or the path of such a file */
void heddle_close(struct heddle *h);

/* PTX text; name is for messages. */
struct heddle_module *heddle_load(struct heddle *h, const char *name, const char *ptx, size_t ptx_bytes, char *message);
void heddle_unload(struct heddle *h, struct heddle_module *m);
const struct heddle_kernel *heddle_kernel(const struct heddle_module *m, const char *name); /* NULL: there is none */
uint64_t heddle_global(const struct heddle_module *m, const char *name,
                       uint64_t *size_bytes); /* address; 0: there is none */

/* Device memory. An address is a pointer that the host may use as well, between launches. */
uint64_t heddle_alloc(struct heddle *h, uint64_t size_bytes); /* zeroed; 0: it does not fit */
bool heddle_free(struct heddle *h, uint64_t address);
static inline void *heddle_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

struct heddle_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *params; /* the parameter block: parameters in order, each at its natural alignment */
    uint32_t params_bytes;
    uint64_t max_cycles; /* 0: no limit */
};

struct heddle_counters {
    uint64_t warp_instructions, thread_instructions;
    uint64_t lanes[33]; /* warp instructions by active lanes */
    uint64_t branches, divergent_branches;
    double seconds;
};

bool heddle_launch(struct heddle *h, const struct heddle_kernel *k, const struct heddle_launch *launch, char *message);
/* What the launches so far counted, by their number from 0; false past the last. */
bool heddle_results(const struct heddle *h, uint32_t launch, struct heddle_counters *out);
const char *heddle_version(void);

#ifdef __cplusplus
}
#endif
#endif
