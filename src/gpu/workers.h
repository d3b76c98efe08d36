/* Threads that share the cores of a cycle among them. Work is split in the same way whatever the timing, and nothing is
 * shared between parts: results do not depend on the threads. */
#ifndef HEDDLE_GPU_WORKERS_H
#define HEDDLE_GPU_WORKERS_H

#include <pthread.h>
#include <stdint.h>

struct workers;
typedef void worker_fn(void *context, uint32_t part);

struct workers *
workers_create(uint32_t threads); /* the caller is one of them; NULL: threads could not be made, do it alone */
void workers_destroy(struct workers *w);
/* Calls fn for parts 0 ... count - 1, each once, and returns when all are done. */
void workers_run(struct workers *w, worker_fn *fn, void *context, uint32_t count);
/* The same for parts 0 ... turns * count - 1 (turns: 1 or 2), where part n + count goes on with part n, which has begun
 * before, but may not have ended: what is left for the last thread to come to its end is less then. */
void workers_run_in_turns(struct workers *w, worker_fn *fn, void *context, uint32_t count, uint32_t turns);
/* The threads but for the caller's; out has room for most. Returns how many. */
uint32_t workers_threads(const struct workers *w, pthread_t *out, uint32_t most);

#endif
