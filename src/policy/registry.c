/* The built-in policies (policies.def), by kind, and how one is chosen by its spec. Shared objects: library.c;
 * parameters: params.c; bundles: bundle.c. */
#include "policy/registry.h"

#include "policy/choose.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDULER(name)  extern const struct heddle_scheduler scheduler_##name;
#define L1(name)         extern const struct heddle_l1 l1_##name;
#define DIVERGENCE(name) extern const struct heddle_divergence divergence_##name;
#define PROBE(name)      extern const struct heddle_probe probe_##name;
#include "policy/policies.def"

#define SCHEDULER(name) &scheduler_##name,
#define L1(name)
#define DIVERGENCE(name)
#define PROBE(name)
const struct heddle_scheduler *const policy_schedulers[] = {
#include "policy/policies.def"
    NULL};

#define SCHEDULER(name)
#define L1(name) &l1_##name,
#define DIVERGENCE(name)
#define PROBE(name)
const struct heddle_l1 *const policy_l1s[] = {
#include "policy/policies.def"
    NULL};

#define SCHEDULER(name)
#define L1(name)
#define DIVERGENCE(name) &divergence_##name,
#define PROBE(name)
const struct heddle_divergence *const policy_divergences[] = {
#include "policy/policies.def"
    NULL};

#define SCHEDULER(name)
#define L1(name)
#define DIVERGENCE(name)
#define PROBE(name) &probe_##name,
const struct heddle_probe *const policy_probes[] = {
#include "policy/policies.def"
    NULL};

const struct policy_kind_words policy_kind_words[POLICY_KINDS] = {
    [POLICY_SCHEDULER] = {"-s", "scheduler", "a scheduler"},
    [POLICY_L1] = {"--l1", "L1 policy", "an L1 policy"},
    [POLICY_DIVERGENCE] = {"--divergence", "divergence unit", "a divergence unit"},
    [POLICY_PROBE] = {"--probe", "probe", "a probe"},
};

/* The common part is the first member of all four. */
const struct heddle_policy *policy_builtin(enum policy_kind kind, size_t number)
{
    switch (kind) {
    case POLICY_SCHEDULER: return (const void *)policy_schedulers[number];
    case POLICY_L1: return (const void *)policy_l1s[number];
    case POLICY_DIVERGENCE: return (const void *)policy_divergences[number];
    default: return (const void *)policy_probes[number];
    }
}

uint32_t policy_param_count(const struct heddle_policy *p)
{
    uint32_t count = 0;
    while (p->params && p->params[count].name)
        count++;
    return count;
}

uint32_t policy_counter_count(const struct heddle_policy *p)
{
    uint32_t count = 0;
    while (p->counters && p->counters[count].name)
        count++;
    return count;
}

void policy_choice_set(struct policy_choice *choice, enum policy_kind kind, const struct heddle_policy *p)
{
    choice->policy = p;
    if (kind == POLICY_SCHEDULER)
        choice->scheduler = (const struct heddle_scheduler *)p;
    else if (kind == POLICY_L1)
        choice->l1 = (const struct heddle_l1 *)p;
    else if (kind == POLICY_DIVERGENCE)
        choice->divergence = (const struct heddle_divergence *)p;
    else
        choice->probe = (const struct heddle_probe *)p;
}

const struct heddle_policy *policy_find_builtin(enum policy_kind kind, const char *name, size_t length)
{
    const struct heddle_policy *p;
    for (size_t i = 0; (p = policy_builtin(kind, i)); i++)
        if (strlen(p->name) == length && !memcmp(p->name, name, length))
            return p;
    return NULL;
}

static bool no_such_policy(enum policy_kind kind, const struct source *s, size_t length, struct error *e)
{
    const struct policy_kind_words *words = &policy_kind_words[kind];
    char name[64];
    const char *names[64];
    size_t count = 0;
    memcpy(name, s->text, length < 63 ? length : 63);
    name[length < 63 ? length : 63] = '\0';
    for (int other = 0; other < POLICY_KINDS; other++)
        if (policy_find_builtin((enum policy_kind)other, s->text, length))
            return error_at(e, ERROR_NOT_FOUND, s, 1, 1, "'%s' is %s, not %s; it goes after %s", name,
                            policy_kind_words[other].one, words->one, policy_kind_words[other].option);
    if (policy_bundle_find(policy_bundles, s->text, length))
        return error_at(e, ERROR_NOT_FOUND, s, 1, 1, "'%s' is a bundle, not %s; it goes after -p", name, words->one);
    for (const struct heddle_policy *p; count < 64 && (p = policy_builtin(kind, count)); count++)
        names[count] = p->name;
    const char *near = nearest_name(name, names, count);
    error_at(e, ERROR_NOT_FOUND, s, 1, 1, "no %s '%s'%s%s%s", words->name, name, near ? "; did you mean '" : "",
             near ? near : "", near ? "'?" : "");
    char known[512] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", names[i]);
    error_note(e, "known:%s; or the path of a shared object", known);
    return false;
}

bool policy_is_path(const char *spec, size_t length)
{
    return memchr(spec, '/', length) || (length > 3 && !memcmp(spec + length - 3, ".so", 3));
}

/* A name or a path ends before the first colon; the folders of a path to a .so may have colons in their names. */
size_t policy_name_length(const char *spec)
{
    size_t first = strcspn(spec, ":");
    if (!memchr(spec, '/', first))
        return first;
    for (const char *at = spec; (at = strstr(at, ".so")); at++)
        if (at[3] == ':' || !at[3])
            return (size_t)(at + 3 - spec);
    return first;
}

static bool choose(struct policy_choice *choice, enum policy_kind kind, const char *spec, struct error *e)
{
    struct source s = {policy_kind_words[kind].option, spec, strlen(spec)};
    size_t length = policy_name_length(spec);
    if (!length)
        return error_at(e, ERROR_INVALID, &s, 1, 1, "the name of %s was expected", policy_kind_words[kind].one);
    if (policy_is_path(spec, length)) {
        if (!policy_load(choice, kind, &s, length, e))
            return false;
    } else {
        const struct heddle_policy *p = policy_find_builtin(kind, spec, length);
        if (!p)
            return no_such_policy(kind, &s, length, e);
        policy_choice_set(choice, kind, p);
    }
    return policy_read_params(choice, &s, length, e);
}

bool policy_choose(struct policy_choice *choice, enum policy_kind kind, const char *spec, struct error *e)
{
    memset(choice, 0, sizeof *choice);
    if (choose(choice, kind, spec, e))
        return true;
    policy_release(choice);
    return false;
}

void policy_release(struct policy_choice *choice)
{
    free(choice->texts);
    if (choice->library)
        dlclose(choice->library);
    memset(choice, 0, sizeof *choice);
}
