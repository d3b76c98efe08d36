/* The parts of the Slurm engine (docs/slurm.md), between slurm*.c and their test.
 *
 * A batch is one job array: a folder SPOOL/slurm-N with the manifest (one job per line, line n is task n), the script,
 * the array's name, its job number, and the tasks' logs. What a batch is can be read back from its folder by a process
 * that did not write it. */
#ifndef HEDDLE_SWEEP_SLURM_H
#define HEDDLE_SWEEP_SLURM_H

#include "base/arena.h"
#include "base/strmap.h"
#include "sweep/sweep.h"

#include <stdio.h>
#include <sys/types.h>

/* slurm_command.c: Slurm's own programs. */
struct slurm_command {
    const char *const *words;    /* NULL after the last; the first is looked for in PATH */
    int output;                  /* file descriptor for its standard output; -1: kept */
    double limit_seconds;        /* then it is ended */
    void (*idle)(void *context); /* called some times per second meanwhile; NULL: nothing */
    void *context;
};
struct slurm_answer {
    char *out, *err; /* never NULL; freed by slurm_answer_free */
    int status;      /* its exit status; 128 + n: signal n */
    bool timed_out;
};
/* False only where it could not be started. */
bool slurm_ask(const struct slurm_command *c, struct slurm_answer *a, struct error *e);
void slurm_answer_free(struct slurm_answer *a);
bool slurm_in_path(const char *program);

/* slurm_script.c: what Slurm is given. */
struct slurm_request {
    const char *name;                                /* of the array: no blanks */
    const char *heddle, *folder, *spool;             /* absolute */
    uint32_t tasks, throttle;                        /* throttle 0: none */
    const char *partition, *account, *time, *memory; /* NULL: Slurm's own */
};
/* False: a value that is no single line. Names of files may be anything. */
bool slurm_check(const struct slurm_request *r, struct error *e);
/* sbatch's options, NULL after the last. */
const char **slurm_options(const struct slurm_request *r, struct arena *a);
/* The script, with the same options in its #SBATCH lines. */
const char *slurm_script(const struct slurm_request *r, struct arena *a);
/* heddle-EXPERIMENT-HASH; the experiment is a path. */
const char *slurm_name(const char *experiment, const char *folder, struct arena *a);

/* slurm_queue.c: what Slurm answers. */
enum slurm_state {
    SLURM_GONE, /* Slurm does not know it (any more) */
    SLURM_PENDING,
    SLURM_RUNNING, /* running: or about to, or just ending */
    SLURM_STUCK,   /* requeued and held: nothing happens until somebody releases it */
    SLURM_COMPLETED,
    SLURM_ENDED, /* in any other way */
};
struct slurm_line {
    uint64_t array;
    uint32_t task;
    enum slurm_state state;
    char word[24]; /* Slurm's own for it: NODE_FAIL */
    char name[160], reason[80];
};
/* One line of `squeue -r -o SLURM_QUEUE_FORMAT`, or of sacct. False: not a task of an array. */
#define SLURM_QUEUE_FORMAT "%i %T %j %r"
bool slurm_queue_line(const char *line, size_t length, struct slurm_line *out);
bool slurm_accounting_line(const char *line, size_t length, struct slurm_line *out);
enum slurm_state slurm_state_of(const char *word, const char *reason);
/* The next line of a text that is not empty; *text moves on. NULL: no more. */
const char *slurm_next_line(const char **text, size_t *length);
/* The job's number in the answer of sbatch --parsable ("17", "17;cluster"); 0: none. */
uint64_t slurm_job_number(const char *answer);
/* The largest number of tasks in an array, out of `scontrol show config`; 0: it says nothing. */
uint32_t slurm_array_limit(const char *config);
bool slurm_alive(enum slurm_state s);

