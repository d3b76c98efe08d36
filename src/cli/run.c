/* heddle run: a workload or a program of the user's, with Heddle's library in front of it. This file: options, checks
 * beforehand, and what is said afterwards; child.c runs the program. */
#include "base/out_of_memory.h"
#include "base/temporary.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/misplaced.h"
#include "cli/summary.h"
#include "gpu/launch_filter.h"
#include "gpu/launch_limit.h"
#include "gpu/setup.h"
#include "policy/bundle.h"
#include "program/program.h"
#include "sweep/child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle run [OPTION...] PROGRAM [ARGUMENT...]\n"
    "Runs PROGRAM on the simulated GPU: a workload's name ('heddle list workloads'), or the path of a program that "
    "uses CUDA.\n"
    "What follows PROGRAM is its own.\n"
    "\n"
    "Machine and policies (SPEC is NAME[:key=value,...], or the path of a shared object):\n"
    "  -m, --machine NAME     one of 'heddle list machines' or the path of a file; default gtx480\n"
    "      --set KEY=VALUE    another value for a key of the machine file, section.key=value, or a rule, "
    "rules.NAME=value;\n"
    "                         repeatable\n"
    "      --print-machine    print the machine with all its keys, and end; needs no PROGRAM\n"
    "  -s, --scheduler SPEC   warp scheduler ('heddle list schedulers'); default: the machine's\n"
    "      --l1 SPEC          policy of the L1 data cache ('heddle list l1')\n"
    "      --divergence SPEC  divergence unit ('heddle list divergence')\n"
    "      --probe SPEC       listens and counts, and changes nothing ('heddle list probes'); repeatable\n"
    "  -p, --policies SPEC    a bundle: policies that belong together, in place of these ('heddle list bundles')\n"
    "\n"
    "The run:\n"
    "      --functional       results only, no timing; an order of magnitude faster\n"
    "      --exact-bounds     what a kernel touches outside of allocations is an error, also where a GPU would not "
    "notice\n"
    "      --lockstep         simulate all cores cycle by cycle; the same results as without, for comparison\n"
    "      --model            run the core that is written to be read (docs/reading-order.md): the same results, 15 to "
    "100 "
    "times slower;\n"
    "                         -j has no effect; not with --functional, --sample, --timeline or --issue-order\n"
    "      --races            with --functional: report accesses to shared and global memory that nothing puts in "
    "order,\n"
    "                         with both instructions (docs/races.md); 3 to 11 times slower\n"
    "      --size SIZE        test, small or paper: the input of a workload\n"
    "      --kernel NAME      time only launches of this kernel: its plain name, or with template arguments and "
    "parameters;\n"
    "                         repeatable; the other launches run functionally (docs/launches.md)\n"
    "      --launch LIST      time only launches with these numbers, from 0: as 3, 0,3-5 or 9-\n"
    "      --skip N           and none of the first N\n"
    "      --region           and only those between cudaProfilerStart and cudaProfilerStop\n"
    "      --sample           time a part of the blocks and launches, run the others functionally, and estimate "
    "cycles; "
    "results say\n"
    "                         how far the estimate can be off (docs/sample.md)\n"
    "      --max-cycles N     stop after so many cycles; in functional mode a warp instruction is a cycle\n"
    "      --launch-limit N   end each launch that takes longer: N cycles (also 500k, 5M, 2G), or so many seconds, "
    "minutes or\n"
    "                         hours of the host (90s, 15m, 2h); the next launch runs (docs/launches.md)\n"
    "  -j N                   simulate the cores on N threads; results are the same for any N\n"
    "\n"
    "Results:\n"
    "      --stats FILE       results as JSON; '-' is standard output, where the program's own output then goes to "
    "standard error\n"
    "      --pcs              the results also say what each instruction did: executions, divergence, L1 misses, "
    "cycles waited for\n"
    "      --interval N       and what was counted in every N cycles of a launch\n"
    "      --lines[=N]        print the N source lines (default 20, or all) that warps waited at longest: what they "
    "waited for,\n"
    "                         lanes, L1 hits and misses (docs/profile.md)\n"
    "      --what-if          with --lines, also: load misses under Belady's optimum, accesses and misses if all loads "
    "were coalesced,\n"
    "                         issues if no lane were idle\n"
    "      --sort COLUMN      another order of --lines: issues, lanes, misses, own, other, per_request, memory, ...\n"
    "      --timeline FILE    what cores, schedulers and warps did, for ui.perfetto.dev\n"
    "      --timeline-cycles A:B   only cycles A up to B; default 0:20000\n"
    "      --trace FILE       every access to the L1 data caches, for 'heddle cache'\n"
    "      --warps FILE       when each warp began and ended, what it issued and waited for: CSV, compressed;\n"
    "                         not compressed where FILE ends in .csv\n"
    "      --issue-order FILE every issue of every core, for 'heddle schedule'; not with --timeline\n"
    "      --quiet            no remarks, no progress and no summary\n"
    "  -h, --help             this text\n"
    "\n"
    "Exit codes: 0 done; 1 the program ran and reported failure; 2 usage; 3 not supported; 4 deadlock, limit or "
    "interrupt;\n"
    "5 the kernel did something illegal.\n";

