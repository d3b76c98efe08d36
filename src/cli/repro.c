/* heddle repro: an experiment swept, its page written, and its numbers beside the published ones. */
#include "cli/repro.h"

#include "cli/cli.h"
#include "cli/repro_all.h"
#include "cli/sweep_progress.h"
#include "cli/text_table.h"
#include "figure/report.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "Usage: heddle repro EXPERIMENT [FIGURE] [OPTION...]\n"
    "       heddle repro all [EXPERIMENT...] [OPTION...]\n"
    "Repeats a paper's figures: runs what is not in the store yet, writes the page, and prints the published values "
    "beside ours.\n"
    "EXPERIMENT is one of experiments/ ('heddle list experiments') or the path of a file; FIGURE one of its figures.\n"
    "'all' repeats every experiment that has a section [paper], or the named ones, and writes papers.md: each figure "
    "and "
    "table\n"
    "of each paper, ours beside published, and a verdict.\n"
    "\n"
    "      --size SIZE        test, small or paper: the input of workloads; default: the experiment's\n"
    "  -o, --output FOLDER    where EXPERIMENT.db (results) and EXPERIMENT.html (the page) go, made where it is not "
    "there;\n"
    "                         default: the current folder\n"
    "  -j N                   runs at a time; default: as many as there are cores\n"
    "      --no-run           run nothing: take the results that are there\n"
    "      --json FILE        with 'all': the table as JSON, too\n"
    "  -h, --help             this text\n"
    "\n"
    "Stopped at any moment, the same command goes on where it was.\n"
    "Exit codes: 0 done, whatever the comparison says; 1 a run failed; 2 usage; 4 interrupted.\n";

int repro_sweep(const struct repro_request *r)
{
    struct error e = {0};
    struct sweep_result result = {0};
    struct sweep_options options = {
        .experiment = r->experiment, .store = r->store, .size = r->size, .processes = r->processes};
    if (!cli_sweep_run(&options, &result, &e))
        return cli_fail(&e);
    if (result.interrupted)
        return EXIT_STUCK;
    struct store *s = store_open(r->store, STORE_READ, &e);
    struct report_options page = {.figure = r->figure};
    bool ok = s && report_write_html(s, r->store, r->page, &page, &e);
    store_close(s);
    if (!ok)
        return cli_fail(&e);
    return result.failed ? EXIT_FAILED : EXIT_DONE;
}

/* ---------------------------------------------------------------- tables */

static const char *number(double value, char out[32])
{
    if (isnan(value))
        return "-";
    double size = fabs(value); /* three digits */
    snprintf(out, 32, "%.*f", size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || size == 0 ? 2 : 3, value);
    return out;
}

static const struct figure_cell *cell_at(const struct figure_data *d, uint32_t x, uint32_t series)
{
    for (uint32_t i = 0; i < d->cell_count; i++)
        if (d->cells[i].x == x && d->cells[i].series == series)
            return &d->cells[i];
    return NULL;
}

void repro_print_figure(const struct figure_data *d, struct arena *a)
{
    const char **titles = arena_array(a, const char *, d->series_count + 2);
    char text[32];
    titles[0] = "";
    for (uint32_t k = 0; k < d->series_count; k++)
        titles[k + 1] = arena_printf(a, ">%s", d->series[k]);
    struct text_table t = text_table_start(a, titles);
    for (uint32_t i = 0; i < d->x_count; i++) {
        text_table_cell(&t, "%s", d->xs[i]);
        for (uint32_t k = 0; k < d->series_count; k++) {
            const struct figure_cell *c = cell_at(d, i, k);
            text_table_cell(&t, "%s", number(c ? c->value : NAN, text));
        }
    }
    text_table_print(&t, "  ", stdout);
}

static const char *deviation(const struct figure_cell *c, char out[32])
{
    if (isnan(c->value) || c->published == 0)
        return "-";
    snprintf(out, 32, "%+.1f%%", 100 * (c->value / c->published - 1));
    return out;
}

static void print_published(const struct figure_data *d, struct arena *a)
{
    static const char *const titles[] = {"", "", ">published", ">ours", ">deviation", NULL};
    struct text_table t = text_table_start(a, titles);
    char text[32];
    for (uint32_t i = 0; i < d->cell_count; i++) {
        const struct figure_cell *c = &d->cells[i];
        if (isnan(c->published))
            continue;
        text_table_cell(&t, "%s", d->xs[c->x]);
        text_table_cell(&t, "%s", d->series[c->series]);
        text_table_cell(&t, "%s", number(c->published, text));
        text_table_cell(&t, "%s", number(c->value, text));
        text_table_cell(&t, "%s", deviation(c, text));
    }
    text_table_print(&t, "  ", stdout);
}

