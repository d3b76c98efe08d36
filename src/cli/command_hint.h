/* Proposals for a command that is not there. */
#ifndef HEDDLE_CLI_COMMAND_HINT_H
#define HEDDLE_CLI_COMMAND_HINT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes "'run bfs'", or "'repro' or 'report'". names: the commands that people may use. False: there is none. */
bool command_hint(const char *word, const char *const *names, size_t count, char *out, size_t size);

#endif
