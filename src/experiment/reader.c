/* The lines of an experiment file. The format is that of machine files: [section], name = value, comments from ';' or
 * '#' at the start of a line or after a space. New here: double quotes keep blanks, commas and comment signs together,
 * and in the sections of axes a line may be a value alone. There the '=' after the label has a blank beside it, so
 * that "swl:limit=4" and "bfs --nodes=100" are values. What names and values mean is not known here. */
#include "experiment/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SECTIONS = 500,
    MOST_NAMES = 1000
}; /* of a file, of a section with names: names are compared with all before them */

const char *const lab_axis_names[AXIS_COUNT] = {"program", "machine", "scheduler", "l1", "divergence", "variant"};
const char *const lab_section_names[SECTION_KINDS] = {
    "experiment", "programs", "machines", "schedulers", "l1",    "divergence",      "variants", "exclude",
    "figure",     "table",    "probes",   "input",      "paper", "shown elsewhere", "left out"};

void lab_place(const struct lab_reader *r, const char *at, int *line, int *column)
{
    const char *start = r->source->text;
    *line = 1;
    for (const char *p = start; p < at; p++)
        if (*p == '\n') {
            ++*line;
            start = p + 1;
        }
    *column = (int)(at - start) + 1;
}

bool lab_wrong(const struct lab_reader *r, const char *at, const char *format, ...)
{
    char message[1500];
    int line, column;
    lab_place(r, at, &line, &column);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_at(r->error, ERROR_SYNTAX, r->source, line, column, "%s", message);
}

bool lab_unknown(const struct lab_reader *r, struct lab_word word, const char *what, const char *const *names,
                 size_t count)
{
    char all[600] = "", text[64];
    snprintf(text, sizeof text, "%.*s", (int)(word.length > 60 ? 60 : word.length), word.at);
    const char *near = nearest_name(text, names, count);
    if (near)
        return lab_wrong(r, word.at, "unknown %s '%s'; did you mean '%s'?", what, text, near);
    for (size_t i = 0, used = 0; i < count && used < sizeof all - 80; i++, used = strlen(all))
        snprintf(all + used, sizeof all - used, "%s%.60s", i ? ", " : "", names[i]);
    return lab_wrong(r, word.at, "unknown %s '%s'; known: %s%s", what, text, all,
                     strlen(all) >= sizeof all - 80 ? ", ..." : "");
}

struct lab_word lab_trim(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    return (struct lab_word){at, (size_t)(end - at)};
}

