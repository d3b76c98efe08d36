/*
 * Random kernels: PTX programs made from a seed, whose results were recorded on silicon and are compared word for word.
 * Shared declarations of the program `random`:
 *   text.c       random numbers, growing text
 *   registers.c  the register pools, operands, and the trace of what statements gave
 *   patterns.c   the instructions of one lane, as patterns
 *   memory.c     loads, stores, atomics
 *   warp.c       what lanes do together: shuffles, votes, barriers, exchange through shared memory
 *   flow.c       branches, loops, switches, exits
 *   functions.c  device functions and calls
 *   generate.c   the kernel around all that, its launch and its input
 *   device.c     the CUDA driver API
 *   recording.c  the recorded files
 *   kernels.c    the command line
 * The text of a kernel must not depend on the compiler: no expression draws two random numbers in an order C leaves
 *
 * open. */
#ifndef HEDDLE_TESTS_RANDOM_RANDOM_H
#define HEDDLE_TESTS_RANDOM_RANDOM_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- text.c ---- */

struct rng {
    uint64_t state;
};

uint64_t rng_bits(struct rng *rng);
unsigned rng_below(struct rng *rng, unsigned limit);
int rng_percent(struct rng *rng, unsigned percent);

struct text {
    char *data;
    size_t size, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_append(struct text *text, const char *data, size_t size);
void text_clear(struct text *text);
void text_free(struct text *text);

uint64_t hash_bytes(const void *data, size_t size);

/* ---- what a seed makes ---- */

enum {
    INPUT_ENTRIES = 512, /* of eight bytes; an index is masked to these */
    INPUT_SLACK = 64,    /* entries behind them that an offset may reach */
    INPUT_BYTES = (INPUT_ENTRIES + INPUT_SLACK) * 8,
    SHARED_CELLS = 64, /* eight bytes each, for reductions by all threads */
    CELL_BYTES = 8,
    SCRATCH_BYTES = 32,  /* global memory of a thread's own */
    EXCHANGE_BYTES = 16, /* shared memory of a thread, which others read */
    LOCAL_BYTES = 128,
    TABLE_BYTES = 256, /* constant table, global table */
    STRUCT_BYTES = 32, /* the parameter that is a structure */
    MAX_FUNCTIONS = 6,
    MAX_SIGNATURE = 5,
    /* Kernels of this seed and of those above it consist of instructions whose meaning does not depend on which threads
     * share a warp, and branch more. Divergence units that mix warps run every one of them. */
    MIXABLE_SEEDS = 1000000
};

/* Kernel parameters, in the order of the PTX text. */
struct parameters {
    uint64_t in, out;
    uint32_t word;
    uint16_t half;
    uint8_t byte;
    uint64_t wide;
    float single;
    double real;
    unsigned char structure[STRUCT_BYTES];
};

struct kernel {
    uint64_t seed;
    unsigned grid[3], block[3];
    unsigned block_threads, threads;
    unsigned dynamic_shared_bytes;
    unsigned columns;                /* words a thread writes, one column each */
    size_t column_bytes, columns_at; /* the output: cells, scratch of every thread, columns */
    size_t out_bytes;
    struct parameters parameters;
    struct text ptx;
};

void kernel_generate(struct kernel *kernel, uint64_t seed);
void kernel_free(struct kernel *kernel);
void kernel_fill_input(const struct kernel *kernel, unsigned char *in);
void kernel_fill_output(const struct kernel *kernel, unsigned char *out);
uint64_t kernel_text_hash(const struct kernel *kernel);
/* The first instruction that needs its warp whole, and that a unit which mixes warps refuses: its line, or NULL. */
const char *kernel_needs_warps(const struct kernel *kernel);
/* Where in the kernel a byte of the output comes from, in words. */
void kernel_describe(const struct kernel *kernel, size_t offset, char *message, size_t size);

/* ---- the generator ---- */

struct signature {
    int parameters, results;
    char parameter[MAX_SIGNATURE]; /* operand classes; 'S' a structure of 16 bytes */
    char result[2];
    int by_register; /* .reg parameters instead of .param */
};

struct function {
    struct signature signature;
    int indirect; /* has the common signature of the functions called through pointers */
};

struct generator {
    struct rng rng;
    struct kernel *kernel;
    struct text body; /* statements so far */
    struct text head; /* module-level text in front of the kernel */
    int inside_function;
    int depth; /* nested control flow */
    int loop_depth;
    int mixable;         /* the seed is one of MIXABLE_SEEDS */
    int divergent;       /* > 0: lanes may be apart here */
    int collectives_end; /* lanes left on their own: no more collective instructions */
    int lanes_left;      /* some left together: the live mask is not the start's */
    int labels, counters, temporaries;
    int budget; /* statements left */
    int trace_percent;
    int dynamic_shared;
    struct function functions[MAX_FUNCTIONS];
    int function_count;
    int break_label; /* of the innermost loop that lanes may leave alone; -1: none */
    int uniform_loops;
    int recursion;                     /* the function that calls itself is there */
    const struct signature *returning; /* of the function being made */
};

/* ---- registers.c ---- */

void registers_declare(struct text *text);
/* A register of an operand class (lower case letter; see registers.c). */
const char *register_pick(struct generator *g, char class);
/* Different registers of a class: destinations of one instruction. */
void registers_pick_distinct(struct generator *g, char class, const char **names, int count);
/* A register or a literal. */
void operand_add(struct generator *g, struct text *text, char class);
int class_bits(char class);
/* Stores a register's value as a column of the output, at the trace's rate or always. */
void trace(struct generator *g, char class, const char *name);
void trace_always(struct generator *g, char class, const char *name);
void trace_everything(struct generator *g, unsigned percent);
/* First values: from the input, at the address in %entry; or, in a function, from the mixture in %mixed. */
void registers_load(struct generator *g);
void registers_derive(struct generator *g);
int temporary(struct generator *g); /* number of a fresh %t, %a (64 bits) */
int label(struct generator *g);
/* A 32-bit value of 0..mask in a fresh %t. */
int masked_value(struct generator *g, unsigned mask);
const char *predicate_guard(struct generator *g); /* "@%p1 ", "@!%p2 " */

/* ---- patterns.c ---- */

void pattern_statement(struct generator *g);
void pattern_of_group(struct generator *g, const char *group);

/* ---- memory.c ---- */

void memory_statement(struct generator *g);
void atomic_statement(struct generator *g);

/* ---- warp.c ---- */

void warp_statement(struct generator *g);

/* ---- flow.c ---- */

void block_statements(struct generator *g, int count);
void flow_statement(struct generator *g);

/* ---- functions.c ---- */

void functions_define(struct generator *g);
void call_statement(struct generator *g);
void function_return(struct generator *g, int condition);

/* ---- device.c ---- */

struct device {
    CUdevice device;
    CUcontext context;
};

int device_open(struct device *device);
void device_close(struct device *device);
/* Runs a kernel at an optimisation level of the driver's compiler; -1 leaves it alone. Returns 0, or -1 with a
 * message. */
int device_run(struct device *device, const struct kernel *kernel, int optimisation, unsigned char *out, char *message,
               size_t size);

/* ---- recording.c ---- */

struct recorded {
    uint64_t seed, text_hash, hash;
    uint32_t words[4];
};

struct recording {
    struct recorded *rows; /* sorted by seed, as recorded */
    size_t count;
};

int recording_read(struct recording *recording, const char *path);
void recorded_fill(struct recorded *row, const struct kernel *kernel, const unsigned char *out);
void recorded_write(FILE *file, const struct recorded *row);

/* The outputs in full: seed, size, bytes, and so on. */
int full_write(FILE *file, uint64_t seed, const unsigned char *out, uint64_t size);
unsigned char *full_find(const char *path, uint64_t seed, uint64_t *size);

#endif
