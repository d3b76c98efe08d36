/*
 * Semantics vectors: what every PTX instruction does to chosen operands, recorded on silicon and replayed on Heddle.
 * Shared declarations of the program `vectors`:
 *   spec.c      spec files -> variants (one instruction spelling with its operand classes)
 *   operands.c  operand classes -> deterministic operand values
 *   emit.c      variants -> PTX modules
 *   kernels.c   hand-written PTX kernels with a launch header
 *   textures.c  the same with texture and surface objects
 *   device.c    the CUDA driver API
 *   approx.c    tolerance of the approximate instructions
 *   record.c    recorded files: write, read, compare
 *   table.c     coverage of the simulator's instruction table
 *   vectors.c   the command
 * line */
#ifndef HEDDLE_TESTS_SEMANTICS_VECTORS_H
#define HEDDLE_TESTS_SEMANTICS_VECTORS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    TUPLES = 1024, /* operand tuples of a spelling, one per thread */
    CHUNK = 64,    /* tuples behind one short hash */
    MAX_OPERANDS = 12,
    FIRST_OUTPUTS = 8,  /* outputs recorded in plain */
    BATCH = 48,         /* kernels of one module */
    LIMIT_SECONDS = 60, /* a kernel that runs longer hangs */
    APPROX_SAMPLES = 64
};

/* ---- spec.c ---- */

struct operand_class;

struct operand {
    char name[8];
    const struct operand_class *class;
    int is_output;
};

/* One instruction spelling: what is recorded and checked as a unit. */
struct variant {
    char *family;
    char *spelling; /* unique name; what follows '@' tells variants of one spelling apart */
    char *body;     /* the PTX statements, with $name for operands */
    struct operand operands[MAX_OPERANDS];
    int operand_count;
};

struct spec {
    struct variant *variants;
    size_t count, capacity;
};

int spec_read_directory(struct spec *spec, const char *directory);
void spec_free(struct spec *spec);

/* ---- operands.c ---- */

const struct operand_class *operand_class_find(const char *name);
int operand_class_bits(const struct operand_class *class);         /* register width; 1: predicate */
uint64_t hash_bytes(uint64_t hash, const void *data, size_t size); /* FNV-1a; start with HASH_START */
#define HASH_START 0xcbf29ce484222325ull
uint64_t splitmix64(uint64_t *state);
/* Fills inputs[k * TUPLES + tuple] for the k-th input operand; returns the number of inputs. */
int operands_generate(const struct variant *variant, uint64_t *inputs);

/* ---- emit.c ---- */

struct text {
    char *data;
    size_t size, capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);
void emit_header(struct text *text);
void emit_kernel(struct text *text, const struct variant *variant, const char *name);

/* ---- kernels.c ---- */

struct kernel {
    const char *family; /* kernels, textures */
    char *name;         /* file stem and the values of its substitutions */
    char *ptx;
    unsigned grid, block, shared_bytes;
    size_t in_bytes, out_bytes;
    unsigned allowed; /* how many 16-byte pieces of the output may differ */
    char fill[16];
};

struct kernel_set {
    struct kernel *kernels;
    size_t count, capacity;
};

/* Adds a directory's kernels; the family's name must outlive them. */
int kernels_read_directory(struct kernel_set *set, const char *directory, const char *family);
void kernels_free(struct kernel_set *set);
int kernel_fill(const struct kernel *kernel, void *in);

/* ---- device.c ---- */

struct device {
    CUdevice device;
    CUcontext context;
    CUdeviceptr in, out;
    size_t in_bytes, out_bytes;
    int hung;
};

int device_open(struct device *device);
void device_close(struct device *device);
int device_load(CUmodule *module, const char *ptx, char *message, size_t message_size);
/* Copies `in` to the device, launches, and copies the result to `out`. A failed launch leaves a fresh context behind;
 * a kernel that does not end leaves nothing to go on with, and `hung` set. */
int device_run(struct device *device, CUmodule module, const char *name, unsigned grid, unsigned block,
               unsigned shared_bytes, const void *in, size_t in_bytes, void *out, size_t out_bytes, char *message,
               size_t message_size);

/* ---- textures.c ---- */

/* Makes the objects that the kernel asks for, launches it, and releases them. */
int textures_run(struct device *device, const struct kernel *kernel, CUmodule module, unsigned char *out, char *message,
                 size_t message_size);

/* ---- approx.c ---- */

/* Class letters of every element of every output: n finite, o and z zeros, p and m infinities, x not a number. */
void approx_classes(const struct variant *variant, const uint64_t *outputs, struct text *classes);
/* Compares against the recorded classes and the true values; describes the first difference. Returns 0 if all is
 * well. */
int approx_check(const struct variant *variant, const uint64_t *inputs, const uint64_t *outputs,
                 const char *recorded_classes, char *message, size_t message_size);

/* ---- record.c ---- */

struct record {
    char *name;
    char *fields; /* the rest of the line */
};

struct record_file {
    char *text;
    struct record *records; /* sorted by name */
    size_t count;
};

int record_file_read(struct record_file *file, const char *directory, const char *family);
void record_file_free(struct record_file *file);
const char *record_find(const struct record_file *file, const char *name);

/* The full outputs, for finding the operands of a mismatch. Split in numbered files below 16 MB. */
struct full_writer {
    char directory[1024];
    FILE *file;
    int number;
    size_t bytes;
};

int full_write(struct full_writer *writer, const char *name, const void *data, size_t size);
void full_close(struct full_writer *writer);

struct full_reader {
    struct full_entry *entries;
    size_t count;
};

int full_read_directory(struct full_reader *reader, const char *directory);
const unsigned char *full_find(const struct full_reader *reader, const char *name, size_t *size);
void full_free(struct full_reader *reader);

size_t outputs_pack(const struct variant *variant, const uint64_t *outputs, unsigned char *packed);
void record_variant(FILE *file, const struct variant *variant, const uint64_t *inputs, const uint64_t *outputs);
int check_variant(const struct variant *variant, const char *fields, const uint64_t *inputs, const uint64_t *outputs,
                  const struct full_reader *full, char *message, size_t message_size);
void record_kernel(FILE *file, const struct kernel *kernel, const unsigned char *out);
int check_kernel(const struct kernel *kernel, const char *fields, const unsigned char *out,
                 const struct full_reader *full, char *message, size_t message_size);

/* ---- table.c ---- */

/* Prints the instructions of the simulator's table that no recorded vector uses. Returns the exit status. */
int table_check(const struct spec *spec, const struct kernel_set *kernels, const char *definitions,
                const char *untestable, const char *vec_directory);

/* ---- shared small things (emit.c) ---- */

void *grow(void *array, size_t *capacity, size_t wanted, size_t element_size);
char *read_text_file(const char *path);
char *copy_text(const char *text);
/* Names in a directory with an ending, sorted; the caller frees each and the array. */
char **list_directory(const char *directory, const char *ending, size_t *count);
void free_list(char **names, size_t count);

#endif
