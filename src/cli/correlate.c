/* heddle correlate: our counters beside those that were recorded on silicon, kernel by kernel. */
#include "cli/correlate.h"

#include "base/read_file.h"
#include "base/shell_quote.h"
#include "base/whole_file.h"
#include "figure/correlate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: heddle correlate NCU.csv... [OPTION...]\n"
    "       heddle correlate NCU.csv... RUN.json... [OPTION...]\n"
    "Counters recorded on silicon by Nsight Compute (ncu --page raw --csv) beside ours, kernel by kernel: cycles, "
    "instructions, requests, sectors and hits of\n"
    "L1 and L2, DRAM bytes, occupancy. Runs each recorded program that is a workload; or takes results of 'heddle run "
    "--stats' that are there already.\n"
    "docs/correlate.md explains what is compared with what.\n"
    "\n"
    "  -m, --machine NAME     the machine that is to be like the silicon; default: h200\n"
    "      --set KEY=VALUE    a key of it; repeatable\n"
    "      --size SIZE        test, small or paper: the input that was recorded; default: as the CSV file's name says\n"
    "      --workload NAME    only these programs; repeatable\n"
    "      --kernel NAME      only these kernels; repeatable, may be a pattern\n"
    "      --half HALF        fit: only the kernels that a machine may be fitted with, and nothing of the others; "
    "test: "
    "only the others;\n"
    "                         all: both together; default: both, apart\n"
    "  -j N                   programs at a time; default: as many as there are cores\n"
    "      --time-limit S     seconds of a run; default: none\n"
    "  -o, --output FILE      the page; default: correlate.html in the current folder\n"
    "      --store FILE       where runs are kept; default: beside the page, with the ending .db\n"
    "      --csv FILE         one row per kernel as well\n"
    "      --dry-run          say what would be run\n"
    "  -h, --help             this text\n"
    "\n"
    "Stopped at any moment, the same command goes on where it was: runs in the store are not repeated, unless the "
    "simulator has been built anew.\n"
    "Exit codes: 0 done, whatever was found; 1 a run failed; 2 usage; 4 interrupted.\n";

enum {
    OPT_SET = 256,
    OPT_SIZE,
    OPT_WORKLOAD,
    OPT_KERNEL,
    OPT_HALF,
    OPT_TIME,
    OPT_STORE,
    OPT_CSV,
    OPT_DRY_RUN,
};
enum { MOST_PROCESSES = 1024 };

static const struct option option_table[] = {
    {"machine", required_argument, NULL, 'm'},
    {"set", required_argument, NULL, OPT_SET},
    {"size", required_argument, NULL, OPT_SIZE},
    {"workload", required_argument, NULL, OPT_WORKLOAD},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"half", required_argument, NULL, OPT_HALF},
    {"time-limit", required_argument, NULL, OPT_TIME},
    {"output", required_argument, NULL, 'o'},
    {"store", required_argument, NULL, OPT_STORE},
    {"csv", required_argument, NULL, OPT_CSV},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char *const sizes[] = {"test", "small", "paper", NULL};
static const char *const halves[] = {"fit", "test", "all", NULL};

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list))
            return true;
    return false;
}

/* ------------------------------------------------------------- options */

static bool add_word(const char **list, const char *word)
{
    size_t count = 0;
    while (list[count])
        count++;
    if (count == CORRELATE_WORDS)
        return false;
    list[count] = word;
    return true;
}

static bool read_above_zero(const char *text, double most, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return isdigit((unsigned char)*text) && !*end && *out > 0 && *out <= most;
}

