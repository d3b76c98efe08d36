/* cuGetProcAddress: the function that a name meant in a given version of CUDA. */
#include "cuda/internal.h"

#include "cuda/proc_table.h"

#include <string.h>

enum { NEWEST_MAJOR = CUDA_VERSION / 1000 };

/* A base name takes the newest version up to the one asked for; a full symbol is itself. */
static const struct proc_row *find(const char *name, int version, bool per_thread, bool *exists)
{
    const struct proc_row *best = NULL;
    *exists = false;
    for (size_t i = 0; i < proc_row_count; i++) {
        const struct proc_row *row = &proc_rows[i];
        bool is_base = !strcmp(row->base, name);
        if (!is_base && !strcmp(row->symbol, name)) {
            *exists = true;
            return row;
        }
        if (!is_base)
            continue;
        *exists = true;
        if (row->version > version || (row->per_thread && !per_thread))
            continue;
        if (!best || row->per_thread > best->per_thread ||
            (row->per_thread == best->per_thread && row->version >= best->version))
            best = row;
    }
    return best;
}

CUAPI CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, cuuint64_t flags,
                                   CUdriverProcAddressQueryResult *status)
{
    bool exists;
    cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!symbol || !out || (flags & ~known) || flags == known || version / 1000 > NEWEST_MAJOR)
        return CUDA_ERROR_INVALID_VALUE;
    const struct proc_row *row = find(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &exists);
    *out = row ? (void *)row->address : NULL;
    if (status)
        *status = row      ? CU_GET_PROC_ADDRESS_SUCCESS
                  : exists ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                           : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

/* Of CUDA 11.3 to 11.8: without a status, but with an error. */
static CUresult get_v1(const char *symbol, void **out, int version, cuuint64_t flags)
{
    CUresult r = cuGetProcAddress_v2(symbol, out, version, flags, NULL);
    return r == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : r;
}
API_ALIAS(cuGetProcAddress, get_v1)
