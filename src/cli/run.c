/* heddle run: a workload or a program of the user's, with Heddle's library in front of it. This file: options, checks beforehand, and what is
 * said afterwards; child.c runs the program. */
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/program.h"
#include "cli/summary.h"
#include "gpu/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle run [OPTION...] PROGRAM [ARGUMENT...]\n"
    "Runs PROGRAM on the simulated GPU: a workload's name ('heddle list workloads'), or the path of a program that uses CUDA.\n"
    "What stands behind PROGRAM is its own.\n"
    "\n"
    "      --functional       results only, no timing (the only mode of this version)\n"
    "      --size SIZE        test, small or paper: the input of a workload\n"
    "      --stats FILE       results as JSON; '-' is standard output, where the program's own output then goes to standard error\n"
    "  -m, --machine NAME     the machine, one of 'heddle list machines' or the path of a file; default gtx480\n"
    "      --max-cycles N     stop after so many cycles; in functional mode a warp instruction is a cycle\n"
    "  -j N                   threads; functional mode uses one\n"
    "      --quiet            no remarks and no summary\n"
    "  -h, --help             this text\n"
    "\n"
    "With the timing model, which is not in this version: -s, --scheduler; --l1; --divergence; --set; --timeline; --trace.\n"
    "\n"
    "Exit codes: 0 done; 1 the program ran and reported failure; 2 usage; 3 not supported; 4 deadlock, limit or interrupt;\n"
    "5 the kernel did something illegal.\n";

struct run_options {
    bool functional, quiet;
    const char *size, *stats, *machine;
    uint64_t max_cycles;
    uint64_t threads;
};

enum { OPT_FUNCTIONAL = 256, OPT_SIZE, OPT_STATS, OPT_MAX_CYCLES, OPT_QUIET, OPT_TIMING };

static const struct option option_table[] = {
    {"functional", no_argument, NULL, OPT_FUNCTIONAL}, {"size", required_argument, NULL, OPT_SIZE},
    {"stats", required_argument, NULL, OPT_STATS},     {"machine", required_argument, NULL, 'm'},
    {"max-cycles", required_argument, NULL, OPT_MAX_CYCLES}, {"quiet", no_argument, NULL, OPT_QUIET},
    {"scheduler", required_argument, NULL, 's'},       {"l1", required_argument, NULL, OPT_TIMING},
    {"divergence", required_argument, NULL, OPT_TIMING}, {"set", required_argument, NULL, OPT_TIMING},
    {"timeline", required_argument, NULL, OPT_TIMING}, {"trace", required_argument, NULL, OPT_TIMING},
    {"help", no_argument, NULL, 'h'},                  {0},
};

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && *value > 0;
}

static int needs_timing(const char *option)
{
    fprintf(stderr, "heddle run: %s needs the timing model, which is not in this version: only --functional is\n", option);
    return CLI_UNSUPPORTED;
}

/* Returns -1 to go on, else the exit code; optind is then at PROGRAM. */
static int parse_options(int argc, char **argv, struct run_options *o)
{
    int c, index = 0;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:m:s:j:h", option_table, &index)) != -1) {
        switch (c) {
        case OPT_FUNCTIONAL: o->functional = true; break;
        case OPT_SIZE: o->size = optarg; break;
        case OPT_STATS: o->stats = optarg; break;
        case OPT_QUIET: o->quiet = true; break;
        case 'm': o->machine = optarg; break;
        case OPT_MAX_CYCLES:
            if (!parse_count(optarg, &o->max_cycles))
                return cli_usage("run", "--max-cycles needs a number from 1, not '%s'", optarg);
            break;
        case 'j':
            if (!parse_count(optarg, &o->threads))
                return cli_usage("run", "-j needs a number from 1, not '%s'", optarg);
            break;
        case 's': return needs_timing("--scheduler");
        case OPT_TIMING: {
            char name[40];
            snprintf(name, sizeof name, "--%s", option_table[index].name);
            return needs_timing(name);
        }
        case 'h':
            fputs(help, stdout);
            return CLI_DONE;
        case ':': return cli_usage("run", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("run", argv[optind - 1], option_table);
        }
    }
    if (optind == argc)
        return cli_usage("run", "which program? A workload's name or a path is expected");
    if (o->stats && !*o->stats)
        return cli_usage("run", "--stats needs the name of a file");
    return -1;
}