enum {
    MOST_SETS = 256,
    MOST_KERNELS = 64,
    MOST_WORDS = 2 * MOST_SETS + 2 * GPU_PROBES + 2 * MOST_KERNELS + 46,
    MOST_THREADS = 1024
};

struct run_options {
    bool functional, exact_bounds, lockstep, model, races, quiet, print_machine, pcs;
    json_t **results; /* NULL, or who takes the results in place of --stats' file */
    const char *size, *stats, *timeline, *timeline_cycles, *max_cycles, *launch_limit, *threads, *interval, *trace,
        *warps, *issue_order;
    const char *machine, *scheduler, *l1, *divergence; /* policies: empty, the machine's */
    const char *bundle;                                /* NULL: none */
    const char *sets[MOST_SETS];
    uint32_t set_count;
    const char *probes[GPU_PROBES];
    uint32_t probe_count;
    const char *kernels[MOST_KERNELS], *launches, *skip; /* which launches are timed; NULL: all */
    uint32_t kernel_count;
    bool region, sample;
    struct lines_request lines;
};

enum {
    OPT_FUNCTIONAL = 256,
    OPT_SIZE,
    OPT_STATS,
    OPT_MAX_CYCLES,
    OPT_LAUNCH_LIMIT,
    OPT_QUIET,
    OPT_L1,
    OPT_DIVERGENCE,
    OPT_SET,
    OPT_TIMELINE,
    OPT_TIMELINE_CYCLES,
    OPT_TRACE,
    OPT_PRINT_MACHINE,
    OPT_PCS,
    OPT_INTERVAL,
    OPT_EXACT_BOUNDS,
    OPT_LOCKSTEP,
    OPT_MODEL,
    OPT_RACES,
    OPT_PROBE,
    OPT_WARPS,
    OPT_KERNEL,
    OPT_LAUNCH,
    OPT_SKIP,
    OPT_REGION,
    OPT_SAMPLE,
    OPT_LINES,
    OPT_WHAT_IF,
    OPT_SORT,
    OPT_ISSUE_ORDER
};

