/* Capture of streams into graphs: work given to a capturing stream becomes a node after those that the stream's last
 * work became. A stream joins a capture by waiting for an event that was recorded in it, and all streams that joined
 * have to be waited for, in the same way, before the capture ends.
 *
 * What cannot be captured is refused, and the capture is invalid from then on, as CUDA has it. */
#include "cuda/capture.h"

#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>

CUresult stream_captures(CUstream handle, bool *captures)
{
    CUresult r = stream_check(handle);
    const struct stream *s = r == CUDA_SUCCESS ? stream_find(handle) : NULL;
    *captures = s && s->capture;
    if (r == CUDA_SUCCESS && stream_is_legacy(handle) && capture_blocks_legacy(true))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    return *captures && s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : r;
}

CUresult capture_refuse(CUstream handle)
{
    bool captures = false;
    CUresult r = stream_captures(handle, &captures);
    if (r != CUDA_SUCCESS || !captures)
        return r;
    stream_find(handle)->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* What the stream's next work comes after. */
CUresult capture_set_last(struct stream *s, const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count)
{
    CUgraphNode *last = calloc(count + 1, sizeof *last);
    CUgraphEdgeData *last_edges = calloc(count + 1, sizeof *last_edges);
    if (!last || !last_edges) {
        free(last);
        free(last_edges);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        last[i] = nodes[i];
        if (edges)
            last_edges[i] = edges[i];
    }
    free(s->last);
    free(s->last_edges);
    s->last = last;
    s->last_edges = last_edges;
    s->last_count = count;
    return CUDA_SUCCESS;
}

static bool is_last(const struct stream *s, CUgraphNode n)
{
    for (size_t i = 0; i < s->last_count; i++)
        if (s->last[i] == n)
            return true;
    return false;
}

CUresult capture_add_last(struct stream *s, const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count)
{
    size_t total = s->last_count;
    CUgraphNode *all = calloc(total + count + 1, sizeof *all);
    CUgraphEdgeData *all_edges = calloc(total + count + 1, sizeof *all_edges);
    CUresult r = all && all_edges ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; r == CUDA_SUCCESS && i < total; i++) {
        all[i] = s->last[i];
        all_edges[i] = s->last_edges[i];
    }
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (!is_last(s, nodes[i])) {
            all[total] = nodes[i];
            all_edges[total++] = edges ? edges[i] : (CUgraphEdgeData){0};
        }
    if (r == CUDA_SUCCESS)
        r = capture_set_last(s, all, all_edges, total);
    free(all);
    free(all_edges);
    return r;
}

CUresult stream_submit(CUstream handle, struct work *w)
{
    bool captures = false;
    CUresult r = stream_captures(handle, &captures);
    if (r == CUDA_SUCCESS && !captures)
        return queue_submit(handle, w);
    if (r != CUDA_SUCCESS) {
        work_free(w);
        return r;
    }
    struct stream *s = stream_find(handle);
    struct node *n = NULL;
    r = graph_add(s->capture->graph, s->last, s->last_edges, s->last_count, w, &n);
    if (r == CUDA_SUCCESS)
        r = capture_set_last(s, (CUgraphNode *)&n, NULL, 1);
    if (r != CUDA_SUCCESS)
        s->capture->invalid = true;
    return r;
}

static void stream_leave(struct stream *s)
{
    free(s->last);
    free(s->last_edges);
    s->last = NULL;
    s->last_edges = NULL;
    s->last_count = 0;
    s->capture = NULL;
}

static bool leave_this(struct object *o, void *user)
{
    struct stream *s = (struct stream *)o;
    if (s->capture == user)
        stream_leave(s);
    return true;
}

static void capture_end(struct capture *c)
{
    struct capture **at = &driver_get()->captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    objects_each(OBJECT_STREAM, leave_this, c);
    if (c->graph_is_ours)
        object_free(&c->graph->object);
    free(c->left);
    free(c);
}

static void remember_left(struct capture *c, const struct stream *s)
{
    CUgraphNode *left = realloc(c->left, (c->left_count + s->last_count + 1) * sizeof(CUgraphNode));
    if (!left) {
        c->invalid = true;
        return;
    }
    for (size_t i = 0; i < s->last_count; i++)
        left[c->left_count++] = s->last[i];
    c->left = left;
}

/* A stream goes away. What it has captured stays, and has to be joined as if it were still there. */
void capture_leave(struct stream *s)
{
    struct capture *c = s->capture;
    if (c && c->origin != s)
        remember_left(c, s);
    stream_leave(s);
    if (c && c->origin == s)
        capture_end(c);
}

static CUresult begin(CUstream handle, struct graph *g, const CUgraphNode *nodes, const CUgraphEdgeData *edges,
                      size_t count, CUstreamCaptureMode mode)
{
    struct driver *d = driver_get();
    struct stream *s = stream_find(handle);
    if (!s)
        return stream_is_legacy(handle) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_ERROR_INVALID_HANDLE;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED || (count && !nodes))
        return CUDA_ERROR_INVALID_VALUE;
    if (s->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; i < count; i++) {
        const struct node *n = object_find(nodes[i], OBJECT_NODE);
        if (!n || n->graph != g)
            return CUDA_ERROR_INVALID_VALUE;
    }
    struct capture *c = calloc(1, sizeof *c);
    struct graph *into = c ? g ? g : graph_new() : NULL;
    CUresult r = into ? capture_set_last(s, nodes, edges, count) : CUDA_ERROR_OUT_OF_MEMORY;
    if (r != CUDA_SUCCESS) {
        if (into && !g)
            object_free(&into->object);
        free(c);
        return r;
    }
    *c = (struct capture){.next = d->captures,
                          .id = ++d->next_id,
                          .mode = mode,
                          .thread = pthread_self(),
                          .graph = into,
                          .graph_is_ours = !g,
                          .origin = s};
    d->captures = s->capture = c;
    return CUDA_SUCCESS;
}

