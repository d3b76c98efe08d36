/* Does a program that launches kernels for hours keep its memory, where nobody asked for results of single launches? */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#if defined(__has_feature)
#define BUILT_WITH(what) __has_feature(what)
#else
#define BUILT_WITH(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || BUILT_WITH(address_sanitizer) || \
    BUILT_WITH(thread_sanitizer)
enum { SANITIZED = 1 }; /* which keeps what is freed */
#else
enum { SANITIZED = 0 };
#endif

enum { FIRST = 1000, LAUNCHES = 200000, LAUNCHES_WITH_TIME = 20000, MOST_GROWTH_KB = 4 << 10 };

static long resident_kb(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    TRUE(f && fscanf(f, "%*d %ld", &pages) == 1);
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void launch(CUfunction f, int times)
{
    for (int i = 0; i < times && !failures; i++)
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

int main(void)
{
    CUmodule m;
    CUfunction f;
    const char *options = getenv("HEDDLE_OPTIONS");
    int launches = options && strstr(options, "--functional") ? LAUNCHES : LAUNCHES_WITH_TIME;
    new_context();
    MUST(cuModuleLoadData(&m, PTX_HEAD ".visible .entry k() { ret; }\n"));
    MUST(cuModuleGetFunction(&f, m, "k"));
    launch(f, FIRST);
    long before = resident_kb();
    launch(f, SANITIZED ? FIRST : launches);
    long grown = resident_kb() - before;
    if (SANITIZED || grown < MOST_GROWTH_KB)
        return done();
    fprintf(stderr, "%d launches took %ld KB\n", launches, grown);
    return 1;
}
