/* heddle compare: two runs, out of files of --stats, out of stores, or made on the spot. This file: which two; the
 * rest is in src/compare/ and compare_print.c. */
#include "base/out_of_memory.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/compare_print.h"
#include "store/store.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle compare [--json FILE] A B\n"
    "       heddle compare [--json FILE] [OPTION OF 'heddle run'...] PROGRAM [ARGUMENT...]\n"
    "Says where the difference in cycles between two runs comes from: by what cycles were spent on, by counters, "
    "kernels\n"
    "and instructions; and in a sentence or two what happened, as far as counters prove it.\n"
    "\n"
    "A and B are each a file of 'heddle run --stats FILE' (with --pcs: instructions, too), or STORE.db:KEY, a run of "
    "a\n"
    "results store by its key or the beginning of it.\n"
    "\n"
    "The second form runs PROGRAM twice. One of these options is given twice, with the two values to compare; others "
    "of\n"
    "'heddle run' hold for both:\n"
    "  -s, --scheduler SPEC   -m, --machine NAME   --l1 SPEC   --divergence SPEC   -p, --policies SPEC\n"
    "      --size SIZE        --set KEY=VALUE (two values of one key)\n"
    "\n"
    "      --json FILE        the whole comparison as JSON (docs/compare.md); '-' is standard output, in place of "
    "text\n"
    "  -h, --help             this text\n"
    "\n"
    "Examples: heddle compare -s lrr -s gto bfs\n"
    "          heddle compare lrr.json gto.json\n"
    "          heddle compare results.db:3fa9 results.db:77c0\n"
    "Exit codes: 0 compared, whatever the outcome; 2 usage, or what is no result; of a run that failed: as 'heddle "
    "run'.\n";

enum { OPTION_JSON = 10000, MOST_OPTIONS = 200, MOST_KNOWN = 64 };

struct given {
    const struct option *option; /* NULL: a letter without a long name */
    int letter;
    char *value; /* NULL: it takes none */
};

struct request {
    const char *json;
    struct given given[MOST_OPTIONS];
    int given_count;
    int first, second; /* of `given`: the two to compare; -1: none */
};

/* ------------------------------------------------------------- results that are there */

static json_t *read_store(char *path, char *key, struct error *e)
{
    struct store *s = store_open(path, STORE_READ, e);
    json_t *results = s ? store_results(s, key, e) : NULL;
    if (s)
        store_close(s);
    return results;
}

/* Whether the file begins as SQLite's do. */
static bool is_store(const char *path)
{
    char start[16] = "";
    FILE *f = fopen(path, "rb");
    size_t got = f ? fread(start, 1, sizeof start, f) : 0;
    if (f)
        fclose(f);
    return got == sizeof start && !memcmp(start, "SQLite format 3", 16);
}

static json_t *read_results(const char *word, struct error *e)
{
    json_error_t at;
    const char *colon = strrchr(word, ':');
    if (access(word, F_OK) < 0 && colon) {
        char *path = strndup(word, (size_t)(colon - word)), *key = strdup(colon + 1);
        if (!path || !key)
            out_of_memory();
        json_t *results = read_store(path, key, e);
        free(path);
        free(key);
        return results;
    }
    if (access(word, R_OK) < 0) {
        error_set(e, ERROR_IO, "%s: %s", word, strerror(errno));
        return NULL;
    }
    if (is_store(word)) {
        error_set(e, ERROR_NOT_FOUND, "%s is a results store: which run of it?", word);
        error_note(e, "%s:KEY names one; the page of 'heddle report' shows keys, and so does %s:x", word, word);
        return NULL;
    }
    json_t *results = json_load_file(word, 0, &at);
    if (!results) {
        error_set(e, ERROR_NOT_FOUND, "%s is not the results of a run: no JSON, line %d: %s", word, at.line, at.text);
        error_note(e, "'heddle run --stats FILE PROGRAM' writes them");
    }
    return results;
}

/* ------------------------------------------------------------- runs on the spot */