const struct option cli_run_options[] = {
    {"functional", no_argument, NULL, OPT_FUNCTIONAL},
    {"size", required_argument, NULL, OPT_SIZE},
    {"stats", required_argument, NULL, OPT_STATS},
    {"machine", required_argument, NULL, 'm'},
    {"max-cycles", required_argument, NULL, OPT_MAX_CYCLES},
    {"launch-limit", required_argument, NULL, OPT_LAUNCH_LIMIT},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"scheduler", required_argument, NULL, 's'},
    {"l1", required_argument, NULL, OPT_L1},
    {"policies", required_argument, NULL, 'p'},
    {"divergence", required_argument, NULL, OPT_DIVERGENCE},
    {"set", required_argument, NULL, OPT_SET},
    {"timeline", required_argument, NULL, OPT_TIMELINE},
    {"timeline-cycles", required_argument, NULL, OPT_TIMELINE_CYCLES},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"print-machine", no_argument, NULL, OPT_PRINT_MACHINE},
    {"pcs", no_argument, NULL, OPT_PCS},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"exact-bounds", no_argument, NULL, OPT_EXACT_BOUNDS},
    {"lockstep", no_argument, NULL, OPT_LOCKSTEP},
    {"model", no_argument, NULL, OPT_MODEL},
    {"races", no_argument, NULL, OPT_RACES},
    {"probe", required_argument, NULL, OPT_PROBE},
    {"warps", required_argument, NULL, OPT_WARPS},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"launch", required_argument, NULL, OPT_LAUNCH},
    {"skip", required_argument, NULL, OPT_SKIP},
    {"region", no_argument, NULL, OPT_REGION},
    {"sample", no_argument, NULL, OPT_SAMPLE},
    {"lines", optional_argument, NULL, OPT_LINES},
    {"what-if", no_argument, NULL, OPT_WHAT_IF},
    {"sort", required_argument, NULL, OPT_SORT},
    {"issue-order", required_argument, NULL, OPT_ISSUE_ORDER},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && *value > 0;
}

/* "A:B", A < B. */
static bool is_window(const char *text)
{
    uint64_t first = 0, end;
    char a[32];
    const char *colon = strchr(text, ':');
    if (!colon || colon - text >= (ptrdiff_t)sizeof a)
        return false;
    snprintf(a, sizeof a, "%.*s", (int)(colon - text), text);
    return (!strcmp(a, "0") || parse_count(a, &first)) && parse_count(colon + 1, &end) && first < end;
}

static int add_set(struct run_options *o, const char *set)
{
    if (o->set_count == MOST_SETS)
        return cli_usage("run", "too many --set; the most is %d", MOST_SETS);
    o->sets[o->set_count++] = set;
    return -1;
}

static int add_probe(struct run_options *o, const char *spec)
{
    if (o->probe_count == GPU_PROBES)
        return cli_usage("run", "too many --probe; the most is %d", GPU_PROBES);
    o->probes[o->probe_count++] = spec;
    return -1;
}

static int add_kernel(struct run_options *o, const char *name)
{
    if (o->kernel_count == MOST_KERNELS)
        return cli_usage("run", "too many --kernel; the most is %d", MOST_KERNELS);
    o->kernels[o->kernel_count++] = name;
    return -1;
}

/* Which launches are timed. */
static int check_launches(const struct run_options *o)
{
    struct error e = {0};
    uint64_t n;
    const char *given = o->kernel_count ? "--kernel"
                        : o->launches   ? "--launch"
                        : o->skip       ? "--skip"
                        : o->region     ? "--region"
                                        : NULL;
    if (o->skip && strcmp(o->skip, "0") && !parse_count(o->skip, &n))
        return cli_usage("run", "--skip needs a number of launches, not '%s'", o->skip);
    if (given && o->functional)
        return cli_usage("run", "%s chooses the launches that are timed, and --functional times none", given);
    struct launch_filter *f = launch_filter_create(&(struct launch_filter_spec){.launches = o->launches}, &e);
    if (!f)
        return cli_usage("run", "%s", e.text);
    launch_filter_destroy(f);
    return -1;
}

/* What is written cycle by cycle or warp by warp cannot be estimated. */
static int check_sample(const struct run_options *o)
{
    const char *other = o->timeline       ? "--timeline"
                        : o->trace        ? "--trace"
                        : o->interval     ? "--interval"
                        : o->warps        ? "--warps"
                        : o->issue_order  ? "--issue-order"
                        : o->pcs          ? "--pcs"
                        : o->lines.wanted ? "--lines"
                        : o->probe_count  ? "--probe"
                                          : NULL;
    if (o->sample && other)
        return cli_usage("run", "--sample estimates cycles, and %s needs every one of them", other);
    if (o->sample && o->functional)
        return cli_usage("run", "--sample estimates time, which --functional does not model");
    return -1;
}

