/* Channel descriptions and the driver's array formats. */
#ifndef HEDDLE_CUDART_ARRAY_H
#define HEDDLE_CUDART_ARRAY_H

#include "cudart/memory_types.h"

/* 0: success; cudaErrorInvalidChannelDescriptor. */
int rt_format_of(const struct cudaChannelFormatDesc *d, CUarray_format *format, unsigned int *channels);
struct cudaChannelFormatDesc rt_desc_of(CUarray_format format, unsigned int channels);
bool rt_is_fraction(CUarray_format format); /* integers that are always read as 0 to 1, or -1 to 1 */
size_t rt_texel_bytes(CUarray_format format, unsigned int channels);

#endif
