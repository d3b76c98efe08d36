/* cuGraphDebugDotPrint: a graph as a file for Graphviz. Child graphs and bodies are clusters of their own. */
#include "cuda/graph.h"

#include <stdio.h>

static const char *type_name(CUgraphNodeType type)
{
    static const char *const names[] = {
        "KERNEL",       "MEMCPY",           "MEMSET",         "HOST",      "GRAPH",    "EMPTY",        "WAIT_EVENT",
        "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "UNKNOWN";
}

static bool wants(unsigned int flags, unsigned int flag) { return flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE); }

static void print_work(FILE *out, const struct work *w, unsigned int flags)
{
    struct function *f;
    if (w->type == CU_GRAPH_NODE_TYPE_KERNEL && function_resolve(w->kernel.func, &f) == CUDA_SUCCESS)
        fprintf(out, "\\n%s", f->exec->ptx->name);
    if (w->type == CU_GRAPH_NODE_TYPE_KERNEL && wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        fprintf(out, "\\ngrid %u %u %u, block %u %u %u, shared %u", w->kernel.gridDimX, w->kernel.gridDimY,
                w->kernel.gridDimZ, w->kernel.blockDimX, w->kernel.blockDimY, w->kernel.blockDimZ,
                w->kernel.sharedMemBytes);
    if (w->type == CU_GRAPH_NODE_TYPE_MEMCPY && wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(out, "\\n%zu x %zu x %zu", w->copy.WidthInBytes, w->copy.Height, w->copy.Depth);
    if (w->type == CU_GRAPH_NODE_TYPE_MEMSET && wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(out, "\\nvalue 0x%x, %u bytes, %zu x %zu", w->fill.value, w->fill.elementSize, w->fill.width,
                w->fill.height);
    if (w->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
        fprintf(out, "\\n%zu bytes", w->alloc.bytesize);
}

static void print_graph(FILE *out, const struct graph *g, const char *name, unsigned int flags)
{
    fprintf(out, "subgraph cluster_%s {\nlabel=\"%s\" graph[style=\"dashed\"];\n", name, name);
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct work *w = &g->nodes[i]->work;
        char inner[256];
        fprintf(out, "\"%s_node_%u\"[label=\"%u\\n%s", name, i, i, type_name(w->type));
        print_work(out, w, flags);
        if (wants(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
            fprintf(out, "\\n%p", (const void *)g->nodes[i]);
        fprintf(out, "\"];\n");
        for (uint32_t b = 0; b < g->nodes[i]->before_count; b++)
            fprintf(out, "\"%s_node_%u\" -> \"%s_node_%u\";\n", name, g->nodes[i]->before[b].on->index, name, i);
        for (unsigned int k = 0; k < (w->child ? 1u : w->bodies ? w->condition.size : 0u); k++) {
            snprintf(inner, sizeof inner, "%.200s_%u_%u", name, i, k);
            print_graph(out, w->child ? w->child : w->bodies[k], inner, flags);
        }
    }
    fprintf(out, "}\n");
}

CUAPI CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned int flags)
{
    struct graph *g;
    CUresult r = graph_enter(handle, path, &g);
    FILE *out = r == CUDA_SUCCESS ? fopen(path, "w") : NULL;
    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_OPERATING_SYSTEM;
    if (r == CUDA_SUCCESS) {
        fprintf(out, "digraph dot {\n");
        print_graph(out, g, "graph", flags);
        fprintf(out, "}\n");
    }
    if (out && (fflush(out) || ferror(out)))
        r = CUDA_ERROR_OPERATING_SYSTEM;
    if (out)
        fclose(out);
    return api_leave(r);
}
