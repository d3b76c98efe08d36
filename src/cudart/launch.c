/* Launches: <<< >>> as compilers since CUDA 9.2 write it (push and pop of the configuration, then cudaLaunchKernel;
 * CUDA 13: by kernel handle), and the calls before that. */
#include "cudart/launch.h"
#include "cudart/registry.h"

#include <string.h>

enum { MOST_PUSHED = 64, LEGACY_PARAM_BYTES = 4096 };

struct configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

/* Arguments of a launch may launch kernels themselves, hence a stack. */
struct configurations {
    struct configuration pushed[MOST_PUSHED];
    unsigned int depth;
    uint8_t params[LEGACY_PARAM_BYTES]; /* cudaSetupArgument */
    size_t params_bytes;
};
static _Thread_local struct configurations configurations;

static cudaStream_t per_thread(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

RTAPI unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
                                               cudaStream_t stream);
RTAPI unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
                                               cudaStream_t stream)
{
    struct configurations *c = &configurations;
    if (c->depth == MOST_PUSHED)
        return rt_leave(cudaErrorLaunchMaxDepthExceeded);
    c->pushed[c->depth++] = (struct configuration){grid, block, shared_bytes, stream};
    return cudaSuccess;
}

RTAPI cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, void *stream);
RTAPI cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, void *stream)
{
    struct configurations *c = &configurations;
    if (!c->depth)
        return rt_leave(cudaErrorMissingConfiguration);
    const struct configuration *top = &c->pushed[--c->depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    memcpy(stream, &top->stream, sizeof top->stream);
    return cudaSuccess;
}

static bool in_limits(const struct dim3 *d, CUdevice device, CUdevice_attribute x)
{
    const unsigned int sizes[3] = {d->x, d->y, d->z};
    for (int i = 0; i < 3; i++) {
        int most = 0;
        if (!sizes[i] || cuDeviceGetAttribute(&most, (CUdevice_attribute)((int)x + i), device) != CUDA_SUCCESS ||
            sizes[i] > (unsigned int)most)
            return false;
    }
    return true;
}

/* The driver has one answer for all that is wrong with a launch; the runtime tells a bad shape from the rest, up to
 * CUDA 12. */
static int refine(int r, const struct dim3 *grid, const struct dim3 *block)
{
    CUdevice device;
    int threads = 0;
    if (r != CUDA_ERROR_INVALID_VALUE || cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return r;
    if (!in_limits(grid, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) ||
        !in_limits(block, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X))
        return rt_bad_shape();
    cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    return block->x * block->y * block->z > (unsigned int)threads ? rt_bad_shape() : r;
}

/* Heddle's driver keeps it for the end of the run; another driver does not have this. */
extern void heddle_launch_refused(void) __attribute__((weak));

static int find_kernel(const void *host, CUfunction *f)
{
    int r = rt_enter() ?: rt_function(host, f);
    if (rt_is_of_code(r) && heddle_launch_refused)
        heddle_launch_refused();
    return r;
}

static cudaError_t launch(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes,
                          cudaStream_t stream, bool cooperative)
{
    CUfunction f = NULL;
    int r = find_kernel(host, &f);
    if (r != CUDA_SUCCESS)
        return rt_leave(r);
    if (shared_bytes > UINT32_MAX)
        return rt_leave(cudaErrorInvalidValue);
    unsigned int shared = (unsigned int)shared_bytes;
    r = cooperative
            ? cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, params)
            : cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, params, NULL);
    return rt_leave(refine(r, &grid, &block));
}

RTAPI cudaError_t cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                   size_t shared_bytes, cudaStream_t stream);
RTAPI cudaError_t cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                   size_t shared_bytes, cudaStream_t stream)
{
    return launch(host, grid, block, params, shared_bytes, stream, false);
}

RTAPI cudaError_t cudaLaunchKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                        size_t shared_bytes, cudaStream_t stream);
RTAPI cudaError_t cudaLaunchKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                        size_t shared_bytes, cudaStream_t stream)
{
    return launch(host, grid, block, params, shared_bytes, per_thread(stream), false);
}
/* CUDA 13: with the handle that __cudaGetKernel gave out. */
RT_ALIAS(__cudaLaunchKernel, cudaLaunchKernel)
RT_ALIAS(__cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz)

RTAPI cudaError_t cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                              size_t shared_bytes, cudaStream_t stream);
RTAPI cudaError_t cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                              size_t shared_bytes, cudaStream_t stream)
{
    return launch(host, grid, block, params, shared_bytes, stream, true);
}

