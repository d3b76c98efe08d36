/* Finds the hook of a policy that an address of code belongs to. Functions of a C file follow one another, so it is the
 * last hook that begins before the address. A function that a hook calls counts as the hook before it in the file,
 * unless the caller looks up the frame of the hook itself. */
#include "policy/hooks.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct hook {
    const char *name;
    size_t offset;
};

/* The common part is the first member of all kinds. */
static const struct hook common[] = {
#define HOOK(name)       {#name, offsetof(struct heddle_policy, name)},
#define EVENT(name, ...) {"on." #name, offsetof(struct heddle_policy, on.name)},
    HOOK(init) HOOK(finish) HEDDLE_EVENTS(EVENT){0},
#undef HOOK
};
static_assert(sizeof common / sizeof *common == 3 + sizeof(struct heddle_events) / sizeof(void (*)(void)),
              "HEDDLE_EVENTS has one row for each member of struct heddle_events");
static const struct hook of_scheduler[] = {
#define HOOK(name)                                     \
    {                                                  \
#name, offsetof(struct heddle_scheduler, name) \
    }
    HOOK(pick), HOOK(hold_loads), HOOK(hold), HOOK(steady_until), HOOK(chosen), {0},
#undef HOOK
};
static const struct hook of_l1[] = {
#define HOOK(name)                              \
    {                                           \
#name, offsetof(struct heddle_l1, name) \
    }
    HOOK(victim), HOOK(inserted), HOOK(touched), HOOK(removed), HOOK(bypass), HOOK(store), {0},
#undef HOOK
};
static const struct hook of_divergence[] = {
#define HOOK(name)                                      \
    {                                                   \
#name, offsetof(struct heddle_divergence, name) \
    }
    HOOK(services), HOOK(block_start), HOOK(block_end), HOOK(split), HOOK(arrived), HOOK(exited), HOOK(lane), {0},
#undef HOOK
};
static const struct hook of_probe[] = {
#define HOOK(name)                                 \
    {                                              \
#name, offsetof(struct heddle_probe, name) \
    }
    HOOK(blocks.branch), HOOK(blocks.ran), HOOK(blocks.left), HOOK(blocks.write), HOOK(write), {0},
#undef HOOK
};
static const struct hook *const of_kind[POLICY_KINDS] = {of_scheduler, of_l1, of_divergence, of_probe};

static const char *last_before(const struct hook *hooks, const struct heddle_policy *p, uintptr_t code,
                               uintptr_t *begin)
{
    const char *found = NULL;
    for (const struct hook *h = hooks; h->name; h++) {
        uintptr_t at;
        memcpy(&at, (const char *)p + h->offset, sizeof at);
        if (at && at >= *begin && at <= code) {
            found = h->name;
            *begin = at;
        }
    }
    return found;
}

const char *policy_hook_at(enum policy_kind kind, const struct heddle_policy *p, uintptr_t code, uintptr_t *begin)
{
    const char *shared = last_before(common, p, code, begin), *own = last_before(of_kind[kind], p, code, begin);
    return own ? own : shared;
}
