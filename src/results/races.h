/* The races that were seen (`heddle run --races`), in the order in which they are reported. */
#ifndef HEDDLE_RESULTS_RACES_H
#define HEDDLE_RESULTS_RACES_H

#include "exec/race.h"
#include "gpu/gpu.h"
#include "gpu/profile.h"

#include <jansson.h>

struct race_list {
    const struct race_pair **pairs; /* the most frequent first */
    uint32_t count;
    uint64_t seen; /* races of all pairs */
};
struct race_list race_list(const struct races *r); /* its pairs are to be freed */
const struct profile_line *race_line(const struct race_pair *p, const struct race_party *party);
bool race_earlier_writes(const struct race_pair *p);
bool race_later_writes(const struct race_pair *p);

json_t *races_json(const struct gpu *g); /* of a GPU that looks for races */

#endif
