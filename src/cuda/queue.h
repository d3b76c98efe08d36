/* Queues: what was given to streams and is not done yet.
 *
 * Each stream has a lane, each context one more for its legacy stream. The head of a lane may start when what the
 * legacy stream's rules and the events it waits for put before it is done. Whoever holds the lock can drive: do what
 * can be done at once, start the kernels at the heads, and run all that were started together. Nothing runs by itself
 * but for the watch (queue_wait.c).
 *
 *  - Without time, and in the legacy stream, work is driven when it is given: a launch returns when the kernel has
 * ended, unless that can only spin, or takes very long. So programs see what they always saw, and a kernel that waits
 * for a later one, or for the host, holds up nobody but its stream.
 *  - With time, work of other streams waits until somebody asks for its results, so that kernels of several streams
 * start together.
 *  - Calls that might touch what pending work uses (most: frees, unloads, settings) drive everything first; those that
 * only ask, or add work, do not (API_PASSING).
 *  - Who waits drives until what he waits for is done. Where nothing can go on, and no other thread of the program is
 * there to change that, the kernel is reported to hang. */
#ifndef HEDDLE_CUDA_QUEUE_H
#define HEDDLE_CUDA_QUEUE_H

#include "cuda/work.h"

/* Everything in a lane up to a piece of work. lane 0: in all lanes of the context, or in those that the legacy stream
 * waits for; no context either: in all. seq 0: nothing. */
struct queue_mark {
    const struct context *ctx;
    uint64_t lane, seq;
    bool legacy;
};

/* How long work that is given is driven: then the call returns all the same. */
enum { QUEUE_INSTRUCTIONS = 16 << 20 /* of warps, without time */, QUEUE_CYCLES = 4 << 20 };

struct pending {
    struct pending *next;
    struct work work;
    struct graph_exec *graph; /* it is the launch of a graph, and not `work` */
    uint64_t seq;
    struct queue_mark after; /* of a wait for an event */
    struct residency *grid;  /* of a kernel that was started */
    uint32_t ops_done;       /* of mem_ops */
    bool busy;               /* somebody is at it */
    bool dropped;            /* and it was set aside meanwhile: whoever is at it frees it */
    CUresult *result;        /* where the result goes, while its caller waits; or NULL */
};

struct lane {
    struct lane *next;
    uint64_t id;
    struct context *ctx;
    bool legacy, blocking;
    bool orphaned; /* its stream is gone: goes when it is empty */
    int priority;
    struct pending *head, *tail;
};

enum queue_state { QUEUE_DONE, QUEUE_STUCK, QUEUE_TIRED };

/* queue.c */
CUresult queue_submit(CUstream handle, struct work *w); /* takes over what the work owns */
CUresult queue_submit_graph(CUstream handle, struct graph_exec *x);
CUresult queue_submit_wait(CUstream handle, const struct event *e); /* cuStreamWaitEvent */
bool queue_is_pending(const struct queue_mark *m);
bool queue_would_wait(CUstream handle);           /* does work that the stream is given now wait for other work? */
struct queue_mark queue_mark_of(CUstream handle); /* all that the stream has now */
enum queue_state queue_drive(const struct queue_mark *until, uint64_t budget);
void queue_hang(const char *what); /* nothing that is left can go on: it fails */
void queue_leave_stream(struct stream *s);
void queue_drop(
    const struct context *ctx);          /* what is pending of a context that ends or has failed, but for callbacks */
bool queue_in_host_function(void);       /* is this thread in one? */
void queue_note_host_function(int step); /* it enters (1) or leaves (-1) one */
void queue_note_wait(int step);          /* this thread drives, and goes on to until what it waits for is done */
uint32_t queue_pause_waits(void);        /* but not while it is in a host function; */
void queue_resume_waits(uint32_t waits); /* then it does again */
/* A host function makes a call. CUDA forbids that, as what it waits for may be after it in its stream; here the stream
 * goes on without it. */
void queue_set_aside(void);
CUresult queue_run_kernel(const struct work *w); /* to its end: of a graph */
/* Is it what came of a kernel that ran past its own limit? That is over, and what comes after it runs. */
bool queue_ran_out_of_time(CUresult r, const struct context *ctx);

/* queue_wait.c */
CUresult queue_wait(struct queue_mark m); /* returns the failure of the current context */
CUresult queue_ask(struct queue_mark m);  /* CUDA_ERROR_NOT_READY: it takes longer */
void queue_yield(void);                   /* lets threads in that want the lock */
/* Nothing can go on. Gives other threads of the program a moment; false: there are none, or they had their time. */
struct queue_patience {
    double since;
    uint64_t seq, pops;
    bool alone;
};
bool queue_be_patient(struct queue_patience *p);
void queue_end(const struct context *ctx); /* drops what is pending, then waits for callbacks and host functions */
void queue_settle(bool waits);             /* all that can be done; waits: also what waits for host functions */
void queue_finish(struct driver *d);       /* the process ends */
void queue_abandon(struct driver *d);      /* the same, at once: what is pending ends here. Without the lock. */
void queue_close(struct driver *d);        /* and it keeps the lock, if it gets it soon: nothing comes after it */
void queue_enter(enum api_need need);      /* before a call runs */
void queue_watch(struct driver *d);        /* before the lock is left: somebody must look after what is pending */

#endif
