/* heddle demo: every workload in functional mode, and one table of what was seen; then three of them with time, under two warp schedulers. */
#include "lab/child.h"
#include "cli/cli.h"
#include "cli/summary.h"
#include "cli/text_table.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle demo [--size test|small|paper]\n"
    "Runs all workloads in functional mode, one after another, and shows what Heddle sees in them; then some of them cycle by cycle, with two warp schedulers.\n"
    "--size is of the first part, and of bfs in the second; default small.\n";

static const char *const functional_titles[] = {"workload", ">warp instructions", ">SIMD use", ">branches", ">divergent", ">seconds", ">kWI/s", "result", "active lanes 1..32", NULL};
static const char *const timed_titles[] = {"workload", "input", "scheduler", ">cycles", ">IPC", ">L1D misses", ">L2 misses", ">waiting for memory", ">seconds", ">kWI/s", "result", NULL};

/* The second part: a few seconds in all. NULL: the size that was asked for. */
static const struct timed_run { const char *workload, *size; } timed_runs[] = {{"bfs", NULL}, {"spmv-scalar", "test"}, {"spmv-vector", "test"}};
static const char *const schedulers[] = {"lrr", "gto"};
enum { TIMED_RUNS = sizeof timed_runs / sizeof *timed_runs, SCHEDULERS = sizeof schedulers / sizeof *schedulers };

struct demo {
    struct places places;
    int output;            /* where the workloads' own words go */
    const char *size;
    unsigned done, runs, wrong;
};

/* One run of a workload; false when it could not be started. Results that are not right are counted. */
static bool run_workload(struct demo *d, const char *name, const char *size, const char *const *options, struct child_result *result)
{
    char path[2 * PATH_MAX];
    struct error e = {0};
    snprintf(path, sizeof path, "%s/%s", d->places.workloads, name);
    char *argv[] = {path, (char *)"--size", (char *)(uintptr_t)size, NULL};
    struct child_request request = {.path = path, .argv = argv, .library = d->places.lib, .options = options, .functional = !options, .quiet = true, .output = d->output};
    cli_progress(d->done++, d->runs, name);
    bool ok = child_run(&request, result, &e);
    if (!ok) {
        cli_progress_end();
        cli_fail(&e);
    }
    d->wrong += !ok || child_exit_code(result) != EXIT_DONE;
    return ok;
}

static const char *verdict(const struct child_result *r)
{
    return r->status == 0 ? "correct" : r->signal ? "CRASHED" : "WRONG";
}

static void put_rate(struct text_table *t, const struct child_result *r)
{
    char number[40];
    text_table_cell(t, "%.2f", summary_host(r->stats, "launch_seconds"));
    text_table_cell(t, "%s", cli_grouped((unsigned long long)(summary_host(r->stats, "kwips") + 0.5), number, sizeof number));
}

static void run_functional(struct demo *d, const char *name, struct text_table *t)
{
    char number[40], bar[SUMMARY_BAR_BYTES];
    struct child_result result;
    if (!run_workload(d, name, d->size, NULL, &result))
        return;
    struct summary_counters c = summary_total(result.stats);
    text_table_cell(t, "%s", name);
    text_table_cell(t, "%s", cli_grouped(c.warp_instructions, number, sizeof number));
    text_table_cell(t, "%.1f%%", summary_utilization(&c));
    text_table_cell(t, "%s", cli_grouped(c.branches, number, sizeof number));
    text_table_cell(t, "%.1f%%", summary_divergence(&c));
    put_rate(t, &result);
    text_table_cell(t, "%s", verdict(&result));
    text_table_cell(t, "%s", summary_lanes_bar(&c, cli_utf8(), bar));
    json_decref(result.stats);
}

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0.0;
}

/* Of the cycles that warps spent on a core, the share in which they waited for a load. */
static double waiting_for_memory(const json_t *stats)
{
    json_t *stalls = json_object_get(json_object_get(stats, "total"), "stalls"), *value;
    const char *key;
    uint64_t all = 0;
    json_object_foreach(stalls, key, value)
        all += (uint64_t)json_integer_value(value);
    return percent((uint64_t)json_integer_value(json_object_get(stalls, "memory")), all);
}

