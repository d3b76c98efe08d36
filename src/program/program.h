/* What can be said of a program before it is run; `heddle run` refuses by it, `heddle doctor` explains. */
#ifndef HEDDLE_PROGRAM_PROGRAM_H
#define HEDDLE_PROGRAM_PROGRAM_H

#include "program/elf.h"
#include "program/places.h"
#include "ptx/fatbin.h"

/* PROGRAM as a person writes it: a workload's name, or a path. False: not found, or not a program that can be
 * executed. */
struct program {
    char path[PATH_MAX];
    bool is_workload;
};
bool program_find(struct program *p, const char *word, const struct places *places, struct error *e);

/* The reasons why it cannot run at all; the first one that holds, of the program or of a library that it brings along.
 * False with ERROR_UNSUPPORTED. */
bool program_check(const struct elf_program *elf, const char *path, const struct places *places, struct error *e);

/* Those that lie in one file, whether it is the program or a library. */
bool program_check_runtime(const struct elf_program *elf, const char *path, const struct places *places,
                           struct error *e);
bool program_check_images(const struct elf_program *elf, const char *path, struct error *e);
bool program_check_form(const struct elf_program *elf, const char *path, struct error *e);

/* Calls visit for the PTX in every image, linked says whether it is to be linked with the others. images: how many hold
 * code. */
typedef bool program_ptx_visitor(const char *text, size_t size, bool linked, void *user);
enum fatbin_result program_visit_ptx(const struct elf_program *elf, program_ptx_visitor *visit, void *user,
                                     unsigned *images, struct error *e);

/* Every text of PTX in the file: of its images, else what looks like PTX among its data. Returns the number of images
 * that hold code. */
struct program_text {
    char name[64]; /* where it is, for messages */
    const char *text;
    size_t size;
    bool linked;  /* to be linked with the other linked ones */
    bool guessed; /* found by its looks alone */
};
typedef void program_text_visitor(const struct program_text *t, void *user);
unsigned program_visit_texts(const struct elf_program *elf, program_text_visitor *visit, void *user);

/* A closed library of NVIDIA's by the name of its file: what it is called, or NULL. */
const char *program_closed_library(const char *file);
/* The same where the program uses it: linking with one is no harm, nor are functions that use no GPU. *function: one
 * that it calls, or NULL where the library counts as used without that. */
const char *program_closed_use(const struct elf_program *elf, const char *file, const char **function);

/* The libraries that the program brings along, and theirs, until visit returns false; false then. */
typedef bool program_library_visitor(const struct elf_program *elf, const char *path, void *user);
bool program_visit_libraries(const struct elf_program *elf, const char *path, program_library_visitor *visit,
                             void *user);

/* What LD_PRELOAD must hold for Heddle's libraries to be found: a program may name folders that go before
 * LD_LIBRARY_PATH. library: the folder of Heddle's. False: nothing. */
bool program_preload(const char *path, const char *library, char *out, size_t size);

/* The CUDA functions that a program, or a library of it, imports. */
struct program_functions {
    const struct elf_program *program;
    const char *path;
    struct elf_program driver, runtime; /* Heddle's */
};
enum program_function { FUNCTION_OTHER /* not CUDA's */, FUNCTION_THERE, FUNCTION_REFUSES, FUNCTION_ABSENT };
void program_functions_open(struct program_functions *f, const struct elf_program *elf, const char *path,
                            const struct places *places);
void program_functions_close(struct program_functions *f);
enum program_function program_function(const struct program_functions *f, uint32_t import, bool *of_runtime);

/* Two of the reasons of program_check. */
bool program_check_closed(const struct elf_program *elf, const char *path, struct error *e);
bool program_check_functions(const struct elf_program *elf, const char *path, const struct places *places,
                             struct error *e);

#endif
