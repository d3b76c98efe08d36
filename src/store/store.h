/* The results store: one SQLite file (docs/results.md has its tables). One process writes; any number read.
 *
 * A record is what one run left: the job as it was asked for, how it ended, and the JSON of --stats. It travels as one
 * JSON object from where the run was made to the store (record.h), so that only one process ever writes the file. */
#ifndef HEDDLE_STORE_STORE_H
#define HEDDLE_STORE_STORE_H

#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { KEY_BYTES = 33 }; /* 128 bits in hexadecimal, and the end */

enum store_mode { STORE_READ, STORE_WRITE };
struct store;

/* STORE_WRITE makes the file where there is none, and holds a lock beside it (PATH.lock) while it is open: a second
 * writer is refused with a message that names the process and host that hold it. The lock is the process': its children
 * do not inherit it, and one process must not open a store for writing twice. STORE_READ leaves no file behind that was
 * not there. A file that is no store, damaged, of a later version, or in a folder that cannot be written to: each has
 * its own message, with what to do. */
struct store *store_open(const char *path, enum store_mode mode, struct error *e);
void store_close(struct store *s);

/* A run that ended well is in the store. */
bool store_has(struct store *s, const char key[KEY_BYTES]);
/* All keys of runs that ended well, sorted, KEY_BYTES each. */
bool store_keys(struct store *s, struct arena *a, char (**keys)[KEY_BYTES], uint32_t *count, struct error *e);
/* One record (record.h), in one transaction: run, kernels, metrics. Replaces a record of the same key that did not end
 * well; one that did is kept, and *added is false. */
bool store_put(struct store *s, const json_t *record, bool *added, struct error *e);
/* Records between the two come into the store together when the group ends, which waits for the disk once instead of
 * once a record: until then they may be lost. One that fails does not take the others with it, as long as the disk
 * holds. store_group_end is false where none has come in; e may hold the error of a record, and then stays as it is. */
bool store_group_begin(struct store *s, struct error *e);
bool store_group_end(struct store *s, struct error *e);

/* experiments.c: an experiment as it was swept, and its points: labels of their axes, and keys of their runs. */
enum { STORE_LABELS = 6 }; /* program, machine, scheduler, l1, divergence, variant */
struct store_experiment {
    const char *name, *size /* "" where none was given */, *text;
    size_t text_bytes;
    const char *when;
};
struct store_point {
    const char *labels[STORE_LABELS];
    char key[KEY_BYTES];
};
/* Replaces what was there of the same name and size. x->when is not looked at: it is now. */
bool store_put_experiment(struct store *s, const struct store_experiment *x, const struct store_point *points,
                          uint32_t point_count, struct error *e);
bool store_experiments(struct store *s, struct arena *a, struct store_experiment **list, uint32_t *count,
                       struct error *e);
/* Fills in the keys of the points of x (its name and size) that have these labels; "" where there is none. */
bool store_point_keys(struct store *s, const struct store_experiment *x, struct store_point *points,
                      uint32_t point_count, struct error *e);

/* Metrics of whole runs. values: value_count names for each key, NAN where there is none, row after row in the order of
 * keys ("" allowed: a row of NAN). Runs that failed have none. */
bool store_metrics(struct store *s, const char (*keys)[KEY_BYTES], uint32_t key_count, const char *const *names,
                   uint32_t name_count, double *values, struct error *e);

/* series.c: samples over time of one launch. launch: its number from 0, or the name of a kernel, whose first
 * launch it is. values: name_count for each sample, NAN where there is none. No samples at all where the run is not
 * there, failed, has no such launch, or was made without them. */
struct store_samples {
    double *cycles, *values;
    uint32_t count;
};
bool store_samples(struct store *s, struct arena *a, const char *key, const char *launch, const char *const *names,
                   uint32_t name_count, struct store_samples *out, struct error *e);

/* rows.c: what a run has many of, by number: instructions of a kernel by pc, buckets of histograms. values:
 * name_count for each row; 0 where a row lacks what others have; NAN in all where the run does not have it. */
struct store_rows {
    int64_t *numbers;
    const char **texts; /* of instructions */
    double *values;
    uint32_t count;
};
/* launch: its number from 0, or the name of a kernel, whose launches are put together; NULL: of the kernel that is
 * launched first. maxima: one a name, whether the greatest counts and not the sum. */
bool store_instructions(struct store *s, struct arena *a, const char *key, const char *launch, const char *const *names,
                        const bool *maxima, uint32_t name_count, struct store_rows *out, struct error *e);
/* each_pc.c: runs with counters of instructions (--pcs); and all those of a run, launch by launch. What is visited lives
 * until the next. */
struct store_pc {
    const char *kernel, *function, *source, *text;
    int64_t line;
    const char *const *names;
    const int64_t *values;
    uint32_t count;
};
bool store_keys_with_pcs(struct store *s, struct arena *a, const char ***keys, uint32_t *count, struct error *e);
bool store_each_pc(struct store *s, const char *key, void (*visit)(void *context, const struct store_pc *pc),
                   void *context, struct error *e);

/* rows.c: of the whole run. */
bool store_buckets(struct store *s, struct arena *a, const char *key, const char *const *names, uint32_t name_count,
                   struct store_rows *out, struct error *e);

/* results.c: what the store has of one run, as the object of --stats, with counters by their whole names ("l1d.misses")
 * and without samples; and `sets`, a list. key: the key, or a beginning that no other run has. NULL: not there, failed,
 * or not the only one. */
json_t *store_results(struct store *s, const char *key, struct error *e);

/* Every run, in the order of program, machine, scheduler, l1, divergence, sets. */
struct store_run { /* arguments, sets and probes: words with a space between them; policies that were not given are
                      those that the run had */
    const char *key, *program, *arguments, *machine, *scheduler, *l1, *divergence, *sets, *version, *host, *when,
        *failure /* NULL: ended well */, *command, *probes;
    int64_t epoch;
    int exit;
    double wall_seconds, launch_seconds, kwips;
    double cycles, warp_instructions, ipc, l1d_accesses, l1d_misses; /* NAN: none */
};
bool store_runs(struct store *s, struct arena *a, struct store_run **runs, uint32_t *count, struct error *e);
/* Wall seconds of a run of the same program and arguments, whatever the machine and policies: for the order and the
 * time left. arguments: as store_run has them. 0: never run. */
double store_expected_seconds(struct store *s, const char *program, const char *arguments);
/* The resolved text of each machine (with its overrides) that runs used. */
struct store_machine {
    const char *name, *sets, *text;
};
bool store_machines(struct store *s, struct arena *a, struct store_machine **machines, uint32_t *count,
                    struct error *e);

/* rescue.c: what can still be read of a damaged store, into a new file, which must not be there yet. Runs of
 * which a part is lost are left out: the next sweep makes them again. */
enum { STORE_PAGES_NAMED = 8 };
struct store_rescued {
    uint32_t runs, lost, experiments;
    uint32_t pages[STORE_PAGES_NAMED]; /* that are damaged, in ascending order: the first ones */
    uint32_t page_count;               /* how many were found */
    uint32_t page_bytes;               /* page n begins at byte (n - 1) * page_bytes of the file */
};
bool store_rescue(const char *damaged, const char *path, struct store_rescued *out, struct error *e);

/* csv.c: runs.csv, kernels.csv, metrics.csv, pcs.csv, series.csv and points.csv, those that have rows, are written into
 * a folder, which is made. */
bool store_write_csv(struct store *s, const char *folder, struct error *e);

#endif
