/* Where things are, seen from the executable: the same in a build folder and where make install puts them. */
#ifndef HEDDLE_PROGRAM_PLACES_H
#define HEDDLE_PROGRAM_PLACES_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct places {
    char heddle[PATH_MAX]; /* the executable itself */
    char lib[PATH_MAX], workloads[PATH_MAX], machines[PATH_MAX], experiments[PATH_MAX];
    char own_machines[PATH_MAX]; /* $HEDDLE_MACHINES, which comes before `machines`; empty: none */
};
bool places_find(struct places *p, struct error *e);
/* EXPERIMENT as a person writes it: the name of one in experiments/, or the path of a file. */
bool places_experiment(const struct places *p, const char *word, char path[PATH_MAX], struct error *e);

/* The names in a folder (without suffix, and only those that end with it), sorted; freed by names_free. */
struct names {
    char **names;
    size_t count;
};
struct names names_in(const char *folder, const char *suffix);
void names_free(struct names *n);
/* The names of all machines that machine_load finds. */
struct names places_machine_names(const struct places *p);

#endif
