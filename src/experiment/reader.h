/* An experiment file taken apart: sections, and lines of name and value. Words lie in the file's text, so that a
 * message finds its line and column from the address alone. */
#ifndef HEDDLE_EXPERIMENT_READER_H
#define HEDDLE_EXPERIMENT_READER_H

#include "base/strmap.h"
#include "experiment/experiment.h"

#include <stddef.h>

struct lab_word {
    const char *at;
    size_t length;
};

struct lab_line {
    int number;
    struct lab_word name, value; /* without blanks around them; an axis' line without '=': all of it is the value, and
                                    the name is empty */
    bool has_name;
};

enum lab_section_kind {
    SECTION_EXPERIMENT,
    SECTION_EXCLUDE = SECTION_EXPERIMENT + 1 + AXIS_COUNT,
    SECTION_FIGURE,
    SECTION_TABLE,
    SECTION_PROBES,
    SECTION_INPUT,
    SECTION_PAPER,
    SECTION_ELSEWHERE,
    SECTION_LEFT_OUT,
    SECTION_KINDS
};
/* Sections of axes have the numbers between: SECTION_EXPERIMENT + 1 + axis. */
extern const char *const lab_section_names[SECTION_KINDS];

struct lab_section {
    int kind;
    struct lab_word title; /* what stands in the brackets; of a figure, table or input: its name */
    int number;
    struct lab_line *lines;
    uint32_t line_count, line_room;
};

struct lab_reader {
    struct arena *arena;
    struct error *error;
    const struct source *source;
    struct lab_section *sections;
    uint32_t section_count, section_room;
};

bool lab_read_sections(struct lab_reader *r);
/* The section of that kind, or NULL. */
const struct lab_section *lab_find_section(const struct lab_reader *r, int kind);
/* The line with that name, or NULL. */
const struct lab_line *lab_find_line(const struct lab_section *s, const char *name);

void lab_place(const struct lab_reader *r, const char *at, int *line, int *column);
/* Return false always. at: an address in the file's text. */
bool lab_wrong(const struct lab_reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "unknown WHAT 'WORD'", with the nearest of the names, or all of them where none is near. */
bool lab_unknown(const struct lab_reader *r, struct lab_word word, const char *what, const char *const *names,
                 size_t count);

struct lab_word lab_trim(const char *at, const char *end);
static inline const char *lab_end(struct lab_word w) { return w.at + w.length; }
bool lab_word_is(struct lab_word w, const char *text);
char *lab_copy(const struct lab_reader *r, struct lab_word w);
/* Without the quotes around it; a quote that is not closed, or stands inside, is an error. */
bool lab_unquote(const struct lab_reader *r, struct lab_word *w);
/* A label as it may be used: unquoted, not empty, without '|' and quotes. NULL with an error otherwise. */
const char *lab_label(const struct lab_reader *r, struct lab_word w);
/* The next word, up to a blank outside quotes, off the front of rest, with its quotes. False: none is left, or a quote
 * is not closed, and then there is an error. */
bool lab_next_word(const struct lab_reader *r, struct lab_word *rest, struct lab_word *word);
/* A whole word as a finite number. */
bool lab_number(struct lab_word w, double *number);
/* Every quote and bracket of the word is closed. */
bool lab_check_closed(const struct lab_reader *r, struct lab_word w);
/* Takes the next piece, up to a separator outside quotes and brackets, off the front of rest. False when there is none
 * left. An empty rest has one, empty piece. */
bool lab_next_piece(struct lab_word *rest, char separator, struct lab_word *piece);
/* The first of these characters outside quotes, or NULL. */
const char *lab_find_outside_quotes(struct lab_word w, const char *characters);

/* Growing arrays in an arena: what is outgrown stays there until the arena goes. */
void *lab_grow(struct arena *a, void *array, uint32_t count, uint32_t *room, size_t item_bytes);

#endif
