#include "gpu/clocks.h"

enum { PATTERN_MOST = 8192 };

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The unit is the least common multiple of the frequencies; where that is beyond all measure, a fraction of an
 * attosecond a tick is lost. */
static void set_periods(struct clocks *c, const uint64_t khz[DOMAIN_COUNT])
{
    uint64_t common = 1;
    for (enum domain d = 0; d < DOMAIN_COUNT && common < 1ull << 44; d++)
        common = common / greatest_divisor(common, khz[d]) * khz[d];
    for (enum domain d = 0; d < DOMAIN_COUNT; d++)
        c->period[d] = common < 1ull << 44 ? common / khz[d] : 1000000000000000ull / khz[d];
}

/* The pattern of ticks until all domains tick together again. */
static void make_pattern(struct clocks *c, struct arena *a)
{
    uint64_t length = c->period[DOMAIN_CORE], time[DOMAIN_COUNT] = {0}, now = 0, ticks = 0;
    for (enum domain d = 0; d < DOMAIN_COUNT; d++) {
        uint64_t factor = c->period[d] / greatest_divisor(length, c->period[d]);
        if (factor > PATTERN_MOST || length / c->period[DOMAIN_CORE] > PATTERN_MOST)
            return;
        length *= factor;
    }
    for (enum domain d = 0; d < DOMAIN_COUNT; d++)
        ticks += length / c->period[d];
    if (ticks > PATTERN_MOST)
        return;
    c->pattern_cores = (uint32_t)(length / c->period[DOMAIN_CORE]);
    c->pattern = arena_array(a, uint8_t, PATTERN_MOST);
    c->core_steps = arena_array(a, uint16_t, c->pattern_cores);
    for (uint32_t core = 0; now < length; c->pattern_steps++) {
        uint64_t next = UINT64_MAX;
        for (enum domain d = 0; d < DOMAIN_COUNT; d++) {
            c->pattern[c->pattern_steps] |= (uint8_t)((time[d] == now) << d);
            time[d] += time[d] == now ? c->period[d] : 0;
            next = time[d] < next ? time[d] : next;
        }
        if (c->pattern[c->pattern_steps] & 1u << DOMAIN_CORE)
            c->core_steps[core++] = (uint16_t)c->pattern_steps;
        now = next;
    }
}

void clocks_init(struct clocks *c, struct arena *a, const uint64_t khz[DOMAIN_COUNT])
{
    set_periods(c, khz);
    make_pattern(c, a);
}

void clocks_jump(struct clocks *c, uint64_t cycle)
{
    c->ticks[DOMAIN_CORE] = cycle;
    uint64_t time = clocks_time(c, DOMAIN_CORE);
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        if (clocks_time(c, d) < time)
            c->ticks[d] = (time + c->period[d] - 1) / c->period[d];
    if (c->pattern)
        c->step = c->core_steps[cycle % c->pattern_cores];
}
