/* heddle: the table of subcommands. */
#include "cli/cli.h"

#include "base/version.h"
#include "cli/command_hint.h"
#include "gpu/gpu.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *arguments, *summary;
    cli_command *run;
} commands[] = {
    {"run", "[options] PROGRAM [args]", "run a workload, or a program that uses CUDA, on the simulated GPU", cli_run},
    {"demo", "", "run seven workloads under ten schedulers, and make a page of it", cli_demo},
    {"sweep", "EXPERIMENT [-o RESULTS.db]", "run what of an experiment is not in its results store yet", cli_sweep},
    {"report", "RESULTS.db [-o report.html]", "a page with the figures and runs of a results store", cli_report},
    {"repro", "EXPERIMENT [FIGURE]", "repeat a paper's figures: sweep, page, published values beside ours", cli_repro},
    {"compare", "A B | -s X -s Y PROGRAM", "two runs: where the difference in cycles comes from, and why", cli_compare},
    {"schedule", "A B | -s X -s Y PROGRAM", "where the issue orders of two runs part, and a picture of both",
     cli_schedule},
    {"robust", "EXPERIMENT [options]", "does a figure's ranking survive on other machines?", cli_robust},
    {"correlate", "NCU.csv... [options]", "our counters beside those of a real GPU, kernel by kernel", cli_correlate},
    {"inspect", "FILE.ptx|PROGRAM [views]", "control flow, loops, branches and registers of PTX", cli_inspect},
    {"cache", "TRACE [options]", "a trace of L1D accesses through caches of other sizes and policies", cli_cache},
    {"list", "workloads|machines|metrics|...", "what there is to choose from", cli_list},
    {"machine", "show NAME | diff A B", "every value of a machine and where it comes from, or what differs",
     cli_machine},
    {"doctor", "PROGRAM|FILE.ptx", "what of a program cannot run here, before it is run", cli_doctor},
    {"task", NULL, NULL, cli_task}, /* what tasks of a cluster run: not for people */
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(void)
{
    puts("Usage: heddle COMMAND [ARGUMENTS]\nRuns CUDA programs and PTX on a simulated GPU. No GPU and no CUDA toolkit "
         "are needed.\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].summary)
            printf("  %-9s %-31s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    puts("\n  --help, -h     this text; 'heddle COMMAND --help' says more\n"
         "  --version      version, commit and timing epoch\n\n"
         "Exit codes: 0 done; 1 the program ran and reported failure; 2 usage; 3 not supported; 4 deadlock, limit or "
         "interrupt;\n"
         "5 the kernel did something illegal.");
}

static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT + 1];
    char near[500];
    size_t count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].summary)
            names[count++] = commands[i].name;
    names[count++] = "help";
    if (command_hint(word, names, count, near, sizeof near))
        return cli_usage("", "no command '%s'; did you mean %s?", word, near);
    return cli_usage("", "no command '%s'", word);
}

/* Output that could not be written is a failure, whatever the command thought of it. */
static int finish(int status)
{
    if ((fflush(stdout) || ferror(stdout)) && status == EXIT_DONE) {
        perror("heddle: cannot write to standard output");
        return EXIT_FAILED;
    }
    return status;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more is an error of the write */
    if (argc < 2) {
        print_help();
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help();
        return finish(EXIT_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("heddle %s (commit %s, timing epoch %d)\n", HEDDLE_VERSION, version_commit, GPU_TIMING_EPOCH);
        return finish(EXIT_DONE);
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name))
            return finish(commands[i].run(argc - 1, argv + 1));
    if (argv[1][0] == '-')
        return cli_usage("", "unknown option '%s'", argv[1]);
    return unknown_command(argv[1]);
}
