/* Finds a program and says, from its file alone, why it could not run. */
#include "program/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool not_found(const char *word, const struct places *places, struct error *e)
{
    if (strchr(word, '/'))
        return error_set(e, ERROR_NOT_FOUND, "no program %s: %s", word, strerror(errno));
    error_set(e, ERROR_NOT_FOUND, "no workload and no program '%s'", word);
    struct names names = names_in(places->workloads, "");
    const char *near = nearest_name(word, (const char *const *)names.names, names.count);
    if (near)
        error_note(e, "did you mean the workload '%s'?", near);
    if (!names.count)
        error_note(e, "(no workloads in %s)", places->workloads);
    else
        error_note(e, "'heddle list workloads' shows them; a program of your own needs a path, such as ./%s", word);
    names_free(&names);
    return false;
}

bool program_find(struct program *p, const char *word, const struct places *places, struct error *e)
{
    p->is_workload = false;
    if (!strchr(word, '/')) {
        snprintf(p->path, sizeof p->path, "%.3000s/%.900s", places->workloads, word);
        if (*word && is_file(p->path)) {
            p->is_workload = true;
            return true;
        }
    }
    struct stat s;
    snprintf(p->path, sizeof p->path, "%s%.4000s", strchr(word, '/') ? "" : "./", word);
    if (stat(p->path, &s) < 0)
        return not_found(word, places, e);
    if (!S_ISREG(s.st_mode))
        return error_set(e, ERROR_IO, "%s is %s, not a program", word,
                         S_ISDIR(s.st_mode) ? "a folder" : "not a regular file");
    size_t length = strlen(word);
    if (length > 4 && !strcmp(word + length - 4, ".ptx"))
        return error_set(e, ERROR_IO,
                         "%s is PTX, not a program: a host program loads it (cuModuleLoad); 'heddle inspect' and "
                         "'heddle doctor' read it",
                         word);
    if (access(p->path, X_OK) < 0)
        return error_set(e, ERROR_IO, "%s is not executable (chmod +x makes it so, if it is a program)", word);
    return true;
}

/* ------------------------------------------------------------- GPU code inside */

#define IMAGE_MAGIC 0xBA55ED50u
enum { IMAGE_HEADER_BYTES = 16, IMAGE_ALIGN = 8 };

struct visit_state {
    program_ptx_visitor *visit;
    void *user;
    bool linked;
};

static bool pass_on(const char *text, size_t size, void *user)
{
    struct visit_state *s = user;
    return s->visit(text, size, s->linked, s->user);
}

/* The linker puts images one after the other, padded. Returns FOUND if any held PTX. */
static enum fatbin_result visit_section(const struct elf_bytes *b, struct visit_state *s, unsigned *images,
                                        struct error *e)
{
    enum fatbin_result any = FATBIN_NO_PTX;
    for (size_t at = 0; at + IMAGE_HEADER_BYTES <= b->size;) {
        uint32_t magic;
        uint16_t header;
        uint64_t size;
        memcpy(&magic, b->data + at, sizeof magic);
        memcpy(&header, b->data + at + 6, sizeof header);
        memcpy(&size, b->data + at + 8, sizeof size);
        if (magic != IMAGE_MAGIC) {
            at += IMAGE_ALIGN;
            continue;
        }
        struct error own = {0}; /* an image without PTX is no error where others have some */
        enum fatbin_result r = fatbin_find_ptx(b->data + at, b->size - at, pass_on, s, &own);
        *images += r != FATBIN_NO_PTX || fatbin_has_code(b->data + at, b->size - at);
        if (r == FATBIN_MALFORMED || r == FATBIN_STOPPED) {
            error_set(e, own.kind, "%s", own.text);
            return r;
        }
        any = r == FATBIN_FOUND ? r : any;
        at += ((size_t)header + (size_t)size + IMAGE_ALIGN - 1) / IMAGE_ALIGN * IMAGE_ALIGN;
    }
    return any;
}