CUAPI CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    return api_leave(r == CUDA_SUCCESS ? begin(handle, NULL, NULL, NULL, 0, mode) : r);
}
API_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2)

/* Of CUDA 10.0. */
static CUresult begin_v1(CUstream handle) { return cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL); }
API_ALIAS(cuStreamBeginCapture, begin_v1)
API_ALIAS(cuStreamBeginCapture_ptsz, begin_v1)

CUAPI CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode *nodes,
                                           const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    struct graph *g = r == CUDA_SUCCESS ? object_find(graph, OBJECT_GRAPH) : NULL;
    if (r == CUDA_SUCCESS)
        r = g && !capture_into(g) ? begin(handle, g, nodes, edges, count, mode) : CUDA_ERROR_INVALID_VALUE;
    return api_leave(r);
}
API_ALIAS(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph)

/* The nodes before the origin's last ones, and those themselves. */
struct joined {
    const struct capture *capture;
    bool *before;
    bool all;
};

static bool mark_before(const struct graph *g, const struct stream *origin, bool *before)
{
    struct node **todo = calloc(g->node_count + 1u, sizeof *todo);
    uint32_t count = 0;
    if (!todo)
        return false;
    for (size_t i = 0; i < origin->last_count; i++) {
        struct node *n = object_find(origin->last[i], OBJECT_NODE);
        if (n && !before[n->index]) {
            before[n->index] = true;
            todo[count++] = n;
        }
    }
    while (count) {
        const struct node *n = todo[--count];
        for (uint32_t b = 0; b < n->before_count; b++) {
            struct node *on = n->before[b].on;
            if (!before[on->index]) {
                before[on->index] = true;
                todo[count++] = on;
            }
        }
    }
    free(todo);
    return true;
}

static void check_nodes(struct joined *j, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct node *n = object_find(nodes[i], OBJECT_NODE);
        j->all &= n && j->before[n->index];
    }
}

static bool check_joined(struct object *o, void *user)
{
    struct joined *j = user;
    const struct stream *s = (struct stream *)o;
    if (s->capture == j->capture)
        check_nodes(j, s->last, s->last_count);
    return true;
}

static CUresult unjoined(const struct capture *c)
{
    struct joined j = {c, calloc(c->graph->node_count + 1u, sizeof *j.before), true};
    CUresult r = j.before && mark_before(c->graph, c->origin, j.before) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        objects_each(OBJECT_STREAM, check_joined, &j);
    check_nodes(&j, c->left, r == CUDA_SUCCESS ? c->left_count : 0);
    free(j.before);
    return r == CUDA_SUCCESS && !j.all ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : r;
}

CUAPI CUresult cuStreamEndCapture(CUstream handle, CUgraph *out)
{
    CUresult r = api_enter(NULL, API_CONTEXT | API_PASSING);
    const struct stream *s = r == CUDA_SUCCESS ? stream_find(handle) : NULL;
    struct capture *c = s ? s->capture : NULL;
    if (r == CUDA_SUCCESS)
        r = stream_check(handle);
    if (r == CUDA_SUCCESS && !c) {
        r = CUDA_ERROR_ILLEGAL_STATE;
    } else if (r == CUDA_SUCCESS && c->origin != s) {
        c->invalid = true;
        r = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    } else if (r == CUDA_SUCCESS && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
               !pthread_equal(c->thread, pthread_self())) {
        r = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    if (out)
        *out = NULL;
    if (r != CUDA_SUCCESS)
        return api_leave(r);
    r = c->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : unjoined(c);
    if (r == CUDA_SUCCESS && out) {
        *out = (CUgraph)c->graph;
        c->graph_is_ours = false;
    }
    capture_end(c);
    api_leave(r);
    user_objects_settle();
    return r;
}
API_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture)

/* Events. One that was recorded in a capture stands for the stream's last nodes then. */
CUresult capture_event(struct event *e, CUstream handle)
{
    const struct stream *s = stream_find(handle);
    CUgraphNode *nodes = calloc(s->last_count + 1, sizeof *nodes);
    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < s->last_count; i++)
        nodes[i] = s->last[i];
    free(e->captured);
    e->captured = nodes;
    e->captured_count = s->last_count;
    e->capture_id = s->capture->id;
    return CUDA_SUCCESS;
}

CUresult capture_wait(CUstream handle, const struct event *e)
{
    bool captures = false;
    CUresult r = stream_captures(handle, &captures);
    struct stream *s = r == CUDA_SUCCESS ? stream_find(handle) : NULL;
    struct capture *c = e->capture_id ? capture_find(e->capture_id) : NULL;
    if (r != CUDA_SUCCESS || (!captures && !e->capture_id))
        return r == CUDA_SUCCESS ? queue_submit_wait(handle, e) : r;
    if (c && c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!c && !captures)
        return CUDA_ERROR_INVALID_VALUE; /* of a capture that has ended */
    if (!c || !s) {                      /* across the border of a capture */
        (c ? c : s->capture)->invalid = true;
        return c ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (captures && s->capture != c) {
        s->capture->invalid = c->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!captures)
        s->capture = c;
    return capture_add_last(s, e->captured, NULL, e->captured_count);
}
