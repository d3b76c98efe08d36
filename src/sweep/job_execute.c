/* Runs a job: the program with its options and limits, what it printed into a file without a name, and a record of how
 * it ended. */
#include "base/out_of_memory.h"
#include "sweep/job.h"
#include "sweep/job_record.h"

#include "base/exit_code.h"
#include "store/record.h"
#include "sweep/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FAILURE_BYTES = 400,
    KEPT_LOG_BYTES = 1 << 20,
    NOT_STARTED = 127,
    MEGABYTE = 1 << 20,
    INTERVAL_BYTES = 24,
    PROFILE_WORDS = 5
};

/* Files of a run that are gone when it is recorded: its trace, and what it writes for others until that has its
 * name. */
struct scratch {
    char trace[PATH_MAX], output[PATH_MAX];
};

/* ------------------------------------------------------------- what it printed */

/* A file without a name: whatever ends us, nothing of it is left. */
static int open_log(const char *spool, const char *key, struct error *e)
{
    char path[PATH_MAX];
    job_scratch_name(path, sizeof path, spool, key, "log");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    else
        unlink(path);
    return fd;
}

/* The last bytes of what was printed, from the start of a line where that is near; to be freed. */
static char *read_tail(int log, size_t most, size_t *length)
{
    struct stat s;
    off_t size = fstat(log, &s) == 0 ? s.st_size : 0, from = size > (off_t)most ? size - (off_t)most : 0;
    char *text = malloc(most + 1);
    if (!text)
        out_of_memory();
    ssize_t n = pread(log, text, (size_t)(size - from), from);
    *length = n > 0 ? (size_t)n : 0;
    text[*length] = '\0';
    char *line = from ? memchr(text, '\n', *length) : NULL;
    if (line && line + 1 < text + *length) {
        *length -= (size_t)(line + 1 - text);
        memmove(text, line + 1, *length + 1);
    }
    return text;
}

/* SPOOL/KEY.log, for people. It is no loss where it cannot be written: the record has the last lines. */
static void keep_log(int log, const char *spool, const char *key)
{
    char path[PATH_MAX];
    size_t length;
    snprintf(path, sizeof path, "%.4000s/%s.log", spool, key);
    char *text = read_tail(log, KEPT_LOG_BYTES, &length);
    FILE *to = fopen(path, "we");
    if (to) {
        fwrite(text, 1, length, to);
        fclose(to);
    }
    free(text);
}

/* ------------------------------------------------------------- how it ended */

