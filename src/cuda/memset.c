/* Fills of device memory with 8, 16 and 32-bit values, linear and 2D. */
#include "cuda/work.h"

#include <string.h>

static void fill_row(uint8_t *row, uint32_t value, uint32_t element_bytes, size_t count)
{
    if (element_bytes == 1) {
        memset(row, (int)value, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(row + i * element_bytes, &value, element_bytes);
}

/* Memory that a graph will have made by then may be used. */
CUresult memset_check(uint64_t address, size_t pitch, uint32_t element_bytes, size_t width, size_t height)
{
    size_t row, rest, bytes;
    if (!width || !height)
        return CUDA_SUCCESS;
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (address % element_bytes || (height > 1 && pitch % element_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(width, element_bytes, &row) || __builtin_mul_overflow(height - 1, pitch, &rest) ||
        __builtin_add_overflow(rest, row, &bytes) || (height > 1 && pitch < row) ||
        !(device_range_ok(address, bytes) || graph_memory_holds(address, bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult memset_fill(uint64_t address, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width,
                     size_t height)
{
    CUresult r = memset_check(address, pitch, element_bytes, width, height);
    if (r == CUDA_SUCCESS && width && height && !device_range_ok(address, (height - 1) * pitch + width * element_bytes))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; r == CUDA_SUCCESS && width && y < height; y++)
        fill_row((uint8_t *)memory_pointer(address) + y * pitch, value, element_bytes, width);
    return r;
}

static CUresult fill_call(uint64_t address, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width,
                          size_t height, CUstream stream)
{
    CUDA_MEMSET_NODE_PARAMS p = {address, pitch, value, element_bytes, width, height};
    struct work w;
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = work_memset(&w, &p);
    return api_leave(r == CUDA_SUCCESS ? stream_submit(stream, &w) : r);
}

#define LINEAR(bits, type)                                                                           \
    CUAPI CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) \
    {                                                                                                \
        return fill_call(to, 0, value, bits / 8, count, 1, stream);                                  \
    }                                                                                                \
    CUAPI CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)                    \
    {                                                                                                \
        return cuMemsetD##bits##Async(to, value, count, NULL);                                       \
    }                                                                                                \
    API_ALIAS(cuMemsetD##bits##Async_ptsz, cuMemsetD##bits##Async)                                   \
    API_ALIAS(cuMemsetD##bits##_v2_ptds, cuMemsetD##bits##_v2)

#define PITCHED(bits, type)                                                                                        \
    CUAPI CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, \
                                            CUstream stream)                                                       \
    {                                                                                                              \
        return fill_call(to, pitch, value, bits / 8, width, height, stream);                                       \
    }                                                                                                              \
    CUAPI CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height)   \
    {                                                                                                              \
        return cuMemsetD2D##bits##Async(to, pitch, value, width, height, NULL);                                    \
    }                                                                                                              \
    API_ALIAS(cuMemsetD2D##bits##Async_ptsz, cuMemsetD2D##bits##Async)                                             \
    API_ALIAS(cuMemsetD2D##bits##_v2_ptds, cuMemsetD2D##bits##_v2)

LINEAR(8, unsigned char)
LINEAR(16, unsigned short)
LINEAR(32, unsigned int)
PITCHED(8, unsigned char)
PITCHED(16, unsigned short)
PITCHED(32, unsigned int)
API_ALIAS(cuMemsetD8, cuMemsetD8_v2)
API_ALIAS(cuMemsetD16, cuMemsetD16_v2)
API_ALIAS(cuMemsetD32, cuMemsetD32_v2)
API_ALIAS(cuMemsetD2D8, cuMemsetD2D8_v2)
API_ALIAS(cuMemsetD2D16, cuMemsetD2D16_v2)
API_ALIAS(cuMemsetD2D32, cuMemsetD2D32_v2)
