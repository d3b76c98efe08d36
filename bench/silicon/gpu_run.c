/* Loading, checking, and numbers of repetitions. */
#include "gpu_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_result(CUresult result, const char *call, const char *file, int line)
{
    const char *name = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, name);
    exit(1);
}

struct loaded load_kernel(const char *name, const char *ptx)
{
    struct loaded k;
    char log[8192] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUresult result = cuModuleLoadDataEx(&k.module, ptx, 2, options, values);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s: %s\n", name, log);
        check_result(result, "cuModuleLoadDataEx", __FILE__, __LINE__);
    }
    CHECK(cuModuleGetFunction(&k.function, k.module, "k"));
    return k;
}

void unload(struct loaded *k) { CHECK(cuModuleUnload(k->module)); }

uint64_t cycles_of(const struct thread_times *t, size_t count)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = t[i].before < first ? t[i].before : first;
        last = t[i].after > last ? t[i].after : last;
    }
    return last - first;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int repeats = REPEATS;
char **wanted_rows;
int wanted_row_count;

int row_is_wanted(const char *name)
{
    int rows = 0;
    for (int i = 0; i < wanted_row_count; i++) {
        rows += strchr(wanted_rows[i], '/') != NULL;
        if (strchr(wanted_rows[i], '/') && !strncmp(name, wanted_rows[i], strlen(wanted_rows[i])))
            return 1;
    }
    return rows == 0;
}

struct measured measured_of(double values[REPEATS])
{
    qsort(values, (size_t)repeats, sizeof *values, by_value);
    return (struct measured){values[repeats / 2], values[0], values[repeats - 1]};
}

void print_row(const char *name, struct measured m, const char *unit)
{
    printf("%s\t%.3f\t%.3f\t%.3f\t%s\n", name, m.median, m.least, m.most, unit);
    fflush(stdout);
}
