/* Running an experiment: which of its points are not in the store yet, an engine that executes their jobs, and the one
 * writer that takes their records into the store.
 *
 * The spool is a folder beside the store (RESULTS.db.spool): records that are not in the store yet. A sweep first takes
 * in what an earlier one left there; a record is removed when the store has it. So whatever is killed, and whenever, a
 * finished run is either in the store or in the spool.
 *
 * Runs that others read a file of ([input NAME] of an experiment) go first. Their files are kept in
 * RESULTS.db.files. */
#ifndef HEDDLE_SWEEP_SWEEP_H
#define HEDDLE_SWEEP_SWEEP_H

#include "sweep/job.h"

#include <stdio.h>

enum sweep_event { SWEEP_START, SWEEP_DONE, SWEEP_FAILED, SWEEP_TICK };
/* For the command line's progress and messages: called by the sweep's own process. SWEEP_START: what is to do is known;
 * SWEEP_TICK: at least once per second. */
struct sweep_progress {
    uint32_t points /* of different keys */, known /* of these, in the store before */, to_run,
        done /* and ended well */, failed, running;
    double seconds, seconds_left;   /* left: NAN where it cannot be known */
    const char *label;              /* SWEEP_DONE, SWEEP_FAILED: of the job; SWEEP_TICK: of one that runs, or NULL */
    const char *failure, *log_path; /* SWEEP_FAILED; log_path: NULL where it printed nothing */
};
typedef void sweep_listener(void *context, enum sweep_event event, const struct sweep_progress *p);

enum sweep_engine { ENGINE_LOCAL, ENGINE_SLURM };
struct sweep_options {
    const char *experiment, *store, *size; /* paths; size NULL: the experiment's */
    uint32_t processes;                    /* local: at a time; 0: as many as there are cores */
    enum sweep_engine engine;
    bool dry_run; /* says what would be run (local), writes the script to `out` (Slurm), and changes nothing */
    double time_limit_seconds; /* 0: the experiment's */
    uint64_t memory_limit_bytes;
    /* Slurm */
    const char *partition, *account, *slurm_time,
        *slurm_memory; /* NULL: HEDDLE_SLURM_PARTITION, _ACCOUNT, _TIME, _MEMORY, else Slurm's own */
    uint32_t throttle; /* tasks at a time; 0: no limit */
    FILE *out;         /* of dry_run */
    sweep_listener *listener;
    void *context;
    const volatile int *interrupt; /* becomes nonzero on ctrl-C: what runs is ended, what is done is kept */
};

struct sweep_result {
    uint32_t points, known, done, failed;
    bool interrupted;
};

bool sweep_run(const struct sweep_options *o, struct sweep_result *result, struct error *e);

/* Of a job of the sweep. */
struct sweep_outcome {
    bool ended;
    const char *failure;   /* NULL: it ended well */
    const uint32_t *needs; /* jobs of this sweep whose files it reads; UINT32_MAX after the last. NULL: none */
};

/* Between sweep.c and the engines. */
struct sweep {
    const struct sweep_options *options;
    const struct places *places;
    struct store *store;
    const char *spool, *files;      /* folders, absolute */
    struct job *jobs;               /* to run: inputs, then points, each longest first */
    struct sweep_outcome *outcomes; /* one per job; NULL: nobody asks */
    uint32_t job_count;
    struct arena *arena;
    struct sweep_progress progress;
    struct sweep_result *result;
    double start; /* CLOCK_MONOTONIC */
};
/* Takes in SPOOL/KEY.json of a job if it is there: *found. Tells the listener. */
bool sweep_collect(struct sweep *s, const struct job *j, bool *found, struct error *e);
void sweep_tell(struct sweep *s, enum sweep_event event);
/* choose.c: s->jobs, and how many there are. jobs: of all points. */
bool sweep_choose(struct sweep *s, const struct experiment *x, struct job *jobs, struct error *e);
/* inputs.c: whether a job can be started. LOST: a run whose file it needs has failed. */
enum sweep_readiness { SWEEP_READY, SWEEP_WAITS, SWEEP_LOST };
enum sweep_readiness sweep_ready(const struct sweep *s, uint32_t job);
/* Records that a job is SWEEP_LOST, and takes that in. */
bool sweep_give_up(struct sweep *s, uint32_t job, struct error *e);
/* The runs whose files the jobs read, each once, with their files' places. `jobs` are all points. */
struct job *sweep_inputs(const struct sweep *s, const struct job *jobs, uint32_t count, struct arena *a,
                         uint32_t *input_count, struct error *e);
/* Once s->jobs are chosen: which of them each waits for. */
void sweep_link_inputs(struct sweep *s);
bool pool_run(struct sweep *s, struct error *e);  /* pool.c: processes on this machine */
bool slurm_run(struct sweep *s, struct error *e); /* slurm.c: a job array */

#endif
