/* What an executable says of itself before it is run: the libraries it needs, the functions it imports, the GPU code
 * inside. */
#ifndef HEDDLE_PROGRAM_ELF_H
#define HEDDLE_PROGRAM_ELF_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_bytes {
    const uint8_t *data;
    size_t size;
};

struct elf_program {
    struct arena arena;
    struct elf_bytes file;
    bool is_elf;          /* false: something else, a script for one; then nothing below is known */
    bool has_interpreter; /* false: a library, or a program without dynamic linking */
    const char **needed;  /* DT_NEEDED */
    uint32_t needed_count;
    const char *rpath, *runpath; /* DT_RPATH, which goes before LD_LIBRARY_PATH, and DT_RUNPATH, which goes after it;
                                    "" where there is none */
    const char **imports;        /* undefined dynamic symbols that must be found */
    const char *
        *import_libraries; /* where each was found when the program was linked; NULL where the file does not say */
    uint32_t import_count;
    const char **exports; /* defined dynamic symbols */
    uint32_t export_count;
    bool has_fatbin_segment;      /* .nvFatBinSegment: what nvcc registers with the CUDA runtime */
    bool defines_cudart;          /* the CUDA runtime is inside */
    struct elf_bytes fatbins;     /* .nv_fatbin: images one after the other */
    struct elf_bytes relocatable; /* __nv_relfatbin: images to be linked with each other */
};

/* False: cannot be read, not executable code of this machine, or damaged. */
bool elf_program_open(struct elf_program *p, const char *path, struct error *e);
void elf_program_close(struct elf_program *p);
bool elf_program_imports(const struct elf_program *p, const char *name);
const char *elf_program_needs(const struct elf_program *p,
                              const char *prefix); /* the first library whose name starts so, or NULL */

/* A piece of what is loaded when the program is executed. */
struct elf_loaded {
    uint64_t address; /* in the program's own numbering */
    uint32_t flags;   /* PF_R and the like; of the whole segment */
    struct elf_bytes bytes;
};
typedef void elf_loaded_visitor(void *user, const struct elf_loaded *piece);
/* All bytes of its loaded segments in order, less the ELF header and the build identifier. False: it has none, or they
 * lie outside of the file; then perhaps some were visited. */
bool elf_program_visit_loaded(const struct elf_program *p, elf_loaded_visitor *visit, void *user);

/* A whole regular file, read-only; bytes.size 0 where it is empty. */
bool elf_map_file(struct elf_bytes *file, const char *path, struct error *e);
void elf_unmap_file(struct elf_bytes *file);

#endif
