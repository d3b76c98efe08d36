/* Phase analysis after the PAWS report: one pass forward that cuts, one backward that adds up. Control flow is left
 * out, as there: phases follow the order of the text through branches and loops. */
#include "ptx/phases.h"

#include <string.h>

static void enter(bool *awaited, const struct ptx_phase_step *s)
{
    for (uint32_t i = 0; s->load && i < s->destination_count; i++)
        awaited[s->destinations[i]] = true;
}

static bool reads_awaited(const bool *awaited, const struct ptx_phase_step *s)
{
    for (uint32_t i = 0; i < s->source_count; i++)
        if (awaited[s->sources[i]])
            return true;
    return false;
}

static uint32_t cut(const struct ptx_phase_step *steps, uint32_t count, uint32_t register_count,
                    enum ptx_phase_order order, struct ptx_phase *out)
{
    struct arena scratch = {0};
    bool *awaited = arena_array(&scratch, bool, register_count + 1);
    uint32_t phase = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (order == PHASE_DESTINATION_FIRST)
            enter(awaited, &steps[i]);
        if (reads_awaited(awaited, &steps[i])) {
            phase++;
            if (i)
                out[i - 1].ends = true;
            memset(awaited, 0, register_count * sizeof *awaited);
        }
        if (order == PHASE_SOURCES_FIRST)
            enter(awaited, &steps[i]);
        out[i].number = phase;
    }
    arena_free(&scratch);
    return count ? phase : 0;
}

uint32_t ptx_find_phases(const struct ptx_phase_step *steps, uint32_t count, uint32_t register_count,
                         enum ptx_phase_order order, struct ptx_phase *out)
{
    memset(out, 0, count * sizeof *out);
    uint32_t phases = cut(steps, count, register_count, order, out), sum = 0, next_length = 0;
    for (uint32_t i = count; i-- > 0;) {
        if (out[i].ends) {
            next_length = sum; /* of the phase that begins after it */
            sum = 0;
        }
        out[i].distance = sum += steps[i].latency_cycles;
        out[i].next_length = next_length;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool begins = i == 0 || out[i - 1].number != out[i].number;
        out[i].length = begins ? out[i].distance : out[i - 1].length;
    }
    return phases;
}
