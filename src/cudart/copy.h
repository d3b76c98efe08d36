/* Copies, as the files of the runtime ask for them: of bytes in a row, or of a box. */
#ifndef HEDDLE_CUDART_COPY_H
#define HEDDLE_CUDART_COPY_H

#include "cudart/memory_types.h"

/* On which stream, and whether the call returns only when all is done. */
struct copy_order {
    CUstream stream;
    bool wait;
};

#define RT_NOW                 ((struct copy_order){NULL, true})
#define RT_NOW_PER_THREAD      ((struct copy_order){CU_STREAM_PER_THREAD, true})
#define RT_LATER(s)            ((struct copy_order){(s), false})
#define RT_LATER_PER_THREAD(s) ((struct copy_order){(s) ? (s) : CU_STREAM_PER_THREAD, false})

/* All need rt_enter, and return a CUresult or a cudaError_t. */
int rt_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, struct copy_order order);
int rt_copy_box(const CUDA_MEMCPY3D *box, struct copy_order order);
/* The memory types of the two sides of a copy, where they are linear memory. False: no such kind. */
bool rt_copy_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to);
/* One side of a box: linear memory or an array. */
void rt_box_from(CUDA_MEMCPY3D *box, CUmemorytype type, const void *p, size_t pitch);
void rt_box_to(CUDA_MEMCPY3D *box, CUmemorytype type, void *p, size_t pitch);
void rt_box_from_array(CUDA_MEMCPY3D *box, cudaArray_t array, size_t x_bytes, size_t y);
void rt_box_to_array(CUDA_MEMCPY3D *box, cudaArray_t array, size_t x_bytes, size_t y);
/* The driver's words for the runtime's parameters; a box of nothing has a WidthInBytes of 0. */
int rt_copy_3d_box(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *box);

#endif
