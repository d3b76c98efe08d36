/* Temporary files. */
#ifndef HEDDLE_BASE_TEMPORARY_H
#define HEDDLE_BASE_TEMPORARY_H

#include "base/error.h"

#include <limits.h>

/* Makes a file in $TMPDIR, else in /tmp, whose name begins with heddle-NAME and ends with the suffix. Returns its
 * descriptor, or -1 with an error. The caller closes and removes the file. */
int temporary_file(char path[PATH_MAX], const char *name, const char *suffix, struct error *e);

#endif
