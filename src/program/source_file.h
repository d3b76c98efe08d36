/* The source files that a program's kernels were compiled from, as PTX names them (.file): found, and read line by
 * line. */
#ifndef HEDDLE_PROGRAM_SOURCE_FILE_H
#define HEDDLE_PROGRAM_SOURCE_FILE_H

#include "base/arena.h"
#include "base/strmap.h"

#include <stdint.h>

struct source_files {
    const char *program; /* its path; NULL: not known */
    struct arena arena;
    struct strmap found; /* by name; the value is a struct source_file */
};

/* Line `number`, from 1, of the file, without blanks around it. NULL: the file is not found, or has no such line. A
 * file is looked for under its name as it is, from the folder of the program and each folder above that, and beside the
 * program and in the current folder by the last part of its name. */
const char *source_files_line(struct source_files *s, const char *name, uint32_t number);
void source_files_free(struct source_files *s);

#endif