/* Options of which two values make two runs. */
static bool can_differ(const struct given *g)
{
    static const char *const names[] = {"scheduler", "machine", "l1", "divergence", "policies", "size", "set"};
    for (size_t i = 0; g->option && i < sizeof names / sizeof *names; i++)
        if (!strcmp(g->option->name, names[i]))
            return true;
    return false;
}

/* What belongs to one run alone, or has no time. */
static bool is_of_one_run(const struct given *g)
{
    static const char *const names[] = {"stats",         "timeline",   "timeline-cycles", "trace", "warps", "interval",
                                        "print-machine", "functional", "races",           "lines", "sort"};
    for (size_t i = 0; g->option && i < sizeof names / sizeof *names; i++)
        if (!strcmp(g->option->name, names[i]))
            return true;
    return false;
}

static bool same_kind(const struct given *x, const struct given *y)
{
    if (x->option != y->option || x->letter != y->letter || !x->value || !y->value)
        return false;
    size_t key = strcspn(x->value, "=");
    return strcmp(x->option ? x->option->name : "", "set") ||
           (key == strcspn(y->value, "=") && !strncmp(x->value, y->value, key));
}

/* Returns -1 to go on, else the exit code. */
static int find_pair(struct request *r)
{
    r->first = r->second = -1;
    for (int i = 0; i < r->given_count; i++) {
        if (is_of_one_run(&r->given[i]))
            return cli_usage("compare", "--%s is for 'heddle run'", r->given[i].option->name);
        for (int j = 0; j < i; j++) {
            if (!can_differ(&r->given[i]) || !same_kind(&r->given[i], &r->given[j]))
                continue;
            if (r->first >= 0)
                return cli_usage("compare", "two runs at a time: one option is given twice, not more (here --%s)",
                                 r->given[i].option->name);
            r->first = j;
            r->second = i;
        }
    }
    return -1;
}

/* The words for `heddle run`: all options but `leave`. */
static char **run_words(const struct request *r, int leave, char **rest, int rest_count, int *count)
{
    char **words = calloc((size_t)(2 * r->given_count + rest_count + 8), sizeof *words);
    int n = 0;
    if (!words)
        out_of_memory();
    words[n++] = strdup("run");
    for (int i = 0; i < r->given_count; i++) {
        char *name = NULL;
        if (i == leave)
            continue;
        if (r->given[i].option ? asprintf(&name, "--%s", r->given[i].option->name) < 0
                               : asprintf(&name, "-%c", r->given[i].letter) < 0)
            out_of_memory();
        words[n++] = name;
        if (r->given[i].value)
            words[n++] = strdup(r->given[i].value);
    }
    words[n++] = strdup("--pcs");
    words[n++] = strdup("--stats");
    words[n++] = strdup("-");
    for (int i = 0; i < rest_count; i++)
        words[n++] = strdup(rest[i]);
    *count = n;
    return words;
}

static bool is_quiet(const struct request *r)
{
    for (int i = 0; i < r->given_count; i++)
        if (r->given[i].option && !strcmp(r->given[i].option->name, "quiet"))
            return true;
    return false;
}

static int run_one(const struct request *r, int mine, int others, char **rest, int rest_count, json_t **results)
{
    int count;
    char **words = run_words(r, others, rest, rest_count, &count);
    if (!is_quiet(r))
        fprintf(stderr, "heddle: --%s %s\n", r->given[mine].option->name, r->given[mine].value);
    int status = cli_run_for(count, words, results);
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
    return status;
}

/* ------------------------------------------------------------- the comparison */

static bool write_json(const json_t *json, const char *path, struct error *e)
{
    struct whole_file out;
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(9);
    if (!strcmp(path, "-"))
        return json_dumpf(json, stdout, flags) == 0 && putchar('\n') != EOF;
    bool ok = whole_file_open(&out, path);
    if (ok) {
        json_dumpf(json, out.file, flags);
        fputc('\n', out.file);
        ok = whole_file_close(&out);
    }
    return ok || error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
}

