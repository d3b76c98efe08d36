/* Lanes and what is in them: what may start, what happens when it does, and when it has ended (queue.h). */
#include "cuda/queue.h"
#include "cuda/policy_hang.h"

#include "cuda/capture.h"
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

enum { PENDING_MOST = 1024 /* pieces of work, as many as a GPU takes before a launch has to wait */ };

static _Thread_local int host_functions;        /* that this thread is in */
static _Thread_local uint32_t waits;            /* calls of this thread that drive */
static _Thread_local struct pending *performed; /* the work that this thread is at */

bool queue_in_host_function(void) { return host_functions != 0; }
void queue_note_host_function(int step) { host_functions += step; }

void queue_note_wait(int step)
{
    waits += (uint32_t)step;
    driver_get()->waiters += (uint32_t)step;
}

uint32_t queue_pause_waits(void)
{
    uint32_t paused = waits;
    driver_get()->waiters -= paused;
    waits = 0;
    return paused;
}

void queue_resume_waits(uint32_t paused)
{
    driver_get()->waiters += paused;
    waits += paused;
}

/* Lanes */

static struct lane *lane_new(struct context *ctx, const struct stream *s)
{
    struct driver *d = driver_get();
    struct lane *l = calloc(1, sizeof *l), **at = &d->lanes;
    if (!l)
        return NULL;
    *l = (struct lane){
        .id = ++d->next_id, .ctx = ctx, .legacy = !s, .blocking = s && !(s->flags & CU_STREAM_NON_BLOCKING)};
    while (*at)
        at = &(*at)->next;
    *at = l;
    return l;
}

static void lane_free(struct lane *l)
{
    struct lane **at = &driver_get()->lanes;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    free(l);
}

static struct lane **lane_slot(CUstream handle)
{
    struct stream *s = stream_is_legacy(handle) ? NULL : stream_find(handle);
    return s ? &s->lane : &context_current()->legacy;
}

static struct lane *lane_of(CUstream handle)
{
    struct stream *s = stream_is_legacy(handle) ? NULL : stream_find(handle);
    struct lane **slot = lane_slot(handle);
    if (!*slot)
        *slot = lane_new(s ? s->object.owner : context_current(), s);
    if (*slot && s)
        (*slot)->priority = s->priority;
    return *slot;
}

void queue_leave_stream(struct stream *s)
{
    if (s->lane && s->lane->head)
        s->lane->orphaned = true;
    else if (s->lane)
        lane_free(s->lane);
    s->lane = NULL;
}

static bool is_behind(const struct lane *l, uint64_t seq) { return l->head && l->head->seq <= seq; }

bool queue_is_pending(const struct queue_mark *m)
{
    if (!m->seq || !driver_get()->pending_count)
        return false;
    for (const struct lane *l = driver_get()->lanes; l; l = l->next)
        if ((m->lane ? l->id == m->lane : !m->ctx || l->ctx == m->ctx) && (!m->legacy || l->legacy || l->blocking) &&
            is_behind(l, m->seq))
            return true;
    return false;
}

struct queue_mark queue_mark_of(CUstream handle)
{
    const struct lane *l = *lane_slot(handle);
    uint64_t seq = driver_get()->next_seq;
    if (stream_is_legacy(handle))
        return (struct queue_mark){.ctx = context_current(), .legacy = true, .seq = seq};
    return (struct queue_mark){.lane = l ? l->id : 0, .seq = l ? seq : 0};
}

/* The legacy stream and the blocking ones wait for each other: does the lane, for what others were given up to seq? */
static bool is_held_up(const struct lane *l, uint64_t seq)
{
    for (const struct lane *other = driver_get()->lanes; other && (l->legacy || l->blocking); other = other->next)
        if (other != l && other->ctx == l->ctx && (l->legacy ? other->blocking : other->legacy) &&
            is_behind(other, seq))
            return true;
    return false;
}

static bool may_start(const struct lane *l, const struct pending *p)
{
    if (p->busy || p->grid || queue_is_pending(&p->after) ||
        (p->work.type == CU_GRAPH_NODE_TYPE_KERNEL && !gpu_may_start(driver_get()->gpu)))
        return false;
    return !is_held_up(l, p->seq);
}

