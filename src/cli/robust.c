/* heddle robust: a figure's ranking on other machines. It writes an experiment with these machines as variants, which
 * `heddle sweep` runs as any other, and judges what came out. */
#include "figure/robust.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/text_table.h"
#include "figure/report.h"
#include "robust/robust.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: heddle robust EXPERIMENT [OPTION...]\n"
    "Does a figure's ranking survive on other machines? Runs what the figure shows on machines with other caches, "
    "latencies, bandwidth, warps, address\n"
    "hash and block order: each factor alone, and all at once in a designed sample. For each pair of series, and each "
    "expectation of the figure: the share\n"
    "of machines on which it holds, and what turns it. docs/robust.md explains it.\n"
    "\n"
    "      --figure NAME      the figure; default: the experiment's first that compares policies\n"
    "      --where FILTER     axis=label|label ...: instead of what the figure shows, as in an experiment file\n"
    "      --program 'LABEL = COMMAND'   another input for a program of the figure; repeatable\n"
    "      --set KEY=VALUE    a key of the machine, for all of them: machine.cores=6; repeatable\n"
    "      --factors LIST     only these, separated by commas; default: all ('--dry-run' names them)\n"
    "      --sample N         machines with all factors changed: 0, 12 (default) or 24\n"
    "  -o, --output FILE      the store; default: EXPERIMENT-robust.db in the current folder. The page is beside it\n"
    "      --csv FILE         one row for each order and machine as well\n"
    "      --pdf DIR          the plots as PDF as well, by gnuplot\n"
    "      --size SIZE        test, small or paper: the input of workloads; default: the experiment's\n"
    "      --dry-run          say which machines and how many runs, and change nothing\n"
    "  -h, --help             this text\n"
    "\n"
    "Options of 'heddle sweep', which does the runs: -j N, --engine ENGINE, --partition P, --account A, --slurm-time "
    "T, --slurm-memory M, --throttle N,\n"
    "--time-limit T, --memory-limit B.\n"
    "Stopped at any moment, the same command goes on where it was.\n"
    "Exit codes: 0 done, whatever was found; 1 a run failed; 2 usage, or something is not there (gnuplot, for "
    "--pdf); 4 interrupted.\n";

enum {
    OPT_FIGURE = 256,
    OPT_WHERE,
    OPT_FACTORS,
    OPT_SAMPLE,
    OPT_CSV,
    OPT_PDF,
    OPT_SIZE,
    OPT_DRY_RUN,
    OPT_SET,
    OPT_PROGRAM,
    OPT_SWEEP
};
enum { SWEEP_WORDS = 40, MOST_WORDS = 100 };

static const struct option option_table[] = {
    {"figure", required_argument, NULL, OPT_FIGURE},
    {"where", required_argument, NULL, OPT_WHERE},
    {"program", required_argument, NULL, OPT_PROGRAM},
    {"set", required_argument, NULL, OPT_SET},
    {"factors", required_argument, NULL, OPT_FACTORS},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"output", required_argument, NULL, 'o'},
    {"csv", required_argument, NULL, OPT_CSV},
    {"pdf", required_argument, NULL, OPT_PDF},
    {"size", required_argument, NULL, OPT_SIZE},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"engine", required_argument, NULL, OPT_SWEEP},
    {"partition", required_argument, NULL, OPT_SWEEP},
    {"account", required_argument, NULL, OPT_SWEEP},
    {"slurm-time", required_argument, NULL, OPT_SWEEP},
    {"slurm-memory", required_argument, NULL, OPT_SWEEP},
    {"throttle", required_argument, NULL, OPT_SWEEP},
    {"time-limit", required_argument, NULL, OPT_SWEEP},
    {"memory-limit", required_argument, NULL, OPT_SWEEP},
    {"help", no_argument, NULL, 'h'},
    {0},
};

struct asked {
    struct arena *arena;
    struct robust_request request;
    const char *word, *store, *csv, *pdf, *size;
    bool dry_run;
    const char *sets[MOST_WORDS + 1], *programs[MOST_WORDS + 1];
    uint32_t set_count, program_count;
    const char *sweep[SWEEP_WORDS]; /* words for `heddle sweep` */
    uint32_t sweep_count;
    const char *file, *page; /* the experiment that was written, and the report */
};

/* ------------------------------------------------------------- options */

static void for_sweep(struct asked *q, const char *word)
{
    if (q->sweep_count + 8 < SWEEP_WORDS)
        q->sweep[q->sweep_count++] = word;
}

static bool read_sample(const char *text, uint32_t *out)
{
    *out = !strcmp(text, "12") ? DESIGN_RUNS : !strcmp(text, "24") ? 2 * DESIGN_RUNS : 0;
    return *out || !strcmp(text, "0");
}

