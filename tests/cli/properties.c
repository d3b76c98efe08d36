/* properties LIBRARY SYMBOL: the properties of device 0 as a program of that generation of CUDA finds them, by the
 * places where its compiler puts the fields. Prints some; exit status 1 when a field is not what the attribute of the
 * same name says, or when bytes behind the structure were touched. */
#include "heddle/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PAST = 64, LARGEST = 1032 };

/* Offsets of CUDA 11, 12 and 13; -1: not a field there. */
struct place {
    const char *name;
    int offsets[3], bytes;
    CUdevice_attribute attribute;
};
static const struct place places[] = {
    {"sharedMemPerBlock", {296, 296, 296}, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {"regsPerBlock", {304, 304, 304}, 4, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {"warpSize", {308, 308, 308}, 4, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {"maxThreadsPerBlock", {320, 320, 320}, 4, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {"clockRate", {348, 348, -1}, 4, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {"totalConstMem", {352, 352, 352}, 8, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {"major", {360, 360, 360}, 4, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {"multiProcessorCount", {388, 388, 384}, 4, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"maxTexture1D", {408, 408, 396}, 4, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH},
    {"surfaceAlignment", {568, 568, 552}, 8, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
    {"memoryClockRate", {608, 608, -1}, 4, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {"memoryBusWidth", {612, 612, 592}, 4, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {"l2CacheSize", {616, 616, 596}, 4, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {"maxThreadsPerMultiProcessor", {624, 624, 604}, 4, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {"sharedMemPerMultiprocessor", {640, 640, 624}, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {"concurrentManagedAccess", {676, 676, 656}, 4, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {"sharedMemPerBlockOptin", {696, 696, 672}, 8, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {"maxBlocksPerMultiProcessor", {712, 712, 688}, 4, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {"hostRegisterSupported", {-1, 728, 704}, 4, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {"clusterLaunch", {-1, 772, 748}, 4, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
};

static int check_fields(const unsigned char *p, int layout)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct place *at = &places[i];
        long long value = 0;
        int expected = -1;
        if (at->offsets[layout] < 0)
            continue;
        memcpy(&value, p + at->offsets[layout], (size_t)at->bytes);
        cuDeviceGetAttribute(&expected, at->attribute, 0);
        printf("%s %lld\n", at->name, value);
        if (value != expected) {
            fprintf(stderr, "%s is %lld; the attribute is %d\n", at->name, value, expected);
            bad = 1;
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    static const int sizes[3] = {728, LARGEST, 1008};
    unsigned char p[LARGEST + PAST];
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, argv[2]) : NULL;
    int (*get)(void *properties, int device);
    if (!symbol) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: properties LIBRARY SYMBOL");
        return 2;
    }
    memcpy(&get, &symbol, sizeof get);
    int layout = strstr(argv[1], ".13") ? 2 : strstr(argv[2], "_v2") ? 1 : 0;
    memset(p, 0xa5, sizeof p);
    if (get(p, 0))
        return 1;
    int bad = check_fields(p, layout);
    for (int i = 0; i < PAST; i++)
        bad |= p[sizes[layout] + i] != 0xa5;
    bad |= p[sizes[layout] - 1] == 0xa5;
    printf("name %s\n", (const char *)p);
    return bad;
}
