/* heddle repro all: sweeps every paper's experiment, one after the other, and writes papers.md: each figure and table
 * of each paper, ours beside published, and a verdict. With --no-run it takes what the stores hold. */
#include "cli/repro_all.h"

#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/repro.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Paths of experiment files. */
struct paths {
    char (*all)[PATH_MAX];
    uint32_t count;
};

static bool has_paper(const char *path, bool *has, struct error *e)
{
    struct arena a = {0};
    struct experiment x;
    bool ok = experiment_load(&x, &a, path, NULL, e);
    *has = ok && x.paper;
    arena_free(&a);
    return ok;
}

/* Those of experiments/ that repeat a paper. */
static bool find_papers(const struct places *places, struct arena *a, struct paths *out, struct error *e)
{
    struct names names = names_in(places->experiments, ".ini");
    bool ok = true, has = false;
    out->all = arena_alloc(a, (names.count + 1) * sizeof *out->all);
    for (size_t i = 0; ok && i < names.count; i++) {
        ok = places_experiment(places, names.names[i], out->all[out->count], e) &&
             has_paper(out->all[out->count], &has, e);
        out->count += ok && has;
    }
    names_free(&names);
    return ok && (out->count ||
                  error_set(e, ERROR_NOT_FOUND, "no experiment in %s has a section [paper]", places->experiments));
}

static bool find_experiments(const struct repro_all_request *r, struct arena *a, struct paths *out, struct error *e)
{
    struct places places;
    if (!places_find(&places, e))
        return false;
    if (!r->experiment_count)
        return find_papers(&places, a, out, e);
    out->all = arena_alloc(a, r->experiment_count * sizeof *out->all);
    for (; out->count < r->experiment_count; out->count++)
        if (!places_experiment(&places, r->experiments[out->count], out->all[out->count], e))
            return false;
    return true;
}

/* A run that failed does not keep the other experiments from running; anything worse ends all of it. */
static int sweep_all(const struct repro_all_request *r, const struct paths *paths)
{
    int status = EXIT_DONE;
    for (uint32_t i = 0; i < paths->count; i++) {
        struct repro_files files;
        repro_files_of(paths->all[i], r->folder, &files);
        struct repro_request one = {.experiment = paths->all[i],
                                    .size = r->size,
                                    .store = files.store,
                                    .page = files.page,
                                    .processes = r->processes};
        fprintf(stderr, "%s (%u of %u)\n", files.name, i + 1, paths->count);
        int swept = repro_sweep(&one);
        if (swept != EXIT_DONE && swept != EXIT_FAILED)
            return swept;
        if (swept == EXIT_FAILED)
            status = EXIT_FAILED;
    }
    return status;
}

static bool read_one(const struct repro_all_request *r, const char *path, struct papers *p, struct error *e)
{
    struct repro_files files;
    struct experiment *x = arena_new(p->arena, struct experiment);
    struct store *s = NULL;
    repro_files_of(path, r->folder, &files);
    if (!experiment_load(x, p->arena, path, r->size, e))
        return false;
    if (access(files.store, F_OK) == 0 && !(s = store_open(files.store, STORE_READ, e)))
        return false;
    bool ok = papers_add(p, x, s, e);
    store_close(s);
    return ok;
}

static bool write_page(const struct papers *p, const char *path, struct error *e)
{
    struct whole_file out;
    bool ok = whole_file_open(&out, path);
    if (ok) {
        repro_table_markdown(p, out.file);
        ok = whole_file_close(&out);
    }
    return ok || error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
}

static bool write_json(const struct papers *p, const char *path, struct error *e)
{
    struct whole_file out;
    bool ok = whole_file_open(&out, path);
    if (ok) {
        json_t *json = repro_table_json(p);
        json_dumpf(json, out.file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        fputc('\n', out.file);
        json_decref(json);
        ok = whole_file_close(&out);
    }
    return ok || error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
}

static bool write_table(const struct repro_all_request *r, const struct paths *paths, struct arena *a, struct error *e)
{
    struct papers p = {.arena = a};
    const char *page = arena_printf(a, "%s/papers.md", r->folder);
    for (uint32_t i = 0; i < paths->count; i++)
        if (!read_one(r, paths->all[i], &p, e))
            return false;
    if (!p.part_count)
        return error_set(e, ERROR_NOT_FOUND, "none of these experiments has a section [paper]");
    papers_judge(&p);
    if (!write_page(&p, page, e) || (r->json && !write_json(&p, r->json, e)))
        return false;
    for (uint32_t i = 0; i < p.part_count; i++)
        printf("%-6s %s\n", p.parts[i].paper->name, repro_table_sum(a, &p.parts[i]));
    char *whole = realpath(page, NULL);
    printf("\nThe table: %s\n", whole ? whole : page);
    free(whole);
    return true;
}

int repro_all(const struct repro_all_request *r)
{
    struct error e = {0};
    struct arena a = {0};
    struct paths paths = {0};
    int status = EXIT_DONE;
    bool ok = find_experiments(r, &a, &paths, &e) && repro_make_folder(r->folder, &e);
    if (ok && !r->no_run)
        status = sweep_all(r, &paths);
    if (status == EXIT_DONE || status == EXIT_FAILED)
        ok = ok && write_table(r, &paths, &a, &e);
    arena_free(&a);
    return ok ? status : cli_fail(&e);
}