/* Returns -1 to go on, else the exit code. */
static int parse_options(int argc, char **argv, struct asked *q)
{
    int c, which = 0;
    q->request.sample = DESIGN_RUNS;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":o:j:h", option_table, &which)) != -1) {
        switch (c) {
        case 'o': q->store = optarg; break;
        case 'j': for_sweep(q, arena_printf(q->arena, "-j%s", optarg)); break;
        case OPT_FIGURE: q->request.figure = optarg; break;
        case OPT_WHERE: q->request.where = optarg; break;
        case OPT_FACTORS: q->request.factors = optarg; break;
        case OPT_SAMPLE:
            if (!read_sample(optarg, &q->request.sample))
                return cli_usage("robust", "--sample needs 0, 12 or 24, not '%s'", optarg);
            break;
        case OPT_SET:
            if (q->set_count < MOST_WORDS)
                q->sets[q->set_count++] = optarg;
            break;
        case OPT_PROGRAM:
            if (q->program_count < MOST_WORDS)
                q->programs[q->program_count++] = optarg;
            break;
        case OPT_CSV: q->csv = optarg; break;
        case OPT_PDF: q->pdf = optarg; break;
        case OPT_SIZE: q->size = optarg; break;
        case OPT_DRY_RUN: q->dry_run = true; break;
        case OPT_SWEEP: for_sweep(q, arena_printf(q->arena, "--%s=%s", option_table[which].name, optarg)); break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("robust", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("robust", argv[optind - 1], option_table);
        }
    }
    if (optind == argc)
        return cli_usage("robust",
                         "which experiment? The path of a file or the name of one in experiments/ is expected");
    if (optind + 1 < argc)
        return cli_usage("robust", "unexpected argument '%s': one experiment at a time", argv[optind + 1]);
    if (q->size && strcmp(q->size, "test") && strcmp(q->size, "small") && strcmp(q->size, "paper"))
        return cli_usage("robust", "unknown size '%s': test, small or paper is expected", q->size);
    q->word = argv[optind];
    q->request.sets = q->sets;
    q->request.programs = q->programs;
    return -1;
}

/* ------------------------------------------------------------- the plan */

static const char *joined(struct arena *a, const char **words)
{
    const char *text = "";
    for (; *words; words++)
        text = arena_printf(a, "%s%s%s", text, *text ? " " : "", *words);
    return text;
}

static void print_machines(const struct robust_plan *p, struct arena *a)
{
    static const char *const titles[] = {"machine", "what it sets", NULL};
    struct text_table t = text_table_start(a, titles);
    for (uint32_t i = 0; i < p->machine_count; i++) {
        text_table_cell(&t, "%s", p->machines[i].label);
        text_table_cell(&t, "%s", joined(a, p->machines[i].sets));
    }
    text_table_print(&t, "  ", stdout);
}

/* How many runs, before the first begins. */
static void say_plan(const struct robust_plan *p, const struct experiment *x)
{
    printf(
        "figure %s on %u machines: as it is, %u with one factor changed, %u with all of them changed\n%u runs: %u on "
        "each machine%s\n",
        p->figure, p->machine_count, p->alone, p->sampled, x->point_count, x->point_count / p->machine_count,
        x->input_count ? ", and those that write what others read" : "");
    for (uint32_t i = 0; i < p->note_count; i++)
        printf("note: %s\n", p->notes[i]);
    fflush(stdout);
}

/* Beside the store. */
static const char *beside(struct arena *a, const char *store, const char *name)
{
    const char *slash = strrchr(store, '/');
    return arena_printf(a, "%.*s%s", slash ? (int)(slash - store + 1) : 0, store, name);
}

static const char *without_suffix(struct arena *a, const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return arena_strndup(a, path, length > tail && !strcmp(path + length - tail, suffix) ? length - tail : length);
}

