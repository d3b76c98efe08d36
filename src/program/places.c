/* Folders beside the executable, and the names in them. */
#include "program/places.h"

#include "base/out_of_memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first of the folders, seen from the executable's, that exists; else the first. */
static void first_folder(char *out, const char *from, const char *const *folders)
{
    char candidate[2 * PATH_MAX];
    for (int i = 0; folders[i]; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", from, folders[i]);
        if (realpath(candidate, out))
            return;
    }
    snprintf(out, PATH_MAX, "%.2000s/%s", from, folders[0]);
}

bool places_find(struct places *p, struct error *e)
{
    char here[PATH_MAX];
    const char *own = getenv("HEDDLE_MACHINES");
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    if (length < 0)
        return error_set(e, ERROR_IO, "cannot find out where heddle is: /proc/self/exe: %s", strerror(errno));
    here[length] = '\0';
    memcpy(p->heddle, here, sizeof here);
    *strrchr(here, '/') = '\0';
    first_folder(p->lib, here, (const char *const[]){"../lib", NULL});
    first_folder(p->workloads, here, (const char *const[]){"../workloads", NULL});
    first_folder(p->machines, here, (const char *const[]){"../../machines", "../../../share/heddle/machines", NULL});
    snprintf(p->own_machines, sizeof p->own_machines, "%s", own ? own : "");
    first_folder(p->experiments, here,
                 (const char *const[]){"../../experiments", "../../../share/heddle/experiments", NULL});
    return true;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

struct names names_in(const char *folder, const char *suffix)
{
    struct names list = {0};
    size_t tail = strlen(suffix), capacity = 0;
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || length <= tail || strcmp(entry->d_name + length - tail, suffix))
            continue;
        if (list.count == capacity) {
            capacity = capacity ? 2 * capacity : 32;
            list.names = realloc(list.names, capacity * sizeof *list.names);
            if (!list.names)
                out_of_memory();
        }
        list.names[list.count++] = strndup(entry->d_name, length - tail);
    }
    if (d)
        closedir(d);
    if (list.count)
        qsort(list.names, list.count, sizeof *list.names, compare_names);
    return list;
}

void names_free(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->names[i]);
    free(n->names);
    *n = (struct names){0};
}

struct names places_machine_names(const struct places *p)
{
    struct names all = names_in(p->machines, ".ini"),
                 own = *p->own_machines ? names_in(p->own_machines, ".ini") : (struct names){0};
    size_t count = 0;
    if (!own.count)
        return all;
    all.names = realloc(all.names, (all.count + own.count) * sizeof *all.names);
    if (!all.names)
        out_of_memory();
    memcpy(all.names + all.count, own.names, own.count * sizeof *own.names);
    all.count += own.count;
    free(own.names);
    qsort(all.names, all.count, sizeof *all.names, compare_names);
    for (size_t i = 0; i < all.count; i++)
        if (count && !strcmp(all.names[count - 1], all.names[i]))
            free(all.names[i]);
        else
            all.names[count++] = all.names[i];
    all.count = count;
    return all;
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* A folder may have the name of an experiment, since `heddle repro NAME -o NAME` makes one. */
bool places_experiment(const struct places *p, const char *word, char path[PATH_MAX], struct error *e)
{
    if (strchr(word, '/') || (access(word, R_OK) == 0 && !is_folder(word))) {
        snprintf(path, PATH_MAX, "%s", word);
        if (is_folder(path))
            return error_set(e, ERROR_NOT_FOUND, "%s is a folder, not an experiment file", word);
        return access(path, R_OK) == 0 || error_set(e, ERROR_NOT_FOUND, "no experiment %s: %s", word, strerror(errno));
    }
    snprintf(path, PATH_MAX, "%.3000s/%.900s%s", p->experiments, word,
             strlen(word) > 4 && !strcmp(word + strlen(word) - 4, ".ini") ? "" : ".ini");
    if (access(path, R_OK) == 0)
        return true;
    error_set(e, ERROR_NOT_FOUND, "no experiment '%s', and no file of that name", word);
    struct names names = names_in(p->experiments, ".ini");
    const char *near = nearest_name(word, (const char *const *)names.names, names.count);
    if (near)
        error_note(e, "did you mean '%s'?", near);
    for (size_t i = 0; i < names.count; i++)
        error_note(e, "  %s", names.names[i]);
    names_free(&names);
    return false;
}
