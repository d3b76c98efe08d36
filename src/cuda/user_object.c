/* User objects: something of the program's that lives as long as anybody holds it, graphs and their instances among
 * them. The destructor is called outside the driver's lock, by the call that let go of it last. */
#include "cuda/graph.h"

#include <stdlib.h>

struct user_object {
    struct object object;
    CUhostFn destructor;
    void *user;
    uint64_t references;
};

/* Those that nobody holds any more, until their destructors are called. Guarded by the driver's lock. */
static struct pending {
    struct pending *next;
    CUhostFn destructor;
    void *user;
} * pending;

static void release(struct user_object *u, uint64_t count)
{
    u->references -= count;
    if (u->references)
        return;
    struct pending *p = malloc(sizeof *p);
    if (p) {
        *p = (struct pending){pending, u->destructor, u->user};
        pending = p;
    }
    object_free(&u->object);
}

void user_objects_settle(void)
{
    api_enter(NULL, API_ANY);
    struct pending *list = pending;
    pending = NULL;
    api_leave(CUDA_SUCCESS);
    while (list) {
        struct pending *p = list;
        list = p->next;
        p->destructor(p->user);
        free(p);
    }
}

static struct held_object *held_by(struct graph *g, const struct user_object *u)
{
    for (uint32_t i = 0; i < g->held_count; i++)
        if (g->held[i].user == u)
            return &g->held[i];
    return NULL;
}

static CUresult hold(struct graph *g, struct user_object *u, uint64_t count)
{
    struct held_object *h = held_by(g, u);
    if (!h) {
        struct held_object *held = realloc(g->held, (g->held_count + 1) * sizeof *held);
        if (!held)
            return CUDA_ERROR_OUT_OF_MEMORY;
        g->held = held;
        h = &g->held[g->held_count++];
        *h = (struct held_object){.user = u};
    }
    h->count += count;
    return CUDA_SUCCESS;
}

CUresult user_objects_copy(struct graph *to, const struct graph *from)
{
    CUresult r = CUDA_SUCCESS;
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < from->held_count; i++) {
        r = hold(to, from->held[i].user, from->held[i].count);
        if (r == CUDA_SUCCESS)
            from->held[i].user->references += from->held[i].count;
    }
    return r;
}

void user_objects_free(struct graph *g)
{
    for (uint32_t i = 0; i < g->held_count; i++)
        if (g->held[i].count)
            release(g->held[i].user, g->held[i].count);
    free(g->held);
}

CUAPI CUresult cuUserObjectCreate(CUuserObject *out, void *user, CUhostFn destructor, unsigned int references,
                                  unsigned int flags)
{
    CUresult r = api_enter(NULL, API_INIT);
    if (r == CUDA_SUCCESS &&
        (!out || !destructor || !references || references > INT32_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
        r = CUDA_ERROR_INVALID_VALUE;
    struct user_object *u = r == CUDA_SUCCESS ? object_new(sizeof *u, OBJECT_USER, NULL, NULL) : NULL;
    if (r == CUDA_SUCCESS && !u)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        u->destructor = destructor;
        u->user = user;
        u->references = references;
        *out = (CUuserObject)u;
    }
    return api_leave(r);
}

static CUresult enter(CUuserObject handle, unsigned int count, struct user_object **u)
{
    CUresult r = api_enter(NULL, API_INIT);
    *u = r == CUDA_SUCCESS ? object_find(handle, OBJECT_USER) : NULL;
    return r == CUDA_SUCCESS && (!*u || !count || count > INT32_MAX) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUAPI CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count)
{
    struct user_object *u;
    CUresult r = enter(handle, count, &u);
    if (r == CUDA_SUCCESS)
        u->references += count;
    return api_leave(r);
}

CUAPI CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count)
{
    struct user_object *u;
    CUresult r = enter(handle, count, &u);
    if (r == CUDA_SUCCESS && count > u->references)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        release(u, count);
    api_leave(r);
    user_objects_settle();
    return r;
}

/* With MOVE the caller's references become the graph's. */
CUAPI CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned int count, unsigned int flags)
{
    struct user_object *u;
    CUresult r = enter(handle, count, &u);
    struct graph *g = r == CUDA_SUCCESS ? object_find(graph, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS && (!g || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = hold(g, u, count);
    if (r == CUDA_SUCCESS && !flags)
        u->references += count;
    return api_leave(r);
}

CUAPI CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject handle, unsigned int count)
{
    struct user_object *u;
    CUresult r = enter(handle, count, &u);
    struct graph *g = r == CUDA_SUCCESS ? object_find(graph, OBJECT_GRAPH) : NULL;
    struct held_object *h = g ? held_by(g, u) : NULL;
    if (r == CUDA_SUCCESS && (!h || h->count < count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        h->count -= count;
        if (!h->count)
            *h = g->held[--g->held_count];
        release(u, count);
    }
    api_leave(r);
    user_objects_settle();
    return r;
}
