/* A cache of the replay with many ways (cache.h): what it needs beside the set of an access grows with the
 * logarithm of the ways, or not at all. */
#ifndef HEDDLE_REPLAY_MANY_WAYS_H
#define HEDDLE_REPLAY_MANY_WAYS_H

#include "replay/cache.h"

struct replay_many *replay_many_make(const struct replay_cache *c, struct arena *a);
void replay_many_close(struct replay_many *m);
void replay_many_flush(struct replay_many *m);
void replay_many_run(struct replay_cache *c, const struct trace_access *list, const uint64_t *next, uint32_t count,
                     struct replay_counts *counts);

#endif
