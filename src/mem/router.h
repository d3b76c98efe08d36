/* The inside of a crossbar as an input-queued router, flit by flit: used where the configuration names the queues at
 * its ports (injection_flits, ejection_flits), see router.c. It works on the inputs and outputs of crossbar.h, whose
 * functions serve both kinds. */
#ifndef HEDDLE_MEM_ROUTER_H
#define HEDDLE_MEM_ROUTER_H

#include "mem/crossbar.h"

struct router;

struct router *router_create(struct arena *a, const struct crossbar_config *config, uint32_t inputs, uint32_t outputs);
/* One network cycle. Says in h->match_at when the next is needed: at once, as long as anything is inside. */
void router_work(struct router *r, struct crossbar_head *h, uint64_t now);
/* Adds what has arrived, and the stalls. */
void router_count(const struct router *r, struct crossbar_counters *sums);

#endif
