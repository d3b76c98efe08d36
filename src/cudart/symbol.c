/* Variables of the device, by the variable that stands for them in the host program. */
#include "cudart/copy.h"
#include "cudart/runtime.h"

/* Where bytes at an offset into a symbol are. */
static int place(const void *symbol, size_t bytes, size_t offset, char **out)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    int r = rt_symbol(symbol, &address, &size);
    if (!r && (offset > size || bytes > size - offset))
        r = cudaErrorInvalidValue;
    if (!r)
        *out = (char *)(uintptr_t)address + offset;
    return r;
}

static cudaError_t copy_to(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                           struct copy_order order)
{
    char *to = NULL;
    int r = rt_enter();
    if (!bytes)
        return rt_leave(r);
    if (!r && kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        r = cudaErrorInvalidMemcpyDirection;
    return rt_leave(r ?: place(symbol, bytes, offset, &to) ?: rt_copy(to, from, bytes, kind, order));
}

static cudaError_t copy_from(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                             struct copy_order order)
{
    char *from = NULL;
    int r = rt_enter();
    if (!bytes)
        return rt_leave(r);
    if (!r && kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        r = cudaErrorInvalidMemcpyDirection;
    return rt_leave(r ?: place(symbol, bytes, offset, &from) ?: rt_copy(to, from, bytes, kind, order));
}

#define TO   const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind
#define FROM void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind

RTAPI cudaError_t cudaMemcpyToSymbol(TO) { return copy_to(symbol, from, bytes, offset, kind, RT_NOW); }
RTAPI cudaError_t cudaMemcpyToSymbol_ptds(TO) { return copy_to(symbol, from, bytes, offset, kind, RT_NOW_PER_THREAD); }
RTAPI cudaError_t cudaMemcpyToSymbolAsync(TO, cudaStream_t stream)
{
    return copy_to(symbol, from, bytes, offset, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpyToSymbolAsync_ptsz(TO, cudaStream_t stream)
{
    return copy_to(symbol, from, bytes, offset, kind, RT_LATER_PER_THREAD(stream));
}
RTAPI cudaError_t cudaMemcpyFromSymbol(FROM) { return copy_from(to, symbol, bytes, offset, kind, RT_NOW); }
RTAPI cudaError_t cudaMemcpyFromSymbol_ptds(FROM)
{
    return copy_from(to, symbol, bytes, offset, kind, RT_NOW_PER_THREAD);
}
RTAPI cudaError_t cudaMemcpyFromSymbolAsync(FROM, cudaStream_t stream)
{
    return copy_from(to, symbol, bytes, offset, kind, RT_LATER(stream));
}
RTAPI cudaError_t cudaMemcpyFromSymbolAsync_ptsz(FROM, cudaStream_t stream)
{
    return copy_from(to, symbol, bytes, offset, kind, RT_LATER_PER_THREAD(stream));
}

RTAPI cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    char *address = NULL;
    int r = rt_enter() ?: (out ? place(symbol, 0, 0, &address) : (int)cudaErrorInvalidValue);
    if (!r)
        *out = address;
    return rt_leave(r);
}

RTAPI cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
    CUdeviceptr address;
    return rt_leave(rt_enter() ?: (out ? rt_symbol(symbol, &address, out) : (int)cudaErrorInvalidValue));
}
