/* heddle sweep: an experiment into a store. */
#include "base/out_of_memory.h"
#include "cli/cli.h"
#include "cli/sweep_progress.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "Usage: heddle sweep EXPERIMENT [OPTION...]\n"
    "Runs every point of an experiment that is not in its results store yet. EXPERIMENT is the path of a file, or the "
    "name of one in experiments/ (quick).\n"
    "Stopped at any moment, in whatever way, the same command goes on where it was: what is in the store is not run "
    "again.\n"
    "\n"
    "  -o, --output FILE      the store; default: NAME.db in the current folder, for an experiment NAME.ini\n"
    "      --size SIZE        test, small or paper: the input of workloads; default: the experiment's\n"
    "      --dry-run          say what would be run (Slurm: show the script), and change nothing\n"
    "      --time-limit T     of a run: 90, 90s, 15m, 2h; default: the experiment's\n"
    "      --memory-limit B   of a run: 500M, 2G; default: the experiment's\n"
    "      --quiet            say nothing but what went wrong\n"
    "\n"
    "Where it runs:\n"
    "      --engine ENGINE    local (default): processes on this machine; slurm: a job array\n"
    "  -j N                   local: runs at a time; default: as many as there are cores\n"
    "      --partition P      slurm; also from HEDDLE_SLURM_PARTITION\n"
    "      --account A        slurm; also from HEDDLE_SLURM_ACCOUNT\n"
    "      --slurm-time T     slurm: time of a task as sbatch --time has it; also from HEDDLE_SLURM_TIME\n"
    "      --slurm-memory M   slurm: memory of a task as sbatch --mem has it; also from HEDDLE_SLURM_MEMORY\n"
    "      --throttle N       slurm: tasks at a time\n"
    "  -h, --help             this text\n"
    "\n"
    "Exit codes: 0 all runs are in the store; 1 some failed (the same command tries them again); 2 usage; 4 "
    "interrupted.\n";

enum { MOST_PROCESSES = 1024 };
enum {
    OPT_SIZE = 256,
    OPT_DRY_RUN,
    OPT_TIME,
    OPT_MEMORY,
    OPT_QUIET,
    OPT_ENGINE,
    OPT_PARTITION,
    OPT_ACCOUNT,
    OPT_SLURM_TIME,
    OPT_SLURM_MEMORY,
    OPT_THROTTLE
};

static const struct option option_table[] = {
    {"output", required_argument, NULL, 'o'},
    {"size", required_argument, NULL, OPT_SIZE},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"time-limit", required_argument, NULL, OPT_TIME},
    {"memory-limit", required_argument, NULL, OPT_MEMORY},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"partition", required_argument, NULL, OPT_PARTITION},
    {"account", required_argument, NULL, OPT_ACCOUNT},
    {"slurm-time", required_argument, NULL, OPT_SLURM_TIME},
    {"slurm-memory", required_argument, NULL, OPT_SLURM_MEMORY},
    {"throttle", required_argument, NULL, OPT_THROTTLE},
    {"help", no_argument, NULL, 'h'},
    {0},
};

struct asked {
    struct sweep_options sweep;
    bool quiet;
    const char *processes, *throttle, *engine, *time, *memory, *word;
    const char *slurm_only; /* an option that was given and is for Slurm */
    char experiment[PATH_MAX], store[PATH_MAX];
};

static bool read_count(const char *text, unsigned long most, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    *out = (uint32_t)n;
    return isdigit((unsigned char)*text) && !*end && !errno && n > 0 && n <= most;
}

struct unit {
    const char *name;
    double factor;
};

/* A number above zero, and perhaps a unit. */
static bool read_quantity(const char *text, const struct unit *units, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || !isfinite(*out))
        return false;
    while (*end == ' ')
        end++;
    for (; *end && units->name; units++)
        if (!strcasecmp(end, units->name)) {
            *out *= units->factor;
            return *out > 0;
        }
    return !*end && *out > 0;
}

static int check_local_or_slurm(struct asked *q)
{
    struct sweep_options *o = &q->sweep;
    bool slurm = q->engine && !strcmp(q->engine, "slurm");
    if (q->engine && !slurm && strcmp(q->engine, "local"))
        return cli_usage("sweep", "no engine '%s': local or slurm is expected", q->engine);
    if (!slurm && q->slurm_only)
        return cli_usage("sweep", "--%s is for --engine slurm", q->slurm_only);
    if (slurm && q->processes)
        return cli_usage("sweep",
                         "-j is for runs on this machine; --throttle limits how many tasks Slurm runs at a time");
    o->engine = slurm ? ENGINE_SLURM : ENGINE_LOCAL;
    return -1;
}

