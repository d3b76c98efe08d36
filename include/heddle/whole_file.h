/* A file that a probe writes: under the name NAME.unfinished until it is whole, so that NAME is never half a file.
 *
 *   struct heddle_whole_file f;
 *   if (!heddle_whole_file_open(&f, name, why))
 *       return false;
 *   fprintf(f.file, ...);
 *   return heddle_whole_file_close(&f, why); */
#ifndef HEDDLE_WHOLE_FILE_H
#define HEDDLE_WHOLE_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_whole_file {
    FILE *file;
    const char *name;
    char unfinished[4096];
};

static inline bool heddle_whole_file_open(struct heddle_whole_file *f, const char *name, const char **why)
{
    f->name = name;
    f->file = NULL;
    if (snprintf(f->unfinished, sizeof f->unfinished, "%s.unfinished", name) >= (int)sizeof f->unfinished)
        errno = ENAMETOOLONG;
    else
        f->file = fopen(f->unfinished, "w");
    if (!f->file)
        *why = strerror(errno);
    return f->file != NULL;
}

/* False: something could not be written, and nothing is left of it. */
static inline bool heddle_whole_file_close(struct heddle_whole_file *f, const char **why)
{
    bool written = !ferror(f->file);
    written = !fclose(f->file) && written;
    if (written && !rename(f->unfinished, f->name))
        return true;
    *why = strerror(errno);
    remove(f->unfinished);
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
