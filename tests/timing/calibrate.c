/* Launches one of the two kernels whose cycle counts are known from another simulator (docs/validation.md), and checks
 * what it computed: calibrate vecadd|matmul FOLDER-OF-PTX */
#include "cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR = 1048576, SIDE = 256 };

static void check(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "calibrate: %s: %s\n", what, name);
    exit(1);
}

static char *read_all(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    FILE *f = fopen(path, "rb");
    char *text = f ? calloc(1, 1 << 16) : NULL;
    if (!text || !fread(text, 1, (1 << 16) - 1, f)) {
        fprintf(stderr, "calibrate: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return text;
}

static float *numbers(size_t count, unsigned seed)
{
    float *v = malloc(count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 20) / 256.0f;
    return v;
}

static CUdeviceptr place(const float *v, size_t count)
{
    CUdeviceptr p;
    check(cuMemAlloc(&p, count * sizeof(float)), "cuMemAlloc");
    if (v)
        check(cuMemcpyHtoD(p, v, count * sizeof(float)), "cuMemcpyHtoD");
    return p;
}

static float expected(const float *a, const float *b, size_t i, int is_vector)
{
    float sum = 0;
    if (is_vector)
        return a[i] + b[i];
    for (size_t k = 0; k < SIDE; k++)
        sum = fmaf(a[i / SIDE * SIDE + k], b[k * SIDE + i % SIDE], sum);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: calibrate vecadd|matmul FOLDER\n");
        return 2;
    }
    int is_vector = !strcmp(argv[1], "vecadd"), n = is_vector ? VECTOR : SIDE, wrong = 0;
    size_t count = is_vector ? VECTOR : SIDE * SIDE;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction f;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuCtxCreate(&context, 0, device), "cuCtxCreate");
    char *ptx = read_all(argv[2], argv[1]);
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&f, module, is_vector ? "_Z6vecaddPKfS0_Pfi" : "_Z12matmul_tiledPKfS0_Pfi"),
          "cuModuleGetFunction");
    float *a = numbers(count, 1), *b = numbers(count, 2), *c = malloc(count * sizeof *c);
    CUdeviceptr da = place(NULL, count), db = place(NULL, count), dc = place(NULL, count);
    check(cuMemcpyHtoD(da, a, count * sizeof *a), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(db, b, count * sizeof *b), "cuMemcpyHtoD");
    void *params[] = {&da, &db, &dc, &n};
    if (is_vector)
        check(cuLaunchKernel(f, VECTOR / 256, 1, 1, 256, 1, 1, 0, NULL, params, NULL), "cuLaunchKernel");
    else
        check(cuLaunchKernel(f, SIDE / 16, SIDE / 16, 1, 16, 16, 1, 0, NULL, params, NULL), "cuLaunchKernel");
    check(cuMemcpyDtoH(c, dc, count * sizeof *c), "cuMemcpyDtoH");
    for (size_t i = 0; i < count; i++)
        wrong += c[i] != expected(a, b, i, is_vector);
    printf("%s: %d of %zu results wrong\n", argv[1], wrong, count);
    free(ptx);
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