bool lab_word_is(struct lab_word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

char *lab_copy(const struct lab_reader *r, struct lab_word w) { return arena_strndup(r->arena, w.at, w.length); }

/* After the quoted text that begins at a quote, or at it again where the quote is not closed. */
static const char *past_quotes(const char *at, const char *end)
{
    const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
    return close ? close + 1 : at;
}

const char *lab_find_outside_quotes(struct lab_word w, const char *characters)
{
    for (const char *p = w.at, *end = lab_end(w); p < end;) {
        const char *next = *p == '"' ? past_quotes(p, end) : p;
        if (next == p && strchr(characters, *p))
            return p;
        p = next == p ? p + 1 : next;
    }
    return NULL;
}

bool lab_unquote(const struct lab_reader *r, struct lab_word *w)
{
    const char *quote = w->length ? memchr(w->at, '"', w->length) : NULL;
    if (!quote)
        return true;
    const char *close = past_quotes(quote, lab_end(*w));
    if (close == quote)
        return lab_wrong(r, quote, "this quote is not closed");
    if (quote != w->at || close != lab_end(*w))
        return lab_wrong(r, quote, "expected quotes around all of it, or none");
    *w = (struct lab_word){w->at + 1, w->length - 2};
    return true;
}

const char *lab_label(const struct lab_reader *r, struct lab_word w)
{
    if (!lab_unquote(r, &w))
        return NULL;
    if (!w.length) {
        lab_wrong(r, w.at, "expected a label");
        return NULL;
    }
    const char *bar = memchr(w.at, '|', w.length);
    if (bar) {
        lab_wrong(r, bar, "a label cannot hold '|', which stands between labels elsewhere");
        return NULL;
    }
    return lab_copy(r, w);
}

bool lab_next_word(const struct lab_reader *r, struct lab_word *rest, struct lab_word *word)
{
    *rest = lab_trim(rest->at, lab_end(*rest));
    const char *at = rest->at, *end = lab_end(*rest);
    while (at < end && !isspace((unsigned char)*at)) {
        const char *next = *at == '"' ? past_quotes(at, end) : at + 1;
        if (next == at)
            return lab_wrong(r, at, "this quote is not closed");
        at = next;
    }
    *word = (struct lab_word){rest->at, (size_t)(at - rest->at)};
    *rest = (struct lab_word){at, (size_t)(end - at)};
    return word->length > 0;
}

bool lab_number(struct lab_word w, double *number)
{
    char text[64], *end;
    if (!w.length || w.length >= sizeof text || !strchr("+-.0123456789", *w.at) || memchr(w.at, 'x', w.length) ||
        memchr(w.at, 'X', w.length))
        return false;
    memcpy(text, w.at, w.length);
    text[w.length] = '\0';
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return false; /* *number stays as it was: "8 MB" is no 8 */
    *number = value;
    return true;
}

static char closing(char c) { return c == '(' ? ')' : c == '{' ? '}' : '\0'; }

bool lab_check_closed(const struct lab_reader *r, struct lab_word w)
{
    enum { DEEPEST = 64 };
    const char *open[DEEPEST];
    int depth = 0;
    for (const char *p = w.at, *end = lab_end(w); p < end; p++) {
        if (*p == '"') {
            const char *next = past_quotes(p, end);
            if (next == p)
                return lab_wrong(r, p, "this quote is not closed");
            p = next - 1;
        } else if (closing(*p)) {
            if (depth == DEEPEST)
                return lab_wrong(r, p, "more than %d brackets inside each other", DEEPEST);
            open[depth++] = p;
        } else if (*p == ')' || *p == '}') {
            if (!depth || closing(*open[depth - 1]) != *p)
                return lab_wrong(r, p, "this '%c' closes nothing", *p);
            depth--;
        }
    }
    return !depth || lab_wrong(r, open[depth - 1], "this '%c' is not closed", *open[depth - 1]);
}

bool lab_next_piece(struct lab_word *rest, char separator, struct lab_word *piece)
{
    if (!rest->at)
        return false;
    const char *end = lab_end(*rest), *p = rest->at;
    for (int depth = 0; p < end && (*p != separator || depth); p++) {
        if (*p == '"')
            p = past_quotes(p, end) == p ? p : past_quotes(p, end) - 1;
        else if (closing(*p))
            depth++;
        else if ((*p == ')' || *p == '}') && depth)
            depth--;
    }
    *piece = lab_trim(rest->at, p);
    *rest = p < end ? (struct lab_word){p + 1, (size_t)(end - p - 1)} : (struct lab_word){NULL, 0};
    return true;
}

void *lab_grow(struct arena *a, void *array, uint32_t count, uint32_t *room, size_t item_bytes)
{
    if (count < *room)
        return array;
    *room = *room ? *room * 2 : 8;
    void *larger = arena_alloc(a, *room * item_bytes);
    if (count)
        memcpy(larger, array, count * item_bytes);
    return larger;
}

/* Where the comment of a line begins, or its end. */
static const char *before_comment(const char *at, const char *end)
{
    for (const char *p = at; p < end;) {
        const char *next = *p == '"' ? past_quotes(p, end) : p;
        if (next == p && (*p == ';' || *p == '#') && (p == at || isspace((unsigned char)p[-1])))
            return p;
        p = next == p ? p + 1 : next;
    }
    return end;
}

/* A line may be a value alone, and the '=' after a label has a blank beside it. */
static bool has_labels(int section)
{
    return (section > SECTION_EXPERIMENT && section < SECTION_EXCLUDE) || section == SECTION_PROBES;
}

/* The '=' between name and value. */
static const char *find_equals(struct lab_word line, int section)
{
    bool axis = has_labels(section);
    struct lab_word rest = line;
    for (const char *at; (at = lab_find_outside_quotes(rest, "="));
         rest = (struct lab_word){at + 1, (size_t)(lab_end(line) - at - 1)})
        if (!axis || at + 1 == lab_end(line) || isspace((unsigned char)at[1]) || at == line.at ||
            isspace((unsigned char)at[-1]))
            return at;
    return NULL;
}

static bool same_title(struct lab_word a, struct lab_word b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* The section's kind in what stands in the brackets: its first word, or both where the kind has two. */
static struct lab_word first_words(struct lab_word title)
{
    struct lab_word first = title;
    if (lab_word_is(title, lab_section_names[SECTION_ELSEWHERE]) ||
        lab_word_is(title, lab_section_names[SECTION_LEFT_OUT]))
        return title;
    for (size_t i = 0; i < title.length && first.length == title.length; i++)
        if (isspace((unsigned char)title.at[i]))
            first.length = i;
    return first;
}

static bool read_section_line(struct lab_reader *r, struct lab_word line, int number)
{
    if (line.at[line.length - 1] != ']')
        return lab_wrong(r, lab_end(line), "expected ']' at the end of the section's name");
    struct lab_word title = lab_trim(line.at + 1, lab_end(line) - 1), first = first_words(title);
    int kind = 0;
    while (kind < SECTION_KINDS && !lab_word_is(first, lab_section_names[kind]))
        kind++;
    if (kind == SECTION_KINDS)
        return lab_unknown(r, first, "section", lab_section_names, SECTION_KINDS);
    struct lab_word rest = lab_trim(lab_end(first), lab_end(title));
    bool named = kind == SECTION_FIGURE || kind == SECTION_TABLE || kind == SECTION_INPUT;
    const char *name = lab_section_names[kind];
    if (named && !rest.length)
        return lab_wrong(r, lab_end(title), "expected the %s's name: [%s NAME]", name, name);
    if (!named && rest.length)
        return lab_wrong(r, rest.at, "expected ']' after %s", name);
    if (named)
        title = rest;
    if (r->section_count == MOST_SECTIONS)
        return lab_wrong(r, line.at, "more than %d sections", MOST_SECTIONS);
    for (uint32_t i = 0; i < r->section_count; i++)
        if (r->sections[i].kind == kind && same_title(r->sections[i].title, title))
            return lab_wrong(r, title.at, "[%s%s%.*s] is given twice; first on line %d", named ? name : "",
                             named ? " " : "", (int)title.length, title.at, r->sections[i].number);
    r->sections = lab_grow(r->arena, r->sections, r->section_count, &r->section_room, sizeof *r->sections);
    r->sections[r->section_count++] = (struct lab_section){.kind = kind, .title = title, .number = number};
    return true;
}

static bool read_value_line(struct lab_reader *r, struct lab_word line, int number)
{
    if (!r->section_count)
        return lab_wrong(r, line.at, "expected a [section] before the first line");
    struct lab_section *s = &r->sections[r->section_count - 1];
    const char *equals = find_equals(line, s->kind);
    bool axis = has_labels(s->kind);
    if (!equals && !axis)
        return lab_wrong(r, line.at, "expected name = value, [section] or a comment");
    struct lab_line l = {.number = number, .value = line};
    if (equals)
        l = (struct lab_line){number, lab_trim(line.at, equals), lab_trim(equals + 1, lab_end(line)), true};
    if (equals && !l.name.length)
        return lab_wrong(r, equals, "expected a name before '='");
    if (!axis && s->line_count == MOST_NAMES)
        return lab_wrong(r, line.at, "more than %d lines in a section", MOST_NAMES);
    for (uint32_t i = 0; equals && !axis && i < s->line_count; i++)
        if (same_title(s->lines[i].name, l.name))
            return lab_wrong(r, l.name.at, "%.*s is given twice; first on line %d", (int)l.name.length, l.name.at,
                             s->lines[i].number);
    s->lines = lab_grow(r->arena, s->lines, s->line_count, &s->line_room, sizeof *s->lines);
    s->lines[s->line_count++] = l;
    return true;
}

static bool read_line(struct lab_reader *r, const char *at, const char *end, int number)
{
    struct lab_word line = lab_trim(at, before_comment(at, end));
    if (!line.length)
        return true;
    return *line.at == '[' ? read_section_line(r, line, number) : read_value_line(r, line, number);
}

bool lab_read_sections(struct lab_reader *r)
{
    const char *at = r->source->text, *end = at + r->source->size_bytes, *nul = memchr(at, '\0', r->source->size_bytes);
    if (nul)
        return lab_wrong(r, nul, "a NUL byte: this is not a text file");
    if (r->source->size_bytes >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3; /* the mark that some editors put in front of UTF-8 */
    for (int number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!read_line(r, at, newline ? newline : end, number))
            return false;
        at = newline ? newline + 1 : end;
    }
    return true;
}

const struct lab_section *lab_find_section(const struct lab_reader *r, int kind)
{
    for (uint32_t i = 0; i < r->section_count; i++)
        if (r->sections[i].kind == kind)
            return &r->sections[i];
    return NULL;
}

const struct lab_line *lab_find_line(const struct lab_section *s, const char *name)
{
    for (uint32_t i = 0; s && i < s->line_count; i++)
        if (lab_word_is(s->lines[i].name, name))
            return &s->lines[i];
    return NULL;
}
