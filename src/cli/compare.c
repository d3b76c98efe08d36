/* heddle compare: two runs, out of files of --stats, out of stores, or made on the spot. This file: which two; the
 * rest is in src/compare/ and compare_print.c. */
#include "base/out_of_memory.h"
#include "base/whole_file.h"
#include "cli/cli.h"
#include "cli/compare_print.h"
#include "cli/two_runs.h"
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

enum { OPTION_JSON = 10000 };

struct request {
    const char *json;
    struct two_runs runs;
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

static int run_one(const struct request *r, int which, char **rest, int rest_count, json_t **results)
{
    static const char *const more[] = {"--pcs", "--stats", "-", NULL};
    int count;
    char **words = two_runs_words(&r->runs, which, more, rest, rest_count, &count);
    int status = cli_run_for(count, words, results);
    two_runs_free(words, count);
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
    const char *const names[2] = {two_runs_value(&r->runs, 0), two_runs_value(&r->runs, 1)};
    int status = run_one(r, 0, rest, rest_count, &results[0]);
    if (status == EXIT_DONE)
        status = run_one(r, 1, rest, rest_count, &results[1]);
    if (status == EXIT_DONE)
        status = compare(r, results, names);
    json_decref(results[0]);
    json_decref(results[1]);
    return status;
}

/* ------------------------------------------------------------- options */

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
    static const struct option own[] = {{"json", required_argument, NULL, OPTION_JSON}, {0}};
    struct option all[TWO_RUNS_KNOWN];
    struct request r = {0};
    int status = -1;
    two_runs_known(own, all);
    optind = 0;
    opterr = 0;
    for (int c; status < 0 && (c = getopt_long(argc, argv, CLI_RUN_LETTERS, all, NULL)) != -1;) {
        switch (c) {
        case OPTION_JSON: r.json = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("compare", "option '%s' needs a value", argv[optind - 1]);
        case '?': return cli_unknown_option("compare", argv[optind - 1], all);
        default: status = two_runs_take(&r.runs, "compare", c, all);
        }
    }
    int words = argc - optind;
    char **rest = argv + optind;
    if (status < 0)
        status = two_runs_find(&r.runs, "compare");
    if (status >= 0)
        return status;
    if (r.runs.pair[0] >= 0)
        return words ? compare_here(&r, rest, words)
                     : cli_usage("compare", "which program? A workload's name or a path is expected");
    if (!r.runs.given_count)
        take_late_json(&r, rest, &words);
    if (!r.runs.given_count && words == 2)
        return compare_files(&r, rest);
    if (!r.runs.given_count && words)
        return cli_usage("compare",
                         "two results are expected, not %d; or one option of 'heddle run' twice, as in "
                         "'-s lrr -s gto PROGRAM'",
                         words);
    return cli_usage("compare", "which two runs? Give two results, or one option twice: '-s lrr -s gto PROGRAM'");
}
