/* What texture objects and texture references share. */
#ifndef HEDDLE_CUDART_TEXTURE_H
#define HEDDLE_CUDART_TEXTURE_H

#include "cudart/texture_types.h"

/* Whether texels of a format may be read so: cudaErrorInvalidNormSetting, cudaErrorInvalidFilterSetting. */
int rt_check_sampling(CUarray_format format, bool reads_normalized, bool filters);

#endif
