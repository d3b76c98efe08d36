/* A capture: streams whose work becomes a graph. */
#ifndef HEDDLE_CUDA_CAPTURE_H
#define HEDDLE_CUDA_CAPTURE_H

#include "cuda/graph.h"

struct capture {
    struct capture *next;
    uint64_t id;
    CUstreamCaptureMode mode;
    pthread_t thread;
    struct graph *graph;
    bool graph_is_ours; /* until it is handed out */
    bool invalid;
    struct stream *origin;
    CUgraphNode *left; /* the last nodes of streams that went away: the origin has to wait for them as well */
    size_t left_count;
};

struct capture *capture_find(uint64_t id); /* one that is under way, or NULL */

static inline bool stream_is_legacy(CUstream handle) { return handle == NULL || handle == CU_STREAM_LEGACY; }
/* Whether the legacy stream, which waits for all blocking streams of its context, would wait for a capturing one. */
bool capture_blocks_legacy(bool invalidate);
/* What the next work of a stream comes after: other nodes, or more. edges: NULL, or one for each node. */
CUresult capture_set_last(struct stream *s, const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count);
CUresult capture_add_last(struct stream *s, const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count);

#endif
