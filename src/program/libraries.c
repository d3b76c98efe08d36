/* The libraries of a program: NVIDIA's closed ones, by name, and those of the program's own, which may hold kernels
 * too. The latter are looked for where the program or the user points (DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH), not
 * among the system's. */
#include "base/out_of_memory.h"
#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* By the begin of the file's name; functions: how the names of its functions begin, for files that do not say where
 * they found each. NULL: in too many ways. */
static const struct {
    const char *prefix, *name, *functions;
} closed[] = {
    {"libcublasLt.", "cuBLASLt", "cublasLt"},
    {"libcublas.", "cuBLAS", "cublas"},
    {"libnvblas.", "NVBLAS", NULL},
    {"libcudnn", "cuDNN", "cudnn"},
    {"libcufftw.", "cuFFT", NULL},
    {"libcufft.", "cuFFT", "cufft"},
    {"libcufftMp.", "cuFFT", "cufft"},
    {"libcusparse", "cuSPARSE", "cusparse"},
    {"libcusolver", "cuSOLVER", "cusolver"},
    {"libcurand.", "cuRAND", "curand"},
    {"libnccl", "NCCL", "nccl"},
    {"libnvinfer", "TensorRT", NULL},
    {"libnpp", "NPP", "npp"},
    {"libnvjpeg", "nvJPEG", "nvjpeg"},
    {"libcutensor", "cuTENSOR", "cutensor"},
    {"libcupti.", "CUPTI", "cupti"},
    {"libnvshmem", "NVSHMEM", NULL},
    {"libcufile", "cuFile", "cuFile"},
    {"libcudss", "cuDSS", "cudss"},
    {"libnvcuvid.", "NVDEC", NULL},
    {"libnvidia-encode", "NVENC", NULL},
    {"libnvJitLink.", "nvJitLink", NULL},
    {"libnvidia-ml.", "NVML", "nvml"},
};
enum { CLOSED_COUNT = sizeof closed / sizeof *closed };

/* Functions of closed libraries that use no GPU: they hand out tables and numbers. */
static const char *const harmless[] = {
    "curandGetDirectionVectors32",
    "curandGetDirectionVectors64",
    "curandGetScrambleConstants32",
    "curandGetScrambleConstants64",
    "curandGetVersion",
    "curandGetProperty",
};

static size_t find_closed(const char *file)
{
    size_t i = 0;
    while (i < CLOSED_COUNT && strncmp(file, closed[i].prefix, strlen(closed[i].prefix)))
        i++;
    return i;
}

const char *program_closed_library(const char *file)
{
    size_t i = find_closed(file);
    return i < CLOSED_COUNT ? closed[i].name : NULL;
}

static bool is_harmless(const char *function)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (!strcmp(function, harmless[i]))
            return true;
    return false;
}

/* Does the import belong to the library? Those with a version say from which file they came. */
static bool is_from(const struct elf_program *elf, uint32_t import, const char *file, const char *functions)
{
    const char *library = elf->import_libraries[import];
    return library ? !strcmp(library, file) : !strncmp(elf->imports[import], functions, strlen(functions));
}

const char *program_closed_use(const struct elf_program *elf, const char *file, const char **function)
{
    size_t which = find_closed(file);
    *function = NULL;
    if (which == CLOSED_COUNT || !closed[which].functions)
        return which == CLOSED_COUNT ? NULL : closed[which].name;
    for (uint32_t i = 0; i < elf->import_count && !*function; i++)
        if (is_from(elf, i, file, closed[which].functions) && !is_harmless(elf->imports[i]))
            *function = elf->imports[i];
    return *function ? closed[which].name : NULL;
}

