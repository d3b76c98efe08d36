/* Runs one kernel of spots.ptx, each of which leans on one kind of instruction: spots NAME FOLDER-OF-PTX. Prints a sum
 * of the bits that the kernel wrote, so that two builds can be compared. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, SIDE = 64, OUT_BYTES = 1 << 20 };

/* One row per name; image: format and filter of its texture. */
static const struct spot {
    const char *name, *kernel;
    unsigned blocks, rounds, bins;
    struct {
        CUarray_format format;
        unsigned channels, texel_bytes, flags;
        CUfilter_mode filter;
        CUaddress_mode address;
    } image;
} spots[] = {
    {"tex-linear",
     "texture",
     64,
     50,
     0,
     {CU_AD_FORMAT_FLOAT, 1, 4, 0, CU_TR_FILTER_MODE_LINEAR, CU_TR_ADDRESS_MODE_CLAMP}},
    {"tex-float4",
     "texture",
     64,
     50,
     0,
     {CU_AD_FORMAT_FLOAT, 4, 16, CU_TRSF_NORMALIZED_COORDINATES, CU_TR_FILTER_MODE_LINEAR, CU_TR_ADDRESS_MODE_WRAP}},
    {"tex-bytes",
     "texture",
     64,
     50,
     0,
     {CU_AD_FORMAT_UNSIGNED_INT8, 4, 4, CU_TRSF_NORMALIZED_COORDINATES, CU_TR_FILTER_MODE_LINEAR,
      CU_TR_ADDRESS_MODE_WRAP}},
    {"tex-point",
     "texture",
     64,
     100,
     0,
     {CU_AD_FORMAT_FLOAT, 1, 4, 0, CU_TR_FILTER_MODE_POINT, CU_TR_ADDRESS_MODE_CLAMP}},
    {"directed", "directed", 64, 100, 0, {0}},
    {"directed-div", "directed_div", 64, 100, 0, {0}},
    {"tiles", "tiles", 120, 8, 0, {0}},
    {"atom-one", "atomics", 60, 2, 1, {0}},
    {"atom-few", "atomics", 60, 4, 8, {0}},
    {"red-one", "reductions", 60, 4, 1, {0}},
    {"histogram", "reductions", 60, 16, 256, {0}},
    {"lock", "lock", 30, 1, 0, {0}},
};

static void check(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "spots: %s: %s\n", what, name);
    exit(1);
}

static char *read_all(const char *folder)
{
    enum { MOST = 1 << 16 };
    char path[4096];
    snprintf(path, sizeof path, "%s/spots.ptx", folder);
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, MOST) : NULL;
    if (!text || !fread(text, 1, MOST - 1, f)) {
        fprintf(stderr, "spots: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return text;
}

static CUtexObject make_image(const struct spot *s)
{
    unsigned bytes = SIDE * SIDE * s->image.texel_bytes, seed = 1;
    unsigned char *texels = malloc(bytes);
    for (unsigned i = 0; i < bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        texels[i] = (unsigned char)(seed >> 24);
        if (s->image.format == CU_AD_FORMAT_FLOAT && i % 4 == 3) /* numbers between 0.5 and 2, of both signs */
            texels[i] = (texels[i] & 0x80) | 0x3f;
    }
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = SIDE, .Height = SIDE, .Format = s->image.format, .NumChannels = s->image.channels};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    check(cuArrayCreate(&resource.res.array.hArray, &d), "cuArrayCreate");
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = SIDE * s->image.texel_bytes,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = resource.res.array.hArray,
                          .WidthInBytes = SIDE * s->image.texel_bytes,
                          .Height = SIDE};
    check(cuMemcpy2D(&copy), "cuMemcpy2D");
    CUDA_TEXTURE_DESC sampling = {.filterMode = s->image.filter,
                                  .flags = s->image.flags,
                                  .addressMode = {s->image.address, s->image.address, s->image.address}};
    CUtexObject image;
    check(cuTexObjectCreate(&image, &resource, &sampling, NULL), "cuTexObjectCreate");
    free(texels);
    return image;
}

static const struct spot *find(const char *name)
{
    for (size_t i = 0; i < sizeof spots / sizeof *spots; i++)
        if (!strcmp(name, spots[i].name))
            return &spots[i];
    fprintf(stderr, "spots: there is no %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    static unsigned char result[OUT_BYTES];
    if (argc != 3) {
        fprintf(stderr, "usage: spots NAME FOLDER\n");
        return 2;
    }
    const struct spot *s = find(argv[1]);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction f;
    CUdeviceptr out;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuCtxCreate(&context, 0, device), "cuCtxCreate");
    char *ptx = read_all(argv[2]);
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&f, module, s->kernel), "cuModuleGetFunction");
    check(cuMemAlloc(&out, OUT_BYTES), "cuMemAlloc");
    check(cuMemsetD8(out, 0, OUT_BYTES), "cuMemsetD8");
    CUtexObject image = s->image.channels ? make_image(s) : 0;
    float step = s->image.flags & CU_TRSF_NORMALIZED_COORDINATES ? 1.0f / SIDE : 1.0f;
    unsigned rounds = s->rounds, bins = s->bins;
    void *of_texture[] = {&out, &rounds, &image, &step}, *plain[] = {&out, &rounds, &bins};
    check(cuLaunchKernel(f, s->blocks, 1, 1, THREADS, 1, 1, 0, NULL, image ? of_texture : plain, NULL),
          "cuLaunchKernel");
    check(cuMemcpyDtoH(result, out, OUT_BYTES), "cuMemcpyDtoH");
    unsigned long long sum = 0;
    for (size_t i = 0; i < OUT_BYTES; i++)
        sum = sum * 31 + result[i];
    printf("%s: %016llx\n", s->name, sum);
    free(ptx);
    return 0;
}