/* slurm_batch.c: a batch in its folder. */
struct slurm_task {
    const char *key;
    uint32_t job; /* in sweep.jobs; SLURM_NO_JOB: none of this sweep */
    enum slurm_state state;
    char word[24]; /* "" while it is SLURM_GONE */
};
enum { SLURM_NO_JOB = UINT32_MAX };
struct slurm_batch {
    const char *folder, *name;
    uint64_t number; /* Slurm's; 0: not known */
    uint32_t task_count;
    struct slurm_task *tasks;
};
/* The first free folder's path, which is not made. */
const char *slurm_next_folder(const char *spool, struct arena *a);
/* Makes b->folder, with manifest, script and name, all of them on the disk. jobs: indices, one a task. */
bool slurm_batch_write(const struct slurm_batch *b, const char *script, const struct job *jobs, struct error *e);
/* Reads folder back. False, no error: there is nothing that could have been submitted. */
bool slurm_batch_read(struct slurm_batch *b, const char *folder, struct arena *a);
bool slurm_batch_set_number(const struct slurm_batch *b, struct error *e);
void slurm_batch_remove(const char *folder);
const char *slurm_task_log(const struct slurm_batch *b, uint32_t task, struct arena *a);
/* The folders of batches in the spool, by number. */
const char **slurm_folders(const char *spool, struct arena *a, uint32_t *count);

/* slurm_watch.c, slurm_adopt.c, slurm.c: what becomes of the batches. */
struct slurm_run_state { /* one per job of the sweep */
    enum { RUN_UNSENT, RUN_QUEUED, RUN_SETTLED } where;
    uint32_t batch, task; /* RUN_QUEUED */
    uint32_t lost;        /* how many times Slurm ended it without a record */
    double ended_since;   /* when it was first seen to have ended; 0: it has not */
};
struct slurm_engine {
    struct sweep *sweep;
    struct arena *arena;
    struct slurm_run_state *runs;
    struct strmap keys; /* key -> job's index + 1 */
    uint32_t settled, unsent;
    struct slurm_batch *batches;
    uint32_t batch_count, batch_capacity;
    uint32_t array_limit;
    double next_look, look_interval, next_submit, last_tick; /* seconds of slurm_now */
    bool look_soon;                                          /* a task has ended whose record is not there yet */
    double answered_at;                                      /* when squeue last gave an answer */
    char waits_for[80]; /* Slurm's word for why the first of the tasks that wait does so */
};
struct slurm_batch *slurm_add_batch(struct slurm_engine *g);
/* The index of a job by its key, or SLURM_NO_JOB. */
uint32_t slurm_job_of(const struct slurm_engine *g, const char *key);
void slurm_settled(struct slurm_engine *g, uint32_t job);
/* Asks squeue for the states of all tasks. *answered: false where Slurm gave no answer this time. */
bool slurm_look(struct slurm_engine *g, bool *answered, struct error *e);
/* The number of an array by its name; 0: there is none. */
bool slurm_find_by_name(struct slurm_engine *g, const char *name, uint64_t *number, bool *answered, struct error *e);
/* The same as slurm_find_by_name, or slurm_look where name is NULL, until there is an answer: without one nothing may
 * be submitted, or a run could be in the queue twice. */
bool slurm_insist(struct slurm_engine *g, const char *name, uint64_t *number, struct error *e);
/* Takes up the batches of an earlier sweep that are still in the queue, and clears away the others. */
bool slurm_adopt(struct slurm_engine *g, struct error *e);
/* After slurm_look: runs that ended without a record are to be sent again, or given up. Tasks that nobody needs are
 * taken out of the queue. */
bool slurm_settle_lost(struct slurm_engine *g, struct error *e);
bool slurm_ask_words(struct slurm_engine *g, const char *const *words, int output, double limit_seconds,
                     struct slurm_answer *a, struct error *e);
uint32_t slurm_alive_count(const struct slurm_batch *b);
double slurm_now(void);
void slurm_tick(struct slurm_engine *g);
void slurm_pause(struct slurm_engine *g);
bool slurm_interrupted(const struct slurm_engine *g);

#endif
