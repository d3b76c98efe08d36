/* Registration: what the code that the compiler put in front of main() calls. Nothing is read here; a fat binary is
 * loaded when something of it is first used. Programs register before main(), in the constructors of libraries, and
 * again whenever dlopen() brings in more; they unregister when a library is closed, and at exit. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cudart/registry.h"

#include "cudart/address_map.h"

#include <pthread.h>
#include <stdlib.h>

struct registry {
    pthread_mutex_t lock;
    struct fat_binary *first;
    struct address_map entities, kernels;
};

static struct registry registry = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

void registry_lock(void) { pthread_mutex_lock(&registry.lock); }
void registry_unlock(void) { pthread_mutex_unlock(&registry.lock); }
struct fat_binary *registry_first(void) { return registry.first; }

struct entity *registry_find(const void *host)
{
    void *found = NULL;
    return address_map_get(&registry.entities, host, &found) ? found : NULL;
}

void kernels_add(CUkernel kernel, struct entity *function) { address_map_put(&registry.kernels, kernel, function); }

void kernels_remove(CUkernel kernel) { address_map_remove(&registry.kernels, kernel); }

bool kernels_find(const void *handle, struct entity **function)
{
    void *found = NULL;
    bool is = address_map_get(&registry.kernels, handle, &found);
    *function = found;
    return is;
}

static void add_entity(void **handle, const struct entity *description)
{
    struct fat_binary *b = (struct fat_binary *)handle;
    const void *host = description->host;
    struct entity *e = b && host && description->name ? calloc(1, sizeof *e) : NULL;
    if (!e)
        return;
    *e = *description;
    e->binary = b;
    registry_lock();
    e->next = b->entities;
    b->entities = e;
    e->hidden = registry_find(host);
    address_map_put(&registry.entities, host, e);
    registry_unlock();
}

static void add(void **handle, enum entity_kind kind, const void *host, const char *name, size_t size_bytes)
{
    add_entity(handle, &(struct entity){.host = host, .name = name, .kind = kind, .size_bytes = size_bytes});
}

RTAPI void **__cudaRegisterFatBinary(void *wrapper);
RTAPI void **__cudaRegisterFatBinary(void *wrapper)
{
    struct fat_binary *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->wrapper = wrapper;
    registry_lock();
    b->next = registry.first;
    registry.first = b;
    registry_unlock();
    return (void **)b;
}

RTAPI void __cudaRegisterFatBinaryEnd(void **handle);
RTAPI void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

/* An inline function, or a template, stands in several fat binaries under the one address that the linker left of it:
 * the last one registered answers for all, and the others take over. */
static void uncover(struct entity *e)
{
    struct entity *top = registry_find(e->host);
    if (top == e && e->hidden)
        address_map_put(&registry.entities, e->host, e->hidden);
    else if (top == e)
        address_map_remove(&registry.entities, e->host);
    for (; top && top != e; top = top->hidden)
        if (top->hidden == e)
            top->hidden = e->hidden;
}

static void forget(struct fat_binary *b)
{
    for (struct fat_binary **at = &registry.first; *at; at = &(*at)->next)
        if (*at == b) {
            *at = b->next;
            break;
        }
    for (struct entity *e = b->entities; e; e = e->next) {
        uncover(e);
        if (e->kernel)
            address_map_remove(&registry.kernels, e->kernel);
    }
}

RTAPI void __cudaUnregisterFatBinary(void **handle);
RTAPI void __cudaUnregisterFatBinary(void **handle)
{
    struct fat_binary *b = (struct fat_binary *)handle;
    if (!b)
        return;
    registry_lock();
    forget(b);
    registry_unlock();
    if (!rt_exiting())
        binary_unload(b);
    for (struct entity *e = b->entities, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    free(b);
}

RTAPI void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                  void *tid, void *bid, struct dim3 *block, struct dim3 *grid, int *warp);
RTAPI void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                  void *tid, void *bid, struct dim3 *block, struct dim3 *grid, int *warp)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add(handle, ENTITY_FUNCTION, host, name, 0);
}

RTAPI void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                             int is_constant, int is_global);
RTAPI void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                             int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add(handle, ENTITY_VARIABLE, host, name, bytes);
}
RT_ALIAS(__cudaRegisterHostVar, __cudaRegisterVar)

RTAPI void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int is_extern,
                                    size_t bytes, int is_constant, int is_global);
RTAPI void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int is_extern,
                                    size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add(handle, ENTITY_MANAGED, pointer, name, bytes);
}

RTAPI void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                                 int normalised, int is_extern);
RTAPI void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                                 int normalised, int is_extern)
{
    (void)device, (void)dimensions, (void)is_extern;
    add_entity(handle, &(struct entity){
                           .host = host, .name = name, .kind = ENTITY_TEXTURE, .reads_normalized = normalised != 0});
}

RTAPI void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                                 int is_extern);
RTAPI void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                                 int is_extern)
{
    (void)device, (void)dimensions, (void)is_extern;
    add(handle, ENTITY_SURFACE, host, name, 0);
}

/* Called when the host program first touches a managed variable of the fat binary. */
RTAPI char __cudaInitModule(void **handle);
RTAPI char __cudaInitModule(void **handle)
{
    struct fat_binary *b = (struct fat_binary *)handle;
    return b && rt_leave(rt_enter() ?: binary_managed(b)) == cudaSuccess;
}
