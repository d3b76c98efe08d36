/* A sweep: what of an experiment is not in the store yet is given to an engine, and records are taken out of the spool into the store. Only this process writes the store. */
#include "lab/sweep.h"
#include "lab/job_record.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { GROUP_RECORDS = 256 }; /* of the spool, in one transaction */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sweep_tell(struct sweep *s, enum sweep_event event)
{
    s->progress.seconds = now() - s->start;
    if (s->options->listener)
        s->options->listener(s->options->context, event, &s->progress);
}

/* ------------------------------------------------------------- the spool */

static void spool_path(char out[PATH_MAX], const struct sweep *s, const char *key, const char *suffix)
{
    snprintf(out, PATH_MAX, "%.4000s/%s%s", s->spool, key, suffix);
}

/* NULL: the file is no record (it was not renamed by us). */
static json_t *read_record(const char *path, const char *key)
{
    json_t *record = json_load_file(path, 0, NULL);
    const char *named = json_string_value(json_object_get(record, "key"));
    if (named && !strcmp(named, key))
        return record;
    json_decref(record);
    return NULL;
}

static bool remove_record(const char *path, struct error *e)
{
    return unlink(path) == 0 || error_set(e, ERROR_IO, "cannot remove %s: %s", path, strerror(errno));
}

/* Puts a record into the store, and removes its file. A file that is no record is removed alone. */
static bool take_in(struct sweep *s, const char *path, const char *key, json_t **record, struct error *e)
{
    bool added;
    *record = read_record(path, key);
    if (*record && !store_put(s->store, *record, &added, e)) {
        json_decref(*record);
        *record = NULL;
        return false;
    }
    return remove_record(path, e);
}

bool sweep_collect(struct sweep *s, const struct job *j, bool *found, struct error *e)
{
    char path[PATH_MAX], log[PATH_MAX];
    struct sweep_progress *p = &s->progress;
    json_t *record;
    *found = false;
    spool_path(path, s, j->key, ".json");
    spool_path(log, s, j->key, ".log");
    if (access(path, F_OK) != 0)
        return true;
    bool good = take_in(s, path, j->key, &record, e);
    if (!record)
        return good;
    *found = true;
    p->label = j->label;
    p->failure = json_string_value(json_object_get(record, "failure"));
    p->log_path = p->failure && access(log, F_OK) == 0 ? log : NULL;
    if (p->failure) {
        p->failed++;
        s->result->failed++;
    } else {
        p->done++;
        s->result->done++;
        unlink(log); /* of an earlier failure */
    }
    sweep_tell(s, p->failure ? SWEEP_FAILED : SWEEP_DONE);
    p->label = p->failure = p->log_path = NULL;
    json_decref(record);
    return good;
}

static bool is_key(const char *name)
{
    return strlen(name) == KEY_BYTES - 1 && !name[strspn(name, "0123456789abcdef")];
}

/* Together, up to the first that the store does not take: their files stay until the store has them. */
static bool take_in_group(struct sweep *s, char *const *keys, size_t count, struct error *e)
{
    char path[PATH_MAX];
    bool added, good = store_group_begin(s->store, e);
    size_t taken = 0;
    if (!good)
        return false;
    while (good && taken < count) {
        spool_path(path, s, keys[taken], ".json");
        json_t *record = read_record(path, keys[taken]);
        good = !record || store_put(s->store, record, &added, e);
        taken += good;
        json_decref(record);
    }
    if (!store_group_end(s->store, e))
        return false;
    for (size_t i = 0; i < taken; i++) {
        spool_path(path, s, keys[i], ".json");
        good = remove_record(path, e) && good;
    }
    return good;
}

/* What an earlier sweep left: runs of whatever experiment. */
static bool take_in_spool(struct sweep *s, struct error *e)
{
    struct names names = names_in(s->spool, ".json");
    size_t keys = 0;
    bool good = true;
    job_spool_clean(s->spool);
    for (size_t i = 0; i < names.count; i++)
        if (is_key(names.names[i])) {
            char *key = names.names[i];
            names.names[i] = names.names[keys];
            names.names[keys++] = key;
        }
    for (size_t i = 0; i < keys && good; i += GROUP_RECORDS)
        good = take_in_group(s, names.names + i, keys - i < GROUP_RECORDS ? keys - i : GROUP_RECORDS, e);
    names_free(&names);
    return good;
}

static bool make_spool(const struct sweep *s, struct error *e)
{
    if (mkdir(s->spool, 0777) == 0 || errno == EEXIST)
        return true;
    return error_set(e, ERROR_IO, "cannot make the folder %s, where runs leave their results: %s", s->spool, strerror(errno));
}

/* Beside the store, absolute: the store may not be there yet. */
static const char *spool_of(const char *store, struct arena *a)
{
    char real[PATH_MAX], here[PATH_MAX];
    if (realpath(store, real))
        return arena_printf(a, "%s.spool", real);
    if (*store == '/' || !getcwd(here, sizeof here))
        return arena_printf(a, "%s.spool", store);
    return arena_printf(a, "%s/%s.spool", here, store);
}

/* ------------------------------------------------------------- what is to do */

