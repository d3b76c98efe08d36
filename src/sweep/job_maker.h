/* What the points of an experiment are made into jobs with. Between job_make.c, job_parts.c and job_input.c. */
#ifndef HEDDLE_SWEEP_JOB_MAKER_H
#define HEDDLE_SWEEP_JOB_MAKER_H

#include "base/strmap.h"
#include "policy/registry.h"
#include "sweep/job.h"
#include "sweep/key.h"

enum { JOB_POLICIES = 3 }; /* scheduler, l1, divergence */

struct program_part {
    bool made;
    const char *path;
    struct key_digest loaded, arguments;
};
struct machine_part {
    bool made;
    const char *machine;
    const char *policies[JOB_POLICIES];
    struct key_digest digest;
};
struct policy_part {
    const char *spec;
    struct key_digest digest;
    bool functional; /* a probe that works without time, and only so */
};

/* A scheduler's line of options as policies, by kind: specs, "" where it has none. */
struct options_part {
    bool made;
    const char *specs[POLICY_KINDS];
};

struct job_maker {
    const struct experiment *x;
    const struct places *places;
    struct arena *arena;
    struct key_hash *hash;
    struct strmap executables, policies[JOB_POLICIES], probes; /* by path; by spec */
    struct strmap inputs;                                      /* jobs of [input]s, by what they are made of */
    struct options_part *options;                              /* by value of the scheduler's axis */
    struct program_part *programs;                             /* by value of their axis */
    struct machine_part *machines;                             /* by value of machine, then of variant */
    struct error *error;
};

/* job_parts.c: what points share, read, checked and hashed once. NULL with an error that names the line. */
const struct program_part *job_program_part(struct job_maker *m, const struct lab_point *p);
const struct machine_part *job_machine_part(struct job_maker *m, const struct lab_point *p);
/* kind: below JOB_POLICIES. The spec is not empty, and has =@KEY for the files of other runs. */
const char *job_path(struct job_maker *m, const char *word, size_t path_length);
const struct policy_part *job_policy_part(struct job_maker *m, int kind, const char *spec, struct error *why);
const struct policy_part *job_probe_part(struct job_maker *m, const char *spec, struct error *why);
/* job_options.c: what the point's line of options stands for. *part is NULL where its line is none. */
bool job_options_part(struct job_maker *m, const struct lab_point *p, const struct options_part **part);
/* "quick.ini:12:7: error: this scheduler cannot be used", the line, and why. Returns false. */
bool job_blame(struct job_maker *m, enum lab_axis axis, uint32_t value, const char *word, const struct error *why);
bool job_blame_line(struct job_maker *m, int line, const char *what, const char *word, const struct error *why);
uint32_t job_word_count(const char **words);

/* job_make.c: the parts that every key has, with the arguments given; the hash is then open for more. */
void job_key_start(struct job_maker *m, const struct program_part *program, const struct key_digest *arguments,
                   const struct machine_part *machine, const struct policy_part *policies[JOB_POLICIES]);

/* job_input.c: the spec with =@KEY in the place of each =@NAME. The runs with these keys are added to `inputs`. */
struct job_inputs {
    const struct job **jobs;
    uint32_t count, room;
};
const char *job_resolve(struct job_maker *m, const struct lab_point *p, const char *spec, struct job_inputs *inputs);

#endif
