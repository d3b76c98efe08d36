/* --sample inside a launch (sample.h).
 *
 * Time passes in windows, in which warp instructions per cycle are measured. Between two windows the cores come to
 * rest, and warps execute without time as many instructions as they would have executed in a number of cycles
 * (sample_gap.c). Then time passes again for a while in which nothing is measured: the machine fills, and caches get
 * the lines that the resident blocks use. The estimate is the cycles of the windows; and for all instructions between
 * two windows, the cycles that they take at the mean speed of the two. The less two windows differ, the longer are the
 * gaps. */
#include "base/out_of_memory.h"
#include "gpu/sample_inside.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* A stretch of time, to warm up or to measure: the least cycles, the least instructions of each resident warp, and the
 * most cycles. */
enum { FIRST_CYCLES = 32768, LEAST_CYCLES = 8192, WARP_INSTRUCTIONS = 64, MOST_CYCLES = 12 * LEAST_CYCLES };
/* Lengths of gaps, in units of twice the last window. The first gap is short, so that there is a second window. */
enum { FIRST_GAP = 2, LEAST_GAP = 24, LONGEST_GAP = 96 };
static const double cold_doubt = 0.03; /* relative error that caches may add which were not kept warm */
/* The next gap is twice as long where half of the relative interval so far is less than the one, and half as long where
 * it is more than the other. */
static const double certain = 0.02, uncertain = 0.05;

enum phase { FIRST, MEASURES, COMES_TO_REST, WARMS, TIMES_THE_REST };

struct sample_launch {
    enum phase phase;
    uint64_t since;         /* the cycle in which the phase began */
    double from;            /* the instructions executed before the phase */
    double stretch;         /* cycles of the last stretch */
    uint32_t gap_stretches; /* length of the next gap */
    uint32_t gaps;
    struct sample_rates *rates;
    double work;           /* instructions since the last window's end */
    double without_time;   /* instructions in all gaps */
    double skipped_cycles; /* simulated, but not counted: those between the end of a window and the beginning of the
                              next */
    double cycles;         /* the estimate for the instructions between windows */
    double speed;          /* instructions per cycle of the last window */
    double squares;        /* the sum of the squared doubts about each gap */
    double difference;     /* the largest relative difference of two windows */
    uint32_t windows;
};

double sample_quantile(uint32_t freedom)
{
    static const double t[] = {0,     12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
    return freedom < sizeof t / sizeof *t ? t[freedom] : 2.1;
}

double sample_mean(const double *x, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += x[i];
    return sum / count;
}

double sample_deviation(const double *x, uint32_t count)
{
    double middle = sample_mean(x, count), squares = 0;
    for (uint32_t i = 0; i < count; i++)
        squares += (x[i] - middle) * (x[i] - middle);
    return count > 1 ? sqrt(squares / (count - 1)) : 0;
}

double sample_instructions(const struct exec_counters *c)
{
    double sum = 0;
    for (int lanes = 0; lanes <= WARP_LANES; lanes++)
        sum += (double)c->lanes[lanes];
    return sum;
}

static void scale_words(void *words, size_t bytes, double by)
{
    uint64_t *w = words;
    for (size_t i = 0; i < bytes / sizeof *w; i++)
        w[i] = (uint64_t)((double)w[i] * by + 0.5);
}

void sample_scale(struct gpu_counters *c, double by)
{
    struct gpu_counters exact = *c;
    scale_words(&c->sm, offsetof(struct gpu_counters, launches) - offsetof(struct gpu_counters, sm), by);
    if (c->policies)
        scale_words(c->policies->values, c->policies->value_count * sizeof *c->policies->values, by);
    c->exec = exact.exec;
}

static double executed(const struct timing *t, const struct residency *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r)
            sum += sample_instructions(&sm_launch(t->cores[i])->counters);
    return sum;
}

void sample_begin(struct timing *t, struct residency *r)
{
    if (r->workspace || !sm_may_rest(t->cores[0]))
        return;
    r->timed.sample = calloc(1, sizeof *r->timed.sample);
    if (!r->timed.sample)
        out_of_memory();
    r->timed.sample->rates = sample_rates_create(t->core_count);
    r->timed.sample->since = t->now;
    r->timed.sample->gap_stretches = FIRST_GAP;
}

bool sample_holds(const struct residency *r) { return r->timed.sample && r->timed.sample->phase == COMES_TO_REST; }

static void go_on(struct timing *t, const struct residency *r)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r) {
            sm_go_on(t->cores[i], t->now);
            bits_add(t->turns.awake, i);
        }
    t->blocks.may_place = true;
}

void sample_stop(struct timing *t, struct residency *r)
{
    if (!r->timed.sample)
        return;
    if (sample_holds(r))
        go_on(t, r);
    r->timed.sample->phase = TIMES_THE_REST;
}

static void enter(struct timing *t, struct residency *r, enum phase phase)
{
    struct sample_launch *s = r->timed.sample;
    s->phase = phase;
    s->since = t->now;
    s->from = executed(t, r);
}

