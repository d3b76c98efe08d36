/* warps_check STATS WARPS.csv: is there one row for each warp of each launch, in order, do the reasons of a warp's
 * cycles add up to its time, and the rows of a launch to the launch's own counters? The columns are written out here
 * once more: scripts know them by these names. Exit status 0 yes, 1 no. */
#include "heddle/warp_times.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAUNCH,
    BLOCK,
    WARP,
    CORE,
    SLOT,
    BEGIN,
    END,
    PARTIAL,
    WARP_INSTRUCTIONS,
    THREAD_INSTRUCTIONS,
    STALLS,
    NUMBERS = STALLS + 11,
    LINE_BYTES = 4096
};
static const char header[] =
    "launch,kernel,block,warp,core,slot,begin,end,partial,warp_instructions,thread_instructions,"
    "issued,not_picked,fetch,scoreboard,memory,pipeline,barrier,fence,atomic,held,drain\n";
static const char *const stalls[] = {"issued",  "not_picked", "fetch",  "scoreboard", "memory", "pipeline",
                                     "barrier", "fence",      "atomic", "held",       "drain"};

static int bad;

static void complain(const char *what, size_t line, long long a, long long b)
{
    fprintf(stderr, "line %zu: %s: %lld and %lld\n", line, what, a, b);
    bad = 1;
}

static void same(const char *what, size_t line, long long a, long long b)
{
    if (a != b)
        complain(what, line, a, b);
}

/* The kernel's name is taken out of the line. */
static int parse(char *line, long long n[NUMBERS], char **kernel)
{
    char *save = NULL, *field = strtok_r(line, ",\n", &save);
    int count = 0;
    for (int i = 0; field; field = strtok_r(NULL, ",\n", &save), i++) {
        char *end;
        if (i == 1) {
            *kernel = field;
            continue;
        }
        if (count == NUMBERS)
            return 0;
        n[count++] = strtoll(field, &end, 10);
        if (*end)
            return 0;
    }
    return count == NUMBERS;
}

static long long number(json_t *o, const char *a, const char *b)
{
    o = json_object_get(o, a);
    return json_integer_value(b ? json_object_get(o, b) : o);
}

static void check_row(const long long n[NUMBERS], const long long before[NUMBERS], json_t *kernel, const char *name,
                      size_t line, int first)
{
    long long sum = 0;
    for (int i = STALLS; i < NUMBERS; i++)
        sum += n[i];
    same("the reasons of its cycles and its time", line, sum, n[END] - n[BEGIN]);
    if (strcmp(name, json_string_value(json_object_get(kernel, "name")))) {
        fprintf(stderr, "line %zu: another kernel\n", line);
        bad = 1;
    }
    if (!first && (n[LAUNCH] != before[LAUNCH] ? n[LAUNCH] < before[LAUNCH]
                   : n[BLOCK] != before[BLOCK] ? n[BLOCK] < before[BLOCK]
                                               : n[WARP] <= before[WARP]))
        complain("out of order", line, n[BLOCK], before[BLOCK]);
    if (n[BEGIN] < 1 || n[END] > number(kernel, "cycles", NULL) || n[END] < n[BEGIN])
        complain("its cycles are not in the launch", line, n[BEGIN], n[END]);
    if (n[PARTIAL] && json_is_false(json_object_get(kernel, "partial")))
        complain("cut short in a launch that was not", line, n[LAUNCH], n[BLOCK]);
    if (!n[PARTIAL] && !n[WARP_INSTRUCTIONS] && n[STALLS])
        complain("it issued nothing, in so many cycles", line, n[WARP_INSTRUCTIONS], n[STALLS]);
}

static void check_launch(json_t *kernel, const long long sums[NUMBERS], long long rows)
{
    same("warps", 0, rows, number(kernel, "launched", "warps"));
    same("warp instructions", 0, sums[WARP_INSTRUCTIONS], number(kernel, "warp_instructions", NULL));
    same("thread instructions", 0, sums[THREAD_INSTRUCTIONS], number(kernel, "thread_instructions", NULL));
    for (int i = STALLS; i < NUMBERS; i++)
        same(stalls[i - STALLS], 0, sums[i], number(kernel, "stalls", stalls[i - STALLS]));
}

int main(int argc, char **argv)
{
    char line[LINE_BYTES], *name = NULL;
    long long n[NUMBERS], before[NUMBERS] = {0}, sums[NUMBERS] = {0}, rows = 0, finished = 0, found = 0;
    json_error_t e;
    json_t *root = argc == 3 ? json_load_file(argv[1], 0, &e) : NULL, *kernels = json_object_get(root, "kernels");
    FILE *f = argc == 3 ? fopen(argv[2], "r") : NULL;
    struct heddle_warp_times times;
    const char *why = "";
    if (!root || !f || !fgets(line, sizeof line, f) || strcmp(line, header) ||
        !heddle_warp_times_read(&times, argv[2], &why)) {
        fprintf(stderr, "usage: warps_check STATS WARPS.csv; or the two cannot be read, or have other columns %s\n",
                why);
        return 1;
    }
    size_t launch = 0;
    for (size_t at = 2; fgets(line, sizeof line, f); at++) {
        if (!parse(line, n, &name) || n[LAUNCH] >= (long long)json_array_size(kernels) ||
            n[LAUNCH] < (long long)launch) {
            fprintf(stderr, "line %zu: not numbers, or of a launch that is not there\n", at);
            return 1;
        }
        for (; (long long)launch < n[LAUNCH]; launch++, rows = 0, memset(sums, 0, sizeof sums))
            check_launch(json_array_get(kernels, launch), sums, rows);
        check_row(n, before, json_array_get(kernels, launch), name, at, at == 2);
        uint64_t cycles = 0;
        found += !n[PARTIAL] &&
                 heddle_warp_times_find(&times, (uint64_t)n[LAUNCH], (uint64_t)n[BLOCK], (uint64_t)n[WARP], &cycles) &&
                 (long long)cycles == n[END] - n[BEGIN];
        finished += !n[PARTIAL];
        rows++;
        for (int i = 0; i < NUMBERS; i++)
            sums[i] += n[i];
        memcpy(before, n, sizeof n);
    }
    for (; launch < json_array_size(kernels); launch++, rows = 0, memset(sums, 0, sizeof sums))
        check_launch(json_array_get(kernels, launch), sums, rows);
    same("warps that heddle/warp_times.h finds", 0, found, finished);
    same("and has", 0, (long long)times.count, finished);
    heddle_warp_times_free(&times);
    fclose(f);
    json_decref(root);
    return bad;
}