static void print_verdict(const struct figure_data *d)
{
    struct figure_verdict v;
    figure_judge(d, &v);
    if (v.compared)
        printf("  of %u values the median deviation is %.1f%%", v.compared, 100 * v.median_deviation);
    if (v.directions)
        printf("; direction holds for %u of %u", v.directions_held, v.directions);
    if (v.rankings)
        printf("; ranking for %u of %u pairs", v.rankings_held, v.rankings);
    if (v.compared)
        putchar('\n');
    for (uint32_t i = 0; i < d->figure->expected_count; i++) {
        int holds = figure_expectation(d, d->figure->expected[i]);
        printf("  expected %s: %s\n", d->figure->expected[i],
               holds < 0 ? "cannot be said"
               : holds   ? "holds"
                         : "does NOT hold");
    }
}

static void print_figure(const struct figure_data *d, struct arena *a)
{
    const struct lab_figure *f = d->figure;
    if (!f->published_count && !f->expected_count)
        return;
    printf("\n%s: %s\n", f->name, f->title);
    if (f->source)
        printf("published: %s\n", f->source);
    putchar('\n');
    if (f->published_count)
        print_published(d, a);
    else
        repro_print_figure(d, a);
    print_verdict(d);
}

/* A paper's own numbers, which nothing here is compared with. */
static void print_table(const struct lab_table *table, struct arena *a)
{
    const char **titles = arena_array(a, const char *, table->column_count + 2);
    titles[0] = "";
    for (uint32_t i = 0; i < table->column_count; i++)
        titles[i + 1] = arena_printf(a, ">%s", table->columns[i]);
    printf("\n%s: %s\npublished: %s\n\n", table->name, table->title, table->source);
    struct text_table t = text_table_start(a, titles);
    for (uint32_t i = 0; i < table->row_count; i++) {
        text_table_cell(&t, "%s", table->rows[i].label);
        for (uint32_t k = 0; k < table->column_count; k++)
            text_table_cell(&t, "%s", table->rows[i].values[k]);
    }
    text_table_print(&t, "  ", stdout);
    if (*table->caption)
        printf("  %s\n", table->caption);
}

static bool print_all(const struct repro_request *r, struct store *s, struct arena *a, struct error *e)
{
    struct experiment x = {0};
    if (!experiment_load(&x, a, r->experiment, r->size, e))
        return false;
    struct figure_source *source = figure_source_open(a, s, &x, e);
    for (uint32_t i = 0; source && i < x.figure_count; i++) {
        struct figure_data d = {0};
        if (r->figure && strcmp(r->figure, x.figures[i].name) != 0)
            continue;
        if (!figure_compute(a, source, &x.figures[i], &d, e))
            return false;
        print_figure(&d, a);
    }
    for (uint32_t i = 0; source && !r->figure && i < x.table_count; i++)
        print_table(&x.tables[i], a);
    return source != NULL;
}

int repro_print(const struct repro_request *r)
{
    struct error e = {0};
    struct arena a = {0};
    struct store *s = store_open(r->store, STORE_READ, &e);
    bool ok = s && print_all(r, s, &a, &e);
    store_close(s);
    arena_free(&a);
    return ok ? EXIT_DONE : cli_fail(&e);
}

/* ---------------------------------------------------------------- the command */

/* FIGURE is one of the experiment's: checked before anything runs. */
static bool check_request(const struct repro_request *r, struct error *e)
{
    struct arena a = {0};
    struct experiment x = {0};
    bool ok = experiment_load(&x, &a, r->experiment, r->size, e), found = !r->figure;
    const char **names = arena_array(&a, const char *, x.figure_count + 1);
    for (uint32_t i = 0; ok && i < x.figure_count; i++) {
        names[i] = x.figures[i].name;
        found |= r->figure && !strcmp(r->figure, names[i]);
    }
    if (ok && !found) {
        const char *near = nearest_name(r->figure, names, x.figure_count);
        error_set(e, ERROR_NOT_FOUND, "%s has no figure '%s'", r->experiment, r->figure);
        if (near)
            error_note(e, "did you mean '%s'?", near);
        for (uint32_t i = 0; i < x.figure_count; i++)
            error_note(e, "  %-16s %s", names[i], x.figures[i].title);
    }
    arena_free(&a);
    return ok && found;
}

