/* Starts a program with Heddle's libcuda.so.1 first in its library path and the options in HEDDLE_OPTIONS, waits for
 * it, and reads the results that the library wrote when the process ended. What only the parent knows, wall time and
 * exit status, is filled in here.
 *
 * A program that a person watches gets the signals that they send, and ends with us: keeper.c. Programs that run
 * unattended have limits and no terminal: child_guard.c. */
#include "sweep/child.h"
#include "base/exit_code.h"
#include "base/out_of_memory.h"
#include "base/temporary.h"
#include "base/version.h"
#include "gpu/gpu.h"
#include "program/program.h"
#include "sweep/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One word for HEDDLE_OPTIONS, quoted as for a shell. */
static void put_word(FILE *to, const char *word)
{
    fputs(" '", to);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    }
    fputc('\'', to);
}

static char *options_text(const struct child_request *r, const char *stats)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        out_of_memory();
    fputs(r->options ? "--stats" : "--functional --stats", to);
    put_word(to, stats);
    for (const char *const *word = r->options; word && *word; word++)
        put_word(to, *word);
    if (r->quiet)
        fputs(" --quiet", to);
    fclose(to);
    return text;
}

static void put_in_front(const char *variable, const char *value)
{
    const char *old = getenv(variable);
    char *whole = NULL;
    if (asprintf(&whole, "%s%s%s", value, old && *old ? ":" : "", old ? old : "") < 0)
        out_of_memory();
    setenv(variable, whole, 1);
    free(whole);
}

/* In the new process. errno goes through the pipe when the program cannot be executed. */
static void become_program(const struct child_request *r, const char *options, int report)
{
    char preload[2 * PATH_MAX];
    put_in_front("LD_LIBRARY_PATH", r->library);
    if (program_preload(r->path, r->library, preload, sizeof preload))
        put_in_front("LD_PRELOAD", preload);
    setenv("HEDDLE_OPTIONS", options, 1);
    signal(SIGXFSZ, SIG_DFL); /* main ignores it */
    if (!r->guard && r->output >= 0)
        dup2(r->output, STDOUT_FILENO);
    execv(r->path, r->argv);
    int why = errno;
    if (write(report, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* A program that a person watches, for the keeper. */
struct attended {
    const struct child_request *request;
    const char *options, *stats;
    int report;
};

static void become_attended(void *context)
{
    const struct attended *a = context;
    become_program(a->request, a->options, a->report);
}

static void close_report(void *context) { close(((const struct attended *)context)->report); }

static void remove_stats(void *context) { unlink(((const struct attended *)context)->stats); }

static bool run_attended(const struct child_request *r, const char *options, const char *stats, int report, int *status,
                         struct error *e)
{
    struct attended a = {.request = r, .options = options, .stats = stats, .report = report};
    const struct keeper_program p = {
        .become = become_attended, .started = close_report, .abandoned = remove_stats, .context = &a};
    return keeper_run(&p, status, e);
}

static bool run_guarded(const struct child_request *r, const char *options, int report, struct child_result *out,
                        int *status, struct error *e)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        guard_enter(r->guard, parent);
        become_program(r, options, report);
    }
    close(report);
    if (pid < 0)
        return error_set(e, ERROR_IO, "cannot start %s: %s", r->path, strerror(errno));
    *status = guard_wait(r->guard, pid, out);
    return true;
}

static bool start_and_wait(const struct child_request *r, const char *options, const char *stats,
                           struct child_result *out, int *status, struct error *e)
{
    int report[2], why = 0;
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
        return error_set(e, ERROR_IO, "cannot start %s: %s", r->path, strerror(errno));
    bool ok = r->guard ? run_guarded(r, options, report[1], out, status, e)
                       : run_attended(r, options, stats, report[1], status, e);
    if (read(report[0], &why, sizeof why) != sizeof why)
        why = 0;
    close(report[0]);
    return ok && why ? error_set(e, ERROR_IO, "cannot execute %s: %s", r->path, strerror(why)) : ok;
}

/* Results for a program that never got as far as cuInit, or did not live to write them. */
static json_t *empty_stats(const struct child_request *r)
{
    json_t *stats = json_pack("{s:s, s:n, s:[], s:n, s:b, s:n, s:n, s:n, s:n, s:[], s:[], s:{}, s:{s:n, s:f, s:n, "
                              "s:n}, s:{}, s:{s:s, s:b, s:n}}",
                              "heddle", HEDDLE_VERSION, "program", "arguments", "machine", "functional",
                              r->functional || !r->options, "seed", "scheduler", "l1", "divergence", "probes",
                              "kernels", "total", "host", "wall_seconds", "launch_seconds", 0.0, "kwips", "peak_bytes",
                              "checks", "outcome", "kind", "none", "launch_refused", 0, "message");
    json_object_set_new(stats, "commit", json_string(version_commit));
    json_object_set_new(stats, "timing_epoch", json_integer(GPU_TIMING_EPOCH));
    json_object_set_new(stats, "program", json_string(r->argv[0]));
    for (int i = 1; r->argv[i]; i++)
        json_array_append_new(json_object_get(stats, "arguments"), json_string(r->argv[i]));
    return stats;
}

static enum error_kind outcome_kind(const json_t *stats)
{
    static const struct {
        const char *name;
        enum error_kind kind;
    } kinds[] = {
        {"unsupported", ERROR_UNSUPPORTED},
        {"version", ERROR_VERSION},
        {"pointer", ERROR_POINTER},
        {"address", ERROR_ADDRESS},
        {"misaligned", ERROR_MISALIGNED},
        {"trap", ERROR_TRAP},
        {"assert", ERROR_ASSERT},
        {"instruction", ERROR_INSTRUCTION},
        {"deadlock", ERROR_DEADLOCK},
        {"limit", ERROR_LIMIT},
        {"interrupted", ERROR_INTERRUPTED},
        {"none", ERROR_NONE},
        {"launch-limit", ERROR_LAUNCH_LIMIT},
    };
    const char *name = json_string_value(json_object_get(json_object_get(stats, "outcome"), "kind"));
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name))
            return kinds[i].kind;
    return name ? ERROR_INVALID : ERROR_NONE;
}

