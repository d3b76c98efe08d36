/* One run of an experiment as something that can be carried to another process or machine, executed there, and its
 * record brought back as a file.
 *
 * The content key is a hash (XXH3, 128 bits) of all that determines the results: what of the program is loaded when it
 * is executed (its PTX is part of that; debugging information and the build's identifier are not), its arguments, every
 * key of the resolved machine, the policies with all their parameters (the bytes of a shared object), and
 * GPU_TIMING_EPOCH; and probes, --pcs, --interval and replays where a run has them. A file that another run writes (an
 * experiment's [input NAME]) counts as the key of that run. Not seen: files that the program opens by itself, its
 * environment.
 *
 * HEDDLE_SWEEP_JOURNAL=FILE: each start of a program and each record written is a line there, "start KEY" and "recorded
 * KEY": for tests. */
#ifndef HEDDLE_SWEEP_JOB_H
#define HEDDLE_SWEEP_JOB_H

#include "experiment/experiment.h"
#include "program/places.h"
#include "store/store.h"

struct job {
    char key[KEY_BYTES];
    const char *program; /* as the experiment names it */
    const char *path;    /* absolute, of the executable */
    const char **words;  /* as lab_point.words */
    const char *machine, *scheduler, *l1, *divergence;
    const char **sets;
    const char *label;           /* "bfs gto" : for people, the labels of the axes that differ within the experiment */
    double time_limit_seconds;   /* 0: none */
    uint64_t memory_limit_bytes; /* 0: none */
    bool pcs;                    /* as in struct experiment; part of the key if set: the results have more in them */
    uint64_t interval_cycles;
    uint32_t replay;
    const char **probes;       /* specs; NULL after the last */
    const char **options;      /* further words of `heddle run`; NULL after the last */
    const char *output;        /* the file that it writes: one '@' in `probes` or `options` stands for it. NULL: none */
    const struct job **inputs; /* runs whose files its specs name; NULL after the last. They do not travel */
    const char *input;         /* name of the [input] that it is made for; NULL: it is a point of the experiment */
    double expected_seconds;   /* wall; 0: not known */
};

/* Jobs with their keys, one per point, in the order of x->points. What is wrong with a point (unknown program, machine,
 * policy, parameter) is an error that names the line of the experiment file. */
bool jobs_make(const struct experiment *x, const struct places *places, struct arena *a, struct job **jobs,
               struct error *e);

/* job_files.c: files that runs write for others. Before this a spec has =@KEY where it names one, and `output` is not
 * set; now both get the path in `folder`, which is absolute. */
bool jobs_place_files(struct job *jobs, uint32_t count, const char *folder, struct arena *a, struct error *e);
/* The file is there, and not empty. */
bool job_file_is_made(const struct job *j);
/* A word of `probes` or `options` with its '@' replaced by the path; as it is where the job writes no file. To be
 * freed. */
char *job_word(const struct job *j, const char *word, const char *path);

/* How many different runs they are: points that mean the same are one. */
uint32_t jobs_distinct(const struct job *jobs, uint32_t count);

json_t *job_to_json(const struct job *j);
bool job_from_json(struct job *j, const json_t *text, struct arena *a,
                   struct error *e); /* strings are the JSON's: it must live as long */

/* Runs the job in the calling process (which waits), with its limits, and leaves its record at SPOOL/KEY.json: written
 * beside it first and renamed, so that a file of that name is always whole. Whatever ends the calling process ends the
 * program, too. False: the record could not be written. A run that fails is a record, too. */
bool job_execute(const struct job *j, const struct places *places, const char *spool, struct error *e);
/* The record of a run that could not leave one itself: whoever executed it was killed. exit: as in record.h. */
bool job_record_failure(const struct job *j, const char *spool, const char *why, int exit, struct error *e);
/* A record at SPOOL/KEY.json that says that the run ended well. */
bool job_is_recorded(const char *key, const char *spool);
/* One line for a shell that repeats the run; to be freed. */
char *job_command(const struct job *j);
/* Its arguments as one text, as the store has them; to be freed. */
char *job_arguments(const struct job *j);

#endif
