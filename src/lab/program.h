/* What can be said of a program before it is run; `heddle run` refuses by it, `heddle doctor` explains. */
#ifndef HEDDLE_LAB_PROGRAM_H
#define HEDDLE_LAB_PROGRAM_H

#include "lab/elf_program.h"
#include "cuda/fatbin.h"
#include "lab/places.h"

/* PROGRAM as a person writes it: a workload's name, or a path. False: not found, or not a program that can be executed. */
struct program {
    char path[PATH_MAX];
    bool is_workload;
};
bool program_find(struct program *p, const char *word, const struct places *places, struct error *e);

/* The reasons why it cannot run at all; the first one that holds. False with ERROR_UNSUPPORTED. */
bool program_check(const struct elf_program *elf, const char *path, const struct places *places, struct error *e);

/* Calls visit for the PTX in every image, linked says whether it is to be linked with the others. images: how many there are. */
typedef bool program_ptx_visitor(const char *text, size_t size, bool linked, void *user);
enum fatbin_result program_visit_ptx(const struct elf_program *elf, program_ptx_visitor *visit, void *user, unsigned *images, struct error *e);

#endif
