/* Do the libraries of CUDA 11, 12 and 13 each have the calls for graphs in the form that programs of that generation
 * were compiled for? */
#include "check.h"

#include <dlfcn.h>
#include <libgen.h>
#include <unistd.h>

static void *library;

static void *symbol(const char *name)
{
    void *p = dlsym(library, name);
    if (!p) {
        fprintf(stderr, "%s is missing\n", name);
        exit(1);
    }
    return p;
}

#define CALL(name, ...) ((int (*)(__VA_ARGS__))symbol(name))
#define ZERO(call)      TRUE((call) == 0)

struct three {
    CUgraph g;
    CUgraphNode a, b, c;
};

static struct three build(void)
{
    struct three t;
    ZERO(CALL("cudaGraphCreate", CUgraph *, unsigned int)(&t.g, 0));
    ZERO(CALL("cudaGraphAddEmptyNode", CUgraphNode *, CUgraph, const CUgraphNode *, size_t)(&t.a, t.g, NULL, 0));
    ZERO(CALL("cudaGraphAddEmptyNode", CUgraphNode *, CUgraph, const CUgraphNode *, size_t)(&t.b, t.g, &t.a, 1));
    ZERO(CALL("cudaGraphAddEmptyNode", CUgraphNode *, CUgraph, const CUgraphNode *, size_t)(&t.c, t.g, NULL, 0));
    return t;
}

static CUgraphExec instantiate(int major, CUgraph g)
{
    CUgraphExec x = NULL;
    CUgraphNode wrong = (CUgraphNode)&x;
    char log[64] = "not touched";
    if (major == 11) {
        ZERO(CALL("cudaGraphInstantiate", CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t)(&x, g, &wrong, log,
                                                                                                 sizeof log));
        TRUE(wrong == NULL && log[0] == '\0');
    } else {
        ZERO(CALL("cudaGraphInstantiate", CUgraphExec *, CUgraph,
                  unsigned long long)(&x, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
        unsigned long long flags = 0;
        ZERO(CALL("cudaGraphExecGetFlags", CUgraphExec, unsigned long long *)(x, &flags));
        TRUE(flags == CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    }
    return x;
}

/* An update from a graph of another shape. */
static void expect_no_update(int major, CUgraphExec x, CUgraph g)
{
    CUgraphExecUpdateResultInfo info = {0};
    CUgraphNode wrong = NULL;
    if (major == 11)
        TRUE(CALL("cudaGraphExecUpdate", CUgraphExec, CUgraph, CUgraphNode *,
                  CUgraphExecUpdateResult *)(x, g, &wrong, &info.result) == 910);
    else
        TRUE(CALL("cudaGraphExecUpdate", CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *)(x, g, &info) == 910);
    TRUE(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

/* b before c: without and with what the edge says. */
static void test_edges(int major, const struct three *t)
{
    CUgraphNode from[4], to[4];
    CUgraphEdgeData data[4];
    size_t count = 4;
    const char *add = major == 12 ? "cudaGraphAddDependencies_v2" : "cudaGraphAddDependencies",
               *get = major == 12 ? "cudaGraphGetEdges_v2" : "cudaGraphGetEdges";
    if (major < 13) {
        ZERO(CALL("cudaGraphAddDependencies", CUgraph, const CUgraphNode *, const CUgraphNode *, size_t)(t->g, &t->b,
                                                                                                         &t->c, 1));
        ZERO(CALL("cudaGraphGetEdges", CUgraph, CUgraphNode *, CUgraphNode *, size_t *)(t->g, from, to, &count));
        TRUE(count == 2 && from[1] == t->b && to[1] == t->c);
        count = 4;
        ZERO(CALL("cudaGraphNodeGetDependencies", CUgraphNode, CUgraphNode *, size_t *)(t->c, from, &count));
        TRUE(count == 1 && from[0] == t->b);
        ZERO(CALL("cudaGraphRemoveDependencies", CUgraph, const CUgraphNode *, const CUgraphNode *, size_t)(t->g, &t->b,
                                                                                                            &t->c, 1));
    }
    if (major < 12)
        return;
    ZERO(CALL(add, CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t)(t->g, &t->b,
                                                                                                       &t->c, NULL, 1));
    memset(data, 0xff, sizeof data);
    count = 4;
    ZERO(CALL(get, CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *)(t->g, from, to, data, &count));
    TRUE(count == 2 && from[1] == t->b && to[1] == t->c && data[1].type == 0 && data[1].from_port == 0);
}

static void test_capture(int major)
{
    CUstream s;
    CUgraph g = NULL, seen = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    unsigned long long id = 0;
    const CUgraphNode *last;
    const CUgraphEdgeData *edges;
    size_t count = 9;
    ZERO(CALL("cudaStreamCreate", CUstream *)(&s));
    ZERO(CALL("cudaStreamBeginCapture", CUstream, CUstreamCaptureMode)(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (major < 13) {
        ZERO(
            CALL("cudaStreamGetCaptureInfo", CUstream, CUstreamCaptureStatus *, unsigned long long *)(s, &status, &id));
        ZERO(CALL("cudaStreamGetCaptureInfo_v2", CUstream, CUstreamCaptureStatus *, unsigned long long *, CUgraph *,
                  const CUgraphNode **, size_t *)(s, &status, &id, &seen, &last, &count));
        ZERO(CALL("cudaStreamUpdateCaptureDependencies", CUstream, CUgraphNode *, size_t,
                  unsigned int)(s, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    }
    if (major > 11)
        ZERO(CALL(major == 12 ? "cudaStreamGetCaptureInfo_v3" : "cudaStreamGetCaptureInfo", CUstream,
                  CUstreamCaptureStatus *, unsigned long long *, CUgraph *, const CUgraphNode **,
                  const CUgraphEdgeData **, size_t *)(s, &status, &id, &seen, &last, &edges, &count));
    TRUE(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id != 0 && count == 0);
    ZERO(CALL("cudaStreamEndCapture", CUstream, CUgraph *)(s, &g));
    TRUE(g == seen);
    ZERO(CALL("cudaGraphDestroy", CUgraph)(g));
    ZERO(CALL("cudaStreamDestroy", CUstream)(s));
}

/* The build's own, by its path: sanitizers stand between this program and dlopen, which then knows nothing of the
 * program's search path. */
static void *open_library(const char *name)
{
    char self[4096] = "", path[8192];
    if (on_heddle() && readlink("/proc/self/exe", self, sizeof self - 1) > 0) {
        snprintf(path, sizeof path, "%s/../../lib/%s", dirname(self), name);
        name = path;
    }
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static void test_library(const char *name, int major)
{
    library = open_library(name);
    if (!library) {
        TRUE(!on_heddle());
        return;
    }
    struct three t = build(), other = build();
    CUgraphNode more;
    test_edges(major, &t);
    CUgraphExec x = instantiate(major, t.g);
    ZERO(CALL("cudaGraphAddEmptyNode", CUgraphNode *, CUgraph, const CUgraphNode *, size_t)(&more, other.g, NULL, 0));
    expect_no_update(major, x, other.g);
    ZERO(CALL("cudaGraphLaunch", CUgraphExec, CUstream)(x, NULL));
    ZERO(CALL("cudaGraphExecDestroy", CUgraphExec)(x));
    ZERO(CALL("cudaGraphDestroy", CUgraph)(t.g));
    ZERO(CALL("cudaGraphDestroy", CUgraph)(other.g));
    test_capture(major);
}

int main(void)
{
    test_library("libcudart.so.11.0", 11);
    test_library("libcudart.so.12", 12);
    test_library("libcudart.so.13", 13);
    return done();
}
