/* Our runs of the recorded programs: an experiment with one point per program and size, swept as any other. Its runs
 * are kept in the store; another machine, another input, another build of the simulator are other runs. */
#include "cli/correlate.h"

#include "base/whole_file.h"
#include "cli/sweep_progress.h"
#include "experiment/stored.h"
#include "gpu/machine.h"
#include "sweep/key.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nsight Compute empties all caches before each launch (--cache-control all, its default), the first one among them,
 * whose data has just been copied. */
static const char cold[] = "rules.launch_empties=caches, rules.l2_filled_by_copies=false";

/* ------------------------------------------------------------- the experiment */

static bool is_workload(const struct places *places, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", places->workloads, name);
    return *name && !strchr(name, '/') && length > 0 && (size_t)length < sizeof path && !access(path, X_OK);
}

/* What the simulator is: so that a change of it is not answered by runs of before. */
static bool build_of(const struct places *places, char key[KEY_BYTES], struct error *e)
{
    char path[PATH_MAX + 20];
    struct key_digest digest;
    struct key_hash *h = key_hash_new();
    snprintf(path, sizeof path, "%s/libcuda.so.1", places->lib);
    bool good = key_file(h, path, &digest, e);
    if (good)
        key_write(&digest, key);
    key_hash_free(h);
    return good;
}

static void put_variant(FILE *out, const struct correlate_request *q)
{
    fprintf(out, "\n[variants]\nas recorded = %s", cold);
    for (const char *const *set = q->sets; *set; set++)
        fprintf(out, ", %s", *set);
    putc('\n', out);
}

static const char *label_of(struct arena *a, const char *program, const char *size)
{
    return arena_printf(a, "%s %s", program, size);
}

static uint32_t put_programs(FILE *out, struct correlate_request *q, const struct places *places, struct correlation *c)
{
    uint32_t count = 0;
    fputs("\n[programs]\n", out);
    for (uint32_t r = 0; r < q->recording_count; r++) {
        const struct correlate_recording *from = &q->recordings[r];
        for (uint32_t p = 0; p < from->program_count; p++) {
            const struct correlate_launches *l = &from->programs[p];
            if (!l->count)
                continue;
            if (!is_workload(places, l->program)) {
                correlate_note(c, "%s of %s is no workload: give its results ('heddle run --stats FILE') instead",
                               l->program, from->path);
                continue;
            }
            fprintf(out, "\"%s\" = %s --size %s\n", label_of(q->arena, l->program, from->size), l->program, from->size);
            count++;
        }
    }
    return count;
}

