/* A sweep: what of an experiment is not in the store yet is given to an engine, and records are taken out of the spool
 * into the store. Only this process writes the store. */
#include "sweep/sweep.h"
#include "experiment/stored.h"
#include "sweep/job_record.h"

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

/* j: one of s->jobs. */
static void set_outcome(struct sweep *s, const struct job *j, const char *failure)
{
    if (!s->outcomes)
        return;
    struct sweep_outcome *o = &s->outcomes[j - s->jobs];
    o->ended = true;
    o->failure = failure ? arena_printf(s->arena, "%s", failure) : NULL;
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
    set_outcome(s, j, p->failure);
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

/* A run that failed leaves its log in the spool. When it is repeated and is good, the sweep removes the log, unless it
 * is killed before that. */
static void remove_logs_of_good_runs(struct sweep *s)
{
    char path[PATH_MAX];
    struct names logs = names_in(s->spool, ".log");
    for (size_t i = 0; i < logs.count; i++)
        if (is_key(logs.names[i]) && store_has(s->store, logs.names[i])) {
            spool_path(path, s, logs.names[i], ".log");
            unlink(path);
        }
    names_free(&logs);
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
    remove_logs_of_good_runs(s);
    return good;
}

static bool make_folder(const char *folder, const char *what, struct error *e)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return true;
    return error_set(e, ERROR_IO, "cannot make the folder %s, where runs leave %s: %s", folder, what, strerror(errno));
}

static bool make_folders(const struct sweep *s, struct error *e)
{
    if (s->job_count && s->jobs[0].input && !make_folder(s->files, "what others read", e))
        return false;
    job_spool_clean(s->files);
    return make_folder(s->spool, "their results", e);
}

/* Beside the store, absolute: the store may not be there yet. */
static const char *beside(const char *store, const char *suffix, struct arena *a)
{
    char real[PATH_MAX], here[PATH_MAX];
    if (realpath(store, real))
        return arena_printf(a, "%s%s", real, suffix);
    if (*store == '/' || !getcwd(here, sizeof here))
        return arena_printf(a, "%s%s", store, suffix);
    return arena_printf(a, "%s/%s%s", here, store, suffix);
}

static bool put_experiment(struct sweep *s, const struct experiment *x, const struct job *jobs, struct arena *a,
                           struct error *e)
{
    char(*keys)[KEY_BYTES] = arena_alloc(a, (size_t)(x->point_count + 1) * sizeof *keys);
    for (uint32_t i = 0; i < x->point_count; i++)
        memcpy(keys[i], jobs[i].key, KEY_BYTES);
    return experiment_put(s->store, x, (const char(*)[KEY_BYTES])keys, e);
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
    s->spool = beside(s->options->store, ".spool", a); /* once the store is there: by its real name */
    s->files = beside(s->options->store, ".files", a);
    if (!dry && !take_in_spool(s, e))
        return false;
    if (!sweep_choose(s, x, jobs, e) || (!dry && !put_experiment(s, x, jobs, a, e)))
        return false;
    s->progress.seconds_left = NAN;
    sweep_tell(s, SWEEP_START);
    if (s->job_count && ((!dry && !make_folders(s, e)) || !run_engine(s, e)))
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
    struct sweep s = {.options = o, .places = places, .result = result, .start = now(), .arena = &a};
    e = e ? e : &own;
    bool good = places_find(places, e) && experiment_load(&x, &a, o->experiment, o->size, e) &&
                jobs_make(&x, places, &a, &jobs, e) && sweep(&s, &x, jobs, &a, e);
    if (s.store)
        store_close(s.store);
    if (s.spool && !o->dry_run) {
        job_spool_clean(s.spool); /* a worker of a killed sweep may still have been alive when this one began */
        rmdir(s.spool);           /* stays where something is in it: a log, a batch */
    }
    arena_free(&a);
    return good;
}
