/* What `heddle schedule` found, as text. */
#ifndef HEDDLE_CLI_SCHEDULE_PRINT_H
#define HEDDLE_CLI_SCHEDULE_PRINT_H

#include "schedule/difference.h"

#include <stdio.h>

void schedule_print(const struct difference *d, struct order_file *const files[2], const char *const names[2],
                    FILE *to);

#endif
