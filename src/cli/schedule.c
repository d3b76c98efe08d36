/* heddle schedule: two issue orders, out of files or of two runs made on the spot. This file: which two, and what is
 * asked of them; schedule_print.c says what was found. */
#include "base/out_of_memory.h"
#include "base/temporary.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/schedule_print.h"
#include "cli/two_runs.h"
#include "schedule/picture.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char help[] =
    "Usage: heddle schedule [-o FILE] [--core N] [--cycles A:B] A B\n"
    "       heddle schedule [-o FILE] [--core N] [--cycles A:B] [OPTION OF 'heddle run'...] PROGRAM [ARGUMENT...]\n"
    "Says where two runs of a program first differ in the order in which warps issue, on each core, and how the "
    "difference\n"
    "grows.\n"
    "\n"
    "A and B are files of 'heddle run --issue-order FILE'. The second form runs PROGRAM twice. One of these options is "
    "given\n"
    "twice, with the two values to compare; others of 'heddle run' hold for both:\n"
    "  -s, --scheduler SPEC   -m, --machine NAME   --l1 SPEC   --divergence SPEC   -p, --policies SPEC\n"
    "      --size SIZE        --set KEY=VALUE (two values of one key)\n"
    "\n"
    "  -o, --output FILE      a picture of both, warps down, cycles across, coloured by what they wait for: SVG, or "
    "PNG "
    "where\n"
    "                         FILE ends in .png and rsvg-convert or ImageMagick is installed\n"
    "      --core N           of this core; default: the first to differ\n"
    "      --cycles A:B       of cycles A up to B; default: around the first difference\n"
    "  -h, --help             this text\n"
    "\n"
    "Examples: heddle schedule -s lrr -s gto --size test -o bfs.svg bfs\n"
    "          heddle schedule lrr.order gto.order\n"
    "Exit codes: 0 compared, whatever the outcome; 2 usage, or what is no issue order; of a run that failed: as "
    "'heddle run'.\n";

enum { OPTION_CORE = 10000, OPTION_CYCLES, BEFORE_CYCLES = 40, AFTER_CYCLES = 120 };

struct request {
    struct two_runs runs;
    const char *output;
    bool has_core, has_cycles;
    uint64_t core, from, to;
};

/* Options */

static bool read_number(const char *text, uint64_t *to, const char **end)
{
    char *stop;
    errno = 0;
    *to = strtoull(text, &stop, 10);
    *end = stop;
    return isdigit((unsigned char)*text) && !errno;
}

static int take_core(struct request *r, const char *text)
{
    const char *end;
    r->has_core = read_number(text, &r->core, &end) && !*end;
    return r->has_core ? -1 : cli_usage("schedule", "--core needs a number, not '%s'", text);
}

static int take_cycles(struct request *r, const char *text)
{
    const char *end;
    r->has_cycles = read_number(text, &r->from, &end) && *end == ':' && read_number(end + 1, &r->to, &end) && !*end &&
                    r->from < r->to;
    return r->has_cycles ? -1
                         : cli_usage("schedule",
                                     "--cycles needs two numbers A:B, the first cycle and the one after the last, not "
                                     "'%s'",
                                     text);
}

/* The picture */

