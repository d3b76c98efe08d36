/* Where temporary files go. */
#include "base/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int temporary_file(char path[PATH_MAX], const char *name, const char *suffix, struct error *e)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%.3900s/heddle-%.80s-XXXXXX%.20s", folder && *folder ? folder : "/tmp", name, suffix);
    int fd = mkstemps(path, (int)strlen(suffix));
    if (fd < 0)
        error_set(e, ERROR_IO, "cannot make a temporary file %s: %s", path, strerror(errno));
    return fd;
}
