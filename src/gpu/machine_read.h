/* Reads a machine (its file, those that it is based on, and --set) into a struct machine and the places of its values.
 * Inside gpu/ only. */
#ifndef HEDDLE_GPU_MACHINE_READ_H
#define HEDDLE_GPU_MACHINE_READ_H

#include "gpu/machine_key.h"

#include <limits.h>

enum { MACHINE_KEYS_MOST = 256, MACHINE_FILES_MOST = 8, MACHINE_PATH_BYTES = PATH_MAX + 256 };

struct machine_file {
    struct source source; /* its name is path; the owner frees its text */
    char path[MACHINE_PATH_BYTES];
};

/* The line that is being read. */
struct machine_cursor {
    const struct source *source;
    uint32_t layer;       /* as in struct machine_place */
    uint32_t first_order; /* the number of values before this file's own */
    int line;
    const char *line_text; /* start of the line, for columns */
};

struct machine_reading {
    struct machine *machine;
    struct error *error;
    struct machine_place places[MACHINE_KEYS_MOST]; /* by key */
    struct machine_file files[MACHINE_FILES_MOST];  /* the machine's own file, then those that it is based on */
    uint32_t file_count;
    uint32_t order; /* the number of values so far */
    struct machine_cursor at;
};

/* Finds and reads the file of a machine's name or path. */
bool machine_find(struct machine_file *f, const char *name, struct error *e);
/* Reads a machine's file, and before it those that it is based on, over the values that the machine has. */
bool machine_read_file(struct machine_reading *r, const char *name);
/* Reads one "section.key=value" of --set. */
bool machine_read_override(struct machine_reading *r, const struct source *s);

#endif
