/* A file that is there whole or not at all: written as PATH.PROCESS.part, and given its name when it is finished. What
 * is no plain file (a pipe, a device), or lies in a folder that cannot be written to, is written in place. */
#ifndef HEDDLE_BASE_WHOLE_FILE_H
#define HEDDLE_BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
    FILE *file;        /* NULL: closed */
    char *path, *part; /* part NULL: written in place */
};

/* False: errno says why, and there is nothing to close. */
bool whole_file_open(struct whole_file *w, const char *path);
/* Gives it its name if all went well. False: nothing is left of it, and of a file written in place what there is. errno
 * says why: where the caller's own writes failed, it is still as they left it. */
bool whole_file_close(struct whole_file *w);
/* What was made to see whether it can be is taken away again, if nothing was written to it. */
void whole_file_remove_empty(const char *path);
/* Closes it without a name. */
void whole_file_discard(struct whole_file *w);

#endif
