/* The axes of an experiment: each line an entry, each entry one value or those of its range. A best(...) whose range
 * another line has, too, takes that line's values; so the order is single values, ranges, best, and last the choices
 * among lines, which have no values of their own. Labels are unique in their axis, and a label of a range's value may
 * be another line's only where both mean the same. */
#include "experiment/expand.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_LABEL = 200 };

/* One axis while it grows. */
struct axis_build {
    const struct lab_reader *reader;
    enum lab_axis axis;
    struct lab_axis_values *out;
    uint32_t value_room, words_room;
    const char ***words;
    struct lab_spec *specs; /* by entry */
    struct strmap labels;   /* to the text that each means */
    struct strmap texts;    /* to the number of the first value + 1 */
};

static const char range_mark[] = "\n"; /* what the label of a range means: no value's text */

static bool label_taken(const struct axis_build *b, const char *label, const char *text)
{
    const char *meant = strmap_get(&b->labels, label, strlen(label));
    return meant && strcmp(meant, text) != 0;
}

static bool add_value(struct axis_build *b, const char *at, struct lab_value v, const char **words)
{
    struct lab_axis_values *out = b->out;
    size_t length = strlen(v.label);
    if (label_taken(b, v.label, v.text))
        return lab_wrong(b->reader, at, "the label '%s' of one of its values is another line's", v.label);
    out->values = lab_grow(b->reader->arena, out->values, out->value_count, &b->value_room, sizeof *out->values);
    b->words = lab_grow(b->reader->arena, b->words, out->value_count, &b->words_room, sizeof *b->words);
    b->words[out->value_count] = words;
    out->values[out->value_count++] = v;
    strmap_put(&b->labels, v.label, length, (void *)v.text);
    if (!strmap_get(&b->texts, v.text, strlen(v.text)))
        strmap_put(&b->texts, v.text, strlen(v.text), (void *)(uintptr_t)out->value_count);
    return true;
}

/* The place of a line's values among those that are there already, all of them in a row; UINT32_MAX: not there. */
static uint32_t find_values(const struct axis_build *b, const struct lab_spec *s)
{
    uintptr_t place = (uintptr_t)strmap_get(&b->texts, s->texts[0], strlen(s->texts[0]));
    if (!place || place - 1 + s->count > b->out->value_count)
        return UINT32_MAX;
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(b->out->values[place - 1 + i].text, s->texts[i]) != 0)
            return UINT32_MAX;
    return (uint32_t)place - 1;
}

static const char *value_label(const struct axis_build *b, const struct lab_entry *entry, const struct lab_spec *s,
                               uint32_t i, bool unlabelled)
{
    if (!s->items)
        return entry->label;
    if (s->best && s->name) { /* what was chosen reads best as what it is: "swl 4" */
        const char *plain = arena_printf(b->reader->arena, "%s %s", s->name, s->items[i]);
        if (!label_taken(b, plain, s->texts[i]))
            return plain;
    }
    return unlabelled ? s->texts[i] : arena_printf(b->reader->arena, "%s %s", entry->label, s->items[i]);
}

static bool add_values(struct axis_build *b, const struct lab_line *line, struct lab_entry *entry,
                       const struct lab_spec *s)
{
    uint32_t shared = s->best || !s->items ? find_values(b, s) : UINT32_MAX;
    entry->count = s->count;
    entry->first = shared != UINT32_MAX ? shared : b->out->value_count;
    for (uint32_t i = 0; shared == UINT32_MAX && i < s->count; i++) {
        const char *label = value_label(b, entry, s, i, !line->has_name);
        if (memchr(label, '|', strlen(label)))
            return lab_wrong(b->reader, line->value.at,
                             "the label '%s' would hold '|'; give the line a label: LABEL = ...", label);
        struct lab_value v = {label, s->texts[i], s->parameter, s->numbers[i], s->options ? s->options[i] : NULL};
        if (!add_value(b, line->value.at, v, s->words[i]))
            return false;
    }
    return true;
}

/* The label of a line without one: what it says. */
static const char *own_label(const struct axis_build *b, struct lab_word text, const struct lab_spec *s)
{
    const struct lab_reader *r = b->reader;
    if (s->items || s->lines.length)
        return lab_copy(r, text);
    if (b->axis != AXIS_PROGRAM)
        return s->texts[0];
    char *label = lab_copy(r, (struct lab_word){s->texts[0], strlen(s->texts[0])}), *to = label;
    for (const char *from = label; *from; from++) /* a filter could not name a label with quotes in it */
        if (*from != '"')
            *to++ = *from;
    *to = '\0';
    return label;
}

