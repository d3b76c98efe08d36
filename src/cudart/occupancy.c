/* How many blocks of a kernel fit a multiprocessor. The machine is the driver's to know. */
#include "cudart/launch.h"

RTAPI cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
                                                                         size_t shared_bytes, unsigned int flags);
RTAPI cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
                                                                         size_t shared_bytes, unsigned int flags)
{
    CUfunction f = NULL;
    if (!blocks)
        return rt_leave(cudaErrorInvalidValue);
    int r = rt_enter() ?: rt_function(host, &f);
    r = r ?: (int)cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared_bytes, flags);
    return rt_leave(r);
}

RTAPI cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
                                                                size_t shared_bytes);
RTAPI cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
                                                                size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared_bytes, 0);
}

RTAPI cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads);
RTAPI cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
    CUfunction f = NULL;
    if (!bytes)
        return rt_leave(cudaErrorInvalidValue);
    int r = rt_enter() ?: rt_function(host, &f);
    return rt_leave(r ?: (int)cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads));
}

typedef CUresult cluster_query(int *out, CUfunction f, const CUlaunchConfig *c);

static cudaError_t clusters(cluster_query *query, int *out, const void *host, const struct launch_configuration *c)
{
    CUfunction f = NULL;
    CUlaunchConfig driver;
    if (!out)
        return rt_leave(cudaErrorInvalidValue);
    return rt_leave(launch_to_driver(c, &driver) ?: rt_enter() ?: rt_function(host, &f) ?: (int)query(out, f, &driver));
}

RTAPI cudaError_t cudaOccupancyMaxPotentialClusterSize(int *out, const void *host,
                                                       const struct launch_configuration *c);
RTAPI cudaError_t cudaOccupancyMaxPotentialClusterSize(int *out, const void *host, const struct launch_configuration *c)
{
    return clusters(cuOccupancyMaxPotentialClusterSize, out, host, c);
}

RTAPI cudaError_t cudaOccupancyMaxActiveClusters(int *out, const void *host, const struct launch_configuration *c);
RTAPI cudaError_t cudaOccupancyMaxActiveClusters(int *out, const void *host, const struct launch_configuration *c)
{
    return clusters(cuOccupancyMaxActiveClusters, out, host, c);
}
