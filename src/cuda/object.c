/* The registry of live objects: a hash set of addresses. A handle is looked up here before it is read, so that a stale
 * or invented one is an error code and not a crash. */
#include "cuda/internal.h"

#include <stdlib.h>

/* Guarded by the driver's lock. */
static struct registry {
    struct object **slots;
    size_t capacity, used;
} registry; /* used counts removed slots too */
static struct object removed_mark;
#define REMOVED (&removed_mark)

static size_t slot_of(const void *p, size_t capacity)
{
    return ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15ull >> 32 & (capacity - 1);
}

static void insert(struct object **slots, size_t capacity, struct object *o)
{
    size_t i = slot_of(o, capacity);
    while (slots[i])
        i = (i + 1) & (capacity - 1);
    slots[i] = o;
}

static bool grow(void)
{
    size_t live = 0;
    for (size_t i = 0; i < registry.capacity; i++)
        live += registry.slots[i] && registry.slots[i] != REMOVED;
    size_t capacity = 256;
    while (capacity < live * 4)
        capacity *= 2;
    struct object **slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < registry.capacity; i++)
        if (registry.slots[i] && registry.slots[i] != REMOVED)
            insert(slots, capacity, registry.slots[i]);
    free(registry.slots);
    registry = (struct registry){slots, capacity, live};
    return true;
}

void *object_new(size_t size_bytes, enum object_kind kind, struct context *owner, void (*destroy)(struct object *))
{
    if (registry.used * 2 >= registry.capacity && !grow())
        return NULL;
    struct object *o = calloc(1, size_bytes);
    if (!o)
        return NULL;
    *o = (struct object){kind, owner, destroy};
    insert(registry.slots, registry.capacity, o);
    registry.used++;
    return o;
}

static struct object **find_slot(const void *handle)
{
    if (!registry.capacity || !handle)
        return NULL;
    for (size_t i = slot_of(handle, registry.capacity); registry.slots[i]; i = (i + 1) & (registry.capacity - 1))
        if (registry.slots[i] == handle && handle != REMOVED)
            return &registry.slots[i];
    return NULL;
}

void *object_find(const void *handle, enum object_kind kind)
{
    struct object **slot = find_slot(handle);
    return slot && (*slot)->kind == kind ? *slot : NULL;
}

void object_free(struct object *o)
{
    struct object **slot = find_slot(o);
    if (!slot)
        return;
    *slot = REMOVED;
    if (o->destroy)
        o->destroy(o);
    free(o);
}

/* In the order that lets an object rely on what it was made from: modules and arrays go last. */
void objects_free_of(struct context *owner)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < registry.capacity; i++) {
            struct object *o = registry.slots[i];
            bool late =
                o && o != REMOVED && (o->kind == OBJECT_MODULE || o->kind == OBJECT_ARRAY || o->kind == OBJECT_MIPMAP);
            if (o && o != REMOVED && o->owner == owner && (pass || !late)) {
                object_free(o);
                i = (size_t)-1; /* freeing one may free others */
            }
        }
}

void objects_each(enum object_kind kind, bool (*visit)(struct object *o, void *user), void *user)
{
    for (size_t i = 0; i < registry.capacity; i++) {
        struct object *o = registry.slots[i];
        if (o && o != REMOVED && o->kind == kind && !visit(o, user))
            return;
    }
}
