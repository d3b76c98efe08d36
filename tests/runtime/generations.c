/* What differs between the libraries of CUDA 11, 12 and 13 in calls about memory and textures: structures that grew
 * must not be written past their older end, and calls that changed their arguments must take those of their own
 * generation. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fat_binary.h"

#include <dlfcn.h>

int cudaSetDevice(int device);
int cudaMallocManaged(void **out, size_t bytes, unsigned int flags);
int cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *p, size_t bytes);
int cudaPointerGetAttributes(void *out, const void *p);
int cudaMallocArray(CUarray *out, const void *channels, size_t width, size_t height, unsigned int flags);
int cudaFreeArray(CUarray array);
int cudaCreateTextureObject(CUtexObject *out, const void *resource, const void *texture, const void *view);
int cudaDestroyTextureObject(CUtexObject object);
int cudaGetTextureObjectResourceDesc(void *out, CUtexObject object);
int cudaGetTextureObjectTextureDesc(void *out, CUtexObject object);
int cudaGetTextureObjectResourceViewDesc(void *out, CUtexObject object);

enum { READ_MOSTLY = 1, SET_READ_MOSTLY = 1, LAST_PREFETCH = 4, SET_PREFERRED = 3, PREFERRED = 2 };
static int generation;

static void *function(const char *name)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    if (!f) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return f;
}

/* How much of a structure is written. */
enum { ROOM = 256, MARK = 0x5b };
static unsigned char room[ROOM] __attribute__((aligned(16)));
static void *fresh(void) { return memset(room, MARK, ROOM); }
static size_t written(void)
{
    size_t end = ROOM;
    while (end && room[end - 1] == MARK)
        end--;
    return end;
}

static int range_attribute(const void *p, size_t bytes, int which)
{
    int value = 99;
    OK(cudaMemRangeGetAttribute(&value, sizeof value, which, p, bytes));
    return value;
}

static void managed_memory(void)
{
    CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0}, device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    void *p = NULL;
    OK(cudaMallocManaged(&p, 4096, 1));
    if (generation < 13) {
        int (*prefetch)(const void *, size_t, int, CUstream) = function("cudaMemPrefetchAsync");
        int (*advise)(const void *, size_t, int, int) = function("cudaMemAdvise");
        OK(prefetch(p, 4096, CU_DEVICE_CPU, NULL));
        TRUE(range_attribute(p, 4096, LAST_PREFETCH) == CU_DEVICE_CPU);
        OK(prefetch(p, 4096, 0, NULL));
        EXPECT(101, prefetch(p, 4096, 7, NULL));
        OK(advise(p, 4096, SET_READ_MOSTLY, 7)); /* of no device */
        OK(advise(p, 4096, SET_PREFERRED, CU_DEVICE_CPU));
    }
    if (generation >= 12) {
        int (*prefetch)(const void *, size_t, CUmemLocation, unsigned int, CUstream) =
            function(generation == 12 ? "cudaMemPrefetchAsync_v2" : "cudaMemPrefetchAsync");
        int (*advise)(const void *, size_t, int, CUmemLocation) =
            function(generation == 12 ? "cudaMemAdvise_v2" : "cudaMemAdvise");
        OK(prefetch(p, 4096, host, 0, NULL));
        TRUE(range_attribute(p, 4096, LAST_PREFETCH) == CU_DEVICE_CPU);
        OK(prefetch(p, 4096, device, 0, NULL));
        OK(advise(p, 4096, SET_READ_MOSTLY, device));
        OK(advise(p, 4096, SET_PREFERRED, host));
    }
    TRUE(range_attribute(p, 4096, LAST_PREFETCH) == 0);
    TRUE(range_attribute(p, 4096, READ_MOSTLY) == 1 && range_attribute(p, 4096, PREFERRED) == CU_DEVICE_CPU);
    OK(cudaPointerGetAttributes(fresh(), p));
    TRUE(written() == (generation < 13 ? 24 : 24 + 64));
    TRUE(((int *)room)[0] == 3 && ((void **)room)[1] == p && ((void **)room)[2] == p);
    OK(cudaFree(p));
}

static void textures(void)
{
    const int channels[5] = {32, 0, 0, 0, 2};
    struct {
        int type;
        CUarray array;
        char rest[120];
        unsigned int flags;
    } resource = {0};
    int sampling[18] = {0};
    CUtexObject object = 0;
    OK(cudaMallocArray(&resource.array, channels, 8, 4, 0));
    if (generation < 13)
        memset(resource.rest + 48, 0xee,
               sizeof resource.rest - 48 + sizeof resource.flags); /* not of the structure: must not be read */
    sampling[17] = 1;                                              /* seamless cubes: of the structure from 12 on */
    OK(cudaCreateTextureObject(&object, &resource, sampling, NULL));
    OK(cudaGetTextureObjectResourceDesc(fresh(), object));
    TRUE(written() == (generation < 13 ? 64 : 144));
    TRUE(((CUarray *)room)[1] == resource.array);
    OK(cudaGetTextureObjectTextureDesc(fresh(), object));
    TRUE(written() == (generation < 12 ? 68 : 72));
    TRUE(generation < 12 || ((int *)room)[17] == 1);
    OK(cudaGetTextureObjectResourceViewDesc(fresh(), object));
    TRUE(written() == (generation < 13 ? 48 : 112));
    OK(cudaDestroyTextureObject(object));
    OK(cudaFreeArray(resource.array));
}

static void batches(void)
{
    struct {
        int order;
        CUmemLocation from, to;
        unsigned int flags;
    } attributes = {.order = 1};
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    void *device = NULL, *to[2];
    const void *from[2];
    size_t sizes[2] = {8, 8}, first = 0, failed = 77;
    if (generation < 12)
        return;
    OK(cudaMalloc(&device, sizeof in));
    to[0] = device, to[1] = (char *)device + 8;
    from[0] = in + 2, from[1] = in;
    if (generation == 12) {
        int (*copy)(void *const *, const void *const *, const size_t *, size_t, void *, size_t *, size_t, size_t *,
                    CUstream) = function("cudaMemcpyBatchAsync");
        OK(copy(to, from, sizes, 2, &attributes, &first, 1, &failed, NULL));
        void *bad[2] = {device, NULL};
        EXPECT(INVALID_VALUE, copy(bad, from, sizes, 2, &attributes, &first, 1, &failed, NULL));
        TRUE(failed == 1);
    } else {
        int (*copy)(void *const *, const void *const *, const size_t *, size_t, void *, size_t *, size_t, CUstream) =
            function("cudaMemcpyBatchAsync");
        OK(copy(to, from, sizes, 2, &attributes, &first, 1, NULL));
    }
    OK(cudaMemcpy(out, device, sizeof out, DEVICE_TO_HOST));
    TRUE(out[0] == 3 && out[1] == 4 && out[2] == 1 && out[3] == 2);
    OK(cudaFree(device));
}

/* Since CUDA 12 choosing a device starts it: the driver API can be used at once. */
static void choosing(void)
{
    CUcontext current = NULL;
    OK(cudaSetDevice(0));
    OK(cuInit(0));
    OK(cuCtxGetCurrent(&current));
    TRUE(!!current == (generation >= 12));
}

int main(void)
{
    int version = 0;
    OK(cudaRuntimeGetVersion(&version));
    generation = version / 1000;
    choosing();
    managed_memory();
    textures();
    batches();
    return done();
}
