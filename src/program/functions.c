/* The CUDA functions that a program imports, against those that Heddle's libraries have: there, there only to refuse,
 * or absent. */
#include "program/program.h"

#include <stdio.h>
#include <string.h>

static const char *const refusing[] = {
#define UNSUPPORTED(name, ...) #name,
#include "cuda/unsupported.def"
#undef UNSUPPORTED
#define MISSING(name) #name,
#include "cudart/missing.def"
#undef MISSING
};

static bool contains(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static void open_own(struct elf_program *p, const struct places *places, const char *name)
{
    char path[PATH_MAX + 300];
    struct error ignored = {0};
    snprintf(path, sizeof path, "%s/%.255s", places->lib, name);
    if (!elf_program_open(p, path, &ignored))
        *p = (struct elf_program){0};
}

void program_functions_open(struct program_functions *f, const struct elf_program *elf, const char *path,
                            const struct places *places)
{
    const char *runtime = elf_program_needs(elf, "libcudart.so");
    *f = (struct program_functions){.program = elf, .path = path};
    open_own(&f->driver, places, "libcuda.so.1");
    if (runtime)
        open_own(&f->runtime, places, runtime);
}

void program_functions_close(struct program_functions *f)
{
    elf_program_close(&f->driver);
    elf_program_close(&f->runtime);
}

static bool is_driver_name(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}
static bool is_runtime_name(const char *name) { return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6); }

enum { MOST_NAMED = 10 };
struct search {
    const char *name;
    bool found;
};

static bool look_in_library(const struct elf_program *elf, const char *path, void *user)
{
    struct search *s = user;
    (void)path;
    s->found = contains(elf->exports, elf->export_count, s->name);
    return !s->found;
}

/* A name that only looks like CUDA's may be one of the program's own libraries. */
static bool is_of_own_library(const struct program_functions *f, const char *name)
{
    struct search s = {.name = name};
    program_visit_libraries(f->program, f->path, look_in_library, &s);
    return s.found;
}

/* NVIDIA's driver has no symbol versions, its runtime has: without one, a name alone does not make a function of the
 * runtime's. */
enum program_function program_function(const struct program_functions *f, uint32_t import, bool *of_runtime)
{
    const char *name = f->program->imports[import], *library = f->program->import_libraries[import];
    *of_runtime = library ? !strncmp(library, "libcudart.so", 12) : is_runtime_name(name);
    bool of_driver = !*of_runtime && !library && is_driver_name(name);
    const struct elf_program *own = *of_runtime ? &f->runtime : &f->driver;
    if ((!*of_runtime && !of_driver) || !own->is_elf)
        return FUNCTION_OTHER;
    if (contains(refusing, sizeof refusing / sizeof *refusing, name))
        return FUNCTION_REFUSES;
    if (contains(own->exports, own->export_count, name))
        return FUNCTION_THERE;
    return !library && (*of_runtime || !elf_program_needs(f->program, "libcuda.so") || is_of_own_library(f, name))
               ? FUNCTION_OTHER
               : FUNCTION_ABSENT;
}

bool program_check_functions(const struct elf_program *elf, const char *path, const struct places *places,
                             struct error *e)
{
    struct program_functions f;
    unsigned absent = 0;
    bool of_runtime;
    program_functions_open(&f, elf, path, places);
    for (uint32_t i = 0; i < elf->import_count; i++) {
        if (program_function(&f, i, &of_runtime) != FUNCTION_ABSENT)
            continue;
        if (!absent++)
            error_set(e, ERROR_UNSUPPORTED, "%s calls %s, which Heddle's %s does not have", path, elf->imports[i],
                      of_runtime ? "CUDA runtime" : "libcuda.so.1");
        else if (absent <= MOST_NAMED)
            error_note(e, "nor %s", elf->imports[i]);
    }
    program_functions_close(&f);
    return absent == 0;
}
