/* Microbenchmarks of a GPU: latencies, rates, caches, memory, launches. One line each on standard output: name, median,
 * least and most of seven repetitions, unit; separated by tabs. */
#include "chains.h"
#include "gpu_run.h"
#include "l1_lines.h"
#include "machine.h"
#include "memory.h"
#include "stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: silicon [--memory BYTES] [--repeats N] [GROUP...]\n"
                           "       silicon --ptx FOLDER | --list\n"
                           "Measures the GPU. Groups: chains barriers chases each-load l1-lines stores bandwidth "
                           "atomics launches order dispatch; default: all.\n"
                           "A group may also be the name of one chain (fma.rn.f32), or the beginning of the name of\n"
                           "rows of chases, each-load, l1-lines, stores, bandwidth and atomics (chase/l2/).\n"
                           "  --memory BYTES   of the largest buffer; default 8 GB\n"
                           "  --repeats N      1 to 7, which is the default\n"
                           "  --ptx FOLDER     no measurement: the PTX of every chain, for ptxas and nvdisasm\n"
                           "  --list           the names of the chains\n";

/* File names without slashes and blanks. */
static int write_ptx(const char *folder)
{
    for (unsigned i = 0; i < chain_count; i++) {
        char path[4096];
        char *text = chain_kernel(&chains[i], 1, 32);
        snprintf(path, sizeof path, "%s/%s.ptx", folder, chains[i].name);
        FILE *to = fopen(path, "w");
        if (!to || !text || fputs(text, to) < 0 || fclose(to)) {
            perror(path);
            return 1;
        }
        free(text);
    }
    return 0;
}

/* row: how the names of its rows begin, or NULL. */
static int wanted(int count, char **groups, const char *name, const char *row)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(groups[i], name) || (row && !strncmp(groups[i], row, strlen(row))))
            return 1;
    return count == 0;
}

static void describe(CUdevice device)
{
    int version, khz;
    char name[200];
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDriverGetVersion(&version));
    CHECK(cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
    printf("# %s, CUDA driver %d.%d, %d MHz\n# name\tmedian\tleast\tmost\tunit\n", name, version / 1000,
           version % 1000 / 10, khz / 1000);
}

int main(int argc, char **argv)
{
    size_t memory = (size_t)8 << 30;
    int at = 1;
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    for (unsigned i = 0; argc == 2 && !strcmp(argv[1], "--list") && i < chain_count; i++)
        puts(chains[i].name);
    if (argc == 2 && !strcmp(argv[1], "--list"))
        return 0;
    if (argc == 3 && !strcmp(argv[1], "--ptx"))
        return write_ptx(argv[2]);
    for (; argc > at + 1 && (!strcmp(argv[at], "--memory") || !strcmp(argv[at], "--repeats")); at += 2) {
        unsigned long long value = strtoull(argv[at + 1], NULL, 10);
        if (!strcmp(argv[at], "--memory"))
            memory = value;
        else
            repeats = value < 1 ? 1 : value > REPEATS ? REPEATS : (int)value;
    }
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    describe(device);
    int count = argc - at;
    char **groups = argv + at;
    wanted_rows = groups;
    wanted_row_count = count;
    for (unsigned i = 0; i < chain_count; i++)
        if (wanted(count, groups, "chains", NULL) || wanted(count, groups, chains[i].name, NULL))
            measure_chain(&chains[i]);
    if (wanted(count, groups, "barriers", NULL))
        measure_barriers();
    if (wanted(count, groups, "chases", "chase/"))
        measure_chases(memory);
    if (wanted(count, groups, "each-load", "each-load/"))
        measure_each_load(memory);
    if (wanted(count, groups, "l1-lines", "l1-lines/"))
        measure_l1_lines();
    if (wanted(count, groups, "stores", "stores/"))
        measure_stores();
    if (wanted(count, groups, "bandwidth", "bandwidth/"))
        measure_bandwidth(memory);
    if (wanted(count, groups, "atomics", "atomics/"))
        measure_atomics();
    if (wanted(count, groups, "launches", NULL))
        measure_launches();
    if (wanted(count, groups, "order", NULL))
        measure_order();
    if (wanted(count, groups, "dispatch", NULL))
        measure_dispatch();
    return 0;
}