enum fatbin_result program_visit_ptx(const struct elf_program *elf, program_ptx_visitor *visit, void *user,
                                     unsigned *images, struct error *e)
{
    struct visit_state s = {.visit = visit, .user = user};
    *images = 0;
    enum fatbin_result plain = visit_section(&elf->fatbins, &s, images, e);
    if (plain == FATBIN_MALFORMED || plain == FATBIN_STOPPED)
        return plain;
    s.linked = true;
    enum fatbin_result linked = visit_section(&elf->relocatable, &s, images, e);
    return linked == FATBIN_NO_PTX ? plain : linked;
}

/* ------------------------------------------------------------- reasons */

bool program_check_runtime(const struct elf_program *elf, const char *path, const struct places *places,
                           struct error *e)
{
    const char *runtime = elf_program_needs(elf, "libcudart.so");
    if (!runtime &&
        (elf->defines_cudart || (elf->has_fatbin_segment && !elf_program_imports(elf, "__cudaRegisterFatBinary")))) {
        error_set(e, ERROR_UNSUPPORTED, "%s holds a static copy of the CUDA runtime, which Heddle cannot stand in for",
                  path);
        error_note(e, "build it with 'nvcc -cudart shared'");
        return false;
    }
    char own[PATH_MAX + 300];
    snprintf(own, sizeof own, "%s/%.255s", places->lib, runtime ? runtime : "");
    if (runtime && !is_file(own)) {
        error_set(e, ERROR_UNSUPPORTED, "%s needs %s, the runtime of a CUDA that Heddle does not know", path, runtime);
        error_note(e, "programs of CUDA 11, 12 and 13 can run");
        return false;
    }
    return true;
}

static bool take_any(const char *text, size_t size, bool linked, void *user)
{
    (void)text, (void)size, (void)linked;
    *(bool *)user = true;
    return true;
}

bool program_check_images(const struct elf_program *elf, const char *path, struct error *e)
{
    struct error own = {0};
    bool found = false;
    unsigned images;
    enum fatbin_result r = program_visit_ptx(elf, take_any, &found, &images, &own);
    if (r == FATBIN_MALFORMED)
        return error_set(e, ERROR_UNSUPPORTED, "%s: %s", path, own.text);
    if (images && !found) {
        error_set(e, ERROR_UNSUPPORTED, "%s holds GPU machine code only and no PTX; Heddle runs PTX", path);
        error_note(e, "build it with PTX inside, as in 'nvcc -gencode arch=compute_75,code=compute_75'");
        return false;
    }
    return true;
}

bool program_check_form(const struct elf_program *elf, const char *path, struct error *e)
{
    if (!elf->has_interpreter && !elf->needed_count)
        return error_set(e, ERROR_UNSUPPORTED,
                         "%s is linked statically, so that Heddle's library cannot be put in front of it", path);
    if (!elf->has_interpreter)
        return error_set(e, ERROR_IO, "%s is a shared library, not a program", path);
    return true;
}

static bool check_file(const struct elf_program *elf, const char *path, const struct places *places, struct error *e)
{
    return program_check_runtime(elf, path, places, e) && program_check_closed(elf, path, e) &&
           program_check_images(elf, path, e) && program_check_functions(elf, path, places, e);
}

struct library_check {
    const struct places *places;
    struct error *error;
};

static bool check_library(const struct elf_program *elf, const char *path, void *user)
{
    const struct library_check *c = user;
    return check_file(elf, path, c->places, c->error);
}

bool program_check(const struct elf_program *elf, const char *path, const struct places *places, struct error *e)
{
    if (!elf->is_elf) {
        if (elf->file.size >= 2 && !memcmp(elf->file.data, "#!", 2))
            return true; /* a script: what it starts is not known */
        return error_set(e, ERROR_IO, "%s is not a program: neither an ELF file nor a script", path);
    }
    struct library_check c = {places, e};
    return check_file(elf, path, places, e) && program_check_form(elf, path, e) &&
           program_visit_libraries(elf, path, check_library, &c);
}
