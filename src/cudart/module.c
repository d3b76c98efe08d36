/* From what was registered to what the driver knows: fat binaries become libraries, which belong to no context and are
 * placed by the driver in each context that uses them. */
#include "cudart/registry.h"

#include <stdlib.h>

bool rt_is_of_code(int r)
{
    return r == CUDA_ERROR_INVALID_IMAGE || r == CUDA_ERROR_NO_BINARY_FOR_GPU || r == CUDA_ERROR_INVALID_PTX ||
           r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || r == CUDA_ERROR_NOT_SUPPORTED;
}

/* Such a failure would be the same the next time, and has been reported. */
static int lasting(int r) { return rt_is_of_code(r) ? r : CUDA_SUCCESS; }

int binary_load(struct fat_binary *b)
{
    registry_lock();
    int r = b->failure;
    if (!b->library && r == CUDA_SUCCESS) {
        r = (int)cuLibraryLoadData(&b->library, b->wrapper, NULL, NULL, 0, NULL, NULL, 0);
        b->failure = lasting(r);
    }
    registry_unlock();
    return r;
}

void binary_unload(struct fat_binary *b)
{
    if (b->library)
        cuLibraryUnload(b->library);
}

/* The host program follows the pointer without asking whether there is one. What it then finds is memory of its own;
 * the error comes with the next call. */
static void stand_in(struct fat_binary *b)
{
    for (struct entity *e = b->entities; e; e = e->next) {
        void **pointer = (void **)(uintptr_t)e->host;
        if (e->kind == ENTITY_MANAGED && !*pointer)
            *pointer = calloc(1, e->size_bytes);
    }
}

/* The host program reaches a managed variable through a pointer, which is set here. */
int binary_managed(struct fat_binary *b)
{
    int r = binary_load(b);
    for (struct entity *e = b->entities; e && r == CUDA_SUCCESS; e = e->next) {
        CUdeviceptr address;
        if (e->kind != ENTITY_MANAGED)
            continue;
        r = cuLibraryGetManaged(&address, NULL, b->library, e->name);
        if (r == CUDA_SUCCESS)
            *(void **)(uintptr_t)e->host = (void *)(uintptr_t)address;
    }
    b->managed_made = r == CUDA_SUCCESS;
    if (r != CUDA_SUCCESS)
        stand_in(b);
    return r;
}

/* With the lock held. */
static struct entity *find(const void *host, enum entity_kind kind)
{
    struct entity *e = registry_find(host);
    return e && e->kind == kind ? e : NULL;
}

static int kernel_of(struct entity *e)
{
    int r = binary_load(e->binary);
    if (r != CUDA_SUCCESS || e->kernel)
        return r;
    r = (int)cuLibraryGetKernel(&e->kernel, e->binary->library, e->name);
    if (r == CUDA_SUCCESS)
        kernels_add(e->kernel, e);
    return r == CUDA_ERROR_NOT_FOUND ? (int)cudaErrorInvalidDeviceFunction : r;
}

int rt_kernel(const void *host, CUkernel *out)
{
    registry_lock();
    struct entity *e = find(host, ENTITY_FUNCTION);
    int r = e ? kernel_of(e) : (int)cudaErrorInvalidDeviceFunction;
    if (r == CUDA_SUCCESS)
        *out = e->kernel;
    registry_unlock();
    return r;
}

/* In the current context. */
static int place(struct entity *e, CUfunction *out)
{
    int r = e->failure ?: kernel_of(e);
    if (r == CUDA_SUCCESS && (e->context != rt_context() || e->epoch != rt_epoch())) {
        r = (int)cuKernelGetFunction(&e->function, e->kernel);
        e->failure = lasting(r);
        e->context = r == CUDA_SUCCESS ? rt_context() : NULL;
        e->epoch = rt_epoch();
    }
    if (r == CUDA_SUCCESS)
        *out = e->function;
    return r;
}

int rt_function(const void *host, CUfunction *out)
{
    struct entity *e = NULL;
    int r = rt_no_function(host);
    registry_lock();
    bool is_kernel = kernels_find(host, &e);
    if (!is_kernel)
        e = find(host, ENTITY_FUNCTION);
    if (e)
        r = place(e, out);
    else if (is_kernel) /* of a library that the program loaded */
        r = (int)cuKernelGetFunction(out, (CUkernel)(uintptr_t)host);
    registry_unlock();
    return r;
}

const void *rt_host_function(CUfunction f)
{
    const void *host = f;
    registry_lock();
    for (struct fat_binary *b = registry_first(); b && host == f; b = b->next)
        for (struct entity *e = b->entities; e && host == f; e = e->next)
            if (e->kind == ENTITY_FUNCTION && e->function == f && e->epoch == rt_epoch())
                host = e->host;
    registry_unlock();
    return host;
}

/* A managed variable is also known by its address itself, which is what the program sees. */
static struct entity *find_managed(const void *address)
{
    struct entity *found = NULL;
    for (struct fat_binary *b = registry_first(); b && !found; b = b->next)
        for (struct entity *e = b->managed_made ? b->entities : NULL; e && !found; e = e->next)
            if (e->kind == ENTITY_MANAGED && *(void *const *)e->host == address)
                found = e;
    return found;
}

/* Where a variable is in the current context. */
static int locate(struct entity *e)
{
    if (e->context == rt_context() && e->epoch == rt_epoch())
        return CUDA_SUCCESS;
    int r =
        binary_load(e->binary) ?: (int)cuLibraryGetGlobal(&e->address, &e->address_bytes, e->binary->library, e->name);
    e->context = r == CUDA_SUCCESS ? rt_context() : NULL;
    e->epoch = rt_epoch();
    return r;
}

int rt_symbol(const void *host, CUdeviceptr *address, size_t *bytes)
{
    registry_lock();
    struct entity *e = host ? find(host, ENTITY_VARIABLE) : NULL;
    if (!e && host)
        e = find(host, ENTITY_MANAGED);
    if (!e && host)
        e = find_managed(host);
    int r = e ? locate(e) : CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS) {
        *address = e->address;
        *bytes = e->address_bytes;
    }
    registry_unlock();
    return r == CUDA_ERROR_NOT_FOUND ? (int)cudaErrorInvalidSymbol : r;
}

static int module_with(const void *host, enum entity_kind kind, CUmodule *module, struct entity **entity)
{
    registry_lock();
    struct entity *e = *entity = host ? find(host, kind) : NULL;
    int r = e ? binary_load(e->binary) ?: (int)cuLibraryGetModule(module, e->binary->library) : CUDA_ERROR_NOT_FOUND;
    registry_unlock();
    return r;
}

int rt_texture_reference(const void *host, CUtexref *out, bool *reads_normalized)
{
    CUmodule module;
    struct entity *e;
    int r = module_with(host, ENTITY_TEXTURE, &module, &e);
    r = r ?: (int)cuModuleGetTexRef(out, module, e->name);
    if (!r)
        *reads_normalized = e->reads_normalized;
    return r == CUDA_ERROR_NOT_FOUND ? (int)cudaErrorInvalidTexture : r;
}

int rt_surface_reference(const void *host, CUsurfref *out)
{
    CUmodule module;
    struct entity *e;
    int r = module_with(host, ENTITY_SURFACE, &module, &e);
    r = r ?: (int)cuModuleGetSurfRef(out, module, e->name);
    return r == CUDA_ERROR_NOT_FOUND ? (int)cudaErrorInvalidSurface : r;
}
