/* Messages with a place: the line and a caret under the column, as a person reads them. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_SHOWN_LINE = 160 };

static void append(struct error *e, const char *format, va_list args)
{
    size_t used = strlen(e->text);
    vsnprintf(e->text + used, sizeof e->text - used, format, args);
}

static void append_text(struct error *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(e, format, args);
    va_end(args);
}

bool error_set(struct error *e, enum error_kind kind, const char *format, ...)
{
    if (!e || e->kind)
        return false;
    e->kind = kind;
    e->line = e->column = 0;
    e->text[0] = '\0';
    va_list args;
    va_start(args, format);
    append(e, format, args);
    va_end(args);
    return false;
}

/* Shows a window of the line around the column, tabs as spaces, unprintable bytes as '?'. */
static void append_line_and_caret(struct error *e, const struct source *s, int line, int column)
{
    const char *at = s->text, *end = s->text + s->size_bytes;
    for (int n = 1; n < line && at < end; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return;
        at = newline + 1;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    int length = (int)((newline ? newline : end) - at);
    int first = column > LONGEST_SHOWN_LINE / 2 ? column - LONGEST_SHOWN_LINE / 2 : 0;
    if (length - first > LONGEST_SHOWN_LINE)
        length = first + LONGEST_SHOWN_LINE;
    append_text(e, "\n  ");
    for (int i = first; i < length; i++) {
        unsigned char c = (unsigned char)at[i];
        append_text(e, "%c", c == '\t' ? ' ' : c < 32 || c > 126 ? '?' : c);
    }
    append_text(e, "\n  %*s^", column - 1 - first, "");
}

bool error_at(struct error *e, enum error_kind kind, const struct source *s, int line, int column, const char *format,
              ...)
{
    if (!e || e->kind)
        return false;
    e->kind = kind;
    e->line = line;
    e->column = column;
    snprintf(e->text, sizeof e->text, "%s:%d:%d: error: ", s->name ? s->name : "<ptx>", line, column);
    va_list args;
    va_start(args, format);
    append(e, format, args);
    va_end(args);
    if (s->text && column > 0)
        append_line_and_caret(e, s, line, column);
    return false;
}

void error_note(struct error *e, const char *format, ...)
{
    if (!e || !e->kind)
        return;
    append_text(e, "\n");
    va_list args;
    va_start(args, format);
    append(e, format, args);
    va_end(args);
}

enum { LONGEST_NAME = 63 };

static int edit_distance(const char *a, const char *b)
{
    int row[LONGEST_NAME + 2];
    int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > LONGEST_NAME || lb > LONGEST_NAME)
        return LONGEST_NAME;
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[lb];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    int limit = (int)strlen(word) / 3 + 1;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance > 0 && distance <= limit && distance < LONGEST_NAME) {
            best = names[i];
            limit = distance - 1;
        }
    }
    return best;
}

const char *error_kind_name(enum error_kind kind)
{
    static const char *const names[] = {
        [ERROR_NONE] = "none",
        [ERROR_SYNTAX] = "syntax",
        [ERROR_UNSUPPORTED] = "unsupported",
        [ERROR_VERSION] = "version",
        [ERROR_NOT_FOUND] = "not-found",
        [ERROR_INVALID] = "invalid",
        [ERROR_IO] = "io",
        [ERROR_NO_MEMORY] = "no-memory",
        [ERROR_RESOURCES] = "resources",
        [ERROR_ADDRESS] = "address",
        [ERROR_MISALIGNED] = "misaligned",
        [ERROR_POINTER] = "pointer",
        [ERROR_TRAP] = "trap",
        [ERROR_ASSERT] = "assert",
        [ERROR_INSTRUCTION] = "instruction",
        [ERROR_DEADLOCK] = "deadlock",
        [ERROR_LIMIT] = "limit",
        [ERROR_LAUNCH_LIMIT] = "launch-limit",
        [ERROR_INTERRUPTED] = "interrupted",
    };
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}
