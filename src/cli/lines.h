/* heddle run --lines: the table of source lines after a run. */
#ifndef HEDDLE_CLI_LINES_H
#define HEDDLE_CLI_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LINES_DEFAULT = 20 };

struct lines_request {
    bool wanted;
    uint32_t most; /* lines shown */
    bool what_if;
    const char *sort; /* as a person wrote it; NULL: by cycles waited */
};
/* --lines[=N|all]. False: it is neither. */
bool lines_read_count(const char *text, uint32_t *most);
/* Whether a run may have such a column: those of policies are known only afterwards. */
bool lines_may_sort_by(const char *word);
/* trace: the file of the run's L1D accesses, for what_if; NULL: there is none. program: its path, near which source
 * files are looked for. False: they cannot be sorted so; why is on stderr. */
bool lines_print(const struct lines_request *r, const char *program, const char *trace, const json_t *results,
                 FILE *to);

#endif
