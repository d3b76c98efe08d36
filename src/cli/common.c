/* What the subcommands share: messages, numbers, the progress line. */
#include "cli/cli.h"

#include <getopt.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heddle%s%s: ", *command ? " " : "", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'heddle%s%s --help'.\n", *command ? " " : "", command);
    va_end(args);
    return EXIT_USAGE;
}

int cli_fail(const struct error *e)
{
    fprintf(stderr, "heddle: %s\n", e->text);
    return exit_code_of(e->kind);
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

bool cli_utf8(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

int cli_columns(int fd, int otherwise)
{
    struct winsize w;
    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : otherwise;
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