static int check_values(struct asked *q)
{
    static const struct unit times[] = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {0}};
    static const struct unit sizes[] = {{"k", 0x1p10},  {"m", 0x1p20},  {"g", 0x1p30},  {"t", 0x1p40},
                                        {"kb", 0x1p10}, {"mb", 0x1p20}, {"gb", 0x1p30}, {0}};
    struct sweep_options *o = &q->sweep;
    double bytes = 0;
    if (q->processes && !read_count(q->processes, MOST_PROCESSES, &o->processes))
        return cli_usage("sweep", "-j needs a number from 1 to %d, not '%s'", MOST_PROCESSES, q->processes);
    if (q->throttle && !read_count(q->throttle, UINT32_MAX, &o->throttle))
        return cli_usage("sweep", "--throttle needs a number from 1, not '%s'", q->throttle);
    if (q->time && !read_quantity(q->time, times, &o->time_limit_seconds))
        return cli_usage("sweep", "--time-limit needs a time such as 90, 15m or 2h, not '%s'", q->time);
    if (q->memory && (!read_quantity(q->memory, sizes, &bytes) || bytes >= 0x1p63 || bytes < 1))
        return cli_usage("sweep", "--memory-limit needs an amount such as 500M or 2G, not '%s'", q->memory);
    o->memory_limit_bytes = (uint64_t)bytes;
    if (o->size && strcmp(o->size, "test") && strcmp(o->size, "small") && strcmp(o->size, "paper"))
        return cli_usage("sweep", "unknown size '%s': test, small or paper is expected", o->size);
    return check_local_or_slurm(q);
}

/* Returns -1 to go on, else the exit code. */
static int parse_options(int argc, char **argv, struct asked *q)
{
    struct sweep_options *o = &q->sweep;
    int c, which = 0;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":o:j:h", option_table, &which)) != -1) {
        if (c != ':' && c != '?' && optarg && !*optarg)
            return cli_usage("sweep", "an option is given an empty value (in front of '%s')",
                             optind < argc ? argv[optind] : "the end");
        if (c >= OPT_PARTITION && c <= OPT_THROTTLE)
            q->slurm_only = option_table[which].name;
        switch (c) {
        case 'o': o->store = optarg; break;
        case 'j': q->processes = optarg; break;
        case OPT_SIZE: o->size = optarg; break;
        case OPT_DRY_RUN: o->dry_run = true; break;
        case OPT_TIME: q->time = optarg; break;
        case OPT_MEMORY: q->memory = optarg; break;
        case OPT_QUIET: q->quiet = true; break;
        case OPT_ENGINE: q->engine = optarg; break;
        case OPT_PARTITION: o->partition = optarg; break;
        case OPT_ACCOUNT: o->account = optarg; break;
        case OPT_SLURM_TIME: o->slurm_time = optarg; break;
        case OPT_SLURM_MEMORY: o->slurm_memory = optarg; break;
        case OPT_THROTTLE: q->throttle = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("sweep", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("sweep", argv[optind - 1], option_table);
        }
    }
    if (optind == argc)
        return cli_usage("sweep",
                         "which experiment? The path of a file or the name of one in experiments/ is expected");
    if (optind + 1 < argc)
        return cli_usage("sweep", "unexpected argument '%s': one experiment at a time", argv[optind + 1]);
    q->word = argv[optind];
    return check_values(q);
}

/* NAME.db for experiments/NAME.ini. */
static void default_store(const char *experiment, char *out, size_t size)
{
    const char *slash = strrchr(experiment, '/'), *name = slash ? slash + 1 : experiment, *dot = strrchr(name, '.');
    snprintf(out, size, "%.*s.db", dot && !strcmp(dot, ".ini") ? (int)(dot - name) : (int)strlen(name), name);
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

static void say_end(const struct asked *q, const struct sweep_result *r, double seconds)
{
    char time[40];
    const char *store = q->sweep.store;
    if (r->known == r->points)
        printf("nothing to do: %s %u run%s of this experiment %s in %s\n", r->points == 1 ? "the" : "all", r->points,
               plural(r->points), r->points == 1 ? "is" : "are", store);
    else
        printf("%u run%s done in %s; %u of %u are in %s\n", r->done, plural(r->done),
               cli_duration(seconds, time, sizeof time), r->known + r->done, r->points, store);
    printf("next: heddle report %s\n", store);
}

static void say_dry(const struct asked *q, const struct sweep_result *r)
{
    fflush(stdout);
    fprintf(stderr, "%u run%s: %u in %s, %u to do; this was a dry run, nothing was changed\n", r->points,
            plural(r->points), r->known, q->sweep.store, r->points - r->known);
}

/* How long it took. */
static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int sweep(struct asked *q)
{
    struct sweep_options *o = &q->sweep;
    struct sweep_result r = {0};
    struct error e = {0};
    struct places places;
    double start = clock_seconds();
    if (!places_find(&places, &e) || !places_experiment(&places, q->word, q->experiment, &e))
        return cli_fail(&e);
    o->experiment = q->experiment;
    if (!o->store) {
        default_store(q->experiment, q->store, sizeof q->store);
        o->store = q->store;
    }
    o->out = stdout;
    bool good = q->quiet || o->dry_run ? cli_sweep_run_quiet(o, &r, &e) : cli_sweep_run(o, &r, &e);
    if (!good) {
        int code = cli_fail(&e);
        return code == EXIT_FAILED ? EXIT_USAGE : code; /* 1 is for runs that failed */
    }
    if (o->dry_run && !q->quiet)
        say_dry(q, &r);
    else if (!q->quiet)
        say_end(q, &r, clock_seconds() - start);
    if (!r.failed)
        return EXIT_DONE;
    fflush(stdout);
    fprintf(stderr, "heddle: %u of %u runs failed; the same command tries them again\n", r.failed, r.points);
    return EXIT_FAILED;
}

int cli_sweep(int argc, char **argv)
{
    struct asked *q = calloc(1, sizeof *q);
    if (!q)
        out_of_memory();
    int status = parse_options(argc, argv, q);
    if (status < 0)
        status = sweep(q);
    free(q);
    return status;
}
