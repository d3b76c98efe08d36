/* heddle demo: the first minute. Seven workloads under ten schedulers (experiments/demo.ini), one table, and a page
 * with pictures. */
#include "cli/cli.h"
#include "cli/repro.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "Usage: heddle demo [OPTION...]\n"
    "Runs seven workloads under ten warp schedulers, cycle by cycle (experiments/demo.ini), "
    "and writes a page with what was seen.\n"
    "\n"
    "      --size SIZE        test, small or paper: other inputs (experiments/quick.ini); test takes "
    "seconds\n"
    "  -o, --output FOLDER    where results and page go; default heddle-demo\n"
    "  -h, --help             this text\n";

static void say_next(void)
{
    puts(
        "\nEach run executed real PTX on the simulated GPU, and its result was compared with a reference in C. IPC is "
        "of threads, for the whole GPU.\n\n"
        "Try next:\n"
        "  ./heddle run -s gto bfs                           one workload, kernel by kernel (--stats FILE for JSON)\n"
        "  ./heddle run -s gto --timeline bfs.json bfs       what every warp did, for ui.perfetto.dev\n"
        "  ./heddle list schedulers                          and machines, l1, divergence, bundles, metrics, "
        "experiments\n"
        "  ./heddle sweep mine.ini                           an experiment of your own: programs x machines x policies "
        "(docs/experiments.md)\n"
        "  ./heddle inspect workloads/bfs/bfs.ptx --loops    loops, branches and registers of a kernel before it runs\n"
        "  ./heddle doctor ./your-program                    whether your own CUDA program can run here\n");
}

/* The first figure of the experiment, as text. */
static bool print_first_figure(const struct repro_request *r, struct error *e)
{
    struct arena a = {0};
    struct experiment x = {0};
    struct figure_data d = {0};
    struct store *s = store_open(r->store, STORE_READ, e);
    struct figure_source *source =
        s && experiment_load(&x, &a, r->experiment, r->size, e) ? figure_source_open(&a, s, &x, e) : NULL;
    bool ok = source && x.figure_count && figure_compute(&a, source, &x.figures[0], &d, e);
    if (ok) {
        printf("%s\n\n", x.figures[0].title);
        repro_print_figure(&d, &a);
    }
    store_close(s);
    arena_free(&a);
    return ok;
}

static int demo(const char *size, const char *folder)
{
    char path[PATH_MAX], store[PATH_MAX], page[PATH_MAX];
    struct places places;
    struct error e = {0};
    if (!places_find(&places, &e) || !places_experiment(&places, size ? "quick" : "demo", path, &e))
        return cli_fail(&e);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
        fprintf(stderr, "heddle demo: cannot make the folder %s: %s\n", folder, strerror(errno));
        return EXIT_USAGE;
    }
    snprintf(store, sizeof store, "%.4000s/results.db", folder);
    snprintf(page, sizeof page, "%.4000s/report.html", folder);
    struct repro_request r = {.experiment = path, .size = size, .store = store, .page = page};
    int status = repro_sweep(&r);
    if (status != EXIT_DONE)
        return status;
    if (!print_first_figure(&r, &e))
        return cli_fail(&e);
    say_next();
    char *whole = realpath(page, NULL);
    printf("The report, to be opened in a browser: %s\n", whole ? whole : page);
    free(whole);
    return EXIT_DONE;
}

int cli_demo(int argc, char **argv)
{
    static const struct option table[] = {{"size", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    const char *size = NULL, *folder = "heddle-demo";
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":o:h", table, NULL)) != -1) {
        switch (c) {
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case 's': size = optarg; break;
        case 'o': folder = optarg; break;
        case ':': return cli_usage("demo", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("demo", argv[optind - 1], table);
        }
    }
    if (optind < argc)
        return cli_usage("demo", "unexpected argument '%s'", argv[optind]);
    if (size && strcmp(size, "test") && strcmp(size, "small") && strcmp(size, "paper"))
        return cli_usage("demo", "unknown size '%s': test, small or paper is expected", size);
    return demo(size, folder);
}
