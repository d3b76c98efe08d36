/* From CUDA's descriptions to the executor's, shared by texture objects and texture references. */
#ifndef HEDDLE_CUDA_TEXTURE_H
#define HEDDLE_CUDA_TEXTURE_H

#include "cuda/internal.h"

CUresult texture_resource(const CUDA_RESOURCE_DESC *d, struct texture *t); /* where the texels are */
CUresult texture_sampling(const CUDA_TEXTURE_DESC *d,
                          struct texture *t); /* how they are read; after texture_resource */

#endif
