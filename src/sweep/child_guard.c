/* Programs that run unattended: limits, and an end whatever happens to the one who started them.
 *
 * Memory is looked at ten times per second: resident and swapped bytes of the program and its descendants. Limits of
 * the kernel (setrlimit) would count the simulated device's memory, which is reserved as a whole and used in part. A
 * program may go beyond its limit for a tenth of a second. */
#include "sweep/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_EVERY_MS = 100, DEEPEST = 16, MOST_CHILDREN = 256 };

void guard_signals(sigset_t *set)
{
    static const int watched[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(set, watched[i]);
}

void guard_enter(const struct child_guard *g, pid_t parent)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before it was asked for its signal */
        _exit(127);
    int empty = open("/dev/null", O_RDONLY);
    if (empty >= 0)
        dup2(empty, STDIN_FILENO);
    dup2(g->log, STDOUT_FILENO);
    dup2(g->log, STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t own_bytes(pid_t pid)
{
    char path[64], line[256];
    unsigned long long kilobytes, sum = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %llu", &kilobytes) == 1 || sscanf(line, "VmSwap: %llu", &kilobytes) == 1)
            sum += kilobytes;
    if (f)
        fclose(f);
    return 1024 * (uint64_t)sum;
}

/* What a process uses with all that it started. */
static uint64_t tree_bytes(pid_t pid, int depth)
{
    char path[64];
    int child, children[MOST_CHILDREN], count = 0;
    uint64_t sum = own_bytes(pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = depth < DEEPEST ? fopen(path, "re") : NULL;
    while (f && count < MOST_CHILDREN && fscanf(f, "%d", &child) == 1)
        children[count++] = child;
    if (f)
        fclose(f);
    for (int i = 0; i < count; i++)
        sum += tree_bytes(children[i], depth + 1);
    return sum;
}

/* Whether a limit is passed by now. */
static enum child_end look(const struct child_guard *g, pid_t pid, double start, struct child_result *out)
{
    if (g->time_limit_seconds > 0 && now() - start >= g->time_limit_seconds)
        return CHILD_TIME;
    if (!g->memory_limit_bytes)
        return CHILD_BY_ITSELF;
    out->memory_bytes = tree_bytes(pid, 0);
    return out->memory_bytes > g->memory_limit_bytes ? CHILD_MEMORY : CHILD_BY_ITSELF;
}

static void end_group(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

int guard_wait(const struct child_guard *g, pid_t pid, struct child_result *out)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
    double start = now();
    int status = 0;
    sigset_t signals;
    guard_signals(&signals);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        out->end = look(g, pid, start, out);
        if (out->end == CHILD_BY_ITSELF) {
            int signal = sigtimedwait(&signals, NULL, &pause);
            if (signal <= 0 || signal == SIGCHLD)
                continue;
            out->end = CHILD_INTERRUPTED;
        }
        end_group(pid);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        return status;
    }
    kill(-pid, SIGKILL); /* what it started and left behind */
    return status;
}