bool program_check_closed(const struct elf_program *elf, const char *path, struct error *e)
{
    for (uint32_t i = 0; i < elf->needed_count; i++) {
        const char *function, *name = program_closed_use(elf, elf->needed[i], &function);
        if (!name)
            continue;
        error_set(e, ERROR_UNSUPPORTED,
                  "%s needs %s (%s), a closed library whose kernels are machine code; Heddle runs PTX", path, name,
                  elf->needed[i]);
        if (function)
            error_note(e, "it calls %s", function);
        if (!strcmp(name, "cuRAND"))
            error_note(e, "the generators for use inside kernels (curand_kernel.h) need no library, and can run");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------- the program's own */

enum { MOST_LIBRARIES = 64 };

struct walk {
    program_library_visitor *visit;
    void *user;
    char seen[MOST_LIBRARIES][PATH_MAX];
    unsigned count;
};

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* One folder of a search path, $ORIGIN replaced by the folder of the file that names it. */
static void folder_of(const char *word, size_t length, const char *owner, char *out, size_t size)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    const char *slash = strrchr(owner, '/');
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        size_t n = strlen(origins[i]);
        if (length >= n && !strncmp(word, origins[i], n)) {
            snprintf(out, size, "%.*s%.*s", slash ? (int)(slash - owner) : 1, slash ? owner : ".", (int)(length - n),
                     word + n);
            return;
        }
    }
    snprintf(out, size, "%.*s", (int)length, word);
}

static bool find_in(const char *folders, const char *owner, const char *file, char out[PATH_MAX])
{
    for (const char *at = folders; at && *at;) {
        char folder[PATH_MAX];
        size_t length = strcspn(at, ":");
        folder_of(at, length, owner, folder, sizeof folder);
        if (length && snprintf(out, PATH_MAX, "%s/%.255s", folder, file) < PATH_MAX && is_file(out))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static bool find(const struct elf_program *elf, const char *owner, const char *file, char out[PATH_MAX])
{
    return (!*elf->runpath && find_in(elf->rpath, owner, file, out)) ||
           find_in(getenv("LD_LIBRARY_PATH"), owner, file, out) || find_in(elf->runpath, owner, file, out);
}

static bool is_stood_in_for(const char *file)
{
    return !strncmp(file, "libcuda.so", 10) || !strncmp(file, "libcudart.so", 12);
}

static bool is_seen(struct walk *w, const char *path)
{
    for (unsigned i = 0; i < w->count; i++)
        if (!strcmp(w->seen[i], path))
            return true;
    if (w->count == MOST_LIBRARIES)
        return true;
    snprintf(w->seen[w->count++], PATH_MAX, "%s", path);
    return false;
}

static bool walk(struct walk *w, const struct elf_program *elf, const char *path)
{
    bool go_on = true;
    for (uint32_t i = 0; i < elf->needed_count && go_on; i++) {
        struct elf_program library;
        struct error ignored = {0};
        char found[PATH_MAX];
        const char *file = elf->needed[i];
        if (is_stood_in_for(file) || program_closed_library(file) || !find(elf, path, file, found) ||
            is_seen(w, found) || !elf_program_open(&library, found, &ignored))
            continue;
        go_on = w->visit(&library, found, w->user) && walk(w, &library, found);
        elf_program_close(&library);
    }
    return go_on;
}

bool program_visit_libraries(const struct elf_program *elf, const char *path, program_library_visitor *visit,
                             void *user)
{
    struct walk *w = calloc(1, sizeof *w);
    if (!w)
        out_of_memory();
    w->visit = visit;
    w->user = user;
    bool all = !elf->is_elf || walk(w, elf, path);
    free(w);
    return all;
}

/* ------------------------------------------------------------- what goes before LD_LIBRARY_PATH */

struct preload {
    bool wanted;
    char runtime[NAME_MAX + 1];
};

static void look_for_rpath(struct preload *p, const struct elf_program *elf)
{
    const char *runtime = elf_program_needs(elf, "libcudart.so");
    p->wanted |= *elf->rpath && !*elf->runpath && (runtime || elf_program_needs(elf, "libcuda.so"));
    if (runtime && !p->runtime[0])
        snprintf(p->runtime, sizeof p->runtime, "%s", runtime);
}

static bool look_in_library(const struct elf_program *elf, const char *path, void *user)
{
    (void)path;
    look_for_rpath(user, elf);
    return true;
}

bool program_preload(const char *path, const char *library, char *out, size_t size)
{
    struct preload p = {0};
    struct elf_program elf;
    struct error ignored = {0};
    if (!elf_program_open(&elf, path, &ignored))
        return false;
    if (elf.is_elf) {
        look_for_rpath(&p, &elf);
        program_visit_libraries(&elf, path, look_in_library, &p);
    }
    elf_program_close(&elf);
    if (!p.wanted)
        return false;
    snprintf(out, size, "%s/libcuda.so.1", library);
    size_t length = strlen(out);
    if (p.runtime[0])
        snprintf(out + length, size - length, ":%s/%s", library, p.runtime);
    return true;
}
