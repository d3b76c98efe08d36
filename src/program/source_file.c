/* Finding source files. Left out: whether the file is still what the PTX was made from. */
#include "program/source_file.h"

#include "base/read_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 64 << 20 };

struct source_file {
    const char **lines; /* NULL: it was not found */
    uint32_t count;
};

static bool is_there(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= MOST_BYTES;
}

/* FOLDER/NAME in the folder or one above it; folder is shortened on the way. */
static bool find_above(char *folder, const char *name, char path[PATH_MAX])
{
    for (;;) {
        if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && is_there(path))
            return true;
        char *slash = strrchr(folder, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
}

static bool find(const struct source_files *s, const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    if (snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_there(path))
        return true;
    if (s->program && realpath(s->program, folder)) {
        *strrchr(folder, '/') = '\0';
        if (snprintf(path, PATH_MAX, "%s/%s", folder, last) < PATH_MAX && is_there(path))
            return true;
        if (*name != '/' && find_above(folder, name, path))
            return true;
    }
    return snprintf(path, PATH_MAX, "%s", last) < PATH_MAX && is_there(path);
}

/* Ends of lines and the blanks before them become ends of strings. */
static void split(struct arena *a, char *text, struct source_file *f)
{
    for (const char *p = text; *p; p++)
        f->count += *p == '\n';
    f->lines = arena_array(a, const char *, f->count + 1);
    f->count = 0;
    for (char *line = text, *next; line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        end = end ? end : line + strlen(line);
        while (isspace((unsigned char)*line) && line < end)
            line++;
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        *end = '\0';
        f->lines[f->count++] = line;
    }
}

static struct source_file *load(struct source_files *s, const char *name)
{
    struct source_file *f = arena_new(&s->arena, struct source_file);
    struct error e = {0};
    char path[PATH_MAX], *data;
    size_t size;
    if (find(s, name, path) && read_file(path, &data, &size, &e)) {
        split(&s->arena, arena_strndup(&s->arena, data, strlen(data)), f);
        free(data);
    }
    return f;
}

const char *source_files_line(struct source_files *s, const char *name, uint32_t number)
{
    struct source_file *f = strmap_get(&s->found, name, strlen(name));
    if (!f) {
        f = load(s, name);
        name = arena_strndup(&s->arena, name, strlen(name));
        strmap_put(&s->found, name, strlen(name), f);
    }
    return f->lines && number >= 1 && number <= f->count ? f->lines[number - 1] : NULL;
}

void source_files_free(struct source_files *s)
{
    strmap_free(&s->found);
    arena_free(&s->arena);
}
