/* A crash inside a policy from a shared object: said in its name, with the hook, before the process ends as it would
 * have. Nothing is kept up to date for that while a kernel runs: the stack of the crash says who called. A frame of the
 * shared object that a frame of ours called is the hook's.
 *
 * Where there is no such policy, nothing is installed. A handler that was there before gets the signal afterwards. */
#include "cuda/internal.h"

#include "policy/hooks.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 512, MOST_POLICIES = GPU_PROBES + 3, STACK_BYTES = 1 << 16 };

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { WATCHED = sizeof watched / sizeof *watched };

/* A policy, and where the code of its shared object lies. */
struct suspect {
    enum policy_kind kind;
    const struct heddle_policy *policy;
    uintptr_t begin, end;
    char path[512];
};

/* A handler has no other way to them. */
static struct suspect suspects[MOST_POLICIES];
static uint32_t suspect_count;
static struct sigaction before[WATCHED];
static char stack[STACK_BYTES];

static bool is_inside(const struct suspect *s, uintptr_t code) { return code >= s->begin && code < s->end; }

static bool is_suspect(uintptr_t code)
{
    for (uint32_t i = 0; i < suspect_count; i++)
        if (is_inside(&suspects[i], code))
            return true;
    return false;
}

static void say(int number, uintptr_t code)
{
    static const char *const kinds[POLICY_KINDS] = {"scheduler", "L1 policy", "divergence unit", "probe"};
    const struct suspect *found = NULL;
    const char *hook = NULL;
    uintptr_t begin = 0;
    char text[1024];
    for (uint32_t i = 0; i < suspect_count; i++) {
        if (!is_inside(&suspects[i], code))
            continue;
        const char *here = policy_hook_at(suspects[i].kind, suspects[i].policy, code, &begin);
        if (here || !found) {
            found = &suspects[i];
            hook = here;
        }
    }
    if (!found)
        return;
    int length = snprintf(text, sizeof text, "heddle: a crash in %s %s, in its %s (%s): signal %d, %s\n",
                          kinds[found->kind], found->policy->name, hook ? hook : "code", found->path, number,
                          strsignal(number));
    length = length < (int)sizeof text ? length : (int)sizeof text - 1;
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        return; /* there is nobody to tell */
}

/* Whoever had the signal before us gets it: the instruction is executed again, or abort raises it again. */
static void on_crash(int number, siginfo_t *info, void *unused)
{
    static void *frames[MOST_FRAMES];
    uintptr_t hook = 0;
    (void)unused;
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
    int count = backtrace(frames, MOST_FRAMES);
    for (int i = 0; i < count; i++) {
        /* Behind this handler, the trampoline and where the signal came they are where calls return to: behind a call
         * of abort that is the next function. */
        uintptr_t code = (uintptr_t)frames[i] - (i > 2);
        if (is_suspect(code))
            hook = code;
        else if (hook)
            break;
    }
    if (hook)
        say(number, hook);
    if (info->si_code <= 0 && number != SIGABRT) /* somebody sent it */
        raise(number);
}

struct lookup {
    uintptr_t address;
    struct suspect *suspect;
};

static int find_object(struct dl_phdr_info *object, size_t size, void *context)
{
    const struct lookup *l = context;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t at = object->dlpi_addr + part->p_vaddr;
        begin = at < begin ? at : begin;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
    }
    if (l->address < begin || l->address >= end)
        return 0;
    l->suspect->begin = begin;
    l->suspect->end = end;
    snprintf(l->suspect->path, sizeof l->suspect->path, "%s", object->dlpi_name);
    return 1;
}

static void suspect(const struct policy_choice *choice, enum policy_kind kind)
{
    struct suspect *s = &suspects[suspect_count];
    struct lookup l = {.address = (uintptr_t)choice->policy, .suspect = s};
    if (!choice->library || suspect_count == MOST_POLICIES)
        return;
    *s = (struct suspect){.kind = kind, .policy = choice->policy};
    if (dl_iterate_phdr(find_object, &l))
        suspect_count++;
}

/* An overflow of the stack leaves no room on it for the handler. */
static void make_stack(void)
{
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack}, theirs;
    if (sigaltstack(NULL, &theirs) == 0 && theirs.ss_flags & SS_DISABLE)
        sigaltstack(&own, NULL);
}

void policy_crash_watch(const struct gpu_options *o)
{
    struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frame;
    suspect_count = 0;
    suspect(&o->scheduler, POLICY_SCHEDULER);
    suspect(&o->l1, POLICY_L1);
    suspect(&o->divergence, POLICY_DIVERGENCE);
    for (uint32_t i = 0; i < o->probe_count; i++)
        suspect(&o->probes[i], POLICY_PROBE);
    if (!suspect_count)
        return;
    backtrace(&frame, 1); /* loads what it needs, which a handler may not */
    make_stack();
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], &ours, &before[i]);
}
