/* What the subcommands share: messages, places, names, numbers, the progress line. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heddle%s%s: ", *command ? " " : "", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'heddle%s%s --help'.\n", *command ? " " : "", command);
    va_end(args);
    return CLI_USAGE;
}

int cli_exit_of(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE: return CLI_DONE;
    case ERROR_VERSION:
    case ERROR_UNSUPPORTED: return CLI_UNSUPPORTED;
    case ERROR_DEADLOCK:
    case ERROR_LIMIT:
    case ERROR_INTERRUPTED: return CLI_STUCK;
    case ERROR_ADDRESS:
    case ERROR_POINTER:
    case ERROR_MISALIGNED:
    case ERROR_TRAP:
    case ERROR_ASSERT:
    case ERROR_INSTRUCTION: return CLI_ILLEGAL;
    case ERROR_NOT_FOUND:
    case ERROR_IO: return CLI_USAGE;
    default: return CLI_FAILED;
    }
}

int cli_fail(const struct error *e)
{
    fprintf(stderr, "heddle: %s\n", e->text);
    return cli_exit_of(e->kind);
}

int cli_unknown_option(const char *command, const char *word, const struct option *known)
{
    const char *names[64];
    size_t count = 0;
    for (; known[count].name && count < 64; count++)
        names[count] = known[count].name;
    const char *near = strncmp(word, "--", 2) ? NULL : nearest_name(word + 2, names, count);
    if (near)
        return cli_usage(command, "unknown option '%s'; did you mean --%s?", word, near);
    return cli_usage(command, "unknown option '%s'", word);
}

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

bool cli_find_places(struct cli_places *p, struct error *e)
{
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    if (length < 0)
        return error_set(e, ERROR_IO, "cannot find out where heddle is: /proc/self/exe: %s", strerror(errno));
    here[length] = '\0';
    *strrchr(here, '/') = '\0';
    first_folder(p->lib, here, (const char *const[]){"../lib", NULL});
    first_folder(p->workloads, here, (const char *const[]){"../workloads", NULL});
    first_folder(p->machines, here, (const char *const[]){"../../machines", "../../../share/heddle/machines", NULL});
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct cli_names cli_names_in(const char *folder, const char *suffix)
{
    struct cli_names list = {0};
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
                abort();
        }
        list.names[list.count++] = strndup(entry->d_name, length - tail);
    }
    if (d)
        closedir(d);
    if (list.count)
        qsort(list.names, list.count, sizeof *list.names, compare_names);
    return list;
}

void cli_free_names(struct cli_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->names[i]);
    free(n->names);
    *n = (struct cli_names){0};
}

const char *cli_grouped(unsigned long long number, char *out, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%llu", number);
    size_t n = 0;
    for (int i = 0; i < length && n + 2 < size; i++) {
        if (i && (length - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = digits[i];
    }
    out[n] = '\0';
    return out;
}

bool cli_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void cli_progress(unsigned done, unsigned of, const char *what)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    if (!isatty(STDERR_FILENO))
        return;
    for (unsigned i = 0; i < WIDTH; i++)
        bar[i] = i < done * WIDTH / of ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %u/%u %s", bar, done, of, what);
    fflush(stderr);
}

void cli_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}