bool queue_would_wait(CUstream handle)
{
    const struct lane *l = lane_of(handle);
    return l && (l->head || is_held_up(l, UINT64_MAX));
}

static struct pending *append(struct lane *l, struct work *w)
{
    struct driver *d = driver_get();
    struct pending *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->work = *w;
    p->seq = ++d->next_seq;
    if (l->head)
        l->tail->next = p;
    else
        l->head = p;
    l->tail = p;
    d->pending_count++;
    return p;
}

static void pending_free(struct pending *p)
{
    work_free(&p->work);
    if (p->graph)
        graph_exec_release(p->graph);
    free(p);
}

bool queue_ran_out_of_time(CUresult r, const struct context *ctx)
{
    return r == CUDA_ERROR_LAUNCH_TIMEOUT && ctx->failure == CUDA_SUCCESS;
}

/* Of the head: it is done. What a kernel did that was started is told by a call that waits for it, as on a GPU, and not
 * by the launch. */
static void pop(struct lane *l, CUresult r)
{
    struct pending *p = l->head;
    if (p->result && !queue_ran_out_of_time(r, l->ctx))
        *p->result = r;
    else if (r != CUDA_SUCCESS && l->ctx->late == CUDA_SUCCESS)
        l->ctx->late = r;
    l->head = p->next;
    driver_get()->pending_count--;
    driver_get()->pops++;
    pending_free(p);
    if (l->orphaned && !l->head)
        lane_free(l);
}

/* What nobody is at. Callbacks stay: they are told the failure when their turn comes, as host functions are called
 * (begin), with the lock open, which must not happen while somebody walks the lanes. */
static void drop_lane(struct lane *l)
{
    struct pending **at = &l->head, *last = NULL;
    while (*at) {
        struct pending *p = *at;
        if (!p->busy && !p->work.callback) {
            *at = p->next;
            if (p->result)
                *p->result = CUDA_SUCCESS;
            driver_get()->pending_count--;
            pending_free(p);
            continue;
        }
        if (!p->busy)
            p->work.callback_status = l->ctx->failure;
        last = p;
        at = &p->next;
    }
    l->tail = last;
}

void queue_set_aside(void)
{
    for (struct lane *l = driver_get()->lanes; l && performed; l = l->next)
        if (l->head == performed) {
            performed->dropped = true; /* by who is at it, when it is over */
            performed->result = NULL;
            l->head = performed->next;
            driver_get()->pending_count--;
            return;
        }
}

/* Ends of kernels */

static bool is_of(const struct lane *l, const struct context *ctx) { return !ctx || l->ctx == ctx; }

/* First one that failed by its own fault. */
static struct lane *lane_with_ended_kernel(void)
{
    struct lane *found = NULL;
    for (struct lane *l = driver_get()->lanes; l; l = l->next) {
        const struct residency *grid = l->head ? l->head->grid : NULL;
        if (grid && gpu_has_ended(grid) && (!found || gpu_has_failed(grid)))
            found = l;
    }
    return found;
}

static bool collect(void);

void queue_drop(const struct context *ctx)
{
    struct driver *d = driver_get();
    for (struct lane *l = d->lanes, *next; l; l = next) {
        next = l->next;
        if (!is_of(l, ctx))
            continue;
        if (l->head && l->head->grid && !gpu_has_ended(l->head->grid)) {
            gpu_give_up(d->gpu, false);
            collect();
            queue_drop(ctx); /* which has changed the list */
            return;
        }
        drop_lane(l);
        if (l->orphaned && !l->head)
            lane_free(l);
    }
}

/* Kernels that have ended. One that failed takes all others along; contexts of those fail too, as the device does.
 * Returns whether there was any. */
