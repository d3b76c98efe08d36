/* workload.c: see workload.h. */
#include "workload.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const size_names[SIZE_COUNT] = {"test", "small", "paper"};

enum { OPTIONS_MAX = 8, FIRST_NUMBER = 256 };

static long seed;

uint64_t workload_seed(uint64_t own) { return own + (uint64_t)seed * 0x100000001b3u; }

static void print_help(const struct workload *workload)
{
    printf("Usage: %s [--size test|small|paper]\n%s\n\n", workload->name, workload->summary);
    printf("  --size SIZE    the input; small when not given\n");
    for (int i = 0; i < SIZE_COUNT; i++)
        printf("                   %-6s %s\n", size_names[i], workload->inputs[i]);
    for (const struct workload_option *option = workload->options; option && option->name; option++)
        printf("  --%s N%*s%s\n", option->name, (int)(11 - strlen(option->name)), "", option->help);
    printf("  --seed N       another input of the same size, drawn anew for each number\n");
    printf("  --help         this text\n\n");
    printf("Exit status: 0 the result matched the reference, 1 it did not or CUDA failed, 2 usage.\n");
}

_Noreturn static void usage_error(const struct workload *workload)
{
    fprintf(stderr, "Try '%s --help'.\n", workload->name);
    exit(EXIT_USAGE);
}

static enum workload_size parse_size(const struct workload *workload, const char *text)
{
    for (int i = 0; i < SIZE_COUNT; i++) {
        if (strcmp(text, size_names[i]) == 0)
            return i;
    }
    fprintf(stderr, "%s: unknown size '%s': test, small or paper is expected\n", workload->name, text);
    usage_error(workload);
}

static void parse_number(const struct workload *workload, const struct workload_option *option, const char *text)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > option->limit) {
        fprintf(stderr, "%s: --%s '%s': a number from 1 to %ld is expected\n", workload->name, option->name, text,
                option->limit);
        usage_error(workload);
    }
    *option->value = value;
}

enum workload_size workload_parse(const struct workload *workload, int argc, char **argv)
{
    static const struct workload_option seed_option = {"seed", NULL, &seed, 1000000000};
    struct option table[OPTIONS_MAX + 4] = {
        {"size", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
    };
    enum workload_size size = SIZE_SMALL;
    int choice;

    for (int i = 0; workload->options && workload->options[i].name && i < OPTIONS_MAX; i++)
        table[3 + i] = (struct option){workload->options[i].name, required_argument, NULL, FIRST_NUMBER + i};
    while ((choice = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (choice == 's') {
            size = parse_size(workload, optarg);
        } else if (choice == 'r') {
            parse_number(workload, &seed_option, optarg);
        } else if (choice == 'h') {
            print_help(workload);
            exit(EXIT_MATCHED);
        } else if (choice >= FIRST_NUMBER) {
            parse_number(workload, &workload->options[choice - FIRST_NUMBER], optarg);
        } else {
            usage_error(workload);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: unexpected argument '%s'\n", workload->name, argv[optind]);
        usage_error(workload);
    }
    return size;
}

void *workload_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory) {
        fprintf(stderr, "out of memory: %zu elements of %zu bytes\n", count, size);
        exit(EXIT_FAILED);
    }
    return memory;
}

size_t compare_u8(const char *what, const uint8_t *got, const uint8_t *expected, size_t count)
{
    size_t mismatches = 0;

    for (size_t i = 0; i < count; i++) {
        if (got[i] != expected[i] && mismatches++ == 0)
            fprintf(stderr, "%s[%zu] is %u, expected %u\n", what, i, got[i], expected[i]);
    }
    return mismatches;
}

size_t compare_u32(const char *what, const uint32_t *got, const uint32_t *expected, size_t count)
{
    size_t mismatches = 0;

    for (size_t i = 0; i < count; i++) {
        if (got[i] != expected[i] && mismatches++ == 0)
            fprintf(stderr, "%s[%zu] is %u (0x%x), expected %u (0x%x)\n", what, i, got[i], got[i], expected[i],
                    expected[i]);
    }
    return mismatches;
}

size_t compare_f32(const char *what, const float *got, const float *expected, size_t count)
{
    size_t mismatches = 0;

    for (size_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &expected[i], sizeof(float)) != 0 && mismatches++ == 0)
            fprintf(stderr, "%s[%zu] is %.9g (%a), expected %.9g (%a)\n", what, i, got[i], got[i], expected[i],
                    expected[i]);
    }
    return mismatches;
}

size_t compare_f64(const char *what, const double *got, const double *expected, size_t count)
{
    size_t mismatches = 0;

    for (size_t i = 0; i < count; i++) {
        if (memcmp(&got[i], &expected[i], sizeof(double)) != 0 && mismatches++ == 0)
            fprintf(stderr, "%s[%zu] is %.17g (%a), expected %.17g (%a)\n", what, i, got[i], got[i], expected[i],
                    expected[i]);
    }
    return mismatches;
}

size_t compare_f32_near(const char *what, const float *got, const float *expected, size_t count, float tolerance)
{
    size_t mismatches = 0;

    for (size_t i = 0; i < count; i++) {
        /* A NaN is near nothing. */
        if (!(fabsf(got[i] - expected[i]) <= tolerance) && mismatches++ == 0)
            fprintf(stderr, "%s[%zu] is %.9g, expected %.9g, give or take %g\n", what, i, got[i], expected[i],
                    tolerance);
    }
    return mismatches;
}

int workload_verdict(const struct workload *workload, size_t mismatches, size_t compared, const char *what)
{
    if (mismatches) {
        printf("%s: FAILED: %zu of %zu %s differ from the reference\n", workload->name, mismatches, compared, what);
        return EXIT_FAILED;
    }
    printf("%s: PASSED: all %zu %s match the reference\n", workload->name, compared, what);
    return EXIT_MATCHED;
}
