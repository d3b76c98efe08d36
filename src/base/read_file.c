#include "base/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool read_file(const char *path, char **data, size_t *size, struct error *e)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f)
        return error_set(e, ERROR_IO, "%s: %s", path, strerror(errno));
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
        fclose(f);
        return error_set(e, ERROR_IO, "%s: not a regular file", path);
    }
    size_t capacity = (size_t)st.st_size;
    char *bytes = malloc(capacity + 1);
    size_t got = bytes ? fread(bytes, 1, capacity, f) : 0;
    bool failed = ferror(f);
    fclose(f);
    if (!bytes || failed) {
        free(bytes);
        return bytes ? error_set(e, ERROR_IO, "%s: cannot be read", path)
                     : error_set(e, ERROR_NO_MEMORY, "%s: no memory to read it", path);
    }
    bytes[got] = '\0';
    *data = bytes;
    *size = got;
    return true;
}
