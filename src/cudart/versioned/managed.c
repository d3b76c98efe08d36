/* Prefetching and advice for managed memory. CUDA 11 names places by the number of a device, -1 for the host; CUDA 12
 * has that and, as _v2, places of any kind; CUDA 13 has only these, under the plain names. */
#include "cudart/runtime.h"

static cudaError_t prefetch(const void *p, size_t bytes, CUmemLocation place, unsigned int flags, CUstream stream)
{
    return rt_leave(rt_enter() ?: (int)cuMemPrefetchAsync((uintptr_t)p, bytes, place, flags, stream));
}

static cudaError_t advise(const void *p, size_t bytes, CUmem_advise advice, CUmemLocation place)
{
    return rt_leave(rt_enter() ?: (int)cuMemAdvise((uintptr_t)p, bytes, advice, place));
}

static CUstream per_thread(cudaStream_t stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

#if CUDART_MAJOR < 13
#define PLACED(name)      name##_v2
#define PLACED_PTSZ(name) name##_v2_ptsz

static CUmemLocation place_of(int device)
{
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/* Advice that is about the memory alone takes any device. */
static bool takes_place(CUmem_advise advice)
{
    return advice != CU_MEM_ADVISE_SET_READ_MOSTLY && advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
           advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
}

RTAPI cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, int device, cudaStream_t stream)
{
    return prefetch(p, bytes, place_of(device), 0, stream);
}
RTAPI cudaError_t cudaMemPrefetchAsync_ptsz(const void *p, size_t bytes, int device, cudaStream_t stream)
{
    return prefetch(p, bytes, place_of(device), 0, per_thread(stream));
}
RTAPI cudaError_t cudaMemAdvise(const void *p, size_t bytes, CUmem_advise advice, int device)
{
    return advise(p, bytes, advice, place_of(takes_place(advice) ? device : 0));
}
#else
#define PLACED(name)      name
#define PLACED_PTSZ(name) name##_ptsz
#endif

#if CUDART_MAJOR >= 12
RTAPI cudaError_t PLACED(cudaMemPrefetchAsync)(const void *p, size_t bytes, CUmemLocation place, unsigned int flags,
                                               cudaStream_t stream)
{
    return prefetch(p, bytes, place, flags, stream);
}
RTAPI cudaError_t PLACED_PTSZ(cudaMemPrefetchAsync)(const void *p, size_t bytes, CUmemLocation place,
                                                    unsigned int flags, cudaStream_t stream)
{
    return prefetch(p, bytes, place, flags, per_thread(stream));
}
RTAPI cudaError_t PLACED(cudaMemAdvise)(const void *p, size_t bytes, CUmem_advise advice, CUmemLocation place)
{
    return advise(p, bytes, advice, place);
}
#endif

#if CUDART_MAJOR >= 13
/* Range i goes to the place whose index comes last among those not above i. Memory never moves, and what is discarded
 * may be read again, so discarding is the check of its range. */
static cudaError_t prefetch_batch(void **p, size_t *bytes, size_t count, CUmemLocation *places, size_t *first,
                                  size_t place_count, unsigned long long flags, CUstream stream)
{
    int r = rt_enter();
    if (!r && (!p || !bytes || !count || !places || !first || !place_count || place_count > count || first[0] || flags))
        r = cudaErrorInvalidValue;
    for (size_t i = 0, at = 0; i < count && !r; i++) {
        while (at + 1 < place_count && first[at + 1] <= i)
            at++;
        r = (int)cuMemPrefetchAsync((uintptr_t)p[i], bytes[i], places[at], 0, stream);
    }
    return rt_leave(r);
}

static cudaError_t discard_batch(void **p, size_t *bytes, size_t count, unsigned long long flags, CUstream stream)
{
    int r = rt_enter(), value;
    if (!r && (!p || !bytes || !count || flags))
        r = cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !r; i++)
        r = (int)cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (uintptr_t)p[i],
                                        bytes[i]);
    (void)stream;
    return rt_leave(r);
}

#define RANGES void **p, size_t *bytes, size_t count
#define PLACES CUmemLocation *places, size_t *first, size_t place_count, unsigned long long flags, cudaStream_t stream
RTAPI cudaError_t cudaMemPrefetchBatchAsync(RANGES, PLACES)
{
    return prefetch_batch(p, bytes, count, places, first, place_count, flags, stream);
}
RTAPI cudaError_t cudaMemPrefetchBatchAsync_ptsz(RANGES, PLACES)
{
    return prefetch_batch(p, bytes, count, places, first, place_count, flags, per_thread(stream));
}
RTAPI cudaError_t cudaMemDiscardAndPrefetchBatchAsync(RANGES, PLACES)
{
    return prefetch_batch(p, bytes, count, places, first, place_count, flags, stream);
}
RTAPI cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(RANGES, PLACES)
{
    return prefetch_batch(p, bytes, count, places, first, place_count, flags, per_thread(stream));
}
RTAPI cudaError_t cudaMemDiscardBatchAsync(RANGES, unsigned long long flags, cudaStream_t stream)
{
    return discard_batch(p, bytes, count, flags, stream);
}
RTAPI cudaError_t cudaMemDiscardBatchAsync_ptsz(RANGES, unsigned long long flags, cudaStream_t stream)
{
    return discard_batch(p, bytes, count, flags, per_thread(stream));
}
#endif
