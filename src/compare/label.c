/* What two runs are called: by what differs between them. "lrr" and "gto" where only the scheduler does, "gtx480" and
 * "c2050 gto" where more does, "A" and "B" where nothing does. web/compare.js has the same rules. */
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

/* Whether a list of words has this one. */
static bool has_word(const char *list, const char *separators, const char *word, size_t length)
{
    while (*list) {
        size_t bytes = strcspn(list, separators);
        if (bytes == length && !memcmp(list, word, length))
            return true;
        list += bytes;
        list += strspn(list, separators);
    }
    return false;
}

/* The words of a list that the other does not have. */
static const char *own_words(struct arena *a, const char *list, const char *other, const char *separators)
{
    const char *all = "";
    while (*list) {
        size_t bytes = strcspn(list, separators);
        if (bytes && !has_word(other, separators, list, bytes))
            all = arena_printf(a, "%s%s%.*s", all, *all ? separators : "", (int)bytes, list);
        list += bytes;
        list += strspn(list, separators);
    }
    return all;
}

/* NAME[:key=value,...]: a path is its last part. */
static const char *spec_start(const char *spec)
{
    const char *colon = strchr(spec, ':'), *start = spec;
    for (const char *at = spec; *at && (!colon || at < colon); at++)
        if (*at == '/')
            start = at + 1;
    return start;
}

static const char *own_spec(struct arena *a, const char *spec, const char *other)
{
    spec = spec_start(spec);
    other = spec_start(other);
    size_t name = strcspn(spec, ":"), other_name = strcspn(other, ":");
    if (name != other_name || memcmp(spec, other, name))
        return arena_strndup(a, spec, name);
    const char *own = own_words(a, spec + name + (spec[name] == ':'), other + name + (other[name] == ':'), ",");
    return arena_printf(a, "%.*s%s%s", (int)name, spec, *own ? ":" : "", own);
}

/* Keys of the machine that differ, where --set made them differ: "l1d.ways=4". Two at most. */
static const char *own_keys(struct arena *a, const json_t *keys, const json_t *other, const char *path, int *found)
{
    const char *key, *all = "";
    json_t *value;
    json_object_foreach((json_t *)keys, key, value)
    {
        json_t *beside = json_object_get(other, key);
        bool policy = !*path && (!strcmp(key, "scheduler") || !strcmp(key, "l1") || !strcmp(key, "divergence"));
        if (*found >= 2 || policy || json_equal(value, beside)) /* policies are named below */
            continue;
        const char *name = arena_printf(a, "%s%s%s", path, *path ? "." : "", key), *more;
        if (json_is_object(value)) {
            more = own_keys(a, value, beside, name, found);
        } else {
            char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
            more = arena_printf(a, "%s=%s", name, json_is_string(value) ? json_string_value(value) : dumped);
            (*found)++;
            free(dumped);
        }
        all = arena_printf(a, "%s%s%s", all, *all && *more ? " " : "", more);
    }
    return all;
}

static const char *own_sets(struct arena *a, const struct compare_run *x, const struct compare_run *y)
{
    int found = 0;
    return x->machine_keys && y->machine_keys ? own_keys(a, x->machine_keys, y->machine_keys, "", &found)
                                              : own_words(a, x->sets, y->sets, " ");
}

static void add(struct arena *a, const char **label, const char *word)
{
    *label = arena_printf(a, "%s%s%s", *label, **label && *word ? " " : "", word);
}

static const char *label_of(struct arena *a, const struct compare_run *x, const struct compare_run *y)
{
    const char *label = "", *sets = own_sets(a, x, y);
    if (strcmp(x->program, y->program))
        add(a, &label, x->program);
    if (strcmp(x->arguments, y->arguments))
        add(a, &label, own_words(a, x->arguments, y->arguments, " "));
    if (strcmp(x->machine, y->machine))
        add(a, &label, x->machine);
    else if (*sets || *own_sets(a, y, x))
        add(a, &label, *sets ? sets : x->machine);
    if (strcmp(x->scheduler, y->scheduler))
        add(a, &label, own_spec(a, x->scheduler, y->scheduler));
    if (strcmp(x->l1, y->l1))
        add(a, &label, own_spec(a, x->l1, y->l1));
    if (strcmp(x->divergence, y->divergence))
        add(a, &label, own_spec(a, x->divergence, y->divergence));
    return label;
}

void compare_name(struct arena *a, struct comparison *c)
{
    struct compare_run *x = c->a, *y = c->b;
    x->label = label_of(a, x, y);
    y->label = label_of(a, y, x);
    if (!*x->label || !*y->label || !strcmp(x->label, y->label)) {
        x->label = "A";
        y->label = "B";
    }
    c->other_scheduler = strcmp(x->scheduler, y->scheduler) != 0;
    c->other_machine = strcmp(x->machine, y->machine) || *own_sets(a, x, y) || *own_sets(a, y, x);
}
