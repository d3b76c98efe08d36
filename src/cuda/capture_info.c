/* What a capturing stream has to say, and changes to what its next work comes after. */
#include "cuda/capture.h"

#include <string.h>

/* *c: NULL where nothing is captured. */
static CUresult enter(CUstream handle, const void *argument, struct stream **s, struct capture **c)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    if (r == CUDA_SUCCESS)
        r = argument ? stream_check(handle) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && stream_is_legacy(handle) && capture_blocks_legacy(false))
        r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *s = r == CUDA_SUCCESS ? stream_find(handle) : NULL;
    *c = *s ? (*s)->capture : NULL;
    return r;
}

static CUstreamCaptureStatus status_of(const struct capture *c)
{
    return !c           ? CU_STREAM_CAPTURE_STATUS_NONE
           : c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUAPI CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    struct stream *s;
    struct capture *c;
    CUresult r = enter(handle, status, &s, &c);
    if (r == CUDA_SUCCESS)
        *status = status_of(c);
    return api_leave(r);
}
API_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing)

static bool plain_edges(const struct stream *s)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; i < s->last_count; i++)
        if (memcmp(&s->last_edges[i], &plain, sizeof plain))
            return false;
    return true;
}

/* What is given lives until the stream is next used. */
CUAPI CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                         const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count)
{
    struct stream *s;
    struct capture *c;
    CUresult r = enter(handle, status, &s, &c);
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    *status = status_of(c);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return api_leave(r);
    if (dependencies && !edges && !plain_edges(s))
        return api_leave(CUDA_ERROR_LOSSY_QUERY);
    if (id)
        *id = c->id;
    if (graph)
        *graph = (CUgraph)c->graph;
    if (dependencies)
        *dependencies = s->last;
    if (edges)
        *edges = s->last_edges;
    if (count)
        *count = s->last_count;
    return api_leave(r);
}
API_ALIAS(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3)

static CUresult info_v2(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                        const CUgraphNode **dependencies, size_t *count)
{
    return cuStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, NULL, count);
}
static CUresult info_v1(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return cuStreamGetCaptureInfo_v3(handle, status, id, NULL, NULL, NULL, NULL);
}
API_ALIAS(cuStreamGetCaptureInfo_v2, info_v2)
API_ALIAS(cuStreamGetCaptureInfo_v2_ptsz, info_v2)
API_ALIAS(cuStreamGetCaptureInfo, info_v1)
API_ALIAS(cuStreamGetCaptureInfo_ptsz, info_v1)

CUAPI CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *nodes, const CUgraphEdgeData *edges,
                                                    size_t count, unsigned int flags)
{
    struct stream *s;
    struct capture *c;
    CUresult r = enter(handle, &handle, &s, &c);
    if (r == CUDA_SUCCESS && !c)
        r = CUDA_ERROR_ILLEGAL_STATE;
    else if (r == CUDA_SUCCESS && c->invalid)
        r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (r == CUDA_SUCCESS && (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count && !nodes)))
        r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        const struct node *n = object_find(nodes[i], OBJECT_NODE);
        if (!n || n->graph != c->graph)
            r = CUDA_ERROR_INVALID_VALUE;
    }
    if (r == CUDA_SUCCESS)
        r = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? capture_set_last(s, nodes, edges, count)
                                                        : capture_add_last(s, nodes, edges, count);
    return api_leave(r);
}
API_ALIAS(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2)

static CUresult update_v1(CUstream handle, CUgraphNode *nodes, size_t count, unsigned int flags)
{
    return cuStreamUpdateCaptureDependencies_v2(handle, nodes, NULL, count, flags);
}
API_ALIAS(cuStreamUpdateCaptureDependencies, update_v1)
API_ALIAS(cuStreamUpdateCaptureDependencies_ptsz, update_v1)
