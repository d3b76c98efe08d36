/* The functions of the runtime that Heddle does not have. They exist, so that every program links; called, each says so
 * once, with the caller. What they are called with does not matter. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cudart/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Heddle's driver keeps what could not be done as the outcome of the run; another driver does not have this. */
extern int heddle_unsupported(const char *text) __attribute__((weak));

enum { MOST_SAID = 256 };
struct said {
    pthread_mutex_t lock;
    const char *functions[MOST_SAID];
    int count;
};
static struct said said = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool say_once(const char *function)
{
    bool is_new = true;
    pthread_mutex_lock(&said.lock);
    for (int i = 0; i < said.count && is_new; i++)
        is_new = strcmp(said.functions[i], function) != 0;
    if (is_new && said.count < MOST_SAID)
        said.functions[said.count++] = function;
    pthread_mutex_unlock(&said.lock);
    return is_new;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void describe(char *out, size_t size, const char *function, const void *caller)
{
    Dl_info info;
    if (!caller || !dladdr(caller, &info) || !info.dli_fname)
        snprintf(out, size, "%s is not supported", function);
    else if (info.dli_sname)
        snprintf(out, size, "%s is not supported; it was called from %s in %s", function, info.dli_sname,
                 base_name(info.dli_fname));
    else
        snprintf(out, size, "%s is not supported; it was called from %s+%#zx", function, base_name(info.dli_fname),
                 (size_t)((const char *)caller - (const char *)info.dli_fbase));
}

cudaError_t rt_missing(const char *function, const void *caller)
{
    char text[512];
    if (say_once(function)) {
        describe(text, sizeof text, function, caller);
        if (heddle_unsupported)
            heddle_unsupported(text);
        else
            fprintf(stderr, "heddle: %s\n", text);
    }
    return rt_leave(cudaErrorNotSupported);
}

#define MISSING(name)             \
    RTAPI cudaError_t name(void); \
    RTAPI cudaError_t name(void) { return rt_missing(#name, __builtin_return_address(0)); }
#include "cudart/missing.def"
