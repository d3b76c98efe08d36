/* Resolves bundles: finds the members, hands out the parameters, and checks all of it, with the place of a mistake in
 * the text after -p. A new bundle is one row of the table. */
#include "policy/bundle.h"

#include "policy/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct policy_bundle policy_bundles[] = {
    {.name = "cawa",
     .help = "critical warps first, and ways of the L1 data cache for their lines (Lee et al., ISCA 2015)",
     .scheduler = "gcaws",
     .l1 = "cacp"},
    {0},
};

enum { BUNDLE_KEYS = POLICY_KINDS * POLICY_VALUES };

/* A bundle while it is resolved. */
struct resolution {
    struct source source;            /* the text after -p */
    size_t name_length;              /* of the name or path in it */
    struct policy_choice *members;   /* by kind; policy NULL means none */
    const char *heads[POLICY_KINDS]; /* the beginning of each member's spec */
    char path[POLICY_SPEC_BYTES];
};

const char *policy_bundle_member(const struct policy_bundle *b, enum policy_kind kind)
{
    const char *const members[POLICY_KINDS] = {b->scheduler, b->l1, b->divergence, b->probe};
    return members[kind];
}

const struct policy_bundle *policy_bundle_find(const struct policy_bundle *table, const char *name, size_t length)
{
    for (; table->name; table++)
        if (strlen(table->name) == length && !memcmp(table->name, name, length))
            return table;
    return NULL;
}

/* ------------------------------------------------------------- members */

static bool no_such_bundle(const struct resolution *r, const struct policy_bundle *table, struct error *e)
{
    char name[64], known[512] = "";
    const char *names[64];
    size_t count = 0;
    snprintf(name, sizeof name, "%.*s", (int)(r->name_length < 63 ? r->name_length : 63), r->source.text);
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        if (policy_find_builtin((enum policy_kind)kind, r->source.text, r->name_length))
            return error_at(e, ERROR_NOT_FOUND, &r->source, 1, 1, "'%s' is %s, not a bundle; it goes after %s", name,
                            policy_kind_words[kind].one, policy_kind_words[kind].option);
    for (; count < 64 && table[count].name; count++) {
        names[count] = table[count].name;
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", names[count]);
    }
    const char *near = nearest_name(name, names, count);
    error_at(e, ERROR_NOT_FOUND, &r->source, 1, 1, "no bundle '%s'%s%s%s", name, near ? "; did you mean '" : "",
             near ? near : "", near ? "'?" : "");
    error_note(e, "known:%s; or the path of a shared object", count ? known : " none");
    return false;
}

/* A built-in bundle's members may have parameters of their own in the table. */
static bool find_members(struct resolution *r, const struct policy_bundle *b, struct error *e)
{
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        r->heads[kind] = policy_bundle_member(b, (enum policy_kind)kind);
        if (r->heads[kind] && !policy_choose(&r->members[kind], (enum policy_kind)kind, r->heads[kind], e))
            return false;
    }
    return true;
}

static bool load_members(struct resolution *r, struct error *e)
{
    uint32_t kinds;
    if (!policy_library_kinds(&r->source, r->name_length, &kinds, e))
        return false;
    snprintf(r->path, sizeof r->path, "%.*s", (int)r->name_length, r->source.text);
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        if (!(kinds >> kind & 1))
            continue;
        r->heads[kind] = r->path;
        if (!policy_load(&r->members[kind], (enum policy_kind)kind, &r->source, r->name_length, e))
            return false;
    }
    return true;
}

/* Counters stand in the results under the names of their policies. */
static bool has_names_of_its_own(const struct resolution *r, struct error *e)
{
    for (int kind = 1; kind < POLICY_KINDS; kind++)
        for (int other = 0; other < kind; other++) {
            const struct heddle_policy *a = r->members[kind].policy, *b = r->members[other].policy;
            if (a && b && !strcmp(a->name, b->name))
                return error_at(e, ERROR_INVALID, &r->source, 1, 1,
                                "its %s and its %s have the same name, '%s'; results go by names",
                                policy_kind_words[other].name, policy_kind_words[kind].name, a->name);
        }
    return true;
}

/* ------------------------------------------------------------- parameters */

/* A `key=value` after the name, and the key's length. */
struct pair {
    const char *text;
    size_t length, key_length;
};

/* Returns the pair at *at, and moves *at to the next one, or NULL. */
static struct pair next_pair(const char **at)
{
    struct pair p = {*at, strcspn(*at, ","), strcspn(*at, "=,")};
    *at = p.text[p.length] ? p.text + p.length + 1 : NULL;
    return p;
}

static bool has_key(const struct policy_choice *member, const struct pair *p)
{
    const struct heddle_param *params = member->policy ? member->policy->params : NULL;
    for (; params && params->name; params++)
        if (strlen(params->name) == p->key_length && !memcmp(params->name, p->text, p->key_length))
            return true;
    return false;
}

