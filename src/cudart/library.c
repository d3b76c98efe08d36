/* Libraries that the program loads itself (CUDA 12.8 and later): the driver's, whose kernels the runtime then knows
 * too. */
#include "cudart/registry.h"

#include <stdlib.h>

/* The options of both APIs have the same numbers. */
RTAPI cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, CUjit_option *jit, void **jit_values,
                                      unsigned int jit_count, CUlibraryOption *options, void **values,
                                      unsigned int count);
RTAPI cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, CUjit_option *jit, void **jit_values,
                                      unsigned int jit_count, CUlibraryOption *options, void **values,
                                      unsigned int count)
{
    return rt_leave(rt_enter()
                        ?: (int)cuLibraryLoadData(out, code, jit, jit_values, jit_count, options, values, count));
}

RTAPI cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path, CUjit_option *jit, void **jit_values,
                                          unsigned int jit_count, CUlibraryOption *options, void **values,
                                          unsigned int count);
RTAPI cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path, CUjit_option *jit, void **jit_values,
                                          unsigned int jit_count, CUlibraryOption *options, void **values,
                                          unsigned int count)
{
    return rt_leave(rt_enter()
                        ?: (int)cuLibraryLoadFromFile(out, path, jit, jit_values, jit_count, options, values, count));
}

static int list(cudaLibrary_t library, CUkernel **kernels, unsigned int *count)
{
    int r = (int)cuLibraryGetKernelCount(count, library);
    *kernels = r == CUDA_SUCCESS ? calloc(*count + 1, sizeof **kernels) : NULL;
    if (r == CUDA_SUCCESS && !*kernels)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r ?: (int)cuLibraryEnumerateKernels(*kernels, *count, library);
}

RTAPI cudaError_t cudaLibraryUnload(cudaLibrary_t library);
RTAPI cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    CUkernel *kernels = NULL;
    unsigned int count = 0;
    int r = rt_enter() ?: list(library, &kernels, &count);
    registry_lock();
    for (unsigned int i = 0; r == CUDA_SUCCESS && i < count; i++)
        kernels_remove(kernels[i]);
    registry_unlock();
    free(kernels);
    return rt_leave(r ?: (int)cuLibraryUnload(library));
}

static void know(CUkernel kernel)
{
    registry_lock();
    kernels_add(kernel, NULL);
    registry_unlock();
}

RTAPI cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name);
RTAPI cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
    int r = rt_enter() ?: (int)cuLibraryGetKernel(out, library, name);
    if (r == CUDA_SUCCESS)
        know(*out);
    return rt_leave(r);
}

RTAPI cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library);
RTAPI cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library)
{
    return rt_leave(rt_enter() ?: (int)cuLibraryGetKernelCount(count, library));
}

RTAPI cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count, cudaLibrary_t library);
RTAPI cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count, cudaLibrary_t library)
{
    unsigned int all = 0;
    int r = rt_enter() ?: (int)cuLibraryGetKernelCount(&all, library);
    r = r ?: (int)cuLibraryEnumerateKernels(kernels, count, library);
    for (unsigned int i = 0; r == CUDA_SUCCESS && i < count && i < all; i++)
        know(kernels[i]);
    return rt_leave(r);
}

RTAPI cudaError_t cudaLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, cudaLibrary_t library, const char *name);
RTAPI cudaError_t cudaLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return rt_leave(rt_enter() ?: (int)cuLibraryGetGlobal(address, bytes, library, name));
}

RTAPI cudaError_t cudaLibraryGetManaged(CUdeviceptr *address, size_t *bytes, cudaLibrary_t library, const char *name);
RTAPI cudaError_t cudaLibraryGetManaged(CUdeviceptr *address, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return rt_leave(rt_enter() ?: (int)cuLibraryGetManaged(address, bytes, library, name));
}

RTAPI cudaError_t cudaLibraryGetUnifiedFunction(void **out, cudaLibrary_t library, const char *name);
RTAPI cudaError_t cudaLibraryGetUnifiedFunction(void **out, cudaLibrary_t library, const char *name)
{
    return rt_leave(rt_enter() ?: (int)cuLibraryGetUnifiedFunction(out, library, name));
}