static int take_option(struct correlate_request *q, int c, char **argv)
{
    double number;
    switch (c) {
    case 'm': q->machine = optarg; break;
    case 'o': q->page = optarg; break;
    case 'j':
        if (!read_above_zero(optarg, MOST_PROCESSES, &number))
            return cli_usage("correlate", "-j needs a number from 1 to %d, not '%s'", MOST_PROCESSES, optarg);
        q->processes = (uint32_t)number;
        break;
    case OPT_TIME:
        if (!read_above_zero(optarg, 1e9, &q->time_limit_seconds))
            return cli_usage("correlate", "--time-limit needs seconds, not '%s'", optarg);
        break;
    case OPT_SET: return add_word(q->sets, optarg) ? -1 : cli_usage("correlate", "too many --set");
    case OPT_WORKLOAD: return add_word(q->programs, optarg) ? -1 : cli_usage("correlate", "too many --workload");
    case OPT_KERNEL: return add_word(q->kernels, optarg) ? -1 : cli_usage("correlate", "too many --kernel");
    case OPT_SIZE:
        q->size = optarg;
        if (!is_one_of(optarg, sizes))
            return cli_usage("correlate", "unknown size '%s': test, small or paper is expected", optarg);
        break;
    case OPT_HALF:
        q->half = optarg;
        if (!is_one_of(optarg, halves))
            return cli_usage("correlate", "unknown half '%s': fit, test or all is expected", optarg);
        break;
    case OPT_STORE: q->store = optarg; break;
    case OPT_CSV: q->csv = optarg; break;
    case OPT_DRY_RUN: q->dry_run = true; break;
    case 'h': fputs(help, stdout); return EXIT_DONE;
    case ':': return cli_usage("correlate", "option '%s' needs a value", argv[optind - 1]);
    default: return cli_unknown_option("correlate", argv[optind - 1], option_table);
    }
    return -1;
}

/* ------------------------------------------------------------- files */

/* The word of the file's name that is a size: small.csv, h200-paper.csv. */
static const char *size_in_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (const char *const *size = sizes; *size; size++) {
        size_t length = strlen(*size);
        for (const char *at = name; (at = strstr(at, *size)); at++)
            if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
                return *size;
    }
    return NULL;
}

/* A recording, or results: these are JSON. */
static bool take_file(struct correlate_request *q, const char *path, struct error *e)
{
    const bool fit = !q->half || strcmp(q->half, "test"), test = !q->half || strcmp(q->half, "fit");
    const struct correlate_filter filter = {
        .kernels = q->kernels, .programs = q->programs, .wants = {[CORRELATE_FIT] = fit, [CORRELATE_TEST] = test}};
    char *text;
    size_t bytes;
    if (!read_file(path, &text, &bytes, e))
        return false;
    bool good = true;
    if (text[strspn(text, " \t\r\n")] == '{') {
        good =
            add_word(q->results, path) || error_set(e, ERROR_INVALID, "too many results: at most %d", CORRELATE_WORDS);
    } else if (q->recording_count == CORRELATE_WORDS) {
        good = error_set(e, ERROR_INVALID, "too many recordings: at most %d", CORRELATE_WORDS);
    } else {
        struct correlate_recording *r = &q->recordings[q->recording_count++];
        good = correlate_read_silicon(q->arena, path, text, bytes, &filter, r, e);
        r->size = q->size ? q->size : size_in_name(path);
    }
    free(text);
    return good;
}

static int take_files(struct correlate_request *q, char **words, int count)
{
    struct error e = {0};
    for (int i = 0; i < count; i++)
        if (!take_file(q, words[i], &e))
            return cli_fail(&e), EXIT_USAGE;
    if (!q->recording_count)
        return cli_usage("correlate", "which recording? A CSV file of Nsight Compute is expected, such as "
                                      "bench/silicon/h200/small.csv");
    for (uint32_t i = 0; !q->results[0] && i < q->recording_count; i++)
        if (!q->recordings[i].size)
            return cli_usage("correlate", "of which input is %s? --size test, small or paper is expected",
                             q->recordings[i].path);
    return -1;
}

/* ------------------------------------------------------------- results that are there */

static bool same_program(const struct correlate_recording *r, const struct correlate_launches *l,
                         const struct correlate_run *run)
{
    return l->count && !strcmp(l->program, run->launches.program) &&
           (!r->size || !run->size || !strcmp(r->size, run->size));
}

static bool match_run(struct correlate_request *q, struct correlate_run *run, const char *path, struct correlation *c)
{
    for (uint32_t r = 0; r < q->recording_count; r++)
        for (uint32_t p = 0; p < q->recordings[r].program_count; p++)
            if (same_program(&q->recordings[r], &q->recordings[r].programs[p], run)) {
                correlate_match(c, &q->recordings[r].programs[p], q->recordings[r].size, &run->launches);
                return true;
            }
    correlate_note(c, "%s, a run of %s%s%s, was not recorded, or nothing of it is wanted", path, run->launches.program,
                   run->size ? " " : "", run->size ? run->size : "");
    return false;
}

