/* How long each warp of an earlier run took, for a policy that wants to know beforehand (the oracle of a criticality
 * scheduler, say): reads what `heddle run --warps FILE.csv` wrote. Only the uncompressed form, so that a policy needs
 * nothing but the standard library; zstdcat makes it of the compressed one.
 *
 *   init:       heddle_warp_times_read, of a path that a parameter of type HEDDLE_TEXT names
 *   launched:   heddle_warp_times_find(t, core->kernel, core->warp[slot].block_index, core->warp[slot].index, &cycles)
 *   finish:     heddle_warp_times_free
 *
 * Columns are found by their names, others are passed over. Warps that were cut short (partial) have no time and are
 * left out. core->kernel is the number of the launch as long as launches do not overlap and the program has no region
 * of interest. */
#ifndef HEDDLE_WARP_TIMES_H
#define HEDDLE_WARP_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_warp_time {
    uint64_t launch, block, warp, cycles; /* end - begin */
};
struct heddle_warp_times {
    struct heddle_warp_time *list; /* sorted */
    size_t count, capacity;
};

enum heddle_warp_times_column {
    HEDDLE_TIMES_LAUNCH,
    HEDDLE_TIMES_BLOCK,
    HEDDLE_TIMES_WARP,
    HEDDLE_TIMES_BEGIN,
    HEDDLE_TIMES_END,
    HEDDLE_TIMES_PARTIAL,
    HEDDLE_TIMES_COLUMNS
};
enum { HEDDLE_TIMES_FIELDS = 64, HEDDLE_TIMES_TEXT = 64 };

static inline int heddle_warp_times_order(const void *first, const void *second)
{
    const struct heddle_warp_time *a = (const struct heddle_warp_time *)first,
                                  *b = (const struct heddle_warp_time *)second;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->warp < b->warp ? -1 : a->warp > b->warp;
}

static inline bool heddle_warp_times_add(struct heddle_warp_times *t, const uint64_t values[HEDDLE_TIMES_COLUMNS])
{
    if (t->count == t->capacity) {
        size_t capacity = 2 * t->capacity + 1024;
        struct heddle_warp_time *list = (struct heddle_warp_time *)realloc(t->list, capacity * sizeof *list);
        if (!list)
            return false;
        t->list = list;
        t->capacity = capacity;
    }
    struct heddle_warp_time *row = &t->list[t->count++];
    row->launch = values[HEDDLE_TIMES_LAUNCH];
    row->block = values[HEDDLE_TIMES_BLOCK];
    row->warp = values[HEDDLE_TIMES_WARP];
    row->cycles = values[HEDDLE_TIMES_END] - values[HEDDLE_TIMES_BEGIN];
    return true;
}

/* A field into text, as far as there is room for it. Returns the character after it: ',', '\n' or EOF. */
static inline int heddle_warp_times_field(FILE *f, char text[HEDDLE_TIMES_TEXT])
{
    size_t n = 0;
    int c;
    while ((c = getc(f)) != ',' && c != '\n' && c != EOF)
        if (c != '\r' && n + 1 < HEDDLE_TIMES_TEXT)
            text[n++] = (char)c;
    text[n] = '\0';
    return c;
}

/* Digits and nothing else. */
static inline bool heddle_warp_times_number(const char *text, uint64_t *to)
{
    *to = 0;
    if (!*text)
        return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (*to > (UINT64_MAX - 9) / 10)
            return false;
        *to = *to * 10 + (uint64_t)(*text - '0');
    }
    return !*text;
}

/* Finds which of our columns each field is; HEDDLE_TIMES_COLUMNS means none. Returns how many fields a line has, or 0
 * and *why. */
static inline size_t heddle_warp_times_header(FILE *f, int column_of[HEDDLE_TIMES_FIELDS], const char **why)
{
    static const char *const names[HEDDLE_TIMES_COLUMNS] = {"launch", "block", "warp", "begin", "end", "partial"};
    char text[HEDDLE_TIMES_TEXT];
    unsigned found = 0;
    size_t fields = 0;
    int c;
    do {
        c = heddle_warp_times_field(f, text);
        if (!fields && !strncmp(text, "\x28\xb5\x2f\xfd", 4)) {
            *why = "it is compressed: write it as FILE.csv, or unpack it with zstdcat";
            return 0;
        }
        if (fields == HEDDLE_TIMES_FIELDS) {
            *why = "it has too many columns";
            return 0;
        }
        column_of[fields] = 0;
        while (column_of[fields] < HEDDLE_TIMES_COLUMNS && strcmp(text, names[column_of[fields]]))
            column_of[fields]++;
        found |= 1u << column_of[fields++];
    } while (c == ',');
    if (~found & ((1u << HEDDLE_TIMES_PARTIAL) - 1)) {
        *why = "its first line does not name the columns launch, block, warp, begin and end";
        return 0;
    }
    return fields;
}

static inline bool heddle_warp_times_rows(FILE *f, struct heddle_warp_times *t, const char **why)
{
    int column_of[HEDDLE_TIMES_FIELDS], c = 0;
    size_t fields = heddle_warp_times_header(f, column_of, why);
    bool sorted = true;
    while (fields && (c = getc(f)) != EOF) {
        char text[HEDDLE_TIMES_TEXT];
        uint64_t values[HEDDLE_TIMES_COLUMNS + 1] = {0};
        size_t n = 0;
        bool good = ungetc(c, f) != EOF;
        do {
            c = heddle_warp_times_field(f, text);
            if (n < fields && column_of[n] < HEDDLE_TIMES_COLUMNS)
                good &= heddle_warp_times_number(text, &values[column_of[n]]);
            n++;
        } while (c == ',');
        if (!good || n != fields || c == EOF || values[HEDDLE_TIMES_END] < values[HEDDLE_TIMES_BEGIN]) {
            *why = c == EOF ? "it is cut off in the middle of a line"
                            : "a line does not have the numbers that the first line names";
            return false;
        }
        if (values[HEDDLE_TIMES_PARTIAL])
            continue;
        if (!heddle_warp_times_add(t, values)) {
            *why = "there is not enough memory for it";
            return false;
        }
        sorted &= t->count < 2 || heddle_warp_times_order(&t->list[t->count - 2], &t->list[t->count - 1]) <= 0;
    }
    if (!sorted)
        qsort(t->list, t->count, sizeof *t->list, heddle_warp_times_order);
    return fields != 0;
}

static inline void heddle_warp_times_free(struct heddle_warp_times *t)
{
    free(t->list);
    t->list = NULL;
    t->count = t->capacity = 0;
}

/* False: *why says what is wrong with the file, and *t is empty. */
static inline bool heddle_warp_times_read(struct heddle_warp_times *t, const char *path, const char **why)
{
    FILE *f = fopen(path, "rb");
    t->list = NULL;
    t->count = t->capacity = 0;
    *why = "it cannot be opened";
    if (!f)
        return false;
    bool good = heddle_warp_times_rows(f, t, why);
    if (ferror(f)) {
        *why = "it cannot be read";
        good = false;
    }
    fclose(f);
    if (!good)
        heddle_warp_times_free(t);
    return good;
}

/* False: the file has no such warp. */
static inline bool heddle_warp_times_find(const struct heddle_warp_times *t, uint64_t launch, uint64_t block,
                                          uint64_t warp, uint64_t *cycles)
{
    struct heddle_warp_time key = {launch, block, warp, 0};
    size_t from = 0, to = t->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = heddle_warp_times_order(&key, &t->list[middle]);
        if (!order) {
            *cycles = t->list[middle].cycles;
            return true;
        }
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