/* What the model (src/model) does without. */
static int check_model(const struct run_options *o)
{
    if (!o->model)
        return -1;
    if (o->functional)
        return cli_usage("run", "--model is a model of time, and --functional has none");
    if (o->sample)
        return cli_usage("run", "--model times every cycle, and --sample estimates most of them");
    if (o->timeline)
        return cli_usage("run", "--model writes no timeline; leave out --timeline or --model");
    if (o->issue_order)
        return cli_usage("run", "--model writes no issue order; leave out --issue-order or --model");
    return -1;
}

/* What needs no look at the machine. Returns -1 to go on, else the exit code. */
static int check_values(const struct run_options *o)
{
    uint64_t n;
    struct launch_limit limit;
    if (o->launch_limit && !launch_limit_read(o->launch_limit, &limit))
        return cli_usage("run", "--launch-limit needs " LAUNCH_LIMIT_FORMS ", not '%s'", o->launch_limit);
    if (o->max_cycles && !parse_count(o->max_cycles, &n))
        return cli_usage("run", "--max-cycles needs a number from 1, not '%s'", o->max_cycles);
    if (o->threads && (!parse_count(o->threads, &n) || n > MOST_THREADS))
        return cli_usage("run", "-j needs a number from 1 to %d, not '%s'", MOST_THREADS, o->threads);
    if (o->timeline_cycles && !is_window(o->timeline_cycles))
        return cli_usage(
            "run", "--timeline-cycles needs two numbers A:B, the first cycle and the one after the last, not '%s'",
            o->timeline_cycles);
    if (o->timeline_cycles && !o->timeline)
        return cli_usage("run", "--timeline-cycles is for --timeline FILE");
    if (o->timeline && o->functional)
        return cli_usage("run", "--timeline shows time, which --functional does not model");
    if (o->races && !o->functional)
        return cli_usage("run", "--races looks at a run without time; add --functional");
    if (o->races && o->probe_count)
        return cli_usage("run", "--races and --probe do not go together: for probes blocks run in lockstep");
    if (o->trace && o->functional)
        return cli_usage("run", "--trace is of caches, which --functional does not model");
    if (o->warps && o->functional)
        return cli_usage("run", "--warps is of time, which --functional does not model");
    if (o->issue_order && o->functional)
        return cli_usage("run", "--issue-order is of time, which --functional does not model");
    if (o->issue_order && o->timeline)
        return cli_usage("run", "--issue-order and --timeline do not go together: one run for each");
    if (o->interval && !parse_count(o->interval, &n))
        return cli_usage("run", "--interval needs a number of cycles from 1, not '%s'", o->interval);
    if (o->interval && o->functional)
        return cli_usage("run", "--interval samples time, which --functional does not model");
    if ((o->interval || o->pcs) && !o->stats)
        return cli_usage("run", "%s is for --stats FILE", o->pcs ? "--pcs" : "--interval");
    if ((o->lines.sort || o->lines.what_if) && !o->lines.wanted)
        return cli_usage("run", "%s is for --lines", o->lines.sort ? "--sort" : "--what-if");
    if (o->lines.sort && !lines_may_sort_by(o->lines.sort))
        return cli_usage("run", "--sort: lines have no column '%s'", o->lines.sort);
    return -1;
}

static int read_lines(struct run_options *o, const char *count)
{
    o->lines.wanted = true;
    o->lines.most = LINES_DEFAULT;
    if (!count || lines_read_count(count, &o->lines.most))
        return -1;
    return cli_usage("run", "--lines=N needs a number from 1, or all, not '%s'", count);
}

