/* Heddle inside another C program: a machine with its policies, modules, memory, launches, results. Link with
 * libheddle; docs/embed.md has complete examples.
 *
 *     struct heddle_error e;
 *     struct heddle *h = heddle_open(&(struct heddle_options){.machine = "gtx480", .scheduler = "gto"}, &e);
 *     struct heddle_module *m = heddle_load_file(h, "add.ptx", &e);
 *     uint64_t x = heddle_alloc(h, sizeof numbers);
 *     heddle_write(h, x, numbers, sizeof numbers, &e);
 *     heddle_launch(h, heddle_kernel(m, "add"), &(struct heddle_launch){.grid = {16, 1, 1}, .block = {256, 1, 1},
 *                   .arguments = (void *[]){&x}}, &e);
 *     printf("%.0f cycles\n", heddle_metric(h, 0, "cycles"));
 *
 * A run with these options counts what `heddle run` with the same options counts. Functions that can fail return false,
 * NULL or 0, and fill the error that they are given; NULL is allowed. Nothing is printed. A handle may be used by one
 * thread at a time; two handles are independent. */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_MESSAGE_BYTES 3000

struct heddle_error {
    const char *kind;                   /* one word: "none", "not-found", "syntax", "address", "limit", ... */
    int line, column;                   /* of the text that it is about, from 1; 0 means that there is none */
    char message[HEDDLE_MESSAGE_BYTES]; /* perhaps several lines; no newline at the end */
};

struct heddle;
struct heddle_module;
struct heddle_kernel;

/* What the options of `heddle run` choose. All zero means the default machine, with time. heddle_open copies what it
 * needs. */
struct heddle_options {
    const char *machine;                     /* a name of machines/, or the path of such a file; NULL means gtx480 */
    const char *const *set;                  /* --set: "l1d.ways=8" and so on; NULL at the end */
    const char *scheduler, *l1, *divergence; /* specs (NAME:key=value, or a path to a .so); NULL means the machine's */
    const char *policies;                    /* -p: the spec of a bundle */
    const char *const *probes;               /* specs; NULL at the end */
    bool functional;                         /* results only, no time */
    bool exact_bounds;                       /* an access outside of allocations is always an error */
    bool races;                              /* functional: look for races */
    bool pcs;                                /* count what each instruction does */
    bool merge_launches;                     /* one entry per kernel in the results, not one per launch */
    uint64_t interval;                     /* cycles from one sample of the counters to the next; 0 means no samples */
    uint64_t max_cycles;                   /* of all launches together; 0 means no limit */
    uint32_t threads;                      /* of the host; 0 means one */
    uint64_t stack_bytes, heap_bytes;      /* of a thread; of malloc in kernels. 0 means CUDA's defaults */
    const char *timeline, *trace, *warps;  /* files to write, as --timeline, --trace and --warps; NULL means none */
    uint64_t timeline_first, timeline_end; /* cycles; 0, 0 means the first 20,000 */
    FILE *kernel_output;                   /* where printf of kernels goes; NULL means nowhere */
    volatile int *interrupt; /* a signal handler sets it to another value than 0, to end the launch; may be NULL */
    const char *program;     /* named in the results; or NULL */
};

struct heddle *heddle_open(const struct heddle_options *options, struct heddle_error *e);
/* Completes the files that were asked for, and lets probes write theirs; no launch may follow. False: a file could not
 * be written. */
bool heddle_finish(struct heddle *h, struct heddle_error *e);
void heddle_close(struct heddle *h); /* finishes first; frees all that belongs to it, also its modules */

/* Loads PTX text; name is for messages. */
struct heddle_module *heddle_load(struct heddle *h, const char *name, const char *ptx, size_t ptx_bytes,
                                  struct heddle_error *e);
struct heddle_module *heddle_load_file(struct heddle *h, const char *path, struct heddle_error *e);
void heddle_unload(struct heddle *h, struct heddle_module *m);
/* A kernel by its name; NULL means that there is none. */
const struct heddle_kernel *heddle_kernel(const struct heddle_module *m, const char *name);
/* The address of a variable; 0 means that there is none. */
uint64_t heddle_global(const struct heddle_module *m, const char *name, uint64_t *size_bytes);

/* Device memory. Copies are checked against allocations; as on a GPU, they may leave their data in the L2. */
uint64_t heddle_alloc(struct heddle *h, uint64_t size_bytes); /* zeroed; 0 means that it does not fit */
bool heddle_free(struct heddle *h, uint64_t address);
bool heddle_write(struct heddle *h, uint64_t to, const void *from, size_t bytes, struct heddle_error *e);
bool heddle_read(struct heddle *h, void *to, uint64_t from, size_t bytes, struct heddle_error *e);
bool heddle_fill(struct heddle *h, uint64_t to, int byte, size_t bytes, struct heddle_error *e);
/* An address is a pointer that the host may use as well, between launches. */
static inline void *heddle_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

struct heddle_launch {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0, 0, 0 means none */
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    void *const *arguments; /* one pointer per parameter, to its value; or NULL, and: */
    const void *params;     /* the parameter block: parameters in order, each at its natural alignment */
    uint32_t params_bytes;
    uint64_t max_cycles; /* of this launch; 0 means no limit of its own */
};

/* Runs the kernel to its end. */
bool heddle_launch(struct heddle *h, const struct heddle_kernel *k, const struct heddle_launch *launch,
                   struct heddle_error *e);

/* Results: of one launch by its number from 0, or of all. */
enum { HEDDLE_TOTAL = -1 };
uint32_t heddle_launches(const struct heddle *h);
/* By the name that the metric has in the JSON of --stats: "cycles", "l1d.misses", "lanes.32", or a policy's own,
 * "ccws.vta_hits". NaN means that there is no such number, or it needs time. */
double heddle_metric(const struct heddle *h, int64_t launch, const char *name);
/* All results, as `heddle run --stats` writes them: as text to be freed by free(), or into a file. */
char *heddle_json(const struct heddle *h);
bool heddle_save(const struct heddle *h, const char *path, struct heddle_error *e);

/* The glossary (heddle list metrics): false past the last. */
struct heddle_metric_info {
    const char *name, *unit, *help, *nsight;
};
bool heddle_metric_info(uint32_t index, struct heddle_metric_info *out);

const char *heddle_version(void);

#ifdef __cplusplus
}
#endif
#endif
