/* Is the launch stuck for good? As long as memory does not change, a warp that spins keeps spinning and one at a barrier keeps waiting; and memory changes only if a warp does something else, or if
 * something that was issued before arrives there and changes it. A launch that reads clocks while it waits is never called stuck. */
#include "gpu/hang.h"

static bool warp_is_stuck(const struct exec_warp *w, struct exec_pending pending)
{
    switch (w->state) {
    case WARP_READY:
    case WARP_ASLEEP:
        return exec_would_spin(w, pending);
    case WARP_AT_BARRIER:
    case WARP_DONE:
        return !pending.mask;
    default:
        return false;
    }
}

bool hang_is_certain(struct exec_cta *const *blocks, uint32_t count, hang_pending *pending, void *context)
{
    for (uint32_t b = 0; b < count; b++)
        for (uint32_t i = 0; blocks[b] && i < blocks[b]->warp_count; i++) {
            const struct exec_warp *w = &blocks[b]->warps[i];
            struct exec_pending on_its_way = { 0 };
            if ((pending && w->state != WARP_DONE && !pending(context, w, &on_its_way)) || !warp_is_stuck(w, on_its_way))
                return false;
        }
    return true;
}
