/* Errors as values: library code fills a struct error and returns false; only cli/ prints and exits. */
#ifndef HEDDLE_BASE_ERROR_H
#define HEDDLE_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

enum error_kind {
    ERROR_NONE,
    ERROR_SYNTAX,      /* a text that was read is not well formed */
    ERROR_UNSUPPORTED, /* well formed, but not something Heddle can run */
    ERROR_VERSION,     /* PTX of a version that is not known */
    ERROR_NOT_FOUND,   /* a name, a file, a symbol */
    ERROR_INVALID,     /* an argument or a value out of range */
    ERROR_IO,
    ERROR_NO_MEMORY,
    ERROR_RESOURCES,    /* the launch does not fit the machine */
    ERROR_ADDRESS,      /* kernel: address out of bounds, freed, or of the wrong space */
    ERROR_MISALIGNED,   /* kernel: misaligned address */
    ERROR_POINTER,      /* kernel: a call through a pointer that is no function's address */
    ERROR_TRAP,         /* kernel: trap */
    ERROR_ASSERT,       /* kernel: __assertfail */
    ERROR_INSTRUCTION,  /* kernel: an instruction with operands that are illegal at run time */
    ERROR_DEADLOCK,     /* kernel: cannot make progress */
    ERROR_LIMIT,        /* kernel: ran past --max-cycles */
    ERROR_LAUNCH_LIMIT, /* kernel: ran past --launch-limit */
    ERROR_INTERRUPTED,  /* ctrl-C */
};

struct error {
    enum error_kind kind;
    int line, column; /* of the text, from 1; 0 means that there is none */
    char text[3000];  /* the whole message, several lines, no newline at the end */
};

/* A text into which errors can point. */
struct source {
    const char *name;
    const char *text;
    size_t size_bytes;
};

/* All return false, so that a caller may write `return error_set(...)`. The first error set is kept. A NULL error is
 * allowed. */
bool error_set(struct error *e, enum error_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "NAME:LINE:COLUMN: error: MESSAGE", the line itself, and a caret under the column. */
bool error_at(struct error *e, enum error_kind kind, const struct source *s, int line, int column, const char *format,
              ...) __attribute__((format(printf, 6, 7)));
/* One more line after the message ("did you mean ...?", "in kernel ..."). */
void error_note(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One word: "none", "syntax", "address", ... */
const char *error_kind_name(enum error_kind kind);

/* The name nearest to word (edit distance at most a third of its length) that is not word itself, or NULL. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
