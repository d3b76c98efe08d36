/* A profile of loads, as the profiled form of DAWS reads it: text, one line per static load of global or local memory
 * that goes through the L1D.
 *
 *   # a comment
 *   kernel NAME
 *   load PC EXECUTIONS DIVERGED CONSIDERED ACCESSES LOCAL
 *
 * PC is the index of the instruction in its kernel. Of EXECUTIONS, CONSIDERED had more than 2 active lanes, and
 * DIVERGED of these made more than 2 accesses; LOCAL of all ACCESSES showed intra-warp locality
 * (heddle/load_locality.h). */
#ifndef HEDDLE_LOAD_PROFILE_H
#define HEDDLE_LOAD_PROFILE_H

#include "heddle/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_profiled_load {
    uint64_t pc, executions, diverged, considered, accesses, local;
};
struct heddle_profiled_kernel {
    char *name;
    struct heddle_profiled_load *loads;
    uint32_t load_count;
};
struct heddle_load_profile {
    struct heddle_profiled_kernel *kernels;
    uint32_t kernel_count;
};

static inline void heddle_load_profile_free(struct heddle_load_profile *p)
{
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        free(p->kernels[i].name);
        free(p->kernels[i].loads);
    }
    free(p->kernels);
    p->kernels = NULL;
    p->kernel_count = 0;
}

static inline const struct heddle_profiled_kernel *heddle_load_profile_find(const struct heddle_load_profile *p,
                                                                            const char *kernel)
{
    for (uint32_t i = 0; i < p->kernel_count; i++)
        if (!strcmp(p->kernels[i].name, kernel))
            return &p->kernels[i];
    return NULL;
}

/* The lines that begin with a word; each returns what is wrong with it, or NULL. */
static inline const char *heddle_load_profile_kernel(struct heddle_load_profile *p, const char *name)
{
    if (!*name)
        return "a kernel without a name";
    if (heddle_load_profile_find(p, name))
        return "a kernel for the second time";
    size_t bytes = (p->kernel_count + 1) * sizeof *p->kernels;
    struct heddle_profiled_kernel *kernels = (struct heddle_profiled_kernel *)realloc(p->kernels, bytes);
    if (!kernels)
        return "no memory";
    p->kernels = kernels;
    memset(&kernels[p->kernel_count], 0, sizeof *kernels);
    kernels[p->kernel_count].name = strdup(name);
    if (!kernels[p->kernel_count].name)
        return "no memory";
    p->kernel_count++;
    return NULL;
}

static inline const char *heddle_load_profile_load(struct heddle_load_profile *p, const char *numbers)
{
    uint64_t n[6];
    for (int i = 0; i < 6; i++) {
        numbers += strspn(numbers, " \t");
        size_t digits = strspn(numbers, "0123456789");
        if (!digits || digits > 19)
            return "six numbers were expected after 'load'";
        n[i] = strtoull(numbers, NULL, 10);
        numbers += digits;
    }
    struct heddle_profiled_load load = {n[0], n[1], n[2], n[3], n[4], n[5]};
    if (*numbers)
        return "six numbers were expected after 'load'";
    if (!p->kernel_count)
        return "a load before the first kernel";
    if (load.diverged > load.considered || load.considered > load.executions || load.local > load.accesses)
        return "a part that is more than its whole";
    struct heddle_profiled_kernel *k = &p->kernels[p->kernel_count - 1];
    for (uint32_t i = 0; i < k->load_count; i++)
        if (k->loads[i].pc == load.pc)
            return "a load for the second time";
    size_t bytes = (k->load_count + 1) * sizeof *k->loads;
    struct heddle_profiled_load *loads = (struct heddle_profiled_load *)realloc(k->loads, bytes);
    if (!loads)
        return "no memory";
    k->loads = loads;
    loads[k->load_count++] = load;
    return NULL;
}

static inline const char *heddle_load_profile_line(struct heddle_load_profile *p, char *line)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return NULL;
    size_t word = strcspn(line, " \t");
    const char *rest = line + word + strspn(line + word, " \t");
    if (word == 6 && !strncmp(line, "kernel", 6))
        return heddle_load_profile_kernel(p, rest);
    if (word == 4 && !strncmp(line, "load", 4))
        return heddle_load_profile_load(p, rest);
    return "'kernel' or 'load' was expected";
}

/* False: why says what is wrong, and in which line. To be freed in either case. */
static inline bool heddle_load_profile_read(struct heddle_load_profile *p, const char *path, char *why,
                                            size_t why_bytes)
{
    memset(p, 0, sizeof *p);
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(why, why_bytes, "profile '%s': %s", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    const char *wrong = NULL;
    size_t line_bytes = 0;
    unsigned number = 0;
    while (!wrong && getline(&line, &line_bytes, file) >= 0) {
        number++;
        wrong = heddle_load_profile_line(p, line);
    }
    free(line);
    if (wrong)
        snprintf(why, why_bytes, "profile '%s', line %u: %s", path, number, wrong);
    else if (ferror(file))
        wrong = (snprintf(why, why_bytes, "profile '%s' cannot be read", path), why);
    else if (!p->kernel_count)
        wrong = (snprintf(why, why_bytes, "profile '%s' has no kernels", path), why);
    fclose(file);
    return !wrong;
}

#ifdef __cplusplus
}
#endif

#endif