/* Returns -1 to go on, else the exit code; optind is then at PROGRAM. */
static int parse_options(int argc, char **argv, struct run_options *o)
{
    int c, status = -1;
    optind = 0;
    opterr = 0;
    while (status < 0 && (c = getopt_long(argc, argv, CLI_RUN_LETTERS, cli_run_options, NULL)) != -1) {
        if (c != ':' && c != '?' && optarg && !*optarg)
            return cli_usage("run", "an option is given an empty value (in front of '%s')",
                             optind < argc ? argv[optind] : "the end");
        switch (c) {
        case OPT_FUNCTIONAL: o->functional = true; break;
        case OPT_EXACT_BOUNDS: o->exact_bounds = true; break;
        case OPT_LOCKSTEP: o->lockstep = true; break;
        case OPT_MODEL: o->model = true; break;
        case OPT_RACES: o->races = true; break;
        case OPT_SIZE: o->size = optarg; break;
        case OPT_STATS: o->stats = optarg; break;
        case OPT_QUIET: o->quiet = true; break;
        case OPT_L1: o->l1 = optarg; break;
        case OPT_DIVERGENCE: o->divergence = optarg; break;
        case OPT_SET: status = add_set(o, optarg); break;
        case OPT_PROBE: status = add_probe(o, optarg); break;
        case OPT_TIMELINE: o->timeline = optarg; break;
        case OPT_TIMELINE_CYCLES: o->timeline_cycles = optarg; break;
        case OPT_MAX_CYCLES: o->max_cycles = optarg; break;
        case OPT_LAUNCH_LIMIT: o->launch_limit = optarg; break;
        case OPT_PRINT_MACHINE: o->print_machine = true; break;
        case OPT_PCS: o->pcs = true; break;
        case OPT_INTERVAL: o->interval = optarg; break;
        case 'm': o->machine = optarg; break;
        case 's': o->scheduler = optarg; break;
        case 'p': o->bundle = optarg; break;
        case 'j': o->threads = optarg; break;
        case OPT_TRACE: o->trace = optarg; break;
        case OPT_WARPS: o->warps = optarg; break;
        case OPT_KERNEL: status = add_kernel(o, optarg); break;
        case OPT_LAUNCH: o->launches = optarg; break;
        case OPT_SKIP: o->skip = optarg; break;
        case OPT_REGION: o->region = true; break;
        case OPT_SAMPLE: o->sample = true; break;
        case OPT_LINES: status = read_lines(o, optarg); break;
        case OPT_WHAT_IF: o->lines.what_if = true; break;
        case OPT_SORT: o->lines.sort = optarg; break;
        case OPT_ISSUE_ORDER: o->issue_order = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("run", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("run", argv[optind - 1], cli_run_options);
        }
    }
    if (status < 0)
        status = check_values(o);
    if (status < 0)
        status = check_launches(o);
    if (status < 0)
        status = check_sample(o);
    if (status < 0)
        status = check_model(o);
    if (status < 0 && optind == argc && !o->print_machine)
        return cli_usage("run", "which program? A workload's name or a path is expected");
    return status;
}

static bool check_size(const struct run_options *o, const struct program *p, struct error *e)
{
    static const char *const sizes[] = {"test", "small", "paper"};
    if (!o->size)
        return true;
    if (!p->is_workload)
        return error_set(e, ERROR_NOT_FOUND, "--size is for workloads; a program's own arguments follow its name");
    for (int i = 0; i < 3; i++)
        if (!strcmp(o->size, sizes[i]))
            return true;
    error_set(e, ERROR_NOT_FOUND, "unknown size '%s': test, small or paper is expected", o->size);
    return false;
}

/* The end of a path in front of a spec's parameters: after ".so" where there is one, else before the first colon. */
static size_t spec_path_length(const char *spec)
{
    for (const char *at = spec; (at = strstr(at, ".so")); at++)
        if (at[3] == ':' || !at[3])
            return (size_t)(at + 3 - spec);
    return strcspn(spec, ":");
}

/* A path stays right wherever the program goes, whether of a machine file or of a shared object; a name is left as it
 * is. */
static void make_absolute(const char *word, size_t path_length, char *out, size_t size)
{
    char path[PATH_MAX], whole[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)path_length, word);
    const char *dot = strrchr(path, '.');
    bool is_path = strchr(path, '/') || (dot && (!strcmp(dot, ".so") || !strcmp(dot, ".ini")));
    snprintf(out, size, "%s%s", is_path && realpath(path, whole) ? whole : path, word + path_length);
}

/* What a run is made of, as it is handed to the library. */
struct setup {
    char machine[PATH_MAX], scheduler[PATH_MAX + 512], l1[PATH_MAX + 512], divergence[PATH_MAX + 512],
        timeline[PATH_MAX], trace[PATH_MAX], warps[PATH_MAX], issue_order[PATH_MAX], probes[GPU_PROBES][PATH_MAX + 512];
};