static bool collect(void)
{
    struct lane *l;
    bool any = false;
    for (; (l = lane_with_ended_kernel()); any = true) {
        bool failed = false;
        struct context *ctx = l->ctx;
        struct residency *grid = l->head->grid;
        l->head->grid = NULL;
        l->head->busy = true; /* what it launched itself runs now */
        CUresult r = launch_finish(grid, ctx, &failed);
        if (failed)
            gpu_give_up(driver_get()->gpu, false);
        l->head->busy = false;
        pop(l, r);
        if (ctx->failure != CUDA_SUCCESS)
            queue_drop(ctx);
    }
    return any;
}

void queue_hang(const char *what)
{
    struct driver *d = driver_get();
    struct error e = {0};
    if (gpu_is_running(d->gpu)) {
        gpu_give_up(d->gpu, true);
        collect();
        return;
    }
    error_set(&e, ERROR_DEADLOCK, "%s", what);
    for (struct lane *l = d->lanes; l; l = l->next)
        if (l->head && !l->head->busy) {
            struct context *ctx = l->ctx;
            context_fail(ctx, &e);
            queue_drop(ctx);
            return;
        }
}

/* Doing */

/* Kernels are started, others done at once. *moved: something has changed, even if it is not over. Returns whether it
 * is over. */
static bool perform(struct lane *l, struct pending *p, bool *moved, CUresult *r)
{
    struct work *w = &p->work;
    uint32_t before = p->ops_done;
    *moved = true;
    if (p->graph) {
        *r = graph_exec_run(p->graph);
        return true;
    }
    switch (w->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: p->grid = work_start(w, l->priority, r); return !p->grid;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        *r = mem_ops_run(w->mem_ops, w->mem_op_count, &p->ops_done);
        *moved = p->ops_done != before || *r != CUDA_SUCCESS;
        return *r != CUDA_SUCCESS || p->ops_done == w->mem_op_count;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: {
        struct event *e = object_find(w->event, OBJECT_EVENT);
        if (e && e->seq == p->seq) /* not recorded anew meanwhile, or another event by now */
            event_record_now(e);
        return true;
    }
    default: *r = work_run(w); return true;
    }
}

/* The work may call back, or run other work: the lane is still there afterwards, but not what it held. */
static bool begin(struct lane *l)
{
    struct pending *p = l->head;
    struct context *before = context_act(l->ctx);
    struct pending *outer = performed;
    bool moved = false;
    CUresult r = CUDA_SUCCESS;
    p->busy = true;
    performed = p;
    bool over = perform(l, p, &moved, &r);
    performed = outer;
    p->busy = false;
    context_act(before);
    if (p->dropped)
        pending_free(p);
    else if (over)
        pop(l, r);
    return moved;
}

/* The first in the order of the calls. skip: those that came before it were tried in vain. */
static struct lane *next_ready(uint64_t skip)
{
    struct lane *found = NULL;
    for (struct lane *l = driver_get()->lanes; l; l = l->next)
        if (l->head && l->head->seq > skip && (!found || l->head->seq < found->head->seq) && may_start(l, l->head))
            found = l;
    return found;
}

static bool begin_all(void)
{
    struct lane *l;
    bool any = false;
    uint64_t skip = 0;
    while ((l = next_ready(skip))) {
        uint64_t seq = l->head->seq;
        bool moved = begin(l);
        any |= moved;
        skip = moved ? 0 : seq;
    }
    return any;
}

/* Callbacks after work that failed; there may be nobody who drives until they are done. */
static void tell_failures(void)
{
    for (struct lane *l = driver_get()->lanes; l;) {
        bool told = l->head && l->head->work.callback_status != CUDA_SUCCESS && may_start(l, l->head);
        if (told)
            begin(l);
        l = told ? driver_get()->lanes : l->next; /* the lock was open */
    }
}

static enum gpu_pause run(struct gpu *g, uint64_t budget)
{
    policy_hang_begin(g);
    enum gpu_pause pause = gpu_run(g, budget);
    policy_hang_end();
    return pause;
}

