/* Fat binaries that nvcc made of the programs of tests/cuda (record.sh makes them again), placed, registered before
 * main and launched as compiled programs do it: in CUDA 11 and 12 a launch goes to cudaLaunchKernel, since CUDA 13 to a
 * handle of the kernel. */
#ifndef RUNTIME_RECORDED_H
#define RUNTIME_RECORDED_H

#include "fat_binary.h"

#include <stdlib.h>

#define RECORDED_IMAGE(name, section_name)                                                                             \
    extern const char image_##name[] __attribute__((visibility("hidden")));                                            \
    __asm__(".section " section_name ",\"a\"\n .p2align 3\nimage_" #name ":\n .incbin \"tests/runtime/recorded/" #name \
            ".fatbin\"\n .previous\n")
#define RECORDED(name)                  \
    RECORDED_IMAGE(name, ".nv_fatbin"); \
    WRAPPER_OF(wrapper_##name, 1, image_##name, NULL)

/* What stands for a kernel or a variable in the program is the address of its row. */
struct recorded_kernel {
    const char *name;
};
struct recorded_variable {
    const char *name;
    size_t bytes;
    bool constant;
};

static void **recorded_handles[8];
static int recorded_count;

static void unregister_all(void)
{
    while (recorded_count)
        __cudaUnregisterFatBinary(recorded_handles[--recorded_count]);
}

static inline void recorded_register(const struct fat_wrapper *wrapper, struct recorded_kernel *kernels,
                                     size_t kernel_count, struct recorded_variable *variables, size_t variable_count)
{
    void **handle = __cudaRegisterFatBinary(wrapper);
    for (size_t i = 0; i < kernel_count; i++)
        register_function(handle, &kernels[i], kernels[i].name);
    for (size_t i = 0; i < variable_count; i++)
        __cudaRegisterVar(handle, &variables[i], variables[i].name, variables[i].name, 0, variables[i].bytes,
                          variables[i].constant, 0);
    __cudaRegisterFatBinaryEnd(handle);
    if (!recorded_count)
        atexit(unregister_all);
    recorded_handles[recorded_count++] = handle;
}

/* What <<<>>> becomes. */
static inline int launch(const struct recorded_kernel *kernel, struct dim3 grid, struct dim3 block, size_t shared_bytes,
                         void **arguments)
{
    CUstream stream = NULL;
    CUkernel handle = NULL;
    int version = 0, result;
    if (__cudaPushCallConfiguration(grid, block, shared_bytes, stream))
        return -1;
    result = __cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream);
    if (result == 0)
        result = cudaRuntimeGetVersion(&version);
    if (result == 0 && version < 13000)
        return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
    if (result == 0)
        result = __cudaGetKernel(&handle, kernel);
    return result ? result : __cudaLaunchKernel(handle, grid, block, arguments, shared_bytes, stream);
}
#define ARGUMENTS(...) ((void *[]){__VA_ARGS__})
#define COUNT(array)   (sizeof(array) / sizeof(array)[0])

static inline void *upload(const void *host, size_t bytes)
{
    void *device = NULL;
    OK(cudaMalloc(&device, bytes));
    OK(cudaMemcpy(device, host, bytes, HOST_TO_DEVICE));
    return device;
}
static inline void *zeros(size_t bytes)
{
    void *host = calloc(1, bytes), *device = upload(host, bytes);
    free(host);
    return device;
}
static inline int int_at(const int *device)
{
    int value = -1;
    OK(cudaMemcpy(&value, device, sizeof value, DEVICE_TO_HOST));
    return value;
}

#endif