static uint64_t warps(const struct timing *t, const struct residency *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r)
            sum += (uint64_t)__builtin_popcountll(sm_blocks_used(t->cores[i])) * r->timed.block_warps;
    return sum;
}

static bool is_long_enough(const struct timing *t, const struct residency *r)
{
    const struct sample_launch *s = r->timed.sample;
    uint64_t cycles = t->now - s->since;
    double instructions = executed(t, r) - s->from;
    return cycles >= (s->phase == FIRST ? FIRST_CYCLES : LEAST_CYCLES) && instructions > 0 &&
           (cycles >= MOST_CYCLES || instructions >= WARP_INSTRUCTIONS * (double)warps(t, r));
}

/* Chooses the length of the gap after the next window: the less certain the estimate is, the shorter. */
static void choose_gap(struct sample_launch *s)
{
    double doubt = 2 * sqrt(s->squares) / s->cycles;
    if (s->gap_stretches < LEAST_GAP)
        s->gap_stretches = LEAST_GAP;
    else if (doubt < certain && s->gap_stretches < LONGEST_GAP)
        s->gap_stretches *= 2;
    else if (doubt > uncertain && s->gap_stretches > LEAST_GAP)
        s->gap_stretches /= 2;
}

/* Instructions executed since the last window count as executed at the mean speed of that window and this one. */
static void settle(struct sample_launch *s, double speed)
{
    double mean = (s->speed + speed) / 2, cycles = s->work / mean, doubt = cycles * (speed - s->speed) / mean;
    if (s->windows) {
        s->cycles += cycles;
        s->squares += doubt * doubt / 3;
        s->difference = fmax(s->difference, fabs(speed - s->speed) / mean);
        choose_gap(s);
    }
    s->speed = speed;
    s->work = 0;
    s->windows++;
}

static void end_window(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->timed.sample;
    double cycles = (double)(t->now - s->since);
    settle(s, (executed(t, r) - s->from) / cycles);
    s->stretch = cycles;
    sample_rates_end(s->rates, t, r);
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r)
            sm_rest(t->cores[i], t->now);
    enter(t, r, COMES_TO_REST);
}

static bool is_at_rest(const struct timing *t, const struct residency *r)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->blocks.owner[i] == r && !sm_is_at_rest(t->cores[i]))
            return false;
    return true;
}

/* Gaps have different lengths, so that windows do not meet the same part of a program's loop again and again. */
static double uneven(uint32_t gap)
{
    double golden = 0.6180339887 * (gap + 1);
    return 0.75 + 0.5 * (golden - floor(golden));
}

static bool run_gap(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->timed.sample;
    double cycles = 2 * s->stretch * s->gap_stretches * uneven(s->gaps++);
    host_part_set(&t->part, HOST_EXECUTE);
    bool ok = sample_gap(s->rates, t, r, cycles);
    host_part_set(&t->part, HOST_NETWORK);
    if (!ok)
        return false;
    s->work = executed(t, r) - s->from;
    s->without_time += s->work;
    s->skipped_cycles += (double)(t->now - s->since);
    go_on(t, r);
    enter(t, r, WARMS);
    return true;
}

bool sample_advance(struct timing *t, struct residency *r)
{
    struct sample_launch *s = r->timed.sample;
    if (s->phase == COMES_TO_REST)
        return !is_at_rest(t, r) || run_gap(t, r);
    if (s->phase == TIMES_THE_REST || !is_long_enough(t, r))
        return true;
    if (s->phase == MEASURES) {
        end_window(t, r);
        return true;
    }
    if (s->phase == WARMS) {
        s->work += executed(t, r) - s->from;
        s->skipped_cycles += (double)(t->now - s->since);
    }
    sample_rates_begin(s->rates, t, r);
    enter(t, r, MEASURES);
    return true;
}

void sample_end(struct residency *r)
{
    struct sample_launch *s = r->timed.sample;
    struct gpu_counters *c = &r->record.counters;
    double all = sample_instructions(&c->exec);
    if (s->without_time > 0) {
        s->cycles += s->work / s->speed; /* after the last window */
        double left = s->work / s->speed * (s->windows > 1 ? s->difference : 1);
        double half = sample_quantile(s->windows < 2 ? 2 : s->windows) * sqrt(s->squares + left * left / 3);
        uint64_t simulated = c->cycles;
        r->record.estimate = (struct gpu_estimate){.timed_cycles = simulated,
                                                   .instructions = (uint64_t)all,
                                                   .timed_instructions = (uint64_t)(all - s->without_time),
                                                   .half_squared = half * half,
                                                   .half_common = cold_doubt * s->cycles};
        sample_scale(c, all / (all - s->without_time));
        c->cycles = (uint64_t)((double)simulated - s->skipped_cycles + s->cycles + 0.5);
    }
    sample_rates_free(s->rates);
    free(s);
    r->timed.sample = NULL;
}