static bool model_has_unit(const struct gpu_options *o, struct error *e)
{
    const struct heddle_divergence *unit = o->policies.divergence.divergence;
    return !unit || !unit->regroups ||
           error_set(e, ERROR_NOT_FOUND, "--model: divergence unit %s regroups threads, which the model does not do",
                     unit->policy.name);
}

/* Machine, --set and specs are tried here: what is wrong with them is the user's to mend before anything runs. */
static bool check_setup(const struct run_options *o, struct error *e)
{
    struct gpu_options *tried = calloc(1, sizeof *tried);
    struct error own = {0};
    if (!tried)
        out_of_memory();
    bool ok = gpu_setup(tried,
                        &(struct gpu_setup){.machine = o->machine,
                                            .sets = o->sets,
                                            .set_count = o->set_count,
                                            .scheduler = o->scheduler,
                                            .l1 = o->l1,
                                            .divergence = o->divergence,
                                            .probes = o->probes,
                                            .probe_count = o->probe_count,
                                            .functional = o->functional},
                        &own);
    if (ok) {
        ok = !o->model || model_has_unit(tried, &own);
        if (ok && o->print_machine)
            machine_print(&tried->machine, stdout);
        gpu_setup_release(tried);
    }
    free(tried);
    return ok ? true : error_set(e, ERROR_NOT_FOUND, "%s", own.text);
}

/* From here on a bundle is the policies that it stands for. */
static bool apply_bundle(struct run_options *o, struct policy_specs *specs, struct error *e)
{
    const char **places[] = {&o->scheduler, &o->l1, &o->divergence};
    const char *const given[POLICY_KINDS] = {o->scheduler, o->l1, o->divergence, NULL};
    struct error own = {0};
    if (!o->bundle)
        return true;
    if (!policy_bundle_take(specs, o->bundle, given, &own))
        return error_set(e, ERROR_NOT_FOUND, "%s", own.text);
    for (int kind = 0; kind < POLICY_PROBE; kind++)
        if (*specs->of[kind])
            *places[kind] = specs->of[kind];
    if (!*specs->of[POLICY_PROBE] || o->functional) /* where the other policies have no effect either */
        return true;
    if (o->probe_count == GPU_PROBES)
        return error_set(e, ERROR_NOT_FOUND, "too many probes, with that of the bundle; the most is %d", GPU_PROBES);
    o->probes[o->probe_count++] = specs->of[POLICY_PROBE];
    return true;
}

static void make_setup(const struct run_options *o, struct setup *s)
{
    *s = (struct setup){0};
    make_absolute(o->machine, strlen(o->machine), s->machine, sizeof s->machine);
    make_absolute(o->scheduler, spec_path_length(o->scheduler), s->scheduler, sizeof s->scheduler);
    make_absolute(o->l1, spec_path_length(o->l1), s->l1, sizeof s->l1);
    make_absolute(o->divergence, spec_path_length(o->divergence), s->divergence, sizeof s->divergence);
    for (uint32_t i = 0; i < o->probe_count; i++)
        make_absolute(o->probes[i], spec_path_length(o->probes[i]), s->probes[i], sizeof s->probes[i]);
}