static bool unknown_key(const struct resolution *r, const struct pair *p, struct error *e)
{
    char key[64], known[512] = "";
    const char *names[BUNDLE_KEYS];
    size_t count = 0;
    int column = (int)(p->text - r->source.text) + 1, name = (int)r->name_length;
    snprintf(key, sizeof key, "%.*s", (int)(p->key_length < 63 ? p->key_length : 63), p->text);
    for (int kind = 0; kind < POLICY_KINDS; kind++) {
        const struct heddle_policy *policy = r->members[kind].policy;
        for (uint32_t i = 0; policy && i < policy_param_count(policy); i++, count++) {
            names[count] = policy->params[i].name;
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s", names[count]);
        }
    }
    if (!count)
        return error_at(e, ERROR_NOT_FOUND, &r->source, 1, column, "no policy of %.*s has parameters", name,
                        r->source.text);
    const char *near = nearest_name(key, names, count);
    error_at(e, ERROR_NOT_FOUND, &r->source, 1, column, "no policy of %.*s has a parameter '%s'%s%s%s", name,
             r->source.text, key, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    error_note(e, "known:%s", known);
    return false;
}

/* Every key must be one of a member's; its value is checked with each member that has it. */
static bool check_pairs(const struct resolution *r, struct error *e)
{
    const char *at = r->source.text + r->name_length;
    for (at = *at ? at + 1 : NULL; at;) {
        struct pair p = next_pair(&at);
        bool known = !p.key_length; /* an empty key is reported where it is read */
        for (int kind = 0; kind < POLICY_KINDS; kind++)
            known |= has_key(&r->members[kind], &p);
        if (!known)
            return unknown_key(r, &p, e);
    }
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        if (r->members[kind].policy && !policy_read_params_of_bundle(&r->members[kind], &r->source, r->name_length, e))
            return false;
    return true;
}

/* A key that is written after -p takes the place of the same key in the built-in table. */
static bool is_written(const struct resolution *r, const struct pair *p)
{
    const char *at = r->source.text + r->name_length;
    for (at = *at ? at + 1 : NULL; at;) {
        struct pair written = next_pair(&at);
        if (written.key_length == p->key_length && !memcmp(written.text, p->text, p->key_length))
            return true;
    }
    return false;
}

static bool write_spec(const struct resolution *r, int kind, char *out, struct error *e)
{
    const char *head = r->heads[kind];
    size_t head_length = policy_name_length(head);
    size_t used = (size_t)snprintf(out, POLICY_SPEC_BYTES, "%.*s", (int)head_length, head);
    const char *const lists[] = {head + head_length, r->source.text + r->name_length};
    char between = ':';
    for (int list = 0; list < 2; list++)
        for (const char *at = *lists[list] ? lists[list] + 1 : NULL; at;) {
            struct pair p = next_pair(&at);
            bool takes = list ? has_key(&r->members[kind], &p) : !is_written(r, &p);
            if (!takes || used >= POLICY_SPEC_BYTES)
                continue;
            used += (size_t)snprintf(out + used, POLICY_SPEC_BYTES - used, "%c%.*s", between, (int)p.length, p.text);
            between = ',';
        }
    if (used >= POLICY_SPEC_BYTES)
        return error_at(e, ERROR_INVALID, &r->source, 1, 1, "this is longer than %d characters", POLICY_SPEC_BYTES - 1);
    return true;
}

/* ------------------------------------------------------------- the whole */

static bool resolve(struct resolution *r, const struct policy_bundle *table, struct policy_specs *out, struct error *e)
{
    if (!r->name_length)
        return error_at(e, ERROR_INVALID, &r->source, 1, 1, "the name of a bundle was expected");
    if (policy_is_path(r->source.text, r->name_length)) {
        if (!load_members(r, e))
            return false;
    } else {
        const struct policy_bundle *b = policy_bundle_find(table, r->source.text, r->name_length);
        if (!b)
            return no_such_bundle(r, table, e);
        if (!find_members(r, b, e))
            return false;
    }
    if (!has_names_of_its_own(r, e) || !check_pairs(r, e))
        return false;
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        if (r->heads[kind] && !write_spec(r, kind, out->of[kind], e))
            return false;
    return true;
}

bool policy_bundle_resolve_in(struct policy_specs *out, const struct policy_bundle *table, const char *spec,
                              struct error *e)
{
    struct resolution r = {.source = {"-p", spec, strlen(spec)}, .name_length = policy_name_length(spec)};
    memset(out, 0, sizeof *out);
    r.members = calloc(POLICY_KINDS, sizeof *r.members);
    if (!r.members)
        return error_set(e, ERROR_NO_MEMORY, "no memory for a bundle");
    bool good = resolve(&r, table, out, e);
    for (int kind = 0; kind < POLICY_KINDS; kind++)
        policy_release(&r.members[kind]);
    free(r.members);
    return good;
}

bool policy_bundle_resolve(struct policy_specs *out, const char *spec, struct error *e)
{
    return policy_bundle_resolve_in(out, policy_bundles, spec, e);
}

bool policy_bundle_take(struct policy_specs *out, const char *spec, const char *const given[POLICY_KINDS],
                        struct error *e)
{
    struct source source = {"-p", spec, strlen(spec)};
    if (!policy_bundle_resolve(out, spec, e))
        return false;
    for (int kind = 0; kind < POLICY_PROBE; kind++)
        if (*out->of[kind] && given[kind] && *given[kind])
            return error_at(e, ERROR_INVALID, &source, 1, 1,
                            "this bundle has %s of its own; %s %s cannot be given as well", policy_kind_words[kind].one,
                            policy_kind_words[kind].option, given[kind]);
    return true;
}
