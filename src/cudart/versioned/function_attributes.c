/* cudaFuncGetAttributes. The structure grew at its end with CUDA 11.8: a program of an earlier CUDA 11 has no room for
 * what came later, so the library of that generation leaves it alone. */
#include "cudart/runtime.h"

struct function_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared_bytes, carveout;
#if CUDART_MAJOR > 11
    int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, nonportable_cluster;
#endif
};

static int size_attribute(CUfunction f, CUfunction_attribute attribute, size_t *out)
{
    int value = 0;
    CUresult r = cuFuncGetAttribute(&value, attribute, f);
    *out = (size_t)value;
    return (int)r;
}

static int read_attributes(CUfunction f, struct function_attributes *out)
{
    const struct {
        CUfunction_attribute attribute;
        int *to;
    } rows[] = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->max_threads},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &out->registers},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, &out->ptx_version},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &out->binary_version},
        {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &out->cache_mode_ca},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &out->max_dynamic_shared_bytes},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &out->carveout},
#if CUDART_MAJOR > 11
        {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &out->cluster_must_be_set},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &out->cluster_width},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &out->cluster_height},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &out->cluster_depth},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, &out->cluster_policy},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &out->nonportable_cluster},
#endif
    };
    int r = size_attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &out->shared_bytes);
    r = r ?: size_attribute(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &out->const_bytes);
    r = r ?: size_attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &out->local_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && r == CUDA_SUCCESS; i++)
        r = (int)cuFuncGetAttribute(rows[i].to, rows[i].attribute, f);
    return r;
}

RTAPI cudaError_t cudaFuncGetAttributes(struct function_attributes *out, const void *host);
RTAPI cudaError_t cudaFuncGetAttributes(struct function_attributes *out, const void *host)
{
    CUfunction f = NULL;
    struct function_attributes found = {0};
    if (!out)
        return rt_leave(cudaErrorInvalidValue);
    int r = rt_enter() ?: rt_function(host, &f) ?: read_attributes(f, &found);
    if (r == CUDA_SUCCESS)
        *out = found;
    return rt_leave(r);
}
