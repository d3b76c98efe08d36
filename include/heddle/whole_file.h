/* A file that a probe writes: under the name NAME.unfinished until it is whole, so that NAME is never half a file. What
 * is no plain file (a pipe, a device) is written in place.
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
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_whole_file {
    FILE *file;
    const char *name;
    bool in_place;
    char unfinished[4096];
};

static inline bool heddle_whole_file_open(struct heddle_whole_file *f, const char *name, const char **why)
{
    struct stat there;
    f->name = name;
    f->file = NULL;
    f->in_place = stat(name, &there) == 0 && !S_ISREG(there.st_mode);
    if (snprintf(f->unfinished, sizeof f->unfinished, "%s.unfinished", name) >= (int)sizeof f->unfinished)
        errno = ENAMETOOLONG;
    else
        f->file = fopen(f->in_place ? name : f->unfinished, "w");
    if (!f->file)
        *why = strerror(errno);
    return f->file != NULL;
}

/* False: something could not be written, and nothing is left of it. */
static inline bool heddle_whole_file_close(struct heddle_whole_file *f, const char **why)
{
    bool written = !ferror(f->file);
    written = !fclose(f->file) && written;
    if (written && (f->in_place || !rename(f->unfinished, f->name)))
        return true;
    *why = strerror(errno);
    if (!f->in_place)
        remove(f->unfinished);
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
