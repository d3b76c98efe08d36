/* Hangs of memory requests: see standstill.h. Warps that spin issue instructions, so that the machine always has a next
 * cycle in which something happens. Where it has none, and a warp waits for memory, the warp's request can never move:
 * queues wait for each other, or a request needs more room than there is. */
#include "gpu/standstill.h"

static uint32_t count_awaiting(const struct timing *t)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i])
            sum += (uint32_t)__builtin_popcountll(sm_awaiting_memory(t->cores[i]));
    return sum;
}

bool standstill_of_memory(const struct timing *t) { return timing_next_cycle(t) == UINT64_MAX && count_awaiting(t); }

void standstill_describe(const struct timing *t, const char *kernel, struct error *e)
{
    enum { SHOWN = 8 };
    uint32_t awaiting = count_awaiting(t), shown = 0;
    error_set(e, ERROR_DEADLOCK,
              "kernel %s cannot go on: %u warps wait for memory, and none of their requests moves any more", kernel,
              awaiting);
    error_note(e, "the machine is to blame for this, not the kernel: its queues hold each other up");
    for (uint32_t i = 0; i < t->core_count && shown < SHOWN; i++)
        if (t->blocks.owner[i])
            shown += sm_describe_awaiting(t->cores[i], SHOWN - shown, e);
    if (awaiting > shown)
        error_note(e, "  and %u more", awaiting - shown);
}
