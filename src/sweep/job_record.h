/* Records as files: what job.c's and the sweep's parts share. */
#ifndef HEDDLE_SWEEP_JOB_RECORD_H
#define HEDDLE_SWEEP_JOB_RECORD_H

#include "sweep/job.h"

/* A record of the job with everything that is known before it runs; failure null, stats null. when: start, seconds
 * since 1970. */
json_t *job_record_new(const struct job *j, long long when);
/* SPOOL/KEY.json, written beside it first, flushed to the disk and renamed. */
bool job_record_write(const json_t *record, const char *key, const char *spool, struct error *e);
/* Any text as JSON: what is not UTF-8 or cannot be printed becomes '?'. */
json_t *job_text(const char *text, size_t length);
/* "KEY.json.tmp.HOST.PID": names of files that belong to a process, so that those of dead ones are known. */
void job_scratch_name(char *out, size_t size, const char *spool, const char *key, const char *suffix);
/* Removes what dead processes of this machine left in the spool, and what is older than a day. */
void job_spool_clean(const char *spool);
/* Replays the trace at `path` under the policies (job_replay.c), and puts what they missed into the results,
 * total.l1d.replay.POLICY. */
bool job_replay(const char *path, uint32_t policies, json_t *stats, struct error *e);
/* job_files.c: where a run writes the file that others read, until it has ended well; then the file gets its name.
 * False: why. */
void job_file_scratch(const struct job *j, char *out, size_t size);
bool job_file_keep(const struct job *j, const char *scratch, char *why, size_t why_bytes);
/* A line for HEDDLE_SWEEP_JOURNAL. */
void job_journal(const char *what, const char *key);

#endif