RTAPI cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                                   size_t shared_bytes, cudaStream_t stream);
RTAPI cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **params,
                                                   size_t shared_bytes, cudaStream_t stream)
{
    return launch(host, grid, block, params, shared_bytes, per_thread(stream), true);
}

int launch_to_driver(const struct launch_configuration *c, CUlaunchConfig *out)
{
    if (!c || c->shared_bytes > UINT32_MAX)
        return cudaErrorInvalidValue;
    *out = (CUlaunchConfig){.gridDimX = c->grid.x,
                            .gridDimY = c->grid.y,
                            .gridDimZ = c->grid.z,
                            .blockDimX = c->block.x,
                            .blockDimY = c->block.y,
                            .blockDimZ = c->block.z,
                            .sharedMemBytes = (unsigned int)c->shared_bytes,
                            .hStream = c->stream,
                            .attrs = c->attributes,
                            .numAttrs = c->attribute_count};
    return cudaSuccess;
}

static cudaError_t launch_configured(const struct launch_configuration *c, const void *host, void **params, bool ptsz)
{
    CUfunction f = NULL;
    CUlaunchConfig driver;
    int r = launch_to_driver(c, &driver) ?: find_kernel(host, &f);
    if (r != CUDA_SUCCESS)
        return rt_leave(r);
    if (ptsz)
        driver.hStream = per_thread(driver.hStream);
    return rt_leave(refine((int)cuLaunchKernelEx(&driver, f, params, NULL), &c->grid, &c->block));
}

RTAPI cudaError_t cudaLaunchKernelExC(const struct launch_configuration *c, const void *host, void **params);
RTAPI cudaError_t cudaLaunchKernelExC(const struct launch_configuration *c, const void *host, void **params)
{
    return launch_configured(c, host, params, false);
}
RTAPI cudaError_t cudaLaunchKernelExC_ptsz(const struct launch_configuration *c, const void *host, void **params);
RTAPI cudaError_t cudaLaunchKernelExC_ptsz(const struct launch_configuration *c, const void *host, void **params)
{
    return launch_configured(c, host, params, true);
}

/* Before CUDA 7: configuration, arguments one by one, then the launch. */
RTAPI cudaError_t cudaConfigureCall(struct dim3 grid, struct dim3 block, size_t shared_bytes, cudaStream_t stream);
RTAPI cudaError_t cudaConfigureCall(struct dim3 grid, struct dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    configurations.params_bytes = 0;
    return (cudaError_t)__cudaPushCallConfiguration(grid, block, shared_bytes, stream);
}

RTAPI cudaError_t cudaSetupArgument(const void *argument, size_t bytes, size_t offset);
RTAPI cudaError_t cudaSetupArgument(const void *argument, size_t bytes, size_t offset)
{
    struct configurations *c = &configurations;
    if (!c->depth)
        return rt_leave(cudaErrorMissingConfiguration);
    if (!argument || bytes > LEGACY_PARAM_BYTES || offset > LEGACY_PARAM_BYTES - bytes)
        return rt_leave(cudaErrorInvalidValue);
    memcpy(c->params + offset, argument, bytes);
    if (offset + bytes > c->params_bytes)
        c->params_bytes = offset + bytes;
    return cudaSuccess;
}

static cudaError_t launch_set_up(const void *host, bool ptsz)
{
    struct configurations *c = &configurations;
    CUfunction f = NULL;
    if (!c->depth)
        return rt_leave(cudaErrorMissingConfiguration);
    const struct configuration *top = &c->pushed[--c->depth];
    size_t bytes = c->params_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, c->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    c->params_bytes = 0;
    int r = find_kernel(host, &f);
    if (r != CUDA_SUCCESS || top->shared_bytes > UINT32_MAX)
        return rt_leave(r ?: (int)cudaErrorInvalidValue);
    r = cuLaunchKernel(f, top->grid.x, top->grid.y, top->grid.z, top->block.x, top->block.y, top->block.z,
                       (unsigned int)top->shared_bytes, ptsz ? per_thread(top->stream) : top->stream, NULL, extra);
    return rt_leave(refine(r, &top->grid, &top->block));
}

RTAPI cudaError_t cudaLaunch(const void *host);
RTAPI cudaError_t cudaLaunch(const void *host) { return launch_set_up(host, false); }
RTAPI cudaError_t cudaLaunch_ptsz(const void *host);
RTAPI cudaError_t cudaLaunch_ptsz(const void *host) { return launch_set_up(host, true); }
