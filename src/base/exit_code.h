/* The exit codes of heddle: a contract (docs/quick-start.md). */
#ifndef HEDDLE_BASE_EXIT_CODE_H
#define HEDDLE_BASE_EXIT_CODE_H

#include "base/error.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* the program ran and reported failure */
    EXIT_USAGE = 2,
    EXIT_UNSUPPORTED = 3,
    EXIT_STUCK = 4,   /* deadlock, limit, interrupt */
    EXIT_ILLEGAL = 5, /* the kernel did something illegal */
};

int exit_code_of(enum error_kind kind);

#endif
