/* Is the launch stuck for good? As long as memory does not change, a warp that spins keeps spinning and one at a
 * barrier keeps waiting; and memory changes only if a warp does something else, if something that was issued before
 * arrives there and changes it, or if a new block starts. A launch that reads clocks while it waits is never called
 * stuck. */
#include "gpu/hang.h"

static bool warp_is_stuck(const struct exec_warp *w, hang_pending *pending, void *context)
{
    struct exec_pending on_its_way = {0};
    if (w->state == WARP_FAULT || w->state == WARP_PARKED || (pending && !pending(context, w, &on_its_way)))
        return false;
    if (w->state == WARP_AT_BARRIER)
        return !on_its_way.mask;
    return exec_would_spin(w, on_its_way);
}

static bool has_ended(const struct exec_cta *cta) { return !cta || cta->warps_done == cta->warp_count; }

bool hang_is_certain(struct exec_cta *const *blocks, uint32_t count, bool more_to_come, hang_pending *pending,
                     void *context)
{
    bool any = false;
    for (uint32_t b = 0; b < count; b++) { /* first what is seen quickly */
        any |= !has_ended(blocks[b]);
        if (more_to_come && has_ended(blocks[b]))
            return false;
    }
    for (uint32_t b = 0; b < count; b++)
        for (uint32_t i = 0; !has_ended(blocks[b]) && i < blocks[b]->warp_count; i++)
            if (blocks[b]->warps[i].state != WARP_DONE && !warp_is_stuck(&blocks[b]->warps[i], pending, context))
                return false;
    return any;
}
