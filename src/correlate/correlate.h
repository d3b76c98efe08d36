/* Our counters beside silicon's, kernel by kernel: what Nsight Compute recorded of a program's launches, our run of the
 * same program, how far they are apart, and why, where the counters tell. docs/correlate.md explains what is compared
 * with what.
 *
 * Kernels are in two halves by a hash of their names: one to fit a machine with, one to say how good it is. */
#ifndef HEDDLE_CORRELATE_CORRELATE_H
#define HEDDLE_CORRELATE_CORRELATE_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum correlate_count {
#define COUNT(id, name, nsight, ours) COUNT_##id,
#include "correlate/counts.def"
    CORRELATE_COUNTS
};
enum correlate_compared {
#define COMPARED(id, name, title, kind, bound, within, value) COMPARED_##id,
#include "correlate/counts.def"
    CORRELATE_COMPARED
};
enum correlate_kind { CORRELATE_RELATIVE, CORRELATE_POINTS };

struct correlate_row {
    const char *name, *title, *within;
    enum correlate_kind kind;
    double bound;
};
extern const struct correlate_row correlate_rows[CORRELATE_COMPARED];
extern const char *const correlate_count_names[CORRELATE_COUNTS], *const correlate_columns[CORRELATE_COUNTS];

/* half.c: of a kernel's name, as Nsight writes it. */
enum correlate_half { CORRELATE_FIT, CORRELATE_TEST, CORRELATE_HALVES };
extern const char *const correlate_half_names[CORRELATE_HALVES]; /* "fit", "test" */
enum correlate_half correlate_half_of(const char *kernel);

/* ------------------------------------------------------------- launches */

struct correlate_launch {
    const char *kernel;
    uint32_t grid[3], block[3];
    double counts[CORRELATE_COUNTS]; /* NAN: not there */
    bool used;                       /* has been matched */
};
/* Of one program, in order. */
struct correlate_launches {
    const char *program;
    struct correlate_launch *list;
    uint32_t count, room;
    uint32_t recorded; /* on silicon, also those that are not wanted */
};

/* Which launches of a recording are wanted; NULL: all. */
struct correlate_filter {
    const char *const *kernels, *const *programs; /* names, the last NULL; a kernel may be a pattern of the shell */
    bool wants[CORRELATE_HALVES];
};

/* silicon.c: a CSV file of Nsight Compute (--page raw --csv), of one program or of several. */
struct correlate_recording {
    const char *path, *size; /* size: of the workloads' input; NULL: not known */
    struct correlate_launches *programs;
    uint32_t program_count;
    bool has[CORRELATE_COUNTS]; /* the columns that are there */
};
bool correlate_read_silicon(struct arena *a, const char *path, const char *text, size_t bytes,
                            const struct correlate_filter *f, struct correlate_recording *out, struct error *e);

/* run.c: our run, out of the object of --stats, or of a store. */
struct correlate_run {
    const char *machine, *size; /* NULL: its arguments do not say */
    struct correlate_launches launches;
    double dram_peak; /* as in struct correlation */
    bool estimates;   /* counts machine instructions; else those of PTX */
};
bool correlate_read_run(struct arena *a, const json_t *results, const char *from, struct correlate_run *out,
                        struct error *e);

/* ------------------------------------------------------------- the correlation */

/* Launches of one kernel of one program with the same grid and block. */
struct correlate_point {
    const char *program, *size, *kernel;
    uint32_t grid[3], block[3], launches;
    enum correlate_half half;
    double weight; /* in scores: a kernel of a program counts once, in however many grids it is launched */
    double silicon[CORRELATE_COUNTS], ours[CORRELATE_COUNTS];
    const char *cause; /* of an error in cycles; "": none is clear */
};

struct correlate_score {
    double kernels;            /* weights of the points that have both values, and an error that is a number */
    double within;             /* the share of them whose error is in the bound */
    uint32_t points, far;      /* points; cycles: those that are more than 50% off */
    double mean, median, most; /* of the absolute errors; of POINTS in points */
    double correlation;        /* of logarithms; of POINTS of the shares themselves; NAN: fewer than three points */
};

struct correlation {
    struct arena *arena;
    struct correlate_point *points; /* the worst first, after correlate_finish */
    uint32_t point_count, room;
    double halves[CORRELATE_HALVES];                                         /* kernels of each */
    struct correlate_score scores[CORRELATE_HALVES + 1][CORRELATE_COMPARED]; /* the last: of all points */
    double dram_peak;   /* bytes per core cycle that the machine's DRAM can move; 0: not known */
    const char **notes; /* what was not matched, and why */
    uint32_t note_count, note_room;
};

double correlate_value(enum correlate_compared what, const double counts[CORRELATE_COUNTS]);
/* The absolute error; NAN: a value is missing; INFINITY: silicon's is 0 and ours is not. */
double correlate_error(enum correlate_compared what, const struct correlate_point *p);

void correlate_note(struct correlation *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* match.c: launches by kernel, grid and block, in order. Of a program with CORRELATE_RECORDED launches there may have
 * been more. */
enum { CORRELATE_RECORDED = 80 }; /* bench/silicon/counters.sh: --launch-count */
void correlate_match(struct correlation *c, struct correlate_launches *silicon, const char *size,
                     struct correlate_launches *ours);
/* score.c: what the points say together; causes.c: of each. */
void correlate_finish(struct correlation *c);
void correlate_find_causes(struct correlation *c);

/* correlation_json.c: for the page; docs/correlate.md has the format. */
json_t *correlation_json(const struct correlation *c);
void correlation_csv(const struct correlation *c, FILE *out);

#endif