bool repro_make_folder(const char *path, struct error *e)
{
    struct stat s;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)))
        return true;
    return error_set(e, ERROR_IO, "cannot make the folder %s: %s", path, strerror(errno));
}

void repro_files_of(const char *experiment_path, const char *folder, struct repro_files *out)
{
    const char *slash = strrchr(experiment_path, '/'), *name = slash ? slash + 1 : experiment_path;
    int length = (int)(strlen(name) > 4 ? strlen(name) - 4 : strlen(name));
    snprintf(out->name, sizeof out->name, "%.*s", length, name);
    snprintf(out->store, sizeof out->store, "%s/%s.db", folder, out->name);
    snprintf(out->page, sizeof out->page, "%s/%s.html", folder, out->name);
}

static int repro(struct repro_request *r, const char *word, const char *folder, bool no_run)
{
    char path[PATH_MAX];
    struct repro_files files;
    struct places places;
    struct error e = {0};
    if (!places_find(&places, &e) || !places_experiment(&places, word, path, &e))
        return cli_fail(&e);
    repro_files_of(path, folder, &files);
    r->experiment = path;
    r->store = files.store;
    r->page = files.page;
    if (!check_request(r, &e) || !repro_make_folder(folder, &e))
        return cli_fail(&e);
    int status = no_run ? EXIT_DONE : repro_sweep(r);
    if (status != EXIT_DONE && status != EXIT_FAILED)
        return status;
    int printed = repro_print(r);
    if (printed != EXIT_DONE)
        return printed;
    if (no_run)
        return status;
    char *whole = realpath(files.page, NULL);
    printf("\nThe page: %s\n", whole ? whole : files.page);
    free(whole);
    return status;
}

/* What the command line says. */
struct words {
    const char *size, *folder, *json;
    uint32_t processes;
    bool no_run;
};

static bool read_processes(const char *text, uint32_t *processes)
{
    char *end;
    errno = 0;
    *processes = (uint32_t)strtoul(text, &end, 10);
    return !*end && *processes && *processes <= 4096 && !errno;
}

/* The options; -1: go on, else the exit code. */
static int read_options(int argc, char **argv, struct words *w)
{
    static const struct option table[] = {
        {"size", required_argument, NULL, 's'}, {"output", required_argument, NULL, 'o'},
        {"no-run", no_argument, NULL, 'n'},     {"json", required_argument, NULL, 'J'},
        {"help", no_argument, NULL, 'h'},       {0}};
    optind = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:j:h", table, NULL)) != -1;)
        switch (c) {
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case 's': w->size = optarg; break;
        case 'o': w->folder = optarg; break;
        case 'n': w->no_run = true; break;
        case 'J': w->json = optarg; break;
        case 'j':
            if (!read_processes(optarg, &w->processes))
                return cli_usage("repro", "-j needs a number from 1 to 4096, not '%s'", optarg);
            break;
        case ':': return cli_usage("repro", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("repro", argv[optind - 1], table);
        }
    if (w->size && strcmp(w->size, "test") && strcmp(w->size, "small") && strcmp(w->size, "paper"))
        return cli_usage("repro", "unknown size '%s': test, small or paper is expected", w->size);
    return -1;
}

static int repro_papers(const struct words *w, char **experiments, int count)
{
    const struct repro_all_request all = {.experiments = experiments,
                                          .experiment_count = (uint32_t)count,
                                          .folder = w->folder,
                                          .size = w->size,
                                          .json = w->json,
                                          .processes = w->processes,
                                          .no_run = w->no_run};
    return repro_all(&all);
}

int cli_repro(int argc, char **argv)
{
    struct words w = {.folder = "."};
    int status = read_options(argc, argv, &w);
    if (status >= 0)
        return status;
    char **rest = argv + optind;
    int count = argc - optind;
    if (!count)
        return cli_usage("repro", "which experiment?");
    if (!strcmp(rest[0], "all"))
        return repro_papers(&w, rest + 1, count - 1);
    if (count > 2)
        return cli_usage("repro", "unexpected argument '%s'", rest[2]);
    if (w.json)
        return cli_usage("repro", "--json is for the table of 'heddle repro all'");
    struct repro_request r = {.size = w.size, .processes = w.processes, .figure = count > 1 ? rest[1] : NULL};
    return repro(&r, rest[0], w.folder, w.no_run);
}
