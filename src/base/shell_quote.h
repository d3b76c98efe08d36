/* Words of a command as they are written for a shell. */
#ifndef HEDDLE_BASE_SHELL_QUOTE_H
#define HEDDLE_BASE_SHELL_QUOTE_H

#include "base/arena.h"

/* A word as a shell reads it: as it is, or in single quotes. */
const char *shell_quote(const char *word, struct arena *a);

#endif