static void run_timed(struct demo *d, const struct timed_run *run, const char *scheduler, struct text_table *t)
{
    const char *size = run->size ? run->size : d->size, *options[] = {"--machine", "gtx480", "--scheduler", scheduler, NULL};
    char number[40];
    struct child_result result;
    if (!run_workload(d, run->workload, size, options, &result))
        return;
    struct summary_counters c = summary_total(result.stats);
    text_table_cell(t, "%s", run->workload);
    text_table_cell(t, "%s", size);
    text_table_cell(t, "%s", scheduler);
    text_table_cell(t, "%s", cli_grouped(c.cycles, number, sizeof number));
    text_table_cell(t, "%.1f", summary_ipc(&c));
    text_table_cell(t, "%.1f%%", percent(c.l1d_misses, c.l1d_accesses));
    text_table_cell(t, "%.1f%%", percent(c.l2_misses, c.l2_accesses));
    text_table_cell(t, "%.1f%%", waiting_for_memory(result.stats));
    put_rate(t, &result);
    text_table_cell(t, "%s", verdict(&result));
    json_decref(result.stats);
}

static void say_next(void)
{
    puts("\nEach result was computed by real PTX on the simulated GPU, and compared with a reference in C. The bars: how many warp instructions ran\n"
         "with so many lanes active, from one on the left to all 32 on the right. lrr gives each warp its turn; gto stays with a warp until it waits,\n"
         "then takes the oldest. IPC is of threads, for the whole GPU.\n\n"
         "Try next:\n"
         "  ./heddle run -s gto bfs                           one workload, kernel by kernel (--stats FILE for JSON)\n"
         "  ./heddle run -s gto --timeline bfs.json bfs       what every warp did, for ui.perfetto.dev\n"
         "  ./heddle list schedulers                          and machines, l1, divergence, metrics\n"
         "  ./heddle inspect workloads/bfs/bfs.ptx --loops    loops, branches and registers of a kernel before it runs\n"
         "  ./heddle doctor ./your-program                    whether your own CUDA program can run here");
}

static void run_all(struct demo *d, const struct names *names)
{
    struct arena a = {0};
    struct text_table functional = text_table_start(&a, functional_titles), timed = text_table_start(&a, timed_titles);
    for (size_t i = 0; i < names->count; i++)
        run_functional(d, names->names[i], &functional);
    cli_progress_end();
    printf("%zu workloads, input size '%s', functional mode, one thread\n\n", names->count, d->size);
    text_table_print(&functional, "  ", stdout);
    fflush(stdout);
    for (int i = 0; i < TIMED_RUNS; i++)
        for (int k = 0; k < SCHEDULERS; k++)
            run_timed(d, &timed_runs[i], schedulers[k], &timed);
    cli_progress_end();
    puts("\nCycle by cycle: machine gtx480 (15 cores of 48 warps, 16 KB of L1 data cache each), two warp schedulers, one thread\n");
    text_table_print(&timed, "  ", stdout);
    arena_free(&a);
}

static int demo(const char *size)
{
    struct demo d = {.size = size};
    struct error e = {0};
    if (!places_find(&d.places, &e))
        return cli_fail(&e);
    struct names names = names_in(d.places.workloads, "");
    if (!names.count) {
        fprintf(stderr, "heddle demo: no workloads in %s: has 'make' been run?\n", d.places.workloads);
        return EXIT_FAILED;
    }
    d.runs = (unsigned)names.count + TIMED_RUNS * SCHEDULERS;
    d.output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    run_all(&d, &names);
    close(d.output);
    names_free(&names);
    if (d.wrong) {
        fflush(stdout);
        fprintf(stderr, "heddle demo: %u run%s did not give the right result\n", d.wrong, d.wrong == 1 ? "" : "s");
        return EXIT_FAILED;
    }
    say_next();
    return EXIT_DONE;
}

int cli_demo(int argc, char **argv)
{
    static const struct option table[] = {{"size", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *size = "small";
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (c == ':')
            return cli_usage("demo", "option '%s' needs a value", argv[optind - 1]);
        if (c != 's')
            return cli_unknown_option("demo", argv[optind - 1], table);
        size = optarg;
    }
    if (optind < argc)
        return cli_usage("demo", "unexpected argument '%s'", argv[optind]);
    if (strcmp(size, "test") && strcmp(size, "small") && strcmp(size, "paper"))
        return cli_usage("demo", "unknown size '%s': test, small or paper is expected", size);
    return demo(size);
}
