#include "cuda/policy_suspects.h"

#include "policy/hooks.h"

#include <link.h>
#include <stdio.h>
#include <ucontext.h>

enum { MOST_POLICIES = GPU_PROBES + 3 };

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

static bool is_inside(const struct suspect *s, uintptr_t code) { return code >= s->begin && code < s->end; }

static bool is_suspect(uintptr_t code)
{
    for (uint32_t i = 0; i < suspect_count; i++)
        if (is_inside(&suspects[i], code))
            return true;
    return false;
}

bool suspects_name(uintptr_t code, struct suspect_name *out)
{
    static const char *const kinds[POLICY_KINDS] = {"scheduler", "L1 policy", "divergence unit", "probe"};
    const struct suspect *found = NULL;
    const char *hook = NULL;
    uintptr_t begin = 0;
    for (uint32_t i = 0; i < suspect_count; i++) {
        if (!is_inside(&suspects[i], code))
            continue;
        const char *here = policy_hook_at(suspects[i].kind, suspects[i].policy, code, &begin);
        if (here || !found) {
            found = &suspects[i];
            hook = here;
        }
    }
    if (found)
        *out = (struct suspect_name){kinds[found->kind], found->policy->name, hook ? hook : "code", found->path};
    return found;
}

/* The instruction that the signal came before. */
static uintptr_t interrupted(const void *context)
{
    const ucontext_t *c = context;
#if defined __x86_64__
    return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)c->uc_mcontext.pc;
#else
#error "where a context keeps the program counter is not known here"
#endif
}

/* A frame of the shared object that a frame of ours called is the hook's. */
struct suspect_call suspects_call(void *const *frames, int count, const void *context)
{
    struct suspect_call call = {0};
    uintptr_t place = interrupted(context);
    for (int i = 0; i < count; i++) {
        /* All others are where calls return to: after a call of abort that is the next function. The place itself may
         * be a function's first instruction. */
        uintptr_t code = (uintptr_t)frames[i] - ((uintptr_t)frames[i] != place);
        if (is_suspect(code)) {
            call = (struct suspect_call){.code = code, .outer = count - i};
        } else if (call.code) {
            call.caller = code;
            break;
        }
    }
    return call;
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

uint32_t suspects_find(const struct gpu_options *o)
{
    suspect_count = 0;
    suspect(&o->policies.scheduler, POLICY_SCHEDULER);
    suspect(&o->policies.l1, POLICY_L1);
    suspect(&o->policies.divergence, POLICY_DIVERGENCE);
    for (uint32_t i = 0; i < o->policies.probe_count; i++)
        suspect(&o->policies.probes[i], POLICY_PROBE);
    return suspect_count;
}
