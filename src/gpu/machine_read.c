/* Machine files, line by line, over the defaults of machine_keys.def and the rulebook.
 *
 * The format: [section] lines, key = value lines, comments from ';' or '#' at the start of a line or after a space.
 * [machine] may begin with based_on = OTHER: the values of that machine hold where this file gives none. A file that
 * names a rulebook (rules = NAME) has all rules from it, but for those in its own [rules], wherever these stand in the
 * file. Every value keeps the place it came from, so that a message can show the line with a caret, whether one value
 * is wrong or two do not fit together. */
#include "gpu/machine_read.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTION_MOST = 32 };

struct word {
    const char *at;
    size_t length;
};

static struct word trim(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    return (struct word){at, (size_t)(end - at)};
}

static bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

/* Copies a word, cut where a message would be too long. */
static const char *word_text(struct word w, char out[64])
{
    snprintf(out, 64, "%.*s", (int)(w.length > 60 ? 60 : w.length), w.at);
    return out;
}

static bool wrong(struct machine_reading *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool wrong(struct machine_reading *r, const char *at, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_at(r->error, ERROR_SYNTAX, r->at.source, r->at.line, (int)(at - r->at.line_text) + 1, "%s", message);
}

static uint32_t section_names(const char *names[SECTION_MOST])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (!i || strcmp(machine_keys[i].section, machine_keys[i - 1].section) != 0)
            names[count++] = machine_keys[i].section;
    return count;
}

/* Returns the section's name as the table has it, or NULL with an error. */
static const char *find_section(struct machine_reading *r, struct word name)
{
    const char *names[SECTION_MOST];
    char text[64];
    uint32_t count = section_names(names);
    for (uint32_t i = 0; i < count; i++)
        if (word_is(name, names[i]))
            return names[i];
    const char *near = nearest_name(word_text(name, text), names, count);
    if (near)
        wrong(r, name.at, "unknown section [%s]; did you mean [%s]?", text, near);
    else
        wrong(r, name.at, "unknown section [%s] (heddle list machines --keys lists them)", text);
    return NULL;
}

/* A section that has a key of this name: the key may stand in the wrong section. */
static const char *section_with(struct word name)
{
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (word_is(name, machine_keys[i].name))
            return machine_keys[i].section;
    return NULL;
}

/* The rule that was a key in older files: issue.code_packed is now rules.code_packed, l2.index is rules.l2_index. */
static const char *rule_of_key(const char *section, struct word name)
{
    char joined[128];
    snprintf(joined, sizeof joined, "%s_%.*s", section, (int)(name.length > 60 ? 60 : name.length), name.at);
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (machine_keys[i].read && (word_is(name, machine_keys[i].name) || !strcmp(joined, machine_keys[i].name)))
            return machine_keys[i].name;
    return NULL;
}

static const struct machine_key *find_key(struct machine_reading *r, const char *section, struct word name)
{
    const char *names[MACHINE_KEYS_MOST];
    uint32_t count = 0;
    char text[64];
    for (uint32_t i = 0; i < machine_key_count; i++) {
        if (strcmp(machine_keys[i].section, section) != 0)
            continue;
        if (word_is(name, machine_keys[i].name))
            return &machine_keys[i];
        names[count++] = machine_keys[i].name;
    }
    const char *elsewhere = section_with(name), *near = nearest_name(word_text(name, text), names, count);
    const char *rule = rule_of_key(section, name);
    if (rule)
        wrong(r, name.at, "%s.%s is a rule, and rules have a section of their own: rules.%s", section, text, rule);
    else if (elsewhere)
        wrong(r, name.at, "unknown key %s in [%s]; there is one in [%s]", text, section, elsewhere);
    else if (near)
        wrong(r, name.at, "unknown key %s in [%s]; did you mean %s?", text, section, near);
    else
        wrong(r, name.at, "unknown key %s in [%s] (heddle list machines --keys lists them)", text, section);
    if (word_is(name, "sub_cores"))
        error_note(r->error, "  rules.core_kind chooses the kind of core: write core_kind = sub_cores instead");
    return NULL;
}

/* Sets all rules as the machine's rulebook has them, but for those that this file gives one by one. */
static void follow_rulebook(struct machine_reading *r)
{
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (machine_keys[i].read && !(r->places[i].line && r->places[i].layer == r->at.layer)) {
            machine_follow(r->machine, &machine_keys[i]);
            r->places[i] = (struct machine_place){0};
        }
}

static bool read_value(struct machine_reading *r, const struct machine_key *key, struct word name, struct word value)
{
    struct machine_complaint why;
    char text[64];
    struct machine_place *place = &r->places[key - machine_keys];
    if (place->line && place->source == r->at.source)
        return wrong(r, name.at, "%s.%s is given twice; first on line %d", key->section, key->name, place->line);
    if (!machine_parse(r->machine, key, value.at, value.length, &why)) {
        uint32_t book = r->machine->rulebook;
        wrong(r, why.at, "%s.%s = %s: %s", key->section, key->name, word_text(value, text), why.expected);
        error_note(r->error, "  %s.%s: %s; %s %s", key->section, key->name, key->help,
                   key->read ? machine_books[book].name : "default", machine_value_in(key, book));
        if (key->type == MACHINE_BOOK && word_is(value, "hopper"))
            error_note(r->error,
                       "  the rules of a Hopper GPU stand in machines/h200.ini: write based_on = h200 instead");
        return false;
    }
    *place = (struct machine_place){r->at.source, r->at.line, (int)(value.at - r->at.line_text) + 1, ++r->order,
                                    r->at.layer};
    if (key->type == MACHINE_BOOK)
        follow_rulebook(r);
    return true;
}

