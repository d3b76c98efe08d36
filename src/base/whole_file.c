#include "base/whole_file.h"

#include "base/out_of_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A link stays a link: the file that it leads to is written. */
static char *final_path(const char *path)
{
    char *real = realpath(path, NULL), *copy = real ? real : strdup(path);
    if (!copy)
        out_of_memory();
    return copy;
}

static bool is_special(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

static void forget(struct whole_file *w)
{
    free(w->path);
    free(w->part);
    *w = (struct whole_file){0};
}

bool whole_file_open(struct whole_file *w, const char *path)
{
    *w = (struct whole_file){.path = final_path(path)};
    if (!is_special(path)) {
        if (asprintf(&w->part, "%s.%ld.part", w->path, (long)getpid()) < 0)
            out_of_memory();
        w->file = fopen(w->part, "we");
    }
    if (!w->file) {
        free(w->part);
        w->part = NULL;
        w->file = fopen(path, "we");
    }
    if (w->file)
        return true;
    int why = errno;
    forget(w);
    errno = why;
    return false;
}

bool whole_file_close(struct whole_file *w)
{
    int why = errno; /* of the caller's last write, if that is what failed */
    bool failed = ferror(w->file) != 0;
    if (fflush(w->file) != 0) {
        failed = true;
        why = errno;
    }
    if (fclose(w->file) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    if (!failed && w->part && rename(w->part, w->path) != 0) {
        failed = true;
        why = errno;
    }
    if (failed && w->part)
        unlink(w->part);
    forget(w);
    errno = failed && !why ? EIO : why;
    return !failed;
}

void whole_file_discard(struct whole_file *w)
{
    if (!w->file)
        return;
    fclose(w->file);
    if (w->part)
        unlink(w->part);
    forget(w);
}

void whole_file_remove_empty(const char *path)
{
    struct stat s;
    if (lstat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size == 0)
        unlink(path);
}
