/* Options of `heddle run` that stand after the program's name. */
#ifndef HEDDLE_CLI_MISPLACED_H
#define HEDDLE_CLI_MISPLACED_H

struct option;

struct misplaced_options {
    const struct option *table; /* as for getopt_long */
    const char *letters;
};

/* The first word that is one of these options; -1: none. Those that workloads have as well are not looked for. */
int misplaced_find(char **words, int count, const struct misplaced_options *known);
/* Says so, with the command in the right order; returns EXIT_USAGE. argv[program]: its name. */
int misplaced_say(char **argv, int program, int argc, const struct misplaced_options *known);

#endif
