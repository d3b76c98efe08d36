/* What a run leaves, as one JSON object: written by whoever ran it (src/sweep/job_record.c, job_execute.c), read by the
 * store.
 *
 *   key            content key, 32 hexadecimal digits
 *   program        as the experiment names it: a workload's name, or a path
 *   arguments      array of words, with --size
 *   command        one line for a shell that repeats the run ("heddle run -m ... bfs --size test")
 *   machine        name; machine_text: every key resolved, as machine_print writes it; sets: array of section.key=value
 *   scheduler, l1, divergence   specs as given ("" the machine's)
 *   probes         array of specs; not there: none
 *   version        of heddle, with the commit (0.2.0+0123456789ab); epoch: GPU_TIMING_EPOCH
 *   host           name of the machine that ran it
 *   when           start, UTC, "2026-01-31T12:00:00Z"
 *   wall_seconds   of the process
 *   exit           its status, 128 + n for signal n
 *   failure        null, or one line: why it did not end well ("not finished after 60 s", "out of memory: ...", the
 *                  outcome's first line, "the result is wrong")
 *   log            the last lines of what it printed, where it failed
 *   stats          the object of --stats, or null */
#ifndef HEDDLE_STORE_RECORD_H
#define HEDDLE_STORE_RECORD_H

enum { RECORD_LOG_BYTES = 4000 };

#endif
