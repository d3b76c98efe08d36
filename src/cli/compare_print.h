/* A comparison as a person reads it. */
#ifndef HEDDLE_CLI_COMPARE_PRINT_H
#define HEDDLE_CLI_COMPARE_PRINT_H

#include "compare/compare.h"

#include <stdio.h>

void compare_print(const struct comparison *c, FILE *to);

#endif
