/* Conditional nodes: bodies that run if a value is set, as long as it is, or by its number. A handle is the address of
 * the value in device memory; kernels set it by cudaGraphSetConditional (exec/device_calls.c). */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

void condition_hold(struct condition *c) { c->references++; }

void condition_drop(struct condition *c)
{
    if (--c->references)
        return;
    memory_release(driver_get()->gpu->memory, c->handle);
    free(c);
}

unsigned int condition_value(CUgraphConditionalHandle handle)
{
    unsigned int value = 0;
    if (device_range_ok(handle, sizeof value))
        memcpy(&value, memory_pointer(handle), sizeof value);
    return value;
}

void condition_start(const struct condition *c)
{
    if (c->flags & CU_GRAPH_COND_ASSIGN_DEFAULT)
        memcpy(memory_pointer(c->handle), &c->value, sizeof c->value);
}

static struct condition *condition_new(unsigned int value, unsigned int flags)
{
    struct condition *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct condition){
        memory_alloc(driver_get()->gpu->memory, sizeof value, 256, MEMORY_GLOBAL, "a graph's condition"), value, flags,
        1};
    if (c->handle)
        return c;
    free(c);
    return NULL;
}

CUAPI CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph graph, CUcontext ctx,
                                              unsigned int value, unsigned int flags)
{
    struct graph *g;
    struct context *owner = NULL;
    CUresult r = graph_enter(graph, flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT ? NULL : out, &g);
    if (r == CUDA_SUCCESS)
        r = ctx ? context_lookup(ctx, &owner) : CUDA_ERROR_INVALID_CONTEXT;
    struct condition **list =
        r == CUDA_SUCCESS ? realloc(g->conditions, (g->condition_count + 1) * sizeof *list) : NULL;
    if (list)
        g->conditions = list;
    struct condition *c = list ? condition_new(value, flags) : NULL;
    if (r == CUDA_SUCCESS && !c)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        g->conditions[g->condition_count++] = c;
        *out = c->handle;
    }
    return api_leave(r);
}

CUresult work_condition(struct work *w, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    unsigned int most = p->type == CU_GRAPH_COND_TYPE_IF ? 2 : p->type == CU_GRAPH_COND_TYPE_WHILE ? 1 : UINT16_MAX;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .condition = *p};
    if ((unsigned)p->type > CU_GRAPH_COND_TYPE_SWITCH || !p->size || p->size > most ||
        !device_range_ok(p->handle, sizeof(unsigned int)))
        return CUDA_ERROR_INVALID_VALUE;
    w->bodies = calloc(p->size, sizeof *w->bodies);
    CUresult r = w->bodies ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned int i = 0; r == CUDA_SUCCESS && i < p->size; i++) {
        w->bodies[i] = graph_new();
        if (w->bodies[i])
            w->bodies[i]->owned = true;
        else
            r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r != CUDA_SUCCESS) {
        work_free(w);
        return r;
    }
    p->phGraph_out = w->condition.phGraph_out = (CUgraph *)w->bodies;
    return CUDA_SUCCESS;
}
