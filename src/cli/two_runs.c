/* Which option is given twice, and the words of the two runs: see two_runs.h. */
#include "cli/two_runs.h"

#include "base/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void two_runs_known(const struct option *own, struct option all[TWO_RUNS_KNOWN])
{
    int n = 0;
    for (; own->name; own++)
        all[n++] = *own;
    for (const struct option *o = cli_run_options; o->name && n < TWO_RUNS_KNOWN - 1; o++)
        all[n++] = *o;
    all[n] = (struct option){0};
}

int two_runs_take(struct two_runs *t, const char *command, int letter, const struct option *known)
{
    const struct option *o = known;
    if (t->given_count == TWO_RUNS_OPTIONS)
        return cli_usage(command, "too many options");
    while (o->name && o->val != letter)
        o++;
    t->given[t->given_count++] = (struct two_runs_option){
        .option = o->name ? o : NULL, .letter = letter, .value = o->name && !o->has_arg ? NULL : optarg};
    return -1;
}

static bool is_one_of(const struct two_runs_option *g, const char *const *names)
{
    for (; g->option && *names; names++)
        if (!strcmp(g->option->name, *names))
            return true;
    return false;
}

/* Options of which two values make two runs. */
static bool can_differ(const struct two_runs_option *g)
{
    return is_one_of(
        g, (const char *const[]){"scheduler", "machine", "l1", "divergence", "policies", "size", "set", NULL});
}

/* What belongs to one run alone, or has no time. */
static bool is_of_one_run(const struct two_runs_option *g)
{
    return is_one_of(g, (const char *const[]){"stats", "timeline", "timeline-cycles", "trace", "warps", "interval",
                                              "issue-order", "print-machine", "functional", "races", "lines", "what-if",
                                              "sort", NULL});
}

static bool same_kind(const struct two_runs_option *x, const struct two_runs_option *y)
{
    if (x->option != y->option || x->letter != y->letter || !x->value || !y->value)
        return false;
    size_t key = strcspn(x->value, "=");
    return strcmp(x->option ? x->option->name : "", "set") ||
           (key == strcspn(y->value, "=") && !strncmp(x->value, y->value, key));
}

int two_runs_find(struct two_runs *t, const char *command)
{
    t->pair[0] = t->pair[1] = -1;
    for (int i = 0; i < t->given_count; i++) {
        if (is_of_one_run(&t->given[i]))
            return cli_usage(command, "--%s is for 'heddle run'", t->given[i].option->name);
        for (int j = 0; j < i; j++) {
            if (!can_differ(&t->given[i]) || !same_kind(&t->given[i], &t->given[j]))
                continue;
            if (t->pair[0] >= 0)
                return cli_usage(command, "two runs at a time: one option is given twice, not more (here --%s)",
                                 t->given[i].option->name);
            t->pair[0] = j;
            t->pair[1] = i;
        }
    }
    return -1;
}

const char *two_runs_value(const struct two_runs *t, int which) { return t->given[t->pair[which]].value; }

bool two_runs_quiet(const struct two_runs *t)
{
    for (int i = 0; i < t->given_count; i++)
        if (is_one_of(&t->given[i], (const char *const[]){"quiet", NULL}))
            return true;
    return false;
}

static char *copy(const char *text)
{
    char *s = strdup(text);
    if (!s)
        out_of_memory();
    return s;
}

char **two_runs_words(const struct two_runs *t, int which, const char *const *more, char **rest, int rest_count,
                      int *count)
{
    int n = 0, more_count = 0;
    while (more[more_count])
        more_count++;
    char **words = calloc((size_t)(2 * t->given_count + more_count + rest_count + 2), sizeof *words);
    if (!words)
        out_of_memory();
    words[n++] = copy("run");
    for (int i = 0; i < t->given_count; i++) {
        const struct two_runs_option *g = &t->given[i];
        char *name = NULL;
        if (i == t->pair[!which])
            continue;
        if (g->option ? asprintf(&name, "--%s", g->option->name) < 0 : asprintf(&name, "-%c", g->letter) < 0)
            out_of_memory();
        words[n++] = name;
        if (g->value)
            words[n++] = copy(g->value);
    }
    for (int i = 0; i < more_count; i++)
        words[n++] = copy(more[i]);
    for (int i = 0; i < rest_count; i++)
        words[n++] = copy(rest[i]);
    *count = n;
    if (!two_runs_quiet(t))
        fprintf(stderr, "heddle: --%s %s\n", t->given[t->pair[which]].option->name, two_runs_value(t, which));
    return words;
}

void two_runs_free(char **words, int count)
{
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
}