static bool write_text(const char *path, const char *text, struct error *e)
{
    struct whole_file out;
    if (!whole_file_open(&out, path))
        return error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    fputs(text, out.file);
    return whole_file_close(&out) || error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static bool make_plan(struct asked *q, struct robust_plan *p, struct experiment *made, struct error *e)
{
    char path[PATH_MAX];
    struct places places;
    struct experiment x;
    if (!places_find(&places, e) || !places_experiment(&places, q->word, path, e) ||
        !experiment_load(&x, q->arena, path, q->size, e) || !robust_plan_make(p, q->arena, &x, &q->request, e) ||
        !experiment_parse(made, q->arena, p->name, p->text, strlen(p->text), NULL, e))
        return false;
    if (!q->store)
        q->store = arena_printf(q->arena, "%s-robust.db", x.name);
    q->file = beside(q->arena, q->store, arena_printf(q->arena, "%s.ini", p->name));
    q->page = arena_printf(q->arena, "%s.html", without_suffix(q->arena, q->store, ".db"));
    return true;
}

/* ------------------------------------------------------------- what came out */

static void print_claims(const struct robust_data *d, struct arena *a)
{
    static const char *const titles[] = {"expected", "base", ">holds on", "turned by", NULL};
    struct text_table t = text_table_start(a, titles);
    for (uint32_t i = 0; i < d->judgement_count; i++) {
        const struct robust_judgement *j = &d->judgements[i];
        if (!j->is_claim)
            continue;
        text_table_cell(&t, "%s", j->text);
        text_table_cell(&t, "%s",
                        j->outcomes[0] == ROBUST_HOLDS ? "holds"
                        : j->outcomes[0] < 0           ? "-"
                                                       : "does NOT hold");
        text_table_cell(&t, "%u of %u", j->held, j->known);
        text_table_cell(&t, "%s", robust_turned_by(a, d, j));
    }
    if (t.cell_count)
        text_table_print(&t, "  ", stdout), putchar('\n');
}

static void print_pairs(const struct robust_data *d, struct arena *a)
{
    static const char *const titles[] = {"order", ">base", ">holds on", ">level", ">least", "turned by", NULL};
    struct text_table t = text_table_start(a, titles);
    uint32_t close = 0;
    for (uint32_t i = 0; i < d->judgement_count; i++) {
        const struct robust_judgement *j = &d->judgements[i];
        close += j->is_close;
        if (j->is_claim || j->is_close)
            continue;
        text_table_cell(&t, "%s", j->text);
        text_table_cell(&t, "%.2f", j->ratios[0]);
        text_table_cell(&t, "%u of %u", j->held, j->known);
        text_table_cell(&t, "%u", j->level);
        text_table_cell(&t, "%.2f", j->ratios[j->least]);
        text_table_cell(&t, "%s", robust_turned_by(a, d, j));
    }
    if (t.cell_count)
        text_table_print(&t, "  ", stdout);
    if (close)
        printf("  not judged, since too close on the base machine (below 1%%), or without a run:");
    for (uint32_t i = 0; i < d->judgement_count; i++)
        if (d->judgements[i].is_close)
            printf("%s %s", close-- ? "" : "", d->judgements[i].text), fputs(close ? ";" : "\n", stdout);
}

static void print_result(const struct robust_data *d, struct arena *a)
{
    printf("\n%s: %s, on %u machines\n\n", d->figure->name, d->figure->title, d->machine_count);
    print_claims(d, a);
    print_pairs(d, a);
    puts("\n  base, least: the first over the second, on the base machine and where that is least. Level: within 1%.");
}

static bool write_csv(const struct robust_data *d, const char *path, struct error *e)
{
    struct whole_file out;
    if (!whole_file_open(&out, path))
        return error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    robust_csv(d, out.file);
    return whole_file_close(&out) || error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static void print_page(const char *page)
{
    char *whole = realpath(page, NULL);
    printf("\nThe page: %s\n", whole ? whole : page);
    free(whole);
}

/* The page comes first: whatever else cannot be written, it is there. PDF files come last, as they need gnuplot. */
static bool write_files(const struct asked *q, const struct experiment *x, struct store *s, const struct robust_data *d,
                        struct error *e)
{
    struct report_options page = {0}, plots = {.experiment = x->name};
    if (!report_write_html(s, q->store, q->page, &page, e))
        return false;
    print_page(q->page);
    return (!q->csv || write_csv(d, q->csv, e)) && (!q->pdf || report_write_pdf(s, q->pdf, &plots, e));
}

static bool show(const struct asked *q, const struct experiment *x, struct error *e)
{
    struct robust_data d;
    struct store *s = store_open(q->store, STORE_READ, e);
    struct figure_source *source = s ? figure_source_open(q->arena, s, x, e) : NULL;
    bool ok = source && figure_robust(q->arena, source, &x->figures[0], &d, e);
    if (ok)
        print_result(&d, q->arena);
    ok = ok && write_files(q, x, s, &d, e);
    store_close(s);
    return ok;
}

/* ------------------------------------------------------------- the command */

static int sweep(struct asked *q)
{
    const char *head[] = {"sweep", q->file, "-o", q->store};
    char *words[SWEEP_WORDS];
    int count = 0;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        words[count++] = (char *)head[i];
    for (uint32_t i = 0; i < q->sweep_count; i++)
        words[count++] = (char *)q->sweep[i];
    words[count] = NULL;
    return cli_sweep(count, words);
}

static int robust(struct asked *q)
{
    struct error e = {0};
    struct robust_plan plan;
    struct experiment x;
    if (!make_plan(q, &plan, &x, &e)) {
        int code = cli_fail(&e);
        return code == EXIT_FAILED ? EXIT_USAGE : code; /* 1 is for runs that failed */
    }
    say_plan(&plan, &x);
    if (q->dry_run) {
        putchar('\n');
        print_machines(&plan, q->arena);
        return EXIT_DONE;
    }
    if (!write_text(q->file, plan.text, &e))
        return cli_fail(&e);
    int status = sweep(q);
    if (status != EXIT_DONE && status != EXIT_FAILED)
        return status;
    return show(q, &x, &e) ? status : cli_fail(&e);
}

int cli_robust(int argc, char **argv)
{
    struct arena a = {0};
    struct asked q = {.arena = &a};
    int status = parse_options(argc, argv, &q);
    if (status < 0)
        status = robust(&q);
    arena_free(&a);
    return status;
}
