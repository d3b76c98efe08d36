/* What the compiler registered: fat binaries, and the functions and variables in them, found by the address that stands
 * for each in the host program. One lock guards all of it, also while a fat binary is loaded; a thread may take it
 * twice. */
#ifndef HEDDLE_CUDART_REGISTRY_H
#define HEDDLE_CUDART_REGISTRY_H

#include "cudart/runtime.h"

enum entity_kind { ENTITY_FUNCTION, ENTITY_VARIABLE, ENTITY_MANAGED, ENTITY_TEXTURE, ENTITY_SURFACE };

struct entity {
    const void *host; /* managed variables: where their pointer is kept */
    const char *name;
    struct fat_binary *binary;
    struct entity *next;   /* of the same fat binary */
    struct entity *hidden; /* registered before under the same address */
    enum entity_kind kind;
    size_t size_bytes;
    bool reads_normalized; /* textures: integers are read as fractions of their largest value */
    CUkernel kernel;       /* functions: NULL until asked for */
    CUfunction function;   /* in context, of that epoch */
    CUdeviceptr address;   /* variables: likewise */
    size_t address_bytes;
    CUcontext context;
    int failure; /* of placing it there; not tried twice */
    uint64_t epoch;
};

struct fat_binary {
    const void *wrapper; /* first: a handle is the address of this */
    CUlibrary library;   /* NULL until something of it is asked for */
    int failure;         /* of loading it; not tried twice */
    bool managed_made;   /* the pointers of its managed variables are set */
    struct entity *entities;
    struct fat_binary *next;
};

void registry_lock(void);
void registry_unlock(void);
/* With the lock held. */
struct entity *registry_find(const void *host); /* NULL: not registered */
struct fat_binary *registry_first(void);
/* A kernel of the driver's, and the registered function that it belongs to (NULL: of a library that the program loaded
 * itself). */
void kernels_add(CUkernel kernel, struct entity *function);
void kernels_remove(CUkernel kernel);
bool kernels_find(const void *handle, struct entity **function);

/* module.c */
int binary_load(struct fat_binary *b);    /* no-op when loaded; rt_enter was called */
int binary_managed(struct fat_binary *b); /* sets the pointers of its managed variables */
void binary_unload(struct fat_binary *b);
int rt_kernel(const void *host, CUkernel *out);
bool rt_is_of_code(int r); /* a failure that lies in the code of a kernel itself */
const void *
rt_host_function(CUfunction f); /* the other way round; f itself where no registered function is known for it */

/* thread.c */
uint64_t rt_epoch(void);    /* rises when contexts and all that was loaded into them are gone */
CUcontext rt_context(void); /* the one rt_enter found or made */
bool rt_exiting(void);

#endif
