/* Which ways of reading suit which texels. */
#include "cudart/texture.h"
#include "cudart/array.h"

int rt_check_sampling(CUarray_format format, bool reads_normalized, bool filters)
{
    bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
    bool is_wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
    if (reads_normalized ? is_float || is_wide : rt_is_fraction(format))
        return cudaErrorInvalidNormSetting;
    return filters && !is_float && !reads_normalized ? cudaErrorInvalidFilterSetting : cudaSuccess;
}
