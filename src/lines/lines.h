/* The counters of instructions (--pcs) by the source lines that they were compiled from, hot ones first: what
 * `heddle run --lines` prints and what the report shows.
 *
 * An instruction with a .loc belongs to a line of its source file, whichever kernel it is in. One without is a line of
 * its own, that of the PTX. */
#ifndef HEDDLE_LINES_LINES_H
#define HEDDLE_LINES_LINES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strmap.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct source_files;

struct code_line {
    const char *file;   /* as .loc has it; NULL: the PTX */
    const char *kernel; /* the first that has it, or the function */
    const char *text;   /* of the source where that was found, else of its first instruction */
    uint32_t number;
    bool is_source; /* text is that of the source */
    uint64_t *values;
    uint32_t value_room;
};
struct code_column {
    /* As in the results: "executions", "cycles.memory", "loads.misses". Also, of each instruction: load_misses and
     * store_misses, which are its l1d_misses; full_issues, the issues that it would take if no lane were idle. */
    const char *name;
    bool maximum; /* of several instructions, the greatest counts */
};
struct code_lines {
    struct arena arena;
    struct strmap by_name, by_place;
    struct code_column *columns;
    uint32_t column_count, column_room;
    struct code_line *list;
    uint32_t count, room;
};

/* One instruction of one launch. Texts are copied. */
struct code_instruction {
    const char *kernel, *function, *source /* "file.cu:12" */, *text; /* function and source: NULL or empty, none */
    uint32_t line;                                                    /* of the PTX */
    const struct code_counter {
        const char *name; /* as in struct code_column */
        uint64_t value;
    } * counters;
    uint32_t counter_count;
};
void code_lines_add(struct code_lines *l, const struct code_instruction *i);
/* All instructions of a run's results. */
void code_lines_of_results(struct code_lines *l, const json_t *results);
/* belady_misses: what loads would have missed under the best possible replacement (replay.h, REPLAY_BELADY_READS), by a
 * trace of the run's accesses. */
bool code_lines_replay(struct code_lines *l, const char *trace, struct error *e);
/* Texts of source lines, from the files that are found. */
void code_lines_find_texts(struct code_lines *l, struct source_files *files);
void code_lines_free(struct code_lines *l);

/* The value of a line: of a column by its name, or what is worked out from columns (columns.c): lanes, requests,
 * accesses, per_request. NAN: it has none, as a line without loads has no transactions per request. */
double code_line_value(const struct code_lines *l, const struct code_line *line, const char *name);
bool code_lines_have(const struct code_lines *l, const char *name); /* whether any line has it */
/* Sorts by a value, the greatest first; lines without it come last. */
void code_lines_sort(struct code_lines *l, const char *name);
/* A policy's counter of instructions, "loads.misses", of which the greatest counts and not the sum. */
bool code_column_is_maximum(const char *name);

#endif
