/* Runs a program for a person who watches it: signals reach it, and it does not outlive the one who started it. */
#ifndef HEDDLE_SWEEP_KEEPER_H
#define HEDDLE_SWEEP_KEEPER_H

#include "base/error.h"

#include <stdbool.h>

struct keeper_program {
    void (*become)(void *context);    /* in the new process, which is to be the program; does not return */
    void (*started)(void *context);   /* in each of the other processes, once the program's exists */
    void (*abandoned)(void *context); /* after its end, where nobody waits for it any more */
    void *context;
};

/* Returns when the program has ended, with its status as waitpid gives it. */
bool keeper_run(const struct keeper_program *p, int *status, struct error *e);

#endif
