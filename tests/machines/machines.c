/* Random machines against themselves.
 *   machines FIRST COUNT [-j N]    the machines of so many seeds, on N processes at once (all processors)
 *   machines show SEED             what is drawn for a seed
 *   machines with FILE [SECTION.KEY=VALUE...] [--pcs]    this machine, in all ways, in this process
 * Each machine has a process of its own, so that one that crashes or never ends is reported with its seed. The last
 * line is "N passed, M failed"; the status is 1 when something failed. */
#include "machines.h"
#include "programs.h"

#include "base/processors.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MOST = 120, PROCESSES_MOST = 256, EXIT_INTERRUPTED = 130 };

struct slot {
    pid_t pid; /* 0: free */
    uint64_t seed;
    struct outcome *outcome; /* shared with the process */
};

struct test {
    struct slot slots[PROCESSES_MOST];
    uint32_t processes, running;
    uint64_t next, end; /* seeds */
    uint64_t passed, failed, refused, unfit, ran;
    char folder[1024]; /* of what was built */
    bool on_terminal;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void test_machine(uint64_t seed, struct outcome *o)
{
    o->failed = !draw_machine(seed, o);
    if (!o->failed)
        run_in_all_ways(o);
    o->done = true;
}

static void start(struct test *t, struct slot *s)
{
    s->seed = t->next++;
    memset(s->outcome, 0, sizeof *s->outcome);
    fflush(NULL);
    s->pid = fork();
    if (s->pid < 0) {
        fprintf(stderr, "machines: a process cannot be started: %s\n", strerror(errno));
        exit(2);
    }
    if (s->pid == 0) {
        signal(SIGINT, SIG_DFL);
        alarm(SECONDS_MOST);
        test_machine(s->seed, s->outcome);
        _exit(0);
    }
    t->running++;
}

static void clear_progress(const struct test *t)
{
    if (t->on_terminal)
        fprintf(stderr, "\r\033[K");
}

static void show_progress(const struct test *t, uint64_t count)
{
    if (t->on_terminal)
        fprintf(stderr, "\r%llu of %llu machines, %llu failed ", (unsigned long long)(t->passed + t->failed),
                (unsigned long long)count, (unsigned long long)t->failed);
}

static void report_failure(const struct test *t, const struct slot *s, const char *what)
{
    char command[COMMAND_BYTES];
    const struct outcome *o = s->outcome;
    write_command(o, t->folder, command, sizeof command);
    clear_progress(t);
    printf("FAILED seed %llu", (unsigned long long)s->seed);
    if (*o->way)
        printf(", %s, %s", programs[o->program].name, o->way);
    printf(": %s\n    %s\n", what, command);
    fflush(stdout);
}

static void judge(struct test *t, struct slot *s, int status)
{
    const struct outcome *o = s->outcome;
    char what[REPORT_BYTES + 100];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(what, sizeof what, "it has not come to its end after %d seconds", SECONDS_MOST);
    else if (WIFSIGNALED(status))
        snprintf(what, sizeof what, "it crashes (%s)", strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) || !o->done)
        snprintf(what, sizeof what, "its process ends with status %d", WEXITSTATUS(status));
    else
        snprintf(what, sizeof what, "%s", o->report);
    t->refused += o->refused;
    t->unfit += o->unfit;
    t->ran += PROGRAMS;
    if (status || !o->done || o->failed) {
        report_failure(t, s, what);
        t->failed++;
    } else {
        t->passed++;
    }
}

static void await_one(struct test *t)
{
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    for (uint32_t i = 0; pid > 0 && i < t->processes; i++) {
        struct slot *s = &t->slots[i];
        if (s->pid != pid)
            continue;
        s->pid = 0;
        t->running--;
        if (!interrupted) /* else the process was, too */
            judge(t, s, status);
    }
}

static void run_all(struct test *t)
{
    uint64_t count = t->end - t->next;
    while (!interrupted && (t->next < t->end || t->running)) {
        for (uint32_t i = 0; i < t->processes && t->next < t->end; i++)
            if (!t->slots[i].pid)
                start(t, &t->slots[i]);
        await_one(t);
        show_progress(t, count);
    }
    for (uint32_t i = 0; i < t->processes; i++)
        if (t->slots[i].pid)
            kill(t->slots[i].pid, SIGKILL);
    while (t->running)
        await_one(t);
    clear_progress(t);
}