static bool take_results(struct correlate_request *q, struct correlation *c, uint32_t *programs, struct error *e)
{
    for (const char *const *path = q->results; *path; path++) {
        json_error_t at;
        struct correlate_run run;
        json_t *results = json_load_file(*path, 0, &at);
        if (!results)
            return error_set(e, ERROR_NOT_FOUND, "%s is not the results of a run: line %d: %s", *path, at.line,
                             at.text);
        bool good = correlate_read_run(q->arena, results, *path, &run, e);
        json_decref(results);
        if (!good)
            return false;
        *programs += match_run(q, &run, *path, c);
        q->machine = run.machine;
        c->dram_peak = run.dram_peak;
        if (!run.estimates)
            correlate_note(c, "%s: instructions are those of PTX", *path);
    }
    return true;
}

/* ------------------------------------------------------------- what comes out */

static const char *joined(struct arena *a, const char *const *words)
{
    const char *text = "";
    for (; *words; words++)
        text = arena_printf(a, "%s%s%s", text, *text ? " " : "", *words);
    return text;
}

static const char *command_of(struct arena *a, int argc, char **argv)
{
    const char *text = "heddle correlate";
    for (int i = 1; i < argc; i++)
        text = arena_printf(a, "%s %s", text, shell_quote(argv[i], a));
    return text;
}

static bool write_csv(const struct correlation *c, const char *path, struct error *e)
{
    struct whole_file out;
    if (!whole_file_open(&out, path))
        return error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    correlation_csv(c, out.file);
    return whole_file_close(&out) || error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static int show(struct correlate_request *q, const struct correlation *c, uint32_t programs, const char *command)
{
    struct error e = {0};
    const char *files[CORRELATE_WORDS + 1] = {NULL};
    for (uint32_t i = 0; i < q->recording_count; i++) {
        const char *slash = strrchr(q->recordings[i].path, '/');
        files[i] = slash ? slash + 1 : q->recordings[i].path;
    }
    struct correlate_page page = {.machine = q->machine,
                                  .sets = joined(q->arena, q->sets),
                                  .recordings = joined(q->arena, files),
                                  .half = q->half,
                                  .command = command,
                                  .programs = programs};
    correlate_print(c, q, programs, stdout);
    if ((q->csv && !write_csv(c, q->csv, &e)) || !correlate_write_page(c, &page, q->page, &e))
        return cli_fail(&e);
    char *whole = realpath(q->page, NULL);
    printf("\nThe page: %s\n", whole ? whole : q->page);
    free(whole);
    return EXIT_DONE;
}

static int correlate(struct correlate_request *q, const char *command)
{
    struct correlation c = {.arena = q->arena};
    struct error e = {0};
    uint32_t programs = 0, failed = 0;
    if (q->results[0]) {
        if (!take_results(q, &c, &programs, &e))
            return cli_fail(&e);
    } else {
        int status = correlate_run_all(q, &c, &programs, &failed);
        if (status >= 0)
            return status;
    }
    for (int i = 0; i < CORRELATE_COUNTS; i++)
        for (uint32_t r = 0; r < q->recording_count; r++)
            if (!q->recordings[r].has[i])
                correlate_note(&c, "%s has no %s", q->recordings[r].path, correlate_columns[i]);
    if (!c.point_count) {
        for (uint32_t i = 0; i < c.note_count; i++)
            fprintf(stderr, "heddle: %s\n", c.notes[i]);
        return cli_usage("correlate", "there is nothing to compare: no launch is both recorded and in our runs");
    }
    correlate_finish(&c);
    int status = show(q, &c, programs, command);
    return status == EXIT_DONE && failed ? EXIT_FAILED : status;
}

int cli_correlate(int argc, char **argv)
{
    struct arena a = {0};
    struct correlate_request *q = arena_new(&a, struct correlate_request);
    *q = (struct correlate_request){.arena = &a, .machine = "h200", .page = "correlate.html"};
    const char *command = command_of(&a, argc, argv); /* before getopt changes the order */
    int status = -1;
    optind = 0;
    opterr = 0;
    for (int c; status < 0 && (c = getopt_long(argc, argv, ":m:o:j:h", option_table, NULL)) != -1;)
        status = take_option(q, c, argv);
    if (status < 0)
        status = take_files(q, argv + optind, argc - optind);
    if (status < 0 && !q->store) {
        size_t length = strlen(q->page);
        bool html = length > 5 && !strcmp(q->page + length - 5, ".html");
        q->store = arena_printf(&a, "%.*s.db", (int)(html ? length - 5 : length), q->page);
    }
    if (status < 0)
        status = correlate(q, command);
    arena_free(&a);
    return status;
}
