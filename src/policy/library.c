/* Policies from shared objects: one symbol, heddle_policy_entry. All that can be known before a run is reported here,
 * so that a mistake in a user's file is a message and not a crash. */
#include "policy/choose.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const export_macros[POLICY_KINDS] = {"HEDDLE_EXPORT_SCHEDULER", "HEDDLE_EXPORT_L1",
                                                        "HEDDLE_EXPORT_DIVERGENCE", "HEDDLE_EXPORT_PROBE"};

static bool is_name(const char *name)
{
    return name && *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static bool wrong_version(const struct source *spec, uint32_t abi, struct error *e)
{
    return error_at(e, ERROR_INVALID, spec, 1, 1,
                    "made for version %u of the policy interface, this Heddle has version %u; compile it again with "
                    "this Heddle's heddle/policy.h",
                    abi, HEDDLE_POLICY_ABI);
}

static const struct heddle_policy *member_of(const struct heddle_policy_entry *entry, enum policy_kind kind)
{
    switch (kind) {
    case POLICY_SCHEDULER: return entry->scheduler ? &entry->scheduler->policy : NULL;
    case POLICY_L1: return entry->l1 ? &entry->l1->policy : NULL;
    case POLICY_DIVERGENCE: return entry->divergence ? &entry->divergence->policy : NULL;
    default: return entry->probe ? &entry->probe->policy : NULL;
    }
}

/* Finds the policy of the asked kind in the library, or reports an error. */
static const struct heddle_policy *policy_of(const struct heddle_policy_entry *entry, enum policy_kind kind,
                                             const struct source *spec, struct error *e)
{
    const struct heddle_policy *found = member_of(entry, kind);
    const char *option = NULL;
    char held[128] = "";
    if (found)
        return found;
    for (int other = 0; other < POLICY_KINDS; other++)
        if (member_of(entry, (enum policy_kind)other)) {
            snprintf(held + strlen(held), sizeof held - strlen(held), "%s%s", option ? " and " : "",
                     policy_kind_words[other].one);
            option = option ? "-p" : policy_kind_words[other].option;
        }
    if (option)
        error_at(e, ERROR_INVALID, spec, 1, 1, "holds %s, not %s; it goes after %s", held, policy_kind_words[kind].one,
                 option);
    else
        error_at(e, ERROR_INVALID, spec, 1, 1, "its heddle_policy_entry names no policy; use %s", export_macros[kind]);
    return NULL;
}

/* The first of a table's counters that cannot be counted as declared, or NULL. */
static const struct heddle_counter *wrong_counter(const struct heddle_counter *table, bool of_instructions)
{
    for (const struct heddle_counter *c = table; c && c->name; c++) {
        bool fits = c->kind == HEDDLE_HISTOGRAM ? !of_instructions && c->buckets >= 1 && c->buckets <= HEDDLE_BUCKETS
                                                : c->kind == HEDDLE_SUM || c->kind == HEDDLE_MAXIMUM;
        if (!fits)
            return c;
    }
    return NULL;
}

static bool has_counters(const struct heddle_policy *p, const struct source *spec, struct error *e)
{
    const struct heddle_counter *wrong = wrong_counter(p->counters, false);
    if (wrong)
        return error_at(e, ERROR_INVALID, spec, 1, 1,
                        "counter '%s' of %s is neither a sum, a maximum nor a histogram of 1 to %d buckets",
                        wrong->name, p->name, HEDDLE_BUCKETS);
    wrong = wrong_counter(p->instructions, true);
    if (wrong)
        return error_at(e, ERROR_INVALID, spec, 1, 1,
                        "counter '%s' of the instructions of %s is neither a sum nor a maximum", wrong->name, p->name);
    return true;
}

static bool is_complete(const struct heddle_policy_entry *entry, enum policy_kind kind, const struct heddle_policy *p,
                        const struct source *spec, struct error *e)
{
    if (p->abi != HEDDLE_POLICY_ABI)
        return p->abi ? wrong_version(spec, p->abi, e)
                      : error_at(e, ERROR_INVALID, spec, 1, 1, "policy.abi is not set; write .abi = HEDDLE_POLICY_ABI");
    if (!is_name(p->name))
        return error_at(e, ERROR_INVALID, spec, 1, 1,
                        "its policy.name is not a name; lower-case letters, digits and '-' were expected");
    if (kind == POLICY_SCHEDULER && !entry->scheduler->pick)
        return error_at(e, ERROR_INVALID, spec, 1, 1, "scheduler '%s' has no pick", p->name);
    if (policy_param_count(p) > POLICY_VALUES)
        return error_at(e, ERROR_INVALID, spec, 1, 1, "%s '%s' has %u parameters; at most %d are possible",
                        policy_kind_words[kind].name, p->name, policy_param_count(p), POLICY_VALUES);
    return has_counters(p, spec, e);
}

/* Finds what the library at the start of the spec exports. macro: the line with which its file should have ended. */
static const struct heddle_policy_entry *open_library(void **library, const struct source *spec, size_t length,
                                                      const char *macro, struct error *e)
{
    char path[PATH_MAX];
    /* Without a slash dlopen would search the system's folders. */
    const char *here = memchr(spec->text, '/', length) ? "" : "./";
    if (snprintf(path, sizeof path, "%s%.*s", here, (int)length, spec->text) >= (int)sizeof path) {
        error_at(e, ERROR_INVALID, spec, 1, 1, "path too long");
        return NULL;
    }
    if (access(path, F_OK)) {
        error_at(e, ERROR_NOT_FOUND, spec, 1, 1, "no file '%s'", path);
        return NULL;
    }
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        const char *why = dlerror();
        error_at(e, ERROR_INVALID, spec, 1, 1, "cannot be loaded: %s", why ? why : "unknown reason");
        return NULL;
    }
    const struct heddle_policy_entry *entry = dlsym(*library, "heddle_policy_entry");
    if (!entry)
        error_at(e, ERROR_INVALID, spec, 1, 1, "no symbol heddle_policy_entry in it; end the file with %s(...)", macro);
    else if (entry->abi != HEDDLE_POLICY_ABI)
        wrong_version(spec, entry->abi, e);
    else
        return entry;
    return NULL;
}

bool policy_load(struct policy_choice *choice, enum policy_kind kind, const struct source *spec, size_t length,
                 struct error *e)
{
    const struct heddle_policy_entry *entry = open_library(&choice->library, spec, length, export_macros[kind], e);
    const struct heddle_policy *p = entry ? policy_of(entry, kind, spec, e) : NULL;
    if (!p || !is_complete(entry, kind, p, spec, e))
        return false;
    policy_choice_set(choice, kind, p);
    return true;
}

bool policy_library_kinds(const struct source *spec, size_t length, uint32_t *kinds, struct error *e)
{
    static const char macro[] = "HEDDLE_EXPORT_BUNDLE";
    void *library = NULL;
    const struct heddle_policy_entry *entry = open_library(&library, spec, length, macro, e);
    *kinds = 0;
    for (int kind = 0; entry && kind < POLICY_KINDS; kind++)
        if (member_of(entry, (enum policy_kind)kind))
            *kinds |= UINT32_C(1) << kind;
    if (entry && !*kinds)
        error_at(e, ERROR_INVALID, spec, 1, 1, "its heddle_policy_entry names no policy; use %s", macro);
    if (library)
        dlclose(library);
    return *kinds != 0;
}
