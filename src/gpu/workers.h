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
/* The threads but for the caller's; out has room for most. Returns how many. */
uint32_t workers_threads(const struct workers *w, pthread_t *out, uint32_t most);

#endif