static void fill_in(struct child_result *out)
{
    json_t *checks = json_object_get(out->stats, "checks");
    json_object_set_new(json_object_get(out->stats, "host"), "wall_seconds", json_real(out->wall_seconds));
    json_object_set_new(checks, "passed", json_boolean(out->status == 0));
    json_object_set_new(checks, "exit", json_integer(out->status));
}

/* Whether the library tried to write results, and could not: the file is there, empty, before the program begins, and
 * the library takes it away then. */
static bool is_damaged(const char *path)
{
    struct stat s;
    return stat(path, &s) != 0 || s.st_size > 0;
}

/* A file for the results, where the caller names none. */
static bool make_stats_file(char path[PATH_MAX], struct error *e)
{
    int fd = temporary_file(path, "stats", "", e);
    return fd >= 0 && close(fd) == 0;
}

static bool create_empty(const char *path, struct error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    close(fd);
    return true;
}

bool child_run(const struct child_request *r, struct child_result *out, struct error *e)
{
    char stats[PATH_MAX];
    *out = (struct child_result){0};
    if (r->guard)
        snprintf(stats, sizeof stats, "%s", r->guard->stats);
    if (!(r->guard ? create_empty(stats, e) : make_stats_file(stats, e)))
        return false;
    char *options = options_text(r, stats);
    int status = 0;
    double start = now();
    bool ok = start_and_wait(r, options, stats, out, &status, e);
    out->wall_seconds = now() - start;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    out->status = out->signal ? 128 + out->signal : WEXITSTATUS(status);
    if (ok) {
        out->stats = json_load_file(stats, 0, NULL);
        out->used_cuda = out->stats != NULL;
        out->damaged = !out->stats && is_damaged(stats);
        if (!out->stats)
            out->stats = empty_stats(r);
        fill_in(out);
        out->outcome = outcome_kind(out->stats);
        out->launch_refused = json_is_true(json_object_get(json_object_get(out->stats, "outcome"), "launch_refused"));
        const json_t *outcome = json_object_get(out->stats, "outcome");
        out->nothing_timed = json_is_true(json_object_get(outcome, "nothing_timed"));
        out->file_failed = json_is_true(json_object_get(outcome, "probe_failed")) ||
                           json_is_true(json_object_get(outcome, "file_failed"));
    }
    unlink(stats);
    free(options);
    return ok;
}

/* What a kernel did counts whatever the program made of it, and so does a kernel that was to run and could not: results
 * without it are none. A module that could not be loaded, or a function that is not there, counts when the program
 * failed; it may well have had another. So does an assertion: a program that is told of it and is content had asked for
 * it. */
int child_exit_code(const struct child_result *r)
{
    int code = exit_code_of(r->outcome);
    if (r->outcome == ERROR_ASSERT && r->status == 0 && !r->signal)
        return EXIT_DONE;
    if (code == EXIT_STUCK || code == EXIT_ILLEGAL)
        return code;
    if (r->signal == SIGINT || r->signal == SIGTERM || r->signal == SIGHUP || r->signal == SIGQUIT)
        return EXIT_STUCK;
    if (r->launch_refused)
        return EXIT_UNSUPPORTED;
    if (r->status == 0 && r->nothing_timed)
        return EXIT_USAGE;
    if (r->status == 0)
        return r->file_failed || r->damaged ? EXIT_FAILED : EXIT_DONE;
    return code == EXIT_UNSUPPORTED ? EXIT_UNSUPPORTED : EXIT_FAILED;
}
