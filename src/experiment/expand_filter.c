/* Filters (axis=label|label axis="label with blanks" ...) and the items of an axis that they choose from. */
#include "experiment/expand.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_FILTER = 4000 };

int lab_axis_by_name(const char *name, size_t length)
{
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (strlen(lab_axis_names[axis]) == length && memcmp(lab_axis_names[axis], name, length) == 0)
            return axis;
    return -1;
}

bool lab_label_in(const char *label, const char *labels)
{
    size_t length = strlen(label);
    for (const char *at = labels; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, label, length) == 0 && (!at[length] || at[length] == '|'))
            return true;
    return false;
}

struct lab_items lab_items_of(struct arena *a, const struct lab_axis_values *axis)
{
    struct lab_items out = {0};
    uint32_t room = 0;
    for (uint32_t i = 0; i < axis->entry_count; i++) {
        const struct lab_entry *entry = &axis->entries[i];
        bool one = entry->best || entry->count == 1;
        for (uint32_t n = 0; n < (one ? 1 : entry->count); n++) {
            const char *label = one ? entry->label : axis->values[lab_entry_value(entry, n)].label;
            out.items = lab_grow(a, out.items, out.count, &room, sizeof *out.items);
            out.items[out.count++] =
                (struct lab_item){label, i, entry->first + n, entry->best ? entry->count : 1, entry->best, entry->list};
        }
    }
    return out;
}

bool lab_item_matches(const struct lab_axis_values *axis, const struct lab_item *item, const char *labels)
{
    return !labels || lab_label_in(item->label, labels) || lab_label_in(axis->entries[item->entry].label, labels);
}

uint32_t lab_labels(struct arena *a, const struct lab_axis_values *axis, const char ***labels)
{
    uint32_t count = 0;
    *labels = arena_array(a, const char *, axis->entry_count + axis->value_count);
    for (uint32_t i = 0; i < axis->entry_count; i++)
        (*labels)[count++] = axis->entries[i].label;
    for (uint32_t i = 0; i < axis->value_count; i++)
        if (axis->values[i].parameter)
            (*labels)[count++] = axis->values[i].label;
    return count;
}

static bool knows_label(const struct lab_axis_values *axis, struct lab_word label)
{
    for (uint32_t i = 0; i < axis->entry_count; i++)
        if (lab_word_is(label, axis->entries[i].label))
            return true;
    for (uint32_t i = 0; i < axis->value_count; i++)
        if (lab_word_is(label, axis->values[i].label))
            return true;
    return false;
}

/* The label at the front of text: quoted, or up to a blank, a comma or a bar. */
static bool take_label(const struct lab_reader *r, struct lab_word *text, struct lab_word *label)
{
    const char *at = text->at, *end = lab_end(*text);
    if (at < end && *at == '"') {
        const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
        if (!close)
            return lab_wrong(r, at, "this quote is not closed");
        *label = (struct lab_word){at + 1, (size_t)(close - at - 1)};
        at = close + 1;
    } else {
        while (at < end && !isspace((unsigned char)*at) && *at != ',' && *at != '|')
            at++;
        *label = (struct lab_word){text->at, (size_t)(at - text->at)};
    }
    *text = (struct lab_word){at, (size_t)(end - at)};
    return label->length || lab_wrong(r, label->at, "expected a label");
}

static bool check_label(const struct lab_reader *r, const struct experiment *x, int axis, struct lab_word label)
{
    const char **known;
    if (knows_label(&x->axes[axis], label))
        return true;
    uint32_t count = lab_labels(r->arena, &x->axes[axis], &known);
    return lab_unknown(r, label, lab_axis_names[axis], known, count);
}

static bool read_labels(const struct lab_reader *r, const struct experiment *x, int axis, struct lab_word *text,
                        const char **out)
{
    struct lab_word label = {NULL, 0};
    const char *joined = NULL;
    do {
        if (!take_label(r, text, &label) || !check_label(r, x, axis, label))
            return false;
        joined =
            arena_printf(r->arena, "%s%s%.*s", joined ? joined : "", joined ? "|" : "", (int)label.length, label.at);
        *text = lab_trim(text->at, lab_end(*text));
        if (!text->length || *text->at != '|')
            break;
        *text = lab_trim(text->at + 1, lab_end(*text));
    } while (true);
    *out = joined;
    return true;
}

bool lab_filter_read(const struct lab_reader *r, const struct experiment *x, struct lab_word text,
                     struct lab_filter *out)
{
    *out = (struct lab_filter){0};
    if (text.length > LONGEST_FILTER)
        return lab_wrong(r, text.at, "more than %d bytes", LONGEST_FILTER);
    if (!text.length)
        return lab_wrong(r, text.at,
                         "expected axis=label, with an axis of program, machine, scheduler, l1, divergence, variant");
    while (text.length) {
        size_t length = 0;
        while (length < text.length && text.at[length] != '=' && !isspace((unsigned char)text.at[length]))
            length++;
        struct lab_word name = {text.at, length}, rest = lab_trim(text.at + length, lab_end(text));
        if (!rest.length || *rest.at != '=')
            return lab_wrong(r, name.at, "expected axis=label; a label with blanks needs quotes");
        int axis = lab_axis_by_name(name.at, name.length);
        if (axis < 0)
            return lab_unknown(r, name, "axis", lab_axis_names, AXIS_COUNT);
        if (out->labels[axis])
            return lab_wrong(r, name.at, "%s is given twice; several labels are written %s=LABEL|LABEL",
                             lab_axis_names[axis], lab_axis_names[axis]);
        text = lab_trim(rest.at + 1, lab_end(rest));
        if (!read_labels(r, x, axis, &text, &out->labels[axis]))
            return false;
        if (text.length && *text.at == ',')
            text = lab_trim(text.at + 1, lab_end(text));
    }
    return true;
}
