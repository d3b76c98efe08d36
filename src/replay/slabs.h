/* Memory for tables that double now and then, many of them at once: blocks of powers of two, cut from large pieces,
 * kept when they are given back for the next who wants that size. Those that are large go back to the system meanwhile,
 * but for their addresses, and large pieces lie in large pages where the host has them: the first touch of a page costs
 * as much as a hundred accesses of a trace. Threads may share them: tables double seldom. */
#ifndef HEDDLE_REPLAY_SLABS_H
#define HEDDLE_REPLAY_SLABS_H

#include <pthread.h>
#include <stddef.h>

enum { SLABS_SIZES = 48 };

struct slabs {
    pthread_mutex_t lock;
    struct slab_piece *pieces;
    char *at, *end; /* of the newest piece: what is left */
    size_t piece_bytes;
    struct slab_block *given[SLABS_SIZES]; /* by the logarithm of their size */
};

void slabs_init(struct slabs *s);
/* A power of two of bytes, from 64 on, at a multiple of 64; what is in it is anything. No memory ends the process. */
void *slabs_take(struct slabs *s, size_t bytes);
void slabs_give(struct slabs *s, void *block, size_t bytes);
/* Any number of bytes, also at a multiple of 64, which stay until all are freed: zeros, or anything. NULL: no memory.
 * What is larger than a megabyte takes memory page by page, when it is touched. */
void *slabs_zeros(struct slabs *s, size_t bytes);
void *slabs_bytes(struct slabs *s, size_t bytes);
void slabs_free(struct slabs *s); /* to be used again, it is to be made again */

/* Outside of any: a piece of its own, for free(); NULL: no memory. */
void *slab_alloc(size_t bytes);

#endif
