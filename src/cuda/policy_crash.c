/* A crash inside a policy from a shared object: said in its name, with the hook, before the process ends as it would
 * have. Nothing is kept up to date for that while a kernel runs: the stack of the crash says who called.
 *
 * Where there is no such policy, nothing is installed. A handler that was there before gets the signal afterwards. */
#include "cuda/internal.h"
#include "cuda/policy_suspects.h"

#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STACK_BYTES = 1 << 16 };

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { WATCHED = sizeof watched / sizeof *watched };

static struct sigaction before[WATCHED];
static char stack[STACK_BYTES];

static void say(int number, uintptr_t code)
{
    struct suspect_name name;
    char text[1024];
    if (!suspects_name(code, &name))
        return;
    int length = snprintf(text, sizeof text, "heddle: a crash in %s %s, in its %s (%s): signal %d, %s\n", name.kind,
                          name.policy, name.hook, name.path, number, strsignal(number));
    length = length < (int)sizeof text ? length : (int)sizeof text - 1;
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        return; /* there is nobody to tell */
}

/* Whoever had the signal before us gets it: the instruction is executed again, or abort raises it again. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    static void *frames[SUSPECT_FRAMES];
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
    struct suspect_call call = suspects_call(frames, backtrace(frames, SUSPECT_FRAMES), context);
    if (call.code)
        say(number, call.code);
    if (info->si_code <= 0 && number != SIGABRT) /* somebody sent it */
        raise(number);
}

/* An overflow of the stack leaves no room on it for the handler. */
static void make_stack(void)
{
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, theirs;
    if (sigaltstack(NULL, &theirs) == 0 && theirs.ss_flags & SS_DISABLE)
        sigaltstack(&own, NULL);
}

void policy_crash_watch(void)
{
    struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frame;
    backtrace(&frame, 1); /* loads what it needs, which a handler may not */
    make_stack();
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], &ours, &before[i]);
}
