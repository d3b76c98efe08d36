/* What of an experiment a sweep has to run: points that the store does not have, and before them the runs whose files
 * these read, where the files are not there. */
#include "sweep/sweep.h"

#include "base/strmap.h"

#include <stdlib.h>
#include <string.h>

/* A job, and what its place among the others depends on. */
struct candidate {
    const struct job *job;
    uint32_t point;
    double seconds;
};

static int by_key(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = strcmp(x->job->key, y->job->key);
    return order ? order : (x->point > y->point) - (x->point < y->point);
}

static int longest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return (x->point > y->point) - (x->point < y->point);
}

static int compare_keys(const void *a, const void *b) { return strcmp(a, b); }

/* Of programs that were never run: workloads by the size of their input. Only the order of runs depends on it. */
static double guess_seconds(const struct job *j)
{
    static const struct {
        const char *size;
        double seconds;
    } sizes[] = {{"test", 1}, {"small", 10}, {"paper", 1000}};
    for (const char **word = j->words; word[0] && word[1]; word++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (!strcmp(word[0], "--size") && !strcmp(word[1], sizes[i].size))
                return sizes[i].seconds;
    return 10;
}

/* Asked once for each program with its arguments, not for each point. */
static void expect_seconds(struct sweep *s, const struct experiment *x, struct job *jobs)
{
    uint32_t programs = x->axes[AXIS_PROGRAM].value_count;
    double *known = arena_array(s->arena, double, programs);
    for (uint32_t i = 0; i < programs; i++)
        known[i] = -1;
    for (uint32_t i = 0; s->store && i < x->point_count; i++) {
        double *seconds = &known[x->points[i].value[AXIS_PROGRAM]];
        if (*seconds < 0) {
            char *arguments = job_arguments(&jobs[i]);
            *seconds = store_expected_seconds(s->store, jobs[i].program, arguments);
            free(arguments);
        }
        jobs[i].expected_seconds = *seconds;
    }
}

static void expect_of_inputs(struct sweep *s, struct job *inputs, uint32_t count)
{
    for (uint32_t i = 0; s->store && i < count; i++) {
        char *arguments = job_arguments(&inputs[i]);
        inputs[i].expected_seconds = store_expected_seconds(s->store, inputs[i].program, arguments);
        free(arguments);
    }
}

/* What the store has of good runs; a dry run also looks into the spool, which it leaves as it is. */
struct known {
    char (*keys)[KEY_BYTES];
    uint32_t count;
};

static bool is_known(const struct sweep *s, const struct known *k, const char *key)
{
    if (k->count && bsearch(key, k->keys, k->count, sizeof *k->keys, compare_keys))
        return true;
    return s->options->dry_run && job_is_recorded(key, s->spool);
}

static struct candidate candidate_of(const struct job *j, uint32_t place)
{
    return (struct candidate){j, place, j->expected_seconds > 0 ? j->expected_seconds : guess_seconds(j)};
}

/* Points of different keys; those that are to run are moved to the front. */
static uint32_t choose_points(struct sweep *s, const struct known *known, struct candidate *list, uint32_t count,
                              uint32_t *chosen)
{
    uint32_t different = 0;
    *chosen = 0;
    qsort(list, count, sizeof *list, by_key);
    for (uint32_t i = 0; i < count; i++) {
        if (i && !strcmp(list[i].job->key, list[i - 1].job->key))
            continue;
        different++;
        if (!is_known(s, known, list[i].job->key))
            list[(*chosen)++] = list[i]; /* in place: never beyond i */
    }
    return different;
}

/* The keys of all runs whose files these read. */
static struct strmap needed_keys(const struct candidate *points, uint32_t count)
{
    struct strmap keys = {0};
    for (uint32_t i = 0; i < count; i++)
        for (const struct job *const *in = points[i].job->inputs; *in; in++)
            strmap_put(&keys, (*in)->key, KEY_BYTES - 1, (void *)(uintptr_t)*in);
    return keys;
}

/* A file that is gone is made again, whatever the store has of the run that wrote it. */
static uint32_t choose_inputs(struct sweep *s, const struct known *known, const struct job *inputs, uint32_t count,
                              const struct candidate *points, uint32_t point_count, struct candidate *list)
{
    struct strmap needed = needed_keys(points, point_count);
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool made = is_known(s, known, inputs[i].key) && job_file_is_made(&inputs[i]);
        if (!made && strmap_get(&needed, inputs[i].key, KEY_BYTES - 1))
            list[chosen++] = candidate_of(&inputs[i], i);
    }
    strmap_free(&needed);
    return chosen;
}

static void set_limits(const struct sweep_options *o, struct job *jobs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (o->time_limit_seconds > 0)
            jobs[i].time_limit_seconds = o->time_limit_seconds;
        if (o->memory_limit_bytes)
            jobs[i].memory_limit_bytes = o->memory_limit_bytes;
    }
}

/* One a key, those that the store does not have, longest first; before them the runs that make what they read. */
static bool choose(struct sweep *s, const struct experiment *x, const struct job *jobs, const struct job *inputs,
                   uint32_t input_count, struct error *e)
{
    struct arena *a = s->arena;
    struct known known = {0};
    uint32_t points, first;
    struct candidate *list = arena_array(a, struct candidate, x->point_count + 1);
    struct candidate *before = arena_array(a, struct candidate, input_count + 1);
    if (s->store && !store_keys(s->store, a, &known.keys, &known.count, e))
        return false;
    for (uint32_t i = 0; i < x->point_count; i++)
        list[i] = candidate_of(&jobs[i], i);
    uint32_t different = choose_points(s, &known, list, x->point_count, &points) + input_count;
    first = choose_inputs(s, &known, inputs, input_count, list, points, before);
    qsort(list, points, sizeof *list, longest_first);
    qsort(before, first, sizeof *before, longest_first);
    s->job_count = first + points;
    s->jobs = arena_array(a, struct job, s->job_count + 1);
    for (uint32_t i = 0; i < s->job_count; i++)
        s->jobs[i] = i < first ? *before[i].job : *list[i - first].job;
    sweep_link_inputs(s);
    s->progress.points = s->result->points = different;
    s->progress.known = s->result->known = different - s->job_count;
    s->progress.to_run = s->job_count;
    return jobs_place_files(s->jobs, s->job_count, s->files, a, e);
}

bool sweep_choose(struct sweep *s, const struct experiment *x, struct job *jobs, struct error *e)
{
    uint32_t input_count = 0;
    expect_seconds(s, x, jobs);
    set_limits(s->options, jobs, x->point_count);
    struct job *inputs = sweep_inputs(s, jobs, x->point_count, s->arena, &input_count, e);
    if (!inputs)
        return false;
    expect_of_inputs(s, inputs, input_count);
    set_limits(s->options, inputs, input_count);
    return choose(s, x, jobs, inputs, input_count, e);
}
