/* What the subcommands share. */
#ifndef HEDDLE_CLI_CLI_H
#define HEDDLE_CLI_CLI_H

#include "base/exit_code.h"
#include "program/places.h"

#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* One subcommand; argv[0] is its name. */
typedef int cli_command(int argc, char **argv);
cli_command cli_run, cli_inspect, cli_list, cli_doctor, cli_demo, cli_sweep, cli_task, cli_report, cli_repro, cli_cache,
    cli_machine, cli_compare, cli_schedule, cli_robust, cli_correlate;

/* run.c: a run whose results another command wants: with --stats -, they go to *results and not to standard output. */
int cli_run_for(int argc, char **argv, json_t **results);
extern const struct option cli_run_options[];
#define CLI_RUN_LETTERS "+:m:s:p:j:h"

/* "heddle COMMAND: MESSAGE", a pointer to --help; returns EXIT_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "heddle: ERROR" on stderr; returns the exit code for its kind. */
int cli_fail(const struct error *e);
/* The unknown option that getopt_long has just met, with the nearest known one; returns EXIT_USAGE. */
int cli_unknown_option(const char *command, const char *word, const struct option *known);

/* "12,345,678" into out. */
const char *cli_grouped(unsigned long long number, char *out, size_t size);
/* Whether a stream can show UTF-8 block characters. */
bool cli_utf8(void);

/* The width of the terminal that a descriptor is, or `otherwise` where it is none. */
int cli_columns(int fd, int otherwise);

/* One line on a terminal's stderr that is rewritten; nothing off a terminal. */
void cli_progress(unsigned done, unsigned of, const char *what);
void cli_progress_end(void);

#endif