static bool check_size(const struct run_options *o, const struct program *p, struct error *e)
{
    static const char *const sizes[] = {"test", "small", "paper"};
    if (!o->size)
        return true;
    if (!p->is_workload)
        return error_set(e, ERROR_NOT_FOUND, "--size is for workloads; a program's own arguments stand behind its name");
    for (int i = 0; i < 3; i++)
        if (!strcmp(o->size, sizes[i]))
            return true;
    error_set(e, ERROR_NOT_FOUND, "unknown size '%s': test, small or paper is expected", o->size);
    return false;
}

static bool check_machine(const struct run_options *o, struct error *e)
{
    struct machine m;
    struct error own = {0};
    if (!o->machine || machine_load(&m, o->machine, &own))
        return true;
    return error_set(e, ERROR_NOT_FOUND, "%s", own.text); /* what is wrong with it is the user's to mend, before anything runs */
}

static bool check_program(const struct program *p, const struct cli_places *places, struct error *e)
{
    struct elf_program elf;
    if (!elf_program_open(&elf, p->path, e))
        return false;
    bool ok = program_check(&elf, p->path, places, e);
    elf_program_close(&elf);
    return ok;
}

/* PROGRAM, --size of the options, its own arguments. */
static char **child_arguments(const struct run_options *o, char *path, char **rest, int count)
{
    char **argv = calloc((size_t)count + 4, sizeof *argv);
    int n = 0;
    if (!argv)
        abort();
    argv[n++] = path;
    if (o->size) {
        argv[n++] = (char *)"--size";
        argv[n++] = (char *)(uintptr_t)o->size;
    }
    for (int i = 0; i < count; i++)
        argv[n++] = rest[i];
    return argv;
}

static bool write_stats(const json_t *stats, FILE *to, const char *name, struct error *e)
{
    bool ok = json_dumpf(stats, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', to) != EOF;
    ok = (to == stdout ? fflush(to) : fclose(to)) == 0 && ok;
    return ok ? true : error_set(e, ERROR_IO, "the results could not be written to %s: %s", name, strerror(errno));
}

static void say_outcome(const struct child_result *r)
{
    if (r->signal == SIGINT)
        fputs("heddle: interrupted\n", stderr);
    else if (r->signal)
        fprintf(stderr, "heddle: the program was ended by signal %d (%s)\n", r->signal, strsignal(r->signal));
    if (!r->used_cuda && !r->signal && r->status == 127)
        fputs("heddle: the program could not be loaded; 'heddle doctor' may say why\n", stderr);
    else if (!r->used_cuda && !r->signal)
        fputs("heddle: the program never initialised CUDA, so that there are no results of a GPU\n", stderr);
}

static int run(const struct run_options *o, struct program *p, const struct cli_places *places, char **rest, int count)
{
    struct error e = {0};
    bool to_stdout = o->stats && !strcmp(o->stats, "-");
    FILE *to = !o->stats ? NULL : to_stdout ? stdout : fopen(o->stats, "we"); /* before the run: a wrong name should not cost one */
    if (o->stats && !to) {
        error_set(&e, ERROR_IO, "cannot write %s: %s", o->stats, strerror(errno));
        return cli_fail(&e);
    }
    if (!o->quiet && !o->functional)
        fputs("heddle: this version has no timing model yet: running as with --functional\n", stderr);
    char **argv = child_arguments(o, p->path, rest, count);
    struct child_request request = {.path = p->path, .argv = argv, .library = places->lib, .machine = o->machine, .max_cycles = o->max_cycles,
                                    .quiet = o->quiet, .output = to_stdout ? STDERR_FILENO : -1};
    struct child_result result;
    bool ok = child_run(&request, &result, &e);
    free(argv);
    if (!ok) {
        if (to && !to_stdout)
            fclose(to);
        return cli_fail(&e);
    }
    int code = child_exit_code(&result);
    if (!o->quiet)
        say_outcome(&result);
    if (!o->quiet && !to_stdout && result.used_cuda)
        summary_print(&result, stderr);
    if (to && !write_stats(result.stats, to, o->stats, &e))
        code = cli_fail(&e);
    json_decref(result.stats);
    return code;
}

int cli_run(int argc, char **argv)
{
    struct run_options o = {0};
    struct cli_places places;
    struct program p;
    struct error e = {0};
    int status = parse_options(argc, argv, &o);
    if (status >= 0)
        return status;
    if (!cli_find_places(&places, &e) || !program_find(&p, argv[optind], &places, &e) || !check_size(&o, &p, &e) || !check_machine(&o, &e) ||
        !check_program(&p, &places, &e))
        return cli_fail(&e);
    return run(&o, &p, &places, argv + optind + 1, argc - optind - 1);
}
