/* A file that is there whole or not at all: it is written as PATH.PROCESS.part, and gets its name when it is finished.
 * A pipe, a device, or a file in a folder that cannot be written to is written in place. */
#ifndef HEDDLE_BASE_WHOLE_FILE_H
#define HEDDLE_BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
    FILE *file;        /* NULL means closed */
    char *path, *part; /* part NULL means written in place */
};

/* False: errno says why, and there is nothing to close. */
bool whole_file_open(struct whole_file *w, const char *path);
/* Closes the file, and gives it its name if all writes went well. False: the part is removed (a file written in place
 * stays as it is), and errno says why; where the caller's own writes failed, errno is as they left it. */
bool whole_file_close(struct whole_file *w);
/* Removes a file that was made to see whether it can be made, if nothing was written to it. */
void whole_file_remove_empty(const char *path);
/* Closes the file and removes the part: it gets no name. */
void whole_file_discard(struct whole_file *w);

#endif
