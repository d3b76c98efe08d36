/* Occupancy: how many blocks of a kernel fit a core, and which block size fills it best. */
#include "cuda/internal.h"

enum { MOST_THREADS = 1024 };

static CUresult enter(CUfunction handle, const void *out, struct function **f)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? function_resolve(handle, f) : r;
}

static uint32_t blocks_that_fit(const struct function *f, uint32_t threads, size_t shared)
{
    return shared > UINT32_MAX ? 0 : gpu_occupancy(driver_get()->gpu, f->exec, threads, (uint32_t)shared);
}

CUAPI CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction handle, int threads,
                                                                    size_t shared, unsigned int flags)
{
    struct function *f;
    CUresult r = enter(handle, out, &f);
    if (r == CUDA_SUCCESS && (threads <= 0 || (flags & ~1u)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = threads > MOST_THREADS ? 0 : (int)blocks_that_fit(f, (uint32_t)threads, shared);
    return api_leave(r);
}

CUAPI CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction handle, int threads, size_t shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, handle, threads, shared, 0);
}

/* The callback is the program's: it is called with the lock open. */
CUAPI CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle,
                                                         CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                         unsigned int flags)
{
    struct function *f;
    int most = 0;
    uint32_t best_threads = 0, best_size = 0, best_blocks = 0;
    CUresult r = enter(handle, grid && block ? grid : NULL, &f);
    if (r == CUDA_SUCCESS && (limit < 0 || (flags & ~1u)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = function_attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    if (limit && limit < most)
        most = limit;
    for (uint32_t at = ((uint32_t)most + 31) / 32 * 32; at > 0; at -= 32) {
        uint32_t threads = at < (uint32_t)most ? at : (uint32_t)most;
        size_t bytes = shared;
        if (shared_of) {
            api_leave(CUDA_SUCCESS);
            bytes = shared_of((int)threads);
            r = enter(handle, grid, &f);
            if (r != CUDA_SUCCESS)
                return api_leave(r);
        }
        uint32_t blocks = blocks_that_fit(f, threads, bytes);
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            best_size = threads;
            best_blocks = blocks;
        }
    }
    *block = (int)best_size;
    *grid = (int)(best_blocks * driver_get()->gpu->options.machine.cores);
    return api_leave(CUDA_SUCCESS);
}

CUAPI CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle, CUoccupancyB2DSize shared_of,
                                                size_t shared, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, shared_of, shared, limit, 0);
}

/* The most dynamic shared memory with which that many blocks still fit, by halving. */
CUAPI CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction handle, int blocks, int threads)
{
    struct function *f;
    CUresult r = enter(handle, out, &f);
    if (r == CUDA_SUCCESS && (blocks <= 0 || threads <= 0 || threads > MOST_THREADS ||
                              blocks_that_fit(f, (uint32_t)threads, 0) < (uint32_t)blocks))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    uint32_t low = 0, high = gpu_max_dynamic_shared(driver_get()->gpu);
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (blocks_that_fit(f, (uint32_t)threads, middle) >= (uint32_t)blocks)
            low = middle;
        else
            high = middle - 1;
    }
    *out = low;
    return api_leave(CUDA_SUCCESS);
}

static CUresult cluster_blocks(const CUlaunchConfig *c, uint32_t *blocks)
{
    struct launch_shape s = {0};
    CUresult r = launch_attributes(c, &s);
    *blocks = s.cluster[0] ? s.cluster[0] * s.cluster[1] * s.cluster[2] : 1;
    return r;
}

CUAPI CUresult cuOccupancyMaxActiveClusters(int *out, CUfunction handle, const CUlaunchConfig *c)
{
    struct function *f;
    uint32_t blocks = 1;
    CUresult r = enter(handle, c ? out : NULL, &f);
    if (r == CUDA_SUCCESS)
        r = cluster_blocks(c, &blocks);
    if (r == CUDA_SUCCESS) {
        uint32_t threads = c->blockDimX * c->blockDimY * c->blockDimZ;
        uint32_t fit = threads && threads <= MOST_THREADS ? blocks_that_fit(f, threads, c->sharedMemBytes) : 0;
        *out = (int)(fit * driver_get()->gpu->options.machine.cores / blocks);
    }
    return api_leave(r);
}

CUAPI CUresult cuOccupancyMaxPotentialClusterSize(int *out, CUfunction handle, const CUlaunchConfig *c)
{
    struct function *f;
    CUresult r = enter(handle, c ? out : NULL, &f);
    if (r == CUDA_SUCCESS) {
        uint32_t threads = c->blockDimX * c->blockDimY * c->blockDimZ;
        uint32_t fit = threads && threads <= MOST_THREADS ? blocks_that_fit(f, threads, c->sharedMemBytes) : 0;
        uint64_t all = (uint64_t)fit * driver_get()->gpu->options.machine.cores, size = f->nonportable_cluster ? 16 : 8;
        while (size > all && size > 1)
            size /= 2;
        *out = (int)(all ? size : 0);
    }
    return api_leave(r);
}
