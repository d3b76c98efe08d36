/* Two runs beside each other: where the difference in cycles was spent, which counters, kernels and instructions
 * changed, and in a sentence or two what happened, as far as counters prove it (docs/compare.md). */
#ifndef HEDDLE_COMPARE_COMPARE_H
#define HEDDLE_COMPARE_COMPARE_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* parts.def */
enum compare_part_kind { COMPARE_SLOTS, COMPARE_WAIT, COMPARE_REST };
struct compare_part {
    const char *name, *metric, *less, *title;
    enum compare_part_kind kind;
};
enum {
#define PART(name, kind, metric, less, title) +1
    COMPARE_PARTS = 0
#include "compare/parts.def"
};
extern const struct compare_part compare_parts[COMPARE_PARTS];

/* run.c: what a warp may do with a cycle: the names of stalls.*, in their order; NULL after the last. */
enum { COMPARE_MOST_REASONS = 24 };
const char *compare_reason(uint32_t number);

struct compare_launch {
    const char *kernel;
    double cycles;
};

/* An instruction of a kernel, over all its launches. */
struct compare_instruction {
    const char *kernel, *text, *source; /* source: "" where there is none */
    int64_t pc, line;
    double stalled, misses;
    double waits[COMPARE_MOST_REASONS]; /* of stalled, by compare_reason */
};

/* run.c: one run, out of the results of --stats or of a store, which must outlive it. */
struct compare_run {
    const char *from;  /* as a person named it */
    const char *label; /* how it differs from the other run, in a word or two */
    const char *program, *arguments, *machine, *sets, *scheduler, *l1, *divergence;
    const json_t *machine_keys; /* NULL: sets say how it differs from the machine of its name */
    int64_t epoch;              /* -1: not known */
    bool failed, partial;
    double *values; /* by the rows of result_metrics; NAN where there is none */
    double spent[COMPARE_PARTS];
    struct compare_launch *launches;
    uint32_t launch_count;
    struct compare_instruction *instructions; /* by kernel, pc and text */
    uint32_t instruction_count;
    bool has_instructions;
};
bool compare_read(struct arena *a, const json_t *results, const char *from, struct compare_run *out, struct error *e);
double compare_value(const struct compare_run *r, const char *metric); /* NAN where there is none */

struct compare_sentence {
    const char *cause, *text; /* cause: "" for what is said in any case */
    double cycles;            /* of the difference that it explains */
};
enum { COMPARE_MOST_CAUSES = 3, COMPARE_MOST_SENTENCES = COMPARE_MOST_CAUSES + 2 };

/* A counter that differs. */
struct compare_metric {
    const char *name, *unit;
    double a, b, change; /* change: |b - a| / the larger of the two */
};

/* Launches of one kernel, the first of A beside the first of B and so on. */
struct compare_kernel {
    const char *name;
    uint32_t launches, only_a, only_b; /* in both, and beyond that */
    double a, b;                       /* cycles, of those in both */
    uint32_t most;                     /* the launch that moved most, from 0 */
    double most_a, most_b;
};

struct compare_line {
    const struct compare_instruction *a, *b;
};

struct comparison {
    struct compare_run *a, *b;
    const struct compare_run *fast, *slow;     /* a and b in the order of their cycles */
    double difference;                         /* cycles, of slow less those of fast */
    bool same, other_scheduler, other_machine; /* the machine: its name, or a key of it */
    struct compare_sentence sentences[COMPARE_MOST_SENTENCES];
    uint32_t sentence_count;
    const char *notes[8]; /* what a reader should know before believing it */
    uint32_t note_count;
    struct compare_metric *metrics; /* that carry no cycles by themselves, the greatest change first */
    uint32_t metric_count;
    struct compare_kernel *kernels; /* that differ, the most moved first */
    uint32_t kernel_count;
    struct compare_line *lines; /* instructions that are in both and stalled differently, likewise */
    uint32_t line_count;
    bool has_lines; /* both runs have counts of instructions */
};

void compare_runs(struct arena *a, struct compare_run *first, struct compare_run *second, struct comparison *out);

/* The reason to wait that moved most at an instruction; "": none is known. */
const char *compare_line_reason(const struct compare_line *l);

/* comparison_json.c: all of it, for machines. */
json_t *comparison_json(const struct comparison *c);
/* The tables of parts and causes as data, for the report's page. */
json_t *compare_rules_json(void);

/* Whether a row of result_metrics is one that runs are compared by: a single number of every run with time. */
bool compare_uses(uint32_t metric);
/* Whether it stands among the other counters: it carries no cycles itself, and says something that others do not. */
bool compare_lists(uint32_t metric);
/* Counters of fewer events than this per warp instruction are not listed: they cannot have mattered. */
extern const double compare_least_events;
int64_t compare_metric(const char *name); /* the row; -1: there is none of this name */

/* Between the files of this room. */
void compare_spend(struct compare_run *r);                    /* parts.c */
void compare_name(struct arena *a, struct comparison *c);     /* label.c */
void compare_explain(struct arena *a, struct comparison *c);  /* causes.c */
void compare_launches(struct arena *a, struct comparison *c); /* launches.c */

#endif