static bool spawn(const char *const *words)
{
    pid_t child;
    int status = 0;
    if (posix_spawnp(&child, words[0], NULL, NULL, (char *const *)(uintptr_t)words, environ) != 0)
        return false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static bool write_svg(const struct picture *p, const char *path, struct error *e)
{
    struct whole_file out;
    if (!whole_file_open(&out, path))
        return error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    if (!picture_write(p, out.file, e)) {
        whole_file_discard(&out);
        return false;
    }
    return whole_file_close(&out) || error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
}

static bool write_png(const struct picture *p, const char *path, struct error *e)
{
    char svg[PATH_MAX];
    int fd = temporary_file(svg, "schedule", ".svg", e);
    if (fd < 0)
        return false;
    close(fd);
    bool ok = write_svg(p, svg, e);
    if (ok && !spawn((const char *const[]){"rsvg-convert", "-o", path, svg, NULL}) &&
        !spawn((const char *const[]){"convert", svg, path, NULL}))
        ok = error_set(e, ERROR_IO,
                       "a picture as PNG needs rsvg-convert (package librsvg2-bin) or ImageMagick; FILE.svg needs "
                       "neither");
    unlink(svg);
    return ok;
}

/* Around the first difference of the core, unless cycles are given. */
static void choose_cycles(const struct request *r, const struct difference *d, struct picture *p)
{
    const struct core_difference *c = &d->cores[p->core];
    uint64_t at = 0;
    for (int i = 0; i < 2; i++) {
        p->marks[i] = c->differs && c->has[i] ? c->first[i].cycle : UINT64_MAX;
        at = p->marks[i] != UINT64_MAX && (!at || p->marks[i] < at) ? p->marks[i] : at;
    }
    p->from = r->has_cycles ? r->from : at > BEFORE_CYCLES ? at - BEFORE_CYCLES : 0;
    p->to = r->has_cycles ? r->to : p->from + BEFORE_CYCLES + AFTER_CYCLES;
}

static bool draw(const struct request *r, struct order_file *const files[2], const char *const names[2],
                 const struct difference *d, struct error *e)
{
    struct picture p = {.files = {files[0], files[1]},
                        .names = {names[0], names[1]},
                        .core = r->has_core ? (uint32_t)r->core : d->earliest};
    choose_cycles(r, d, &p);
    return ends_in(r->output, ".png") ? write_png(&p, r->output, e) : write_svg(&p, r->output, e);
}

/* The comparison */

static bool compare(const struct request *r, const char *const paths[2], const char *const names[2], struct error *e)
{
    struct difference d = {0};
    struct order_file *files[2] = {order_open(paths[0], e), NULL};
    files[1] = files[0] ? order_open(paths[1], e) : NULL;
    bool ok = files[1] && difference_find(files[0], files[1], 0, &d, e);
    if (ok && r->has_core && r->core >= d.core_count)
        ok = error_set(e, ERROR_NOT_FOUND, "--core %llu: the runs have cores 0 to %u", (unsigned long long)r->core,
                       d.core_count - 1);
    if (ok)
        schedule_print(&d, files, names, stdout);
    if (ok && r->output)
        ok = draw(r, files, names, &d, e);
    difference_free(&d);
    order_close(files[0]);
    order_close(files[1]);
    return ok;
}

static int run_one(const struct request *r, int which, const char *order, char **rest, int rest_count)
{
    int count;
    json_t *results = NULL;
    const char *const more[] = {"--issue-order", order, "--stats", "-", NULL};
    char **words = two_runs_words(&r->runs, which, more, rest, rest_count, &count);
    int status = cli_run_for(count, words, &results);
    two_runs_free(words, count);
    json_decref(results);
    return status;
}

/* Two runs, whose orders are kept as long as they are looked at. */
static int compare_here(const struct request *r, char **rest, int rest_count)
{
    struct error e = {0};
    char files[2][PATH_MAX];
    int status = EXIT_DONE, made = 0;
    for (; made < 2 && status == EXIT_DONE; made++) {
        int fd = temporary_file(files[made], "order", "", &e);
        if (fd < 0) {
            status = cli_fail(&e);
            break;
        }
        close(fd);
        status = run_one(r, made, files[made], rest, rest_count);
    }
    const char *const paths[2] = {files[0], files[1]}, *const names[2] = {two_runs_value(&r->runs, 0),
                                                                          two_runs_value(&r->runs, 1)};
    if (status == EXIT_DONE && !compare(r, paths, names, &e))
        status = cli_fail(&e);
    for (int i = 0; i < made; i++)
        unlink(files[i]);
    return status;
}

static int compare_files(const struct request *r, char **words)
{
    struct error e = {0};
    const char *const names[2] = {words[0], words[1]};
    return compare(r, names, names, &e) ? EXIT_DONE : cli_fail(&e);
}

int cli_schedule(int argc, char **argv)
{
    static const struct option own[] = {{"output", required_argument, NULL, 'o'},
                                        {"core", required_argument, NULL, OPTION_CORE},
                                        {"cycles", required_argument, NULL, OPTION_CYCLES},
                                        {0}};
    struct option all[TWO_RUNS_KNOWN];
    struct request r = {0};
    int status = -1;
    two_runs_known(own, all);
    optind = 0;
    opterr = 0;
    for (int c; status < 0 && (c = getopt_long(argc, argv, CLI_RUN_LETTERS "o:", all, NULL)) != -1;) {
        switch (c) {
        case 'o': r.output = optarg; break;
        case OPTION_CORE: status = take_core(&r, optarg); break;
        case OPTION_CYCLES: status = take_cycles(&r, optarg); break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("schedule", "option '%s' needs a value", argv[optind - 1]);
        case '?': return cli_unknown_option("schedule", argv[optind - 1], all);
        default: status = two_runs_take(&r.runs, "schedule", c, all);
        }
    }
    int words = argc - optind;
    if (status < 0)
        status = two_runs_find(&r.runs, "schedule");
    if (status >= 0)
        return status;
    if (r.runs.pair[0] >= 0)
        return words ? compare_here(&r, argv + optind, words)
                     : cli_usage("schedule", "which program? A workload's name or a path is expected");
    if (!r.runs.given_count && words == 2)
        return compare_files(&r, argv + optind);
    return cli_usage("schedule", "which two runs? Give two files of 'heddle run --issue-order', or one option twice: "
                                 "'-s lrr -s gto PROGRAM'");
}
