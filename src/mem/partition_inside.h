/* Inside a partition: what its clocks share. partition_slice.c has the L2's clock, partition_dram.c the
 * DRAM's; partition.c the replies' and what belongs to no clock; partition_link.c the way to the other half of an L2.
 */
#ifndef HEDDLE_MEM_PARTITION_INSIDE_H
#define HEDDLE_MEM_PARTITION_INSIDE_H

#include "mem/partition.h"

#include "base/likely.h"

#define NEVER UINT64_MAX

static inline uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* A slice has to be run in this core cycle, or before. */
static inline void slice_due(struct partition *p, struct slice *s, uint64_t core_cycle)
{
    s->at = earlier(s->at, core_cycle);
    p->head.l2_at = earlier(p->head.l2_at, core_cycle);
    p->calendar->l2_at = earlier(p->calendar->l2_at, core_cycle);
}
/* Something has happened that a slice may rest for. */
static inline void wake_slice(struct partition *p, struct slice *s) { slice_due(p, s, 0); }
static inline void wake_dram(struct partition *p) { p->head.dram_at = p->calendar->dram_at = 0; }

static inline void slice_tell(const struct slice *s, const struct packet *r, enum cache_outcome outcome,
                              const struct cache_result *result)
{
    if (unlikely(s->listener != NULL))
        s->listener->changed(s->listener->context, r, outcome, result);
}

/* partition_slice.c */
void slice_fill(struct slice *s, const struct packet *answer);
void slice_touch(struct slice *s, const struct packet *copy); /* its data is there without an access */
void slice_create(struct slice *s, struct arena *a, const struct l2_config *l2, const struct address_map *map,
                  uint32_t number);
void slice_settle(struct slice *s, uint64_t tick); /* counts the ticks in which it rested */
void queue_reply(struct partition *p, struct slice *s, const struct packet *request);
/* partition_link.c, of slices that have a mirror */
void link_slices(struct partition *p, struct partition *q, struct arena *a);
bool link_has_room(const struct slice *s);
void link_send_home(struct partition *p, struct slice *s, const struct packet *r);
void link_send_answer(struct partition *p, struct slice *s, const struct packet *r);
bool link_forward_write(struct partition *p, struct slice *s, const struct packet *r); /* false: no room */
/* Of a read that is away: its copy is there, or may have a place. */
bool link_may_copy(const struct slice *s, const struct packet *r, uint32_t set);
bool link_waits_in_turn(struct slice *s); /* the mirror waits for one that is away, too */
bool link_forward_read(struct partition *p, struct slice *s, const struct packet *r); /* as above; it has no copy */
void link_written_at_home(struct slice *s, const struct packet *r);
void link_take_answer(struct partition *p, struct slice *s, uint64_t l2_now);
uint64_t link_next(const struct slice *s); /* the core cycle in which something from the other half can be taken */
/* partition_dram.c */
void dram_side_create(struct partition *p, struct arena *a);

#endif