/* Returns where the comment of a line begins, or the end of the line. */
static const char *before_comment(const char *at, const char *end)
{
    for (const char *p = at; p < end; p++)
        if ((*p == ';' || *p == '#') && (p == at || isspace((unsigned char)p[-1])))
            return p;
    return end;
}

static bool read_section_line(struct machine_reading *r, struct word line, const char **section)
{
    if (line.at[line.length - 1] != ']')
        return wrong(r, line.at + line.length, "expected ']' at the end of the section's name");
    *section = find_section(r, trim(line.at + 1, line.at + line.length - 1));
    return *section != NULL;
}

static bool same_file(const char *a, const char *b)
{
    char real_a[PATH_MAX], real_b[PATH_MAX];
    return !strcmp(a, b) || (realpath(a, real_a) && realpath(b, real_b) && !strcmp(real_a, real_b));
}

/* Opens the next file, which is read from its first line. An error is reported at the line that names the file, if a
 * line does. */
static bool open_file(struct machine_reading *r, const char *name, const char *named_at)
{
    struct machine_file *f = &r->files[r->file_count];
    struct error why = {0};
    bool good = machine_find(f, name, named_at ? &why : r->error);
    r->file_count++;
    for (uint32_t i = 0; good && i + 1 < r->file_count; i++)
        if (same_file(r->files[i].path, f->path))
            return wrong(r, named_at, "%s is based on itself, by way of %s", r->files[i].path, r->at.source->name);
    if (!good)
        return named_at && wrong(r, named_at, "%s", why.text);
    r->at = (struct machine_cursor){&f->source, r->file_count - 1, r->order, 0, f->source.text};
    return true;
}

static bool read_lines(struct machine_reading *r);

/* Finds the path of a base: a path is relative to the folder of the file that gives it, and a name may be that of a
 * file in the same folder. Otherwise the name stays what it is. */
static void find_base(const char *file, struct word value, char *base, size_t size)
{
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0, length = (int)value.length;
    bool is_path =
        memchr(value.at, '/', value.length) || (length > 4 && strncmp(value.at + length - 4, ".ini", 4) == 0);
    snprintf(base, size, "%.*s%.*s%s", *value.at == '/' ? 0 : folder, file, length, value.at, is_path ? "" : ".ini");
    if (!is_path && (access(base, R_OK) || same_file(base, file)))
        snprintf(base, size, "%.*s", length, value.at);
}

/* based_on = OTHER: that machine is read now, and the rest of this file over it. */
static bool read_base(struct machine_reading *r, struct word name, struct word value)
{
    const struct machine_cursor here = r->at;
    char base[MACHINE_PATH_BYTES];
    if (r->order != here.first_order)
        return wrong(r, name.at, "based_on stands before all other keys of a file");
    if (!value.length)
        return wrong(r, name.at, "expected the machine that this one is based on");
    if (r->file_count == MACHINE_FILES_MOST)
        return wrong(r, value.at, "more than %d machines are based on each other", MACHINE_FILES_MOST);
    find_base(here.source->name, value, base, sizeof base);
    if (!open_file(r, base, value.at))
        return false;
    bool good = read_lines(r);
    if (!good)
        error_note(r->error, "  %s is based on it", here.source->name);
    r->at = here;
    r->at.first_order = r->order;
    return good;
}

static bool read_line(struct machine_reading *r, const char *end, const char **section)
{
    struct word line = trim(r->at.line_text, before_comment(r->at.line_text, end));
    char text[64];
    if (!line.length)
        return true;
    if (*line.at == '[')
        return read_section_line(r, line, section);
    const char *equals = memchr(line.at, '=', line.length);
    if (!equals)
        return wrong(r, line.at, "expected key = value, [section] or a comment");
    struct word name = trim(line.at, equals), value = trim(equals + 1, line.at + line.length);
    if (!*section)
        return wrong(r, line.at, "expected a [section] before the first key");
    if (!strcmp(*section, "machine") && word_is(name, "based_on"))
        return read_base(r, name, value);
    const struct machine_key *key = find_key(r, *section, name);
    if (!key)
        return false;
    if (!value.length)
        return wrong(r, equals + 1, "expected a value of %s.%s", key->section, word_text(name, text));
    return read_value(r, key, name, value);
}

static bool read_lines(struct machine_reading *r)
{
    const char *at = r->at.source->text, *end = at + r->at.source->size_bytes, *section = NULL;
    if (r->at.source->size_bytes >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3; /* some editors begin a file of UTF-8 with this mark */
    for (r->at.line = 1; at < end; r->at.line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        r->at.line_text = at;
        if (!read_line(r, line_end, &section))
            return false;
        at = line_end + 1;
    }
    return true;
}

bool machine_read_file(struct machine_reading *r, const char *name)
{
    return open_file(r, name, NULL) && read_lines(r);
}

bool machine_read_override(struct machine_reading *r, const struct source *s)
{
    const char *text = s->text, *end = text + s->size_bytes;
    const char *equals = memchr(text, '=', s->size_bytes);
    const char *dot = equals ? memchr(text, '.', (size_t)(equals - text)) : NULL;
    r->at = (struct machine_cursor){s, MACHINE_OVERRIDES, r->order, 1, text};
    if (!dot)
        return wrong(r, text, "expected section.key=value");
    const char *section = find_section(r, trim(text, dot));
    const struct machine_key *key = section ? find_key(r, section, trim(dot + 1, equals)) : NULL;
    return key && read_value(r, key, trim(dot + 1, equals), trim(equals + 1, end));
}