static bool add_entry(struct axis_build *b, const struct lab_line *line, struct lab_entry *entry, struct lab_spec *s)
{
    const struct lab_reader *r = b->reader;
    struct lab_word name = line->has_name ? line->name : line->value;
    if (!lab_spec_read(r, b->axis, line->value, s))
        return false;
    entry->label = line->has_name ? lab_label(r, name) : own_label(b, name, s);
    if (!entry->label)
        return false;
    if (strchr(entry->label, '|'))
        return lab_wrong(r, name.at, "a label cannot hold '|'; give the line a label of its own: LABEL = ...");
    if (strlen(entry->label) > LONGEST_LABEL)
        return lab_wrong(r, name.at, "a label of more than %d bytes%s", LONGEST_LABEL,
                         line->has_name ? "" : "; give the line a shorter one: LABEL = ...");
    entry->best = s->best;
    entry->line = line->number;
    if (strmap_get(&b->labels, entry->label, strlen(entry->label))) {
        for (const struct lab_entry *other = b->out->entries; other < entry; other++)
            if (strcmp(other->label, entry->label) == 0)
                return lab_wrong(r, name.at, "the label '%s' is given twice; first on line %d", entry->label,
                                 other->line);
    }
    strmap_put(&b->labels, entry->label, strlen(entry->label),
               (void *)(s->items || s->best ? range_mark : s->texts[0]));
    return true;
}

static bool read_lines(struct axis_build *b, const struct lab_section *section)
{
    struct lab_axis_values *out = b->out;
    out->entries = arena_array(b->reader->arena, struct lab_entry, section->line_count);
    b->specs = arena_array(b->reader->arena, struct lab_spec, section->line_count);
    out->entry_count = section->line_count;
    for (uint64_t i = 0, values = 0; i < section->line_count; i++) {
        if (!add_entry(b, &section->lines[i], &out->entries[i], &b->specs[i]))
            return false;
        values += b->specs[i].count;
        if (values > MOST_AXIS_VALUES)
            return lab_wrong(b->reader, section->lines[i].value.at, "more than %d values of one axis",
                             MOST_AXIS_VALUES);
    }
    for (int turn = 0; turn < 3; turn++)
        for (uint32_t i = 0; i < section->line_count; i++) {
            const struct lab_spec *s = &b->specs[i];
            if (!s->lines.length &&
                (s->best    ? 2
                 : s->items ? 1
                            : 0) == turn &&
                !add_values(b, &section->lines[i], &out->entries[i], s))
                return false;
        }
    return lab_lines_read(b->reader, out, b->specs);
}

/* What an axis is that the file does not mention. */
static bool add_default(struct axis_build *b)
{
    static const char *const labels[AXIS_COUNT] = {NULL,  "gtx480", "machine's own", "machine's own", "machine's own",
                                                   "base"};
    static const char *const texts[AXIS_COUNT] = {NULL, "gtx480", "", "", "", ""};
    const char **no_words = arena_array(b->reader->arena, const char *, 1);
    b->out->entries = arena_array(b->reader->arena, struct lab_entry, 1);
    b->out->entries[0] = (struct lab_entry){.label = labels[b->axis], .count = 1};
    b->out->entry_count = 1;
    return add_value(b, b->reader->source->text, (struct lab_value){labels[b->axis], texts[b->axis], NULL, NAN, NULL},
                     no_words);
}

bool lab_expand_axes(const struct lab_reader *r, struct experiment *x, const char ***words[AXIS_COUNT])
{
    bool good = true;
    for (int axis = 0; axis < AXIS_COUNT && good; axis++) {
        const struct lab_section *section = lab_find_section(r, SECTION_EXPERIMENT + 1 + axis);
        struct axis_build b = {.reader = r, .axis = (enum lab_axis)axis, .out = &x->axes[axis]};
        bool given = section && section->line_count;
        if (axis == AXIS_PROGRAM && !given)
            good = lab_wrong(r, section ? section->title.at : r->source->text,
                             "an empty experiment: expected [programs] with a program on a line");
        else
            good = given ? read_lines(&b, section) : add_default(&b);
        words[axis] = b.words;
        strmap_free(&b.labels);
        strmap_free(&b.texts);
    }
    return good;
}
