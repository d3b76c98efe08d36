/* Runs one of Slurm's programs and keeps what it says, for no longer than a limit: a controller that does not answer
 * must not hang a sweep.
 *
 * It gets a process group of its own, so that a ctrl-C for the sweep does not end sbatch between the submission and its
 * answer; and none of the user's settings for squeue and sacct, which would filter or change what is read here. */
#include "base/out_of_memory.h"
#include "sweep/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LOOK_EVERY_MS = 200 };

double slurm_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool slurm_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char candidate[PATH_MAX];
    for (const char *from = path ? path : ""; *from;) {
        size_t length = strcspn(from, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, from, program);
        if (access(candidate, X_OK) == 0)
            return true;
        from += length + (from[length] == ':');
    }
    return false;
}

static bool is_setting(const char *variable)
{
    return !strncmp(variable, "SQUEUE_", 7) || !strncmp(variable, "SACCT_", 6);
}

static void clear_settings(void)
{
    char name[128];
    for (char **v = environ; *v;) {
        size_t length = strcspn(*v, "=");
        if (is_setting(*v) && length < sizeof name) {
            memcpy(name, *v, length);
            name[length] = '\0';
            unsetenv(name);
            v = environ;
        } else {
            v++;
        }
    }
    setenv("LC_ALL", "C", 1);
}

/* In the new process. */
static void become(const struct slurm_command *c, int out, int err)
{
    setpgid(0, 0);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(c->output >= 0 ? c->output : out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (strcmp(c->words[0], "sbatch")) /* the environment that sbatch sees becomes that of the tasks */
        clear_settings();
    execvp(c->words[0], (char *const *)c->words);
    dprintf(STDERR_FILENO, "%s: %s", c->words[0], strerror(errno));
    _exit(127);
}

struct text {
    char *bytes;
    size_t length, capacity;
};

static void *grown(void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p)
        out_of_memory();
    return p;
}

/* False at the end of the stream. */
static bool read_some(int from, struct text *t)
{
    if (t->length + 4096 > t->capacity) {
        t->capacity = 2 * t->capacity + 8192;
        t->bytes = grown(t->bytes, t->capacity);
    }
    ssize_t n = read(from, t->bytes + t->length, t->capacity - t->length - 1);
    if (n > 0)
        t->length += (size_t)n;
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static char *text_end(struct text *t)
{
    t->bytes = grown(t->bytes, t->length + 1);
    t->bytes[t->length] = '\0';
    return t->bytes;
}

/* Reads both streams until they end, or until `until`. */
static bool read_both(const struct slurm_command *c, const int from[2], struct text t[2], double until)
{
    bool open[2] = {true, true};
    while (open[0] || open[1]) {
        struct pollfd p[2] = {{.fd = open[0] ? from[0] : -1, .events = POLLIN},
                              {.fd = open[1] ? from[1] : -1, .events = POLLIN}};
        int ready = poll(p, 2, LOOK_EVERY_MS);
        for (int i = 0; ready > 0 && i < 2; i++)
            if (p[i].revents)
                open[i] = read_some(from[i], &t[i]);
        if (c->idle)
            c->idle(c->context);
        if (slurm_now() > until)
            return false;
    }
    return true;
}

/* The streams have ended; the process does so now, or is ended. */
static int wait_until(pid_t pid, double until, bool *timed_out)
{
    int status = 0;
    for (;;) {
        pid_t got = waitpid(pid, &status, *timed_out ? 0 : WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            break;
        if (!*timed_out && slurm_now() > until) {
            *timed_out = true;
            kill(-pid, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool slurm_ask(const struct slurm_command *c, struct slurm_answer *a, struct error *e)
{
    int out[2], err[2];
    *a = (struct slurm_answer){0};
    if (pipe2(out, O_CLOEXEC) < 0)
        return error_set(e, ERROR_IO, "cannot start %s: %s", c->words[0], strerror(errno));
    if (pipe2(err, O_CLOEXEC) < 0) {
        error_set(e, ERROR_IO, "cannot start %s: %s", c->words[0], strerror(errno));
        close(out[0]);
        close(out[1]);
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(c, out[1], err[1]);
    int why = errno;
    close(out[1]);
    close(err[1]);
    if (pid > 0) {
        setpgid(pid, pid); /* whoever of the two is first */
        struct text t[2] = {{0}, {0}};
        double until = slurm_now() + c->limit_seconds;
        a->timed_out = !read_both(c, (const int[2]){out[0], err[0]}, t, until);
        if (a->timed_out)
            kill(-pid, SIGKILL);
        a->status = wait_until(pid, until, &a->timed_out);
        a->out = text_end(&t[0]);
        a->err = text_end(&t[1]);
    }
    close(out[0]);
    close(err[0]);
    return pid > 0 || error_set(e, ERROR_IO, "cannot start %s: %s", c->words[0], strerror(why));
}

void slurm_answer_free(struct slurm_answer *a)
{
    free(a->out);
    free(a->err);
    *a = (struct slurm_answer){0};
}