/* Whoever reads a pipe would take the first writer's end for that of the file. */
static bool can_write(const char *name)
{
    struct stat s;
    if (stat(name, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
        return access(name, W_OK) == 0;
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    return fd >= 0 && close(fd) == 0;
}

/* It is written later; a name that cannot be written should not cost a run. */
static bool check_writable(const char *name, char whole[PATH_MAX], struct error *e)
{
    if (!name)
        return true;
    if (!can_write(name))
        return error_set(e, ERROR_IO, "cannot write %s: %s", name, strerror(errno));
    if (!realpath(name, whole))
        snprintf(whole, PATH_MAX, "%s", name);
    return true;
}

static bool check_program(const struct program *p, const struct places *places, struct error *e)
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
        out_of_memory();
    argv[n++] = path;
    if (o->size) {
        argv[n++] = (char *)"--size";
        argv[n++] = (char *)(uintptr_t)o->size;
    }
    for (int i = 0; i < count; i++)
        argv[n++] = rest[i];
    return argv;
}

/* The words for HEDDLE_OPTIONS; out has room for MOST_WORDS. */
static void library_options(const struct run_options *o, const struct setup *s, const char **out)
{
    const struct {
        const char *name, *value;
    } given[] = {
        {"--machine", s->machine},
        {"--scheduler", s->scheduler},
        {"--l1", s->l1},
        {"--divergence", s->divergence},
        {"--timeline", s->timeline},
        {"--trace", s->trace},
        {"--timeline-cycles", o->timeline_cycles},
        {"--max-cycles", o->max_cycles},
        {"--launch-limit", o->launch_limit},
        {"-j", o->threads},
        {"--interval", o->interval},
        {"--warps", s->warps},
        {"--issue-order", s->issue_order},
        {"--launch", o->launches},
        {"--skip", o->skip},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (!given[i].value || !*given[i].value)
            continue;
        *out++ = given[i].name;
        *out++ = given[i].value;
    }
    for (uint32_t i = 0; i < o->probe_count; i++) {
        *out++ = "--probe";
        *out++ = s->probes[i];
    }
    for (uint32_t i = 0; i < o->set_count; i++) {
        *out++ = "--set";
        *out++ = o->sets[i];
    }
    for (uint32_t i = 0; i < o->kernel_count; i++) {
        *out++ = "--kernel";
        *out++ = o->kernels[i];
    }
    if (o->region)
        *out++ = "--region";
    if (o->sample)
        *out++ = "--sample";
    if (o->functional)
        *out++ = "--functional";
    if (o->exact_bounds)
        *out++ = "--exact-bounds";
    if (o->lockstep)
        *out++ = "--lockstep";
    if (o->races)
        *out++ = "--races";
    if (o->pcs || o->lines.wanted)
        *out++ = "--pcs";
    if (!o->stats && !o->lines.what_if) /* what-if rounds up in each launch */
        *out++ = "--merge-launches";
    *out = NULL;
}

static bool write_json(const json_t *stats, FILE *to)
{
    return json_dumpf(stats, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', to) != EOF;
}

static bool write_stats(const json_t *stats, const char *name, struct error *e)
{
    struct whole_file to;
    bool ok;
    if (!strcmp(name, "-")) {
        ok = write_json(stats, stdout);
        ok = fflush(stdout) == 0 && ok;
    } else {
        ok = whole_file_open(&to, name);
        if (ok) {
            write_json(stats, to.file); /* the file remembers that something went wrong */
            ok = whole_file_close(&to);
        }
    }
    if (ok)
        return true;
    error_set(e, ERROR_IO, "the results could not be written to %s: %s", name, strerror(errno));
    whole_file_remove_empty(name);
    return false;
}

/* quiet: what went wrong alone */
static void say_outcome(const struct child_result *r, bool quiet)
{
    if (r->signal == SIGINT)
        fputs("heddle: interrupted\n", stderr);
    else if (r->signal)
        fprintf(stderr, "heddle: the program was ended by signal %d (%s)\n", r->signal, strsignal(r->signal));
    if (r->damaged)
        fputs("heddle: the results of the program could not be read; is there room for temporary files (TMPDIR)?\n",
              stderr);
    else if (!r->used_cuda && !r->signal && r->status == 127)
        fputs("heddle: the program could not be loaded; 'heddle doctor' may say why\n", stderr);
    else if (!r->used_cuda && !r->signal && !quiet)
        fputs("heddle: the program never initialised CUDA, so that there are no results of a GPU\n", stderr);
}

/* The folder of the libcuda.so.1 that the program gets. */
static bool find_library(const struct run_options *o, const struct places *places, char *out, size_t size,
                         struct error *e)
{
    char library[PATH_MAX + 32];
    snprintf(out, size, "%s%s", places->lib, o->model ? "/model" : "");
    snprintf(library, sizeof library, "%s/libcuda.so.1", out);
    return access(library, R_OK) == 0 || error_set(e, ERROR_NOT_FOUND, "%s is not there; build Heddle again", library);
}

static int run(const struct run_options *o, const struct setup *setup, struct program *p, const struct places *places,
               char **rest, int count)
{
    struct error e = {0};
    const char *words[MOST_WORDS];
    char library[PATH_MAX + 16];
    bool to_stdout = o->stats && !strcmp(o->stats, "-");
    if (!find_library(o, places, library, sizeof library, &e))
        return cli_fail(&e);
    library_options(o, setup, words);
    char **argv = child_arguments(o, p->path, rest, count);
    struct child_request request = {.path = p->path,
                                    .argv = argv,
                                    .library = library,
                                    .options = words,
                                    .functional = o->functional,
                                    .quiet = o->quiet,
                                    .output = to_stdout ? STDERR_FILENO : -1};
    struct child_result result;
    bool ok = child_run(&request, &result, &e);
    free(argv);
    if (!ok) {
        if (o->stats && !to_stdout)
            whole_file_remove_empty(o->stats);
        return cli_fail(&e);
    }
    int code = child_exit_code(&result);
    say_outcome(&result, o->quiet);
    if (!o->quiet && !to_stdout && result.used_cuda && !result.nothing_timed)
        summary_print(&result, stderr);
    if (o->lines.wanted && result.used_cuda &&
        !lines_print(&o->lines, p->path, o->lines.what_if && *setup->trace ? setup->trace : NULL, result.stats,
                     to_stdout ? stderr : stdout))
        code = code ? code : EXIT_USAGE;
    if (o->results)
        *o->results = json_incref(result.stats);
    else if (o->stats && !write_stats(result.stats, o->stats, &e))
        code = cli_fail(&e);
    json_decref(result.stats);
    return code;
}

/* For --what-if: a trace that nobody asked for by name. */
static bool make_trace(char path[PATH_MAX], struct error *e)
{
    int fd = temporary_file(path, "trace", "", e);
    return fd >= 0 && close(fd) == 0;
}

int cli_run(int argc, char **argv) { return cli_run_for(argc, argv, NULL); }

int cli_run_for(int argc, char **argv, json_t **results)
{
    struct run_options o = {.machine = "gtx480", .scheduler = "", .l1 = "", .divergence = "", .results = results};
    struct setup setup;
    struct places places;
    struct program p;
    struct error e = {0};
    struct policy_specs specs;
    char stats[PATH_MAX]; /* only to see that it can be written */
    int status = parse_options(argc, argv, &o);
    if (status >= 0)
        return status;
    if (!apply_bundle(&o, &specs, &e))
        return cli_fail(&e);
    if (o.print_machine)
        return check_setup(&o, &e) ? EXIT_DONE : cli_fail(&e);
    make_setup(&o, &setup);
    if (!places_find(&places, &e) || !program_find(&p, argv[optind], &places, &e) || !check_size(&o, &p, &e))
        return cli_fail(&e);
    const struct misplaced_options ours = {cli_run_options, CLI_RUN_LETTERS};
    bool misplaced = misplaced_find(argv + optind + 1, argc - optind - 1, &ours) >= 0;
    if (misplaced && p.is_workload)
        return misplaced_say(argv, optind, argc, &ours);
    if (!check_setup(&o, &e) || !check_program(&p, &places, &e) || !check_writable(o.timeline, setup.timeline, &e) ||
        !check_writable(o.trace, setup.trace, &e) || !check_writable(o.warps, setup.warps, &e) ||
        !check_writable(o.issue_order, setup.issue_order, &e) ||
        (o.stats && strcmp(o.stats, "-") && !check_writable(o.stats, stats, &e)))
        return cli_fail(&e);
    bool own_trace = o.lines.what_if && !o.trace && !o.functional;
    if (own_trace && !make_trace(setup.trace, &e))
        return cli_fail(&e);
    status = run(&o, &setup, &p, &places, argv + optind + 1, argc - optind - 1);
    if (own_trace)
        unlink(setup.trace);
    if (misplaced && status == EXIT_FAILED) /* the program may have an option of that name */
        misplaced_say(argv, optind, argc, &ours);
    return status;
}
