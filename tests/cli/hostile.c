/* hostile FILE.ptx [--library] [--grid X] [--block X] [--shared BYTES] [--stack BYTES] [--heap BYTES]
 *
 * Launches kernel k of a file that tries to leave its memory, with whatever arguments such files could want, and prints
 * the first words of its buffer and how much memory the process came to use. Exit status 1 when CUDA reports an error.
 * Arguments: two buffers of 64 KB; texture objects of a two-dimensional array, of a line of memory and of a mipmap;
 * surface objects of bytes in two dimensions, and of words in layers; zeros. */
#include "heddle/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BUFFER_BYTES = 65536, ARGUMENTS = 64, SIDE = 8 };

static int finish(int status)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak %ld KB\n", usage.ru_maxrss);
    return status;
}

static void check(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "hostile: %s: %s\n", what, name);
    exit(finish(1));
}
#define CHECK(call) check((call), #call)

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, 16 << 20) : NULL;
    if (!text || !fread(text, 1, (16 << 20) - 1, f))
        exit(2);
    fclose(f);
    return text;
}

static unsigned long long option(int argc, char **argv, const char *name, unsigned long long otherwise)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return i + 1 < argc ? strtoull(argv[i + 1], NULL, 0) : 1;
    return otherwise;
}

static CUtexObject texture_of(const CUDA_RESOURCE_DESC *resource)
{
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES};
    CUtexObject object;
    if (resource->resType == CU_RESOURCE_TYPE_LINEAR)
        how.flags = CU_TRSF_READ_AS_INTEGER;
    how.maxMipmapLevelClamp = 100.0f;
    CHECK(cuTexObjectCreate(&object, resource, &how, NULL));
    return object;
}

static CUtexObject texture_2d(void)
{
    CUDA_ARRAY_DESCRIPTOR shape = {SIDE, SIDE, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CHECK(cuArrayCreate(&resource.res.array.hArray, &shape));
    return texture_of(&resource);
}

static CUtexObject texture_linear(void)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CHECK(cuMemAlloc(&resource.res.linear.devPtr, 512));
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 512;
    return texture_of(&resource);
}

static CUtexObject texture_mipmapped(void)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = SIDE, .Height = SIDE, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    CHECK(cuMipmappedArrayCreate(&resource.res.mipmap.hMipmappedArray, &shape, 4));
    return texture_of(&resource);
}

static CUsurfObject surface(CUarray_format format, size_t layers)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {SIDE, SIDE, layers, format, 1, 0};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUsurfObject object;
    shape.Flags = CUDA_ARRAY3D_SURFACE_LDST | (layers ? CUDA_ARRAY3D_LAYERED : 0);
    CHECK(cuArray3DCreate(&resource.res.array.hArray, &shape));
    CHECK(cuSurfObjectCreate(&object, &resource));
    return object;
}

static CUfunction load(const char *text, int as_library)
{
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    if (as_library) {
        CHECK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
        CHECK(cuLibraryGetKernel(&kernel, library, "k"));
        return (CUfunction)kernel;
    }
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, "k"));
    return function;
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr buffers[2];
    unsigned long long values[ARGUMENTS] = {0};
    void *arguments[ARGUMENTS];
    unsigned int words[8];
    if (argc < 2)
        return 2;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    if (option(argc, argv, "--stack", 0))
        CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, option(argc, argv, "--stack", 0)));
    if (option(argc, argv, "--heap", 0))
        CHECK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, option(argc, argv, "--heap", 0)));
    CUfunction kernel = load(read_file(argv[1]), option(argc, argv, "--library", 0) != 0);
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemAlloc(&buffers[i], BUFFER_BYTES));
        CHECK(cuMemsetD8(buffers[i], 0, BUFFER_BYTES));
        values[i] = buffers[i];
    }
    values[2] = texture_2d();
    values[3] = texture_linear();
    values[4] = texture_mipmapped();
    values[5] = surface(CU_AD_FORMAT_UNSIGNED_INT8, 0);
    values[6] = surface(CU_AD_FORMAT_UNSIGNED_INT32, 3);
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] = &values[i];
    unsigned grid = (unsigned)option(argc, argv, "--grid", 1), block = (unsigned)option(argc, argv, "--block", 32);
    unsigned shared = (unsigned)option(argc, argv, "--shared", 0);
    CHECK(cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, shared, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(words, buffers[0], sizeof words));
    for (int i = 0; i < 8; i++)
        printf("%08x%c", words[i], i == 7 ? '\n' : ' ');
    return finish(0);
}
