/* What the subcommands share. */
#ifndef HEDDLE_CLI_CLI_H
#define HEDDLE_CLI_CLI_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,      /* the program ran and reported failure */
    CLI_USAGE = 2,
    CLI_UNSUPPORTED = 3,
    CLI_STUCK = 4,       /* deadlock, limit, interrupt */
    CLI_ILLEGAL = 5,     /* the kernel did something illegal */
};

/* One subcommand; argv[0] is its name. */
typedef int cli_command(int argc, char **argv);
cli_command cli_run, cli_inspect, cli_list, cli_doctor, cli_demo;

/* "heddle COMMAND: MESSAGE", a pointer to --help; returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "heddle: ERROR" on stderr; returns the exit code for its kind. */
int cli_fail(const struct error *e);
int cli_exit_of(enum error_kind kind);
/* The unknown option that getopt_long has just met, with the nearest known one; returns CLI_USAGE. */
struct option;
int cli_unknown_option(const char *command, const char *word, const struct option *known);

/* Where things are, seen from the executable: the same in a build folder and where make install puts them. */
struct cli_places {
    char lib[PATH_MAX], workloads[PATH_MAX], machines[PATH_MAX];
};
bool cli_find_places(struct cli_places *p, struct error *e);

/* The names in a folder (without suffix, and only those that end with it), sorted; freed by cli_free_names. */
struct cli_names {
    char **names;
    size_t count;
};
struct cli_names cli_names_in(const char *folder, const char *suffix);
void cli_free_names(struct cli_names *n);

/* "12,345,678" into out. */
const char *cli_grouped(unsigned long long number, char *out, size_t size);
/* Whether a stream can show UTF-8 block characters. */
bool cli_utf8(void);

/* One line on a terminal's stderr that is rewritten; nothing off a terminal. */
void cli_progress(unsigned done, unsigned of, const char *what);
void cli_progress_end(void);

#endif
