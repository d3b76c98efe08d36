/* Why the cycles of a point are off, as far as the other counters tell. A counter is named where it differs, in the
 * direction that makes the difference in cycles, and by enough to matter; where none is, nothing is said. */
#include "correlate/correlate.h"

#include <math.h>
#include <stdarg.h>

static const double some = 1.10;           /* times that cycles must be off to ask why */
static const double instructions_by = 1.1; /* times that other counters must be */
static const double traffic_by = 1.2;
static const double half_of_it = 0.5;   /* of the difference in cycles, as logarithms, that instructions must explain */
static const double near_peak = 0.6;    /* of the bytes per cycle that the DRAM of the machine can move */
static const double short_cycles = 6e3; /* of a launch, in which its start and end are a good part */

struct asking {
    struct correlation *to;
    struct correlate_point *point;
    double off; /* log(ours / silicon) of cycles: above 0 we are slower */
};

static void say(struct asking *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct asking *a, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *before = a->point->cause;
    a->point->cause = arena_printf(a->to->arena, "%s%s%s", before, *before ? "; " : "", text);
}

static double silicon(const struct asking *a, enum correlate_compared what)
{
    return correlate_value(what, a->point->silicon);
}
static double ours(const struct asking *a, enum correlate_compared what)
{
    return correlate_value(what, a->point->ours);
}
static double times(const struct asking *a, enum correlate_compared what)
{
    return log(ours(a, what) / silicon(a, what));
}
/* More of it makes a kernel slower. */
static bool same_way(const struct asking *a, double difference) { return difference * a->off > 0; }

static void ask_length(struct asking *a)
{
    double cycles = silicon(a, COMPARED_CYCLES) / a->point->launches;
    if (cycles < short_cycles)
        say(a, "short: %.0f cycles per launch on silicon", cycles);
}

static void ask_instructions(struct asking *a)
{
    double by = times(a, COMPARED_INSTRUCTIONS);
    if (fabs(by) > log(instructions_by) && same_way(a, by) && fabs(a->off - by) < half_of_it * fabs(a->off))
        say(a, "instructions differ by about the same factor: x%.2f", exp(by));
}

static void ask_traffic(struct asking *a)
{
    static const enum correlate_compared levels[] = {COMPARED_LOAD_SECTORS, COMPARED_L2_SECTORS, COMPARED_DRAM_BYTES};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        double by = times(a, levels[i]);
        if (isfinite(by) && fabs(by) > log(traffic_by) && same_way(a, by))
            say(a, "%s x%.2f", correlate_rows[levels[i]].name, exp(by));
    }
}

/* Fewer hits, and fewer warps to hide latencies behind, make a kernel slower. */
static void ask_shares(struct asking *a)
{
    static const enum correlate_compared shares[] = {COMPARED_L1_HITS, COMPARED_L2_HITS, COMPARED_OCCUPANCY};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double by = ours(a, shares[i]) - silicon(a, shares[i]);
        if (100 * fabs(by) > correlate_rows[shares[i]].bound && same_way(a, -by))
            say(a, "%s %.0f%% here, %.0f%% on silicon", correlate_rows[shares[i]].name, 100 * ours(a, shares[i]),
                100 * silicon(a, shares[i]));
    }
}

static double dram_rate(const double counts[CORRELATE_COUNTS])
{
    return correlate_value(COMPARED_DRAM_BYTES, counts) / correlate_value(COMPARED_CYCLES, counts);
}

static void ask_bandwidth(struct asking *a)
{
    double there = dram_rate(a->point->silicon), here = dram_rate(a->point->ours), peak = a->to->dram_peak;
    bool bound_there = there > near_peak * peak, bound_here = here > near_peak * peak;
    if (peak > 0 && bound_there != bound_here)
        say(a, "bound by DRAM %s: %.0f bytes per cycle on silicon, %.0f here, of %.0f",
            bound_there ? "on silicon but not here" : "here but not on silicon", there, here, peak);
}

void correlate_find_causes(struct correlation *c)
{
    for (uint32_t i = 0; i < c->point_count; i++) {
        struct asking a = {.to = c, .point = &c->points[i]};
        a.point->cause = "";
        a.off = times(&a, COMPARED_CYCLES);
        if (!isfinite(a.off) || fabs(a.off) < log(some))
            continue;
        ask_length(&a);
        ask_instructions(&a);
        ask_traffic(&a);
        ask_shares(&a);
        ask_bandwidth(&a);
    }
}