static bool write_experiment(struct correlate_request *q, const char *path, struct correlation *c, uint32_t *programs,
                             struct error *e)
{
    struct places places;
    struct whole_file out;
    char build[KEY_BYTES];
    uint32_t last = 0;
    for (uint32_t r = 0; r < q->recording_count; r++)
        for (uint32_t p = 0; p < q->recordings[r].program_count; p++)
            if (q->recordings[r].programs[p].recorded > last)
                last = q->recordings[r].programs[p].recorded;
    if (!places_find(&places, e) || !build_of(&places, build, e))
        return false;
    if (!whole_file_open(&out, path))
        return error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    fprintf(out.file,
            "; Written by 'heddle correlate'.\n[experiment]\ntitle = %s against silicon\nbuild = %s\nlaunches = 0-%u\n",
            q->machine, build, last - 1);
    *programs = put_programs(out.file, q, &places, c);
    fprintf(out.file, "\n[machines]\n\"%s\" = \"%s\"\n", q->machine, q->machine);
    put_variant(out.file, q);
    return whole_file_close(&out) || error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* ------------------------------------------------------------- results */

static const struct correlate_recording *recording_of(struct correlate_request *q, const char *label,
                                                      struct correlate_launches **launches)
{
    for (uint32_t r = 0; r < q->recording_count; r++)
        for (uint32_t p = 0; p < q->recordings[r].program_count; p++) {
            *launches = &q->recordings[r].programs[p];
            if ((*launches)->count && !strcmp(label_of(q->arena, (*launches)->program, q->recordings[r].size), label))
                return &q->recordings[r];
        }
    return NULL;
}

static bool match_point(struct correlate_request *q, struct store *s, const char *label, const char *key,
                        struct correlation *c, bool *estimates)
{
    struct error e = {0};
    struct correlate_launches *silicon;
    struct correlate_run run;
    const struct correlate_recording *from = recording_of(q, label, &silicon);
    json_t *results = *key ? store_results(s, key, &e) : NULL;
    bool good = from && results && correlate_read_run(q->arena, results, label, &run, &e);
    if (good) {
        correlate_match(c, silicon, from->size, &run.launches);
        *estimates |= run.estimates;
    } else {
        correlate_note(c, "%s is missing: %s", label, *e.text ? e.text : "it was not run, or failed");
    }
    json_decref(results);
    return good;
}

/* Bytes per core cycle that the machine's DRAM can move; 0: there is no such machine. */
static double dram_peak(const struct correlate_request *q)
{
    struct machine *m = calloc(1, sizeof *m);
    struct error e = {0};
    uint32_t sets = 0;
    double peak = 0;
    while (q->sets[sets])
        sets++;
    if (m && machine_load(m, q->machine, q->sets, sets, &e))
        peak = machine_bus_bits(m) / 8.0 * m->mem.dram.data_rate * m->mem.dram_khz / m->mem.core_khz;
    free(m);
    return peak;
}

static bool take_results(struct correlate_request *q, const char *path, struct correlation *c, uint32_t *failed,
                         struct error *e)
{
    struct experiment x;
    bool estimates = false;
    c->dram_peak = dram_peak(q);
    if (!experiment_load(&x, q->arena, path, NULL, e))
        return false;
    char(*keys)[KEY_BYTES] = arena_alloc(q->arena, (x.point_count + 1) * sizeof *keys);
    struct store *s = store_open(q->store, STORE_READ, e);
    bool good = s && experiment_keys(s, &x, keys, e);
    for (uint32_t i = 0; good && i < x.point_count; i++)
        *failed += !match_point(q, s, experiment_label(&x, &x.points[i], AXIS_PROGRAM), keys[i], c, &estimates);
    store_close(s);
    if (good && !estimates && c->point_count)
        correlate_note(c, "instructions are those of PTX: on this machine no machine instructions are estimated");
    return good;
}

int correlate_run_all(struct correlate_request *q, struct correlation *c, uint32_t *programs, uint32_t *failed)
{
    struct error e = {0};
    struct sweep_result result = {0};
    size_t stem = strlen(q->store);
    if (stem > 3 && !strcmp(q->store + stem - 3, ".db"))
        stem -= 3;
    const char *path = arena_printf(q->arena, "%.*s%s.ini", (int)stem, q->store, q->dry_run ? ".dry" : "");
    struct sweep_options o = {.experiment = path,
                              .store = q->store,
                              .processes = q->processes,
                              .time_limit_seconds = q->time_limit_seconds,
                              .dry_run = q->dry_run,
                              .out = stdout};
    if (!write_experiment(q, path, c, programs, &e))
        return cli_fail(&e);
    bool swept = !*programs || (q->dry_run ? cli_sweep_run_quiet : cli_sweep_run)(&o, &result, &e);
    if (q->dry_run || !*programs)
        unlink(path);
    if (!*programs)
        return -1;
    if (!swept) {
        int code = cli_fail(&e);
        return code == EXIT_FAILED ? EXIT_USAGE : code; /* 1 is for runs that failed */
    }
    if (result.interrupted)
        return EXIT_STUCK;
    if (q->dry_run)
        return EXIT_DONE;
    if (!take_results(q, path, c, failed, &e))
        return cli_fail(&e);
    *programs -= *failed;
    return -1;
}