enum queue_state queue_drive(const struct queue_mark *until, uint64_t budget)
{
    struct driver *d = driver_get();
    enum queue_state state = QUEUE_DONE;
    d->driven_at = seconds_now();
    queue_note_wait(1);
    launch_guard();
    while (state == QUEUE_DONE && queue_is_pending(until)) {
        bool moved = begin_all();
        if (!queue_is_pending(until))
            break;
        if (!gpu_is_running(d->gpu)) {
            state = collect() || moved ? QUEUE_DONE : QUEUE_STUCK; /* some are refused when they are to start */
            continue;
        }
        enum gpu_pause pause = run(d->gpu, budget);
        state = pause == GPU_STUCK ? QUEUE_STUCK : pause == GPU_TIRED ? QUEUE_TIRED : QUEUE_DONE;
        collect();
    }
    tell_failures();
    launch_unguard();
    queue_note_wait(-1);
    d->driven_at = seconds_now();
    return state;
}

CUresult queue_run_kernel(const struct work *w)
{
    struct driver *d = driver_get();
    CUresult r = CUDA_SUCCESS;
    bool failed = false;
    struct queue_patience patience = {0};
    struct context *ctx = context_current();
    struct residency *grid = work_start(w, 0, &r);
    while (grid && !gpu_has_ended(grid)) {
        bool moved = begin_all();
        enum gpu_pause pause = run(d->gpu, d->gpu->options.functional ? QUEUE_INSTRUCTIONS : QUEUE_CYCLES);
        if (pause != GPU_STUCK)
            patience.since = 0;
        if (pause == GPU_STUCK && !moved && !queue_be_patient(&patience))
            gpu_give_up(d->gpu, true);
        collect();
        queue_yield();
    }
    if (grid)
        r = launch_finish(grid, ctx, &failed);
    if (failed)
        gpu_give_up(d->gpu, false);
    collect();
    return r;
}

/* Giving */

/* With time, other streams than the legacy one wait until somebody asks; what takes no time, and nothing holds up, is
 * done. */
static bool is_lazy(const struct lane *l, const struct pending *p)
{
    return !driver_get()->gpu->options.functional && !l->legacy && !p->graph && !p->work.immediate;
}

static CUresult submit(struct lane *l, struct pending *p)
{
    struct driver *d = driver_get();
    struct queue_mark mine = {.lane = l->id, .seq = p->seq}, all = {.seq = p->seq};
    CUresult r = CUDA_SUCCESS;
    if (is_lazy(l, p) && d->pending_count <= PENDING_MOST) {
        bool free_to_go = l->head == p && p->work.type != CU_GRAPH_NODE_TYPE_KERNEL && may_start(l, p);
        p->result = free_to_go ? &r : NULL;
        if (free_to_go)
            begin(l);
        if (free_to_go && queue_is_pending(&mine))
            p->result = NULL;
        return r;
    }
    p->result = &r;
    queue_drive(is_lazy(l, p) ? &all : &mine, d->gpu->options.functional ? QUEUE_INSTRUCTIONS : QUEUE_CYCLES);
    if (queue_is_pending(&mine))
        for (struct pending *it = l->head; it; it = it->next)
            if (it->seq == mine.seq)
                it->result = NULL;
    return r;
}

static CUresult add(CUstream handle, struct work *w, struct graph_exec *x, struct queue_mark after)
{
    struct lane *l = lane_of(handle);
    struct pending *p = l ? append(l, w) : NULL;
    if (!p) {
        work_free(w);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    p->after = after;
    p->graph = x;
    if (x)
        graph_exec_hold(x);
    if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        struct event *e = object_find(w->event, OBJECT_EVENT);
        event_record_later(e, l->id, p->seq);
    }
    return submit(l, p);
}

CUresult queue_submit(CUstream handle, struct work *w)
{
    if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && !object_find(w->event, OBJECT_EVENT)) {
        work_free(w);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return add(handle, w, NULL, (struct queue_mark){0});
}

CUresult queue_submit_graph(CUstream handle, struct graph_exec *x)
{
    struct work none = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add(handle, &none, x, (struct queue_mark){0});
}

CUresult queue_submit_wait(CUstream handle, const struct event *e)
{
    struct work wait = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    struct queue_mark after = {.lane = e->lane, .seq = e->seq};
    return queue_is_pending(&after) ? add(handle, &wait, NULL, after) : CUDA_SUCCESS;
}
