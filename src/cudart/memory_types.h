/* Types of the runtime API for memory: positions, extents, pitched pointers, channel descriptions and the parameters of
 * 3D copies, with the layout that compiled programs assume. */
#ifndef HEDDLE_CUDART_MEMORY_TYPES_H
#define HEDDLE_CUDART_MEMORY_TYPES_H

#include "cudart/types.h"

/* Between the last two: unsigned and then signed, 8 and then 16 bits, with 1, 2 and 4 channels. */
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone,
    cudaChannelFormatKindUnsignedNormalized8X1 = 5,
    cudaChannelFormatKindSignedNormalized16X4 = 16,
};

struct cudaChannelFormatDesc {
    int x, y, z, w;
    enum cudaChannelFormatKind f;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};

/* Positions and widths count elements where an array takes part, bytes where none does. */
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    int dstDevice;
    struct cudaExtent extent;
};

#endif