static void first_line(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

/* The last line that is not blank, cut to fit. */
static const char *last_line(char *text)
{
    size_t end = strlen(text);
    while (end && strchr(" \t\r\n", text[end - 1]))
        text[--end] = '\0';
    char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : text;
}

static void describe_exit(const struct child_result *r, char *log, char out[FAILURE_BYTES])
{
    const char *message = json_string_value(json_object_get(json_object_get(r->stats, "outcome"), "message")),
               *last = last_line(log);
    if (message && *message)
        first_line(out, FAILURE_BYTES, message);
    else if (r->signal)
        snprintf(out, FAILURE_BYTES, "ended by signal %d (%s)%s", r->signal, strsignal(r->signal),
                 r->signal == SIGKILL ? ": the system may have run out of memory" : "");
    else if (r->status)
        snprintf(out, FAILURE_BYTES, "exit status %d%s%.300s", r->status, *last ? ": " : "", last);
    else if (r->damaged)
        snprintf(out, FAILURE_BYTES, "its results are cut off: is there room on the disk?");
    else
        snprintf(out, FAILURE_BYTES, "the program never initialised CUDA, so that there are no results of a GPU");
}

/* One line on why it did not end well; empty where it did. */
static void describe(const struct job *j, const struct child_result *r, char *log, char out[FAILURE_BYTES])
{
    out[0] = '\0';
    if (r->end == CHILD_TIME)
        snprintf(out, FAILURE_BYTES, "not finished after %g s", j->time_limit_seconds);
    else if (r->end == CHILD_MEMORY)
        snprintf(out, FAILURE_BYTES, "out of memory: it used %.0f MB, the limit is %.0f MB",
                 (double)r->memory_bytes / MEGABYTE, (double)j->memory_limit_bytes / MEGABYTE);
    else if (child_exit_code(r) != EXIT_DONE || !r->used_cuda)
        describe_exit(r, log, out);
}

/* A run whose accesses cannot be replayed is a failed one, since its results are not what was asked for. */
static void replay(const struct job *j, const char *trace, struct child_result *r, char out[FAILURE_BYTES])
{
    struct error why = {0};
    if (!*out && j->replay && !job_replay(trace, j->replay, r->stats, &why))
        snprintf(out, FAILURE_BYTES, "its accesses could not be replayed: %.*s", (int)strcspn(why.text, "\n"),
                 why.text);
}

static void put_end(json_t *record, const struct job *j, struct child_result *r, int log, const char *spool,
                    const struct scratch *files)
{
    char failure[FAILURE_BYTES];
    size_t length;
    char *tail = read_tail(log, RECORD_LOG_BYTES, &length), *copy = strdup(tail);
    if (!copy)
        out_of_memory();
    describe(j, r, copy, failure);
    replay(j, files->trace, r, failure);
    if (!*failure && j->output)
        job_file_keep(j, files->output, failure, sizeof failure);
    json_object_set_new(record, "wall_seconds", json_real(r->wall_seconds));
    json_object_set_new(record, "exit", json_integer(r->status));
    if (r->used_cuda)
        json_object_set(record, "stats", r->stats);
    if (*failure) {
        json_object_set_new(record, "failure", job_text(failure, strlen(failure)));
        json_object_set_new(record, "log", job_text(tail, length));
        keep_log(log, spool, j->key);
    }
    free(copy);
    free(tail);
}

/* ------------------------------------------------------------- the run */

static size_t count_words(const char **words)
{
    size_t count = 0;
    while (words && words[count])
        count++;
    return count;
}

static const char *with_file(const struct job *j, const char *word, const char *path, struct arena *a)
{
    char *text = job_word(j, word, path);
    const char *copy = arena_printf(a, "%s", text);
    free(text);
    return copy;
}

/* interval: room for the one number among them. */
static const char **option_words(const struct job *j, const struct scratch *files, char interval[INTERVAL_BYTES],
                                 struct arena *a)
{
    const struct {
        const char *name, *value;
    } given[] = {
        {"--machine", j->machine}, {"--scheduler", j->scheduler}, {"--l1", j->l1}, {"--divergence", j->divergence}};
    size_t count = count_words(j->sets), most = 2 * count + 2 * count_words(j->probes) + count_words(j->options), n = 0;
    const char **words = arena_array(a, const char *, most + 2 * sizeof given / sizeof *given + PROFILE_WORDS + 1);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (*given[i].value) {
            words[n++] = given[i].name;
            words[n++] = given[i].value;
        }
    for (size_t i = 0; i < count; i++) {
        words[n++] = "--set";
        words[n++] = j->sets[i];
    }
    for (const char **probe = j->probes; probe && *probe; probe++) {
        words[n++] = "--probe";
        words[n++] = with_file(j, *probe, files->output, a);
    }
    for (const char **option = j->options; option && *option; option++)
        words[n++] = with_file(j, *option, files->output, a);
    if (j->pcs)
        words[n++] = "--pcs";
    if (j->interval_cycles) {
        snprintf(interval, INTERVAL_BYTES, "%" PRIu64, j->interval_cycles);
        words[n++] = "--interval";
        words[n++] = interval;
    }
    if (j->replay) {
        words[n++] = "--trace";
        words[n++] = files->trace;
    }
    return words;
}

/* The program's own words after its path. */
static char **program_words(const struct job *j)
{
    size_t count = 0;
    while (j->words[count])
        count++;
    char **words = calloc(count + 1, sizeof *words);
    if (!words)
        out_of_memory();
    words[0] = (char *)(uintptr_t)j->path;
    for (size_t i = 1; i < count; i++)
        words[i] = (char *)(uintptr_t)j->words[i];
    return words;
}

static bool run_program(const struct job *j, const struct places *places, const char *spool,
                        const struct scratch *files, int log, struct child_result *out, struct error *e)
{
    struct arena a = {0};
    char stats[PATH_MAX], interval[INTERVAL_BYTES];
    job_scratch_name(stats, sizeof stats, spool, j->key, "stats");
    const char **options = option_words(j, files, interval, &a);
    char **words = program_words(j);
    struct child_guard guard = {.log = log,
                                .stats = stats,
                                .time_limit_seconds = j->time_limit_seconds,
                                .memory_limit_bytes = j->memory_limit_bytes};
    struct child_request request = {.path = j->path,
                                    .argv = words,
                                    .library = places->lib,
                                    .options = options,
                                    .quiet = true,
                                    .output = -1,
                                    .guard = &guard};
    bool started = child_run(&request, out, e);
    arena_free(&a);
    free(words);
    return started;
}

static bool execute(const struct job *j, const struct places *places, const char *spool, struct error *e)
{
    struct child_result result = {0};
    struct error why = {0};
    struct scratch files = {0};
    int log = open_log(spool, j->key, e);
    if (log < 0)
        return false;
    json_t *record = job_record_new(j, (long long)time(NULL));
    job_scratch_name(files.trace, sizeof files.trace, spool, j->key, "trace");
    if (j->output)
        job_file_scratch(j, files.output, sizeof files.output);
    job_journal("start", j->key);
    bool started = run_program(j, places, spool, &files, log, &result, &why),
         good = result.end != CHILD_INTERRUPTED || error_set(e, ERROR_INTERRUPTED, "interrupted");
    if (!started) {
        json_object_set_new(record, "failure", job_text(why.text, strcspn(why.text, "\n")));
        json_object_set_new(record, "exit", json_integer(NOT_STARTED));
    } else if (good) {
        put_end(record, j, &result, log, spool, &files);
    }
    if (j->replay)
        unlink(files.trace);
    if (j->output)
        unlink(files.output); /* of a run that did not end well */
    good = good && job_record_write(record, j->key, spool, e);
    if (good)
        job_journal("recorded", j->key);
    json_decref(result.stats);
    json_decref(record);
    close(log);
    return good;
}

bool job_execute(const struct job *j, const struct places *places, const char *spool, struct error *e)
{
    sigset_t signals, before;
    struct sigaction child, usual = {.sa_handler = SIG_DFL};
    guard_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &before); /* until the record is written */
    sigaction(SIGCHLD, &usual, &child);        /* where it is ignored, nobody learns how a program ended */
    bool good = execute(j, places, spool, e);
    sigaction(SIGCHLD, &child, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good;
}