static void show_machine(uint64_t seed)
{
    static struct outcome o;
    bool is_good = draw_machine(seed, &o);
    printf("%s%s\n", o.machine.base, o.machine.pcs ? ", counted by instruction" : "");
    for (uint32_t i = 0; i < o.machine.set_count; i++)
        printf("%s\n", o.machine.sets[i]);
    printf("%u values were refused\n", o.refused);
    if (!is_good)
        printf("%s\n", o.report);
}

static int usage(void)
{
    fprintf(stderr, "usage: machines FIRST COUNT [-j N]\n       machines show SEED\n"
                    "       machines with FILE [SECTION.KEY=VALUE...] [--pcs]\n");
    return 2;
}

static int try_machine(char **words)
{
    static struct outcome o;
    snprintf(o.machine.base, sizeof o.machine.base, "%s", *words);
    while (*++words && o.machine.set_count < SETS_MOST)
        if (!strcmp(*words, "--pcs"))
            o.machine.pcs = true;
        else
            snprintf(o.machine.sets[o.machine.set_count++], SET_BYTES, "%s", *words);
    run_in_all_ways(&o);
    if (o.failed)
        printf("%s, %s: %s\n", programs[o.program].name, o.way, o.report);
    else
        printf("the same in all ways; %u of %u programs do not fit it\n", o.unfit, PROGRAMS);
    return o.failed;
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* The folder two above the program: build/tests/machines is in build. */
static void find_folder(const char *program, char *folder, size_t size)
{
    snprintf(folder, size, "%s", program);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(folder, '/');
        snprintf(slash ? slash : folder, slash ? size - (size_t)(slash - folder) : size, "%s", slash ? "" : ".");
    }
}

/* What all that follows needs. */
static void begin(void)
{
    char why[4000];
    if (!expect_results(why, sizeof why)) {
        fprintf(stderr, "machines: %s\n", why);
        exit(2);
    }
    setenv("HEDDLE_ALWAYS_THREADS", "1", 1);
}

static void prepare(struct test *t, const char *program)
{
    struct outcome *all =
        mmap(NULL, sizeof *all * t->processes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        fprintf(stderr, "machines: %s\n", strerror(errno));
        exit(2);
    }
    for (uint32_t i = 0; i < t->processes; i++)
        t->slots[i].outcome = &all[i];
    find_folder(program, t->folder, sizeof t->folder);
    t->on_terminal = isatty(STDERR_FILENO);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt}, NULL);
}

int main(int argc, char **argv)
{
    static struct test t;
    uint64_t first, count, processes = processors_usable();
    if (argc == 3 && !strcmp(argv[1], "show") && read_number(argv[2], &first)) {
        show_machine(first);
        return 0;
    }
    if (argc >= 3 && !strcmp(argv[1], "with")) {
        begin();
        return try_machine(argv + 2);
    }
    bool is_short = argc == 3, has_processes = argc == 5 && !strcmp(argv[3], "-j");
    if (!(is_short || has_processes) || !read_number(argv[1], &first) || !read_number(argv[2], &count) ||
        (has_processes && (!read_number(argv[4], &processes) || !processes)))
        return usage();
    t.processes = processes < PROCESSES_MOST ? (uint32_t)processes : PROCESSES_MOST;
    t.next = first;
    t.end = first + count;
    begin();
    prepare(&t, argv[0]);
    run_all(&t);
    printf("%llu values refused, %llu of %llu programs did not fit their machine%s\n", (unsigned long long)t.refused,
           (unsigned long long)t.unfit, (unsigned long long)t.ran, interrupted ? "; interrupted" : "");
    printf("%llu passed, %llu failed\n", (unsigned long long)t.passed, (unsigned long long)t.failed);
    return t.failed ? 1 : interrupted ? EXIT_INTERRUPTED : 0;
}