/* A job, and what its place among the others depends on. */
struct candidate { const struct job *job; uint32_t point; double seconds; };

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
    static const struct { const char *size; double seconds; } sizes[] = {{"test", 1}, {"small", 10}, {"paper", 1000}};
    for (const char **word = j->words; word[0] && word[1]; word++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (!strcmp(word[0], "--size") && !strcmp(word[1], sizes[i].size))
                return sizes[i].seconds;
    return 10;
}

/* Asked once for each program with its arguments, not for each point. */
static void expect_seconds(struct sweep *s, const struct experiment *x, struct job *jobs, struct arena *a)
{
    uint32_t programs = x->axes[AXIS_PROGRAM].value_count;
    double *known = arena_array(a, double, programs);
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

/* One a key, those that the store does not have (a dry run: nor the spool), longest first. */
static bool choose_jobs(struct sweep *s, const struct experiment *x, struct job *jobs, struct arena *a, struct error *e)
{
    char (*keys)[KEY_BYTES] = NULL;
    uint32_t key_count = 0, different = 0;
    struct candidate *list = arena_array(a, struct candidate, x->point_count + 1);
    if (s->store && !store_keys(s->store, a, &keys, &key_count, e))
        return false;
    for (uint32_t i = 0; i < x->point_count; i++)
        list[i] = (struct candidate){&jobs[i], i, jobs[i].expected_seconds > 0 ? jobs[i].expected_seconds : guess_seconds(&jobs[i])};
    qsort(list, x->point_count, sizeof *list, by_key);
    for (uint32_t i = 0; i < x->point_count; i++) {
        const char *key = list[i].job->key;
        if (i && !strcmp(key, list[i - 1].job->key))
            continue;
        different++;
        if (key_count && bsearch(key, keys, key_count, sizeof *keys, compare_keys))
            continue;
        if (s->options->dry_run && job_is_recorded(key, s->spool))
            continue;
        list[s->job_count++] = list[i]; /* in place: never beyond i */
    }
    qsort(list, s->job_count, sizeof *list, longest_first);
    s->jobs = arena_array(a, struct job, s->job_count + 1);
    for (uint32_t i = 0; i < s->job_count; i++)
        s->jobs[i] = *list[i].job;
    s->progress.points = s->result->points = different;
    s->progress.known = s->result->known = different - s->job_count;
    s->progress.to_run = s->job_count;
    return true;
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

static bool put_experiment(struct sweep *s, const struct experiment *x, const struct job *jobs, struct arena *a, struct error *e)
{
    char (*keys)[KEY_BYTES] = arena_alloc(a, (size_t)(x->point_count + 1) * sizeof *keys);
    for (uint32_t i = 0; i < x->point_count; i++)
        memcpy(keys[i], jobs[i].key, KEY_BYTES);
    return store_put_experiment(s->store, x, (const char (*)[KEY_BYTES])keys, e);
}

/* ------------------------------------------------------------- the sweep */

static void print_jobs(const struct sweep *s)
{
    for (uint32_t i = 0; i < s->job_count && s->options->out; i++) {
        char *command = job_command(&s->jobs[i]);
        fprintf(s->options->out, "%s\n", command);
        free(command);
    }
}

static bool run_engine(struct sweep *s, struct error *e)
{
    if (s->options->engine == ENGINE_SLURM)
        return slurm_run(s, e);
    if (!s->options->dry_run)
        return pool_run(s, e);
    print_jobs(s);
    return true;
}

/* A dry run reads the store where there is one. */
static bool open_store(struct sweep *s, struct error *e)
{
    const struct sweep_options *o = s->options;
    if (o->dry_run && access(o->store, F_OK) != 0)
        return true;
    s->store = store_open(o->store, o->dry_run ? STORE_READ : STORE_WRITE, e);
    return s->store != NULL;
}

static bool sweep(struct sweep *s, const struct experiment *x, struct job *jobs, struct arena *a, struct error *e)
{
    bool dry = s->options->dry_run;
    if (!open_store(s, e))
        return false;
    s->spool = spool_of(s->options->store, a); /* once the store is there: by its real name */
    if (!dry && !take_in_spool(s, e))
        return false;
    expect_seconds(s, x, jobs, a);
    set_limits(s->options, jobs, x->point_count);
    if (!choose_jobs(s, x, jobs, a, e) || (!dry && !put_experiment(s, x, jobs, a, e)))
        return false;
    s->progress.seconds_left = NAN;
    sweep_tell(s, SWEEP_START);
    if (s->job_count && ((!dry && !make_spool(s, e)) || !run_engine(s, e)))
        return false;
    return true;
}

bool sweep_run(const struct sweep_options *o, struct sweep_result *result, struct error *e)
{
    struct error own = {0};
    struct arena a = {0};
    struct experiment x = {0};
    struct places *places = arena_new(&a, struct places);
    struct job *jobs;
    *result = (struct sweep_result){0};
    struct sweep s = {.options = o, .places = places, .result = result, .start = now()};
    e = e ? e : &own;
    bool good = places_find(places, e) && experiment_load(&x, &a, o->experiment, o->size, e) && jobs_make(&x, places, &a, &jobs, e) && sweep(&s, &x, jobs, &a, e);
    if (s.store)
        store_close(s.store);
    if (s.spool && !o->dry_run)
        rmdir(s.spool); /* stays where something is in it: a log, a batch */
    arena_free(&a);
    return good;
}
