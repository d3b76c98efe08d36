/* Two runs on one command line: options of `heddle run`, of which one is given twice ('-s lrr -s gto PROGRAM'). */
#ifndef HEDDLE_CLI_TWO_RUNS_H
#define HEDDLE_CLI_TWO_RUNS_H

#include "cli/cli.h"

enum { TWO_RUNS_OPTIONS = 200, TWO_RUNS_KNOWN = 80 };

struct two_runs_option {
    const struct option *option; /* NULL: a letter without a long name */
    int letter;
    char *value; /* NULL: it takes none */
};

struct two_runs {
    struct two_runs_option given[TWO_RUNS_OPTIONS];
    int given_count;
    int pair[2]; /* of `given`: the two values to compare; -1: there is none */
};

/* Options of the command itself and those of `heddle run`, as one table for getopt_long. */
void two_runs_known(const struct option *own, struct option all[TWO_RUNS_KNOWN]);
/* One of `heddle run`, as getopt_long has just met it. Returns -1 to go on, else the exit code. */
int two_runs_take(struct two_runs *t, const char *command, int letter, const struct option *known);
/* Which one is given twice. Returns -1 to go on, also where none is, else the exit code. */
int two_runs_find(struct two_runs *t, const char *command);
const char *two_runs_value(const struct two_runs *t, int which);
bool two_runs_quiet(const struct two_runs *t);
/* Says on standard error which run it is, and returns the words of `heddle run` for it; `more`: options that it gets as
 * well, NULL after the last; rest: the program and its arguments. To be freed by two_runs_free. */
char **two_runs_words(const struct two_runs *t, int which, const char *const *more, char **rest, int rest_count,
                      int *count);
void two_runs_free(char **words, int count);

#endif