static int compare(const struct request *r, json_t *const results[2], const char *const names[2])
{
    struct arena a = {0};
    struct error e = {0};
    struct compare_run runs[2];
    struct comparison c;
    bool ok =
        compare_read(&a, results[0], names[0], &runs[0], &e) && compare_read(&a, results[1], names[1], &runs[1], &e);
    if (ok) {
        compare_runs(&a, &runs[0], &runs[1], &c);
        if (!r->json || strcmp(r->json, "-"))
            compare_print(&c, stdout);
        json_t *json = r->json ? comparison_json(&c) : NULL;
        ok = !json || write_json(json, r->json, &e);
        json_decref(json);
    }
    arena_free(&a);
    return ok ? EXIT_DONE : cli_fail(&e);
}

static int compare_files(const struct request *r, char **words)
{
    struct error e = {0};
    json_t *results[2] = {read_results(words[0], &e), NULL};
    int status = EXIT_DONE;
    if (results[0])
        results[1] = read_results(words[1], &e);
    const char *const names[2] = {words[0], words[1]};
    status = results[1] ? compare(r, results, names) : cli_fail(&e);
    json_decref(results[0]);
    json_decref(results[1]);
    return status;
}

static int compare_here(const struct request *r, char **rest, int rest_count)
{
    json_t *results[2] = {NULL, NULL};
    const char *const names[2] = {r->given[r->first].value, r->given[r->second].value};
    int status = run_one(r, r->first, r->second, rest, rest_count, &results[0]);
    if (status == EXIT_DONE)
        status = run_one(r, r->second, r->first, rest, rest_count, &results[1]);
    if (status == EXIT_DONE)
        status = compare(r, results, names);
    json_decref(results[0]);
    json_decref(results[1]);
    return status;
}

/* ------------------------------------------------------------- options */

static void take(struct request *r, int letter, const struct option *known)
{
    struct given *g = &r->given[r->given_count++];
    const struct option *o = known;
    while (o->name && o->val != letter)
        o++;
    *g =
        (struct given){.option = o->name ? o : NULL, .letter = letter, .value = o->name && !o->has_arg ? NULL : optarg};
}

/* Options of `heddle run` and our own. */
static void all_options(struct option all[MOST_KNOWN])
{
    int n = 0;
    all[n++] = (struct option){"json", required_argument, NULL, OPTION_JSON};
    for (const struct option *o = cli_run_options; o->name && n < MOST_KNOWN - 1; o++)
        all[n++] = *o;
    all[n] = (struct option){0};
}

/* After two results --json may come last, too: there is no program whose own it could be. */
static void take_late_json(struct request *r, char **words, int *count)
{
    if (*count == 4 && !strcmp(words[2], "--json")) {
        r->json = words[3];
        *count = 2;
    } else if (*count == 3 && !strncmp(words[2], "--json=", 7)) {
        r->json = words[2] + 7;
        *count = 2;
    }
}

int cli_compare(int argc, char **argv)
{
    struct option all[MOST_KNOWN];
    struct request r = {0};
    all_options(all);
    optind = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, CLI_RUN_LETTERS, all, NULL)) != -1;) {
        switch (c) {
        case OPTION_JSON: r.json = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("compare", "option '%s' needs a value", argv[optind - 1]);
        case '?': return cli_unknown_option("compare", argv[optind - 1], all);
        default:
            if (r.given_count == MOST_OPTIONS)
                return cli_usage("compare", "too many options");
            take(&r, c, all);
        }
    }
    int words = argc - optind, status = find_pair(&r);
    char **rest = argv + optind;
    if (status >= 0)
        return status;
    if (r.first >= 0)
        return words ? compare_here(&r, rest, words)
                     : cli_usage("compare", "which program? A workload's name or a path is expected");
    if (!r.given_count)
        take_late_json(&r, rest, &words);
    if (!r.given_count && words == 2)
        return compare_files(&r, rest);
    if (!r.given_count && words)
        return cli_usage("compare",
                         "two results are expected, not %d; or one option of 'heddle run' twice, as in "
                         "'-s lrr -s gto PROGRAM'",
                         words);
    return cli_usage("compare", "which two runs? Give two results, or one option twice: '-s lrr -s gto PROGRAM'");
}
