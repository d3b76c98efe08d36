/* Probes of functional mode: they hear of blocks that run in lockstep (exec/lockstep.h). One instance of each for the
 * whole GPU; what it counts goes to the launch whose blocks run. */
#ifndef HEDDLE_GPU_BLOCK_PROBES_H
#define HEDDLE_GPU_BLOCK_PROBES_H

#include "exec/lockstep.h"
#include "gpu/launch.h"

struct block_probes *block_probes_create(const struct gpu_options *o,
                                         struct error *e); /* NULL: a probe cannot work here */
void block_probes_destroy(struct block_probes *p);
/* A launch begins. Returns whether its blocks are to run in lockstep; its counts go to its record. */
bool block_probes_begin(struct block_probes *p, struct residency *r);
void block_probes_end(struct block_probes *p, struct residency *r);
/* The probes listen to the blocks of this launch, whose turn it is. */
const struct lockstep_observer *block_probes_listen(struct block_probes *p, struct residency *r);
/* The program has ended: a probe writes its files. False: it could not, and *why may say why. */
bool block_probes_write(const struct block_probes *p, uint32_t probe, const char **why);

#endif
