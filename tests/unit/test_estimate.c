/* Is the first time left that a sweep says within a factor of two of the truth, and what does it take to say one? The
 * seconds are those of real runs: sweeps of experiments/quick.ini and experiments/paws.ini at the size of tests, two
 * at a time on a busy machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sweep/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 128, MOST_PROGRAMS = 16, RUNS_OF_A_PROGRAM = 10 };

/* Each program with the seconds of its runs, one for each scheduler. */
struct recorded_program {
    const char *name;
    double seconds[RUNS_OF_A_PROGRAM];
};

static const struct recorded_program quick[] = {
    {"bfs", {0.441, 0.474, 0.331, 0.262, 0.531, 0.434, 0.545, 0.388, 0.515, 0.453}},
    {"bitonic", {0.162, 0.218, 0.213, 0.195, 0.217, 0.174, 0.124, 0.203, 0.279, 0.267}},
    {"mdbrot", {0.701, 1.321, 1.087, 1.032, 1.176, 0.727, 0.881, 1.071, 0.844, 1.096}},
    {"reduct", {0.070, 0.047, 0.054, 0.050, 0.118, 0.096, 0.095, 0.053, 0.121, 0.058}},
    {"spmv-scalar", {1.101, 1.580, 0.687, 0.635, 1.222, 1.364, 1.162, 1.223, 0.592, 0.679}},
    {"spmv-vector", {1.416, 1.665, 1.243, 1.301, 1.380, 1.164, 1.503, 1.226, 1.755, 1.659}},
    {"vectoradd", {0.078, 0.050, 0.042, 0.008, 0.013, 0.011, 0.081, 0.029, 0.034, 0.048}},
    {NULL, {0}},
};

static const struct recorded_program paws[] = {
    {"vectoradd", {0.087, 0.144, 0.050, 0.041, 0.044, 0.068}}, {"hotspot", {0.504, 0.051, 0.189, 0.256, 0.346, 0.561}},
    {"backprop", {0.947, 1.095, 1.115, 1.214, 1.449, 1.395}},  {"lud", {0.579, 0.521, 0.571, 0.603, 1.024, 1.106}},
    {"bfs", {1.070, 1.240, 1.187, 1.447, 1.747, 1.499}},       {NULL, {0}},
};

/* A sweep without processes: time goes from the end of a run to the next. */
struct simulated {
    struct estimate estimate;
    struct estimate_run runs[MOST_RUNS];
    struct estimate_program programs[MOST_PROGRAMS];
    double takes[MOST_RUNS], now;
    double first, first_at; /* the first time left that was known, and when */
};

static uint64_t random_state = 1;
static uint32_t below(uint32_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % n;
}

static void prepare(struct simulated *s, const struct recorded_program *recorded, uint32_t places)
{
    uint32_t count = 0;
    *s = (struct simulated){.first = NAN};
    for (uint32_t program = 0; recorded[program].name; program++)
        for (uint32_t k = 0; k < RUNS_OF_A_PROGRAM && recorded[program].seconds[k] > 0; k++) {
            s->runs[count] = (struct estimate_run){.program = program};
            s->takes[count++] = recorded[program].seconds[k];
        }
    s->estimate = (struct estimate){.runs = s->runs, .programs = s->programs, .count = count, .places = places};
}

/* Points stand in an experiment in any order. */
static void shuffle(struct simulated *s)
{
    for (uint32_t i = s->estimate.count; i > 1; i--) {
        uint32_t k = below(i);
        struct estimate_run run = s->runs[k];
        double takes = s->takes[k];
        s->runs[k] = s->runs[i - 1];
        s->takes[k] = s->takes[i - 1];
        s->runs[i - 1] = run;
        s->takes[i - 1] = takes;
    }
}

static void start_most_urgent(struct simulated *s)
{
    double most = -1;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < s->estimate.count; i++)
        if (s->runs[i].state == ESTIMATE_WAITS && estimate_urgency(&s->estimate, i) > most) {
            most = estimate_urgency(&s->estimate, i);
            found = i;
        }
    if (found != UINT32_MAX)
        estimate_start(&s->estimate, found, s->now);
}

static void end_next(struct simulated *s)
{
    double at = INFINITY;
    uint32_t next = 0;
    for (uint32_t i = 0; i < s->estimate.count; i++)
        if (s->runs[i].state == ESTIMATE_RUNS && s->runs[i].seconds + s->takes[i] < at) {
            at = s->runs[i].seconds + s->takes[i];
            next = i;
        }
    s->now = at;
    estimate_end(&s->estimate, next, at, true);
}

static void simulate(struct simulated *s)
{
    for (uint32_t i = 0; i < s->estimate.places; i++)
        start_most_urgent(s);
    for (uint32_t ended = 0; ended < s->estimate.count; ended++) {
        end_next(s);
        start_most_urgent(s);
        double left = estimate_left(&s->estimate, s->now);
        if (isnan(s->first) && !isnan(left)) {
            s->first = left;
            s->first_at = s->now;
        }
    }
}

static void within_two(const struct recorded_program *recorded)
{
    for (uint32_t places = 1; places <= 4; places++)
        for (int order = 0; order < 200; order++) {
            struct simulated s;
            prepare(&s, recorded, places);
            shuffle(&s);
            simulate(&s);
            double truth = s.now - s.first_at;
            if (!(s.first <= 2 * truth && truth <= 2 * s.first))
                fail_msg("%u at a time, order %d: %.2f s left were said, it took %.2f", places, order, s.first, truth);
            assert_true(s.first_at < s.now / 2); /* late enough to be right, not too late to be of use */
        }
}

static void first_estimate(void **state)
{
    (void)state;
    within_two(quick);
    within_two(paws);
}

/* Known from before: said at once, and scaled by how fast the host is now. */
static void known_before(void **state)
{
    (void)state;
    struct simulated s;
    prepare(&s, quick, 2);
    double all = 0;
    for (uint32_t i = 0; i < s.estimate.count; i++) {
        s.runs[i].before = s.takes[i];
        all += s.takes[i];
        s.takes[i] *= 3;
    }
    assert_true(fabs(estimate_left(&s.estimate, 0) - all / 2) < 1e-9);
    start_most_urgent(&s);
    end_next(&s);
    assert_true(estimate_left(&s.estimate, s.now) > 1.3 * all);
}

/* Nothing is said of a program that nothing is known of; a run that did not run tells nothing. */
static void not_known(void **state)
{
    (void)state;
    struct estimate_run runs[] = {{.program = 0}, {.program = 0}, {.program = 1}};
    struct estimate_program programs[2] = {{0}};
    struct estimate e = {.runs = runs, .programs = programs, .count = 3, .places = 1};
    assert_true(isnan(estimate_left(&e, 0)));
    estimate_start(&e, 0, 0);
    assert_true(estimate_urgency(&e, 2) > estimate_urgency(&e, 1)); /* its program has begun, that of run 2 has not */
    estimate_end(&e, 0, 10, true);
    assert_true(isnan(estimate_left(&e, 10)));
    estimate_end(&e, 2, 10, false);
    assert_true(fabs(estimate_left(&e, 10) - 10) < 1e-9);
    estimate_start(&e, 1, 10);
    assert_true(fabs(estimate_left(&e, 14) - 6) < 1e-9);
    assert_true(fabs(estimate_left(&e, 24) - 0) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_estimate), cmocka_unit_test(known_before),
                                       cmocka_unit_test(not_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
