/* heddle demo: every workload in functional mode, and one table of what was seen. */
#include "cli/child.h"
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
    "Runs all workloads in functional mode, one after another, and shows what Heddle sees in them.\n";

static const char *const titles[] = {"workload", ">warp instructions", ">SIMD use", ">branches", ">divergent", ">seconds", ">kWI/s", "result", "active lanes 1..32", NULL};

/* Returns whether the workload's result was right. */
static bool run_one(const char *name, const char *size, const struct cli_places *places, int output, struct text_table *t)
{
    char path[2 * PATH_MAX], number[40], bar[SUMMARY_BAR_BYTES];
    struct error e = {0};
    snprintf(path, sizeof path, "%s/%s", places->workloads, name);
    char *argv[] = {path, (char *)"--size", (char *)(uintptr_t)size, NULL};
    struct child_request request = {.path = path, .argv = argv, .library = places->lib, .quiet = true, .output = output};
    struct child_result result;
    if (!child_run(&request, &result, &e)) {
        cli_progress_end();
        cli_fail(&e);
        return false;
    }
    struct summary_counters c = summary_total(result.stats);
    text_table_cell(t, "%s", name);
    text_table_cell(t, "%s", cli_grouped(c.warp_instructions, number, sizeof number));
    text_table_cell(t, "%.1f%%", summary_utilization(&c));
    text_table_cell(t, "%s", cli_grouped(c.branches, number, sizeof number));
    text_table_cell(t, "%.1f%%", summary_divergence(&c));
    text_table_cell(t, "%.2f", summary_host(result.stats, "launch_seconds"));
    text_table_cell(t, "%s", cli_grouped((unsigned long long)(summary_host(result.stats, "kwips") + 0.5), number, sizeof number));
    text_table_cell(t, "%s", result.status == 0 ? "correct" : result.signal ? "CRASHED" : "WRONG");
    text_table_cell(t, "%s", summary_lanes_bar(&c, cli_utf8(), bar));
    int code = child_exit_code(&result);
    json_decref(result.stats);
    return code == CLI_DONE;
}

static void say_next(void)
{
    puts("\nEach result was computed by real PTX on the simulated GPU, and compared with a reference in C. The bars: how many warp instructions ran\n"
         "with so many lanes active, from one on the left to all 32 on the right.\n\n"
         "Try next:\n"
         "  ./heddle run bfs                                  one workload, kernel by kernel (--stats FILE for JSON)\n"
         "  ./heddle inspect workloads/bfs/bfs.ptx --loops    loops, branches and registers of a kernel before it runs\n"
         "  ./heddle doctor ./your-program                    whether your own CUDA program can run here");
}

static int demo(const char *size)
{
    struct cli_places places;
    struct error e = {0};
    if (!cli_find_places(&places, &e))
        return cli_fail(&e);
    struct cli_names names = cli_names_in(places.workloads, "");
    if (!names.count) {
        fprintf(stderr, "heddle demo: no workloads in %s: has 'make' been run?\n", places.workloads);
        return CLI_FAILED;
    }
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    unsigned wrong = 0;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; i < names.count; i++) {
        cli_progress((unsigned)i, (unsigned)names.count, names.names[i]);
        wrong += !run_one(names.names[i], size, &places, nowhere, &t);
    }
    cli_progress_end();
    close(nowhere);
    printf("%zu workloads, input size '%s', functional mode, one thread\n\n", names.count, size);
    text_table_print(&t, "  ", stdout);
    arena_free(&a);
    cli_free_names(&names);
    if (wrong) {
        fflush(stdout);
        fprintf(stderr, "heddle demo: %u workload%s did not give the right result\n", wrong, wrong == 1 ? "" : "s");
        return CLI_FAILED;
    }
    say_next();
    return CLI_DONE;
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
            return CLI_DONE;
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
