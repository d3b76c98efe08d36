/* best(a | b | ...): a choice among other lines of the same axis. It takes the values that these have, and no runs of
 * its own. A line with a range stands for all of its values, a choice for what it chooses from. */
#include "experiment/expand.h"

enum { MOST_CHOICES = 1000 }; /* of an axis: their labels are compared with all lines' */

/* One choice while it is read. */
struct choice {
    const struct lab_reader *reader;
    const struct lab_axis_values *axis;
    const struct lab_entry *self;
    uint32_t *taken_by, turn; /* by value: the turn of the last choice that took it */
    uint32_t *list, count, room;
};

bool lab_lines_are(struct lab_word inside)
{
    struct lab_word first;
    return inside.length && lab_next_piece(&inside, '|', &first) && inside.at;
}

static void add_value(struct choice *c, uint32_t value)
{
    if (c->taken_by[value] == c->turn)
        return;
    c->taken_by[value] = c->turn;
    c->list = lab_grow(c->reader->arena, c->list, c->count, &c->room, sizeof *c->list);
    c->list[c->count++] = value;
}

static const struct lab_entry *find_line(const struct lab_axis_values *axis, struct lab_word label)
{
    for (uint32_t i = 0; i < axis->entry_count; i++)
        if (lab_word_is(label, axis->entries[i].label))
            return &axis->entries[i];
    return NULL;
}

/* A label of a line, or of one value of a range ("swl 4"). */
static bool add_label(struct choice *c, struct lab_word label)
{
    const struct lab_axis_values *axis = c->axis;
    const struct lab_entry *line = find_line(axis, label);
    if (line == c->self)
        return lab_wrong(c->reader, label.at, "a choice cannot be among what it chooses from");
    if (line && !line->count)
        return lab_wrong(c->reader, label.at, "'%s' is a choice itself: it must stand above this one", line->label);
    for (uint32_t n = 0; line && n < line->count; n++)
        add_value(c, lab_entry_value(line, n));
    if (line)
        return true;
    for (uint32_t i = 0; i < axis->value_count; i++)
        if (lab_word_is(label, axis->values[i].label)) {
            add_value(c, i);
            return true;
        }
    const char **known;
    uint32_t count = lab_labels(c->reader->arena, axis, &known);
    return lab_unknown(c->reader, label, "line of this axis", known, count);
}

static bool read_choice(struct choice *c, struct lab_word inside)
{
    struct lab_word piece;
    while (lab_next_piece(&inside, '|', &piece)) {
        if (!lab_unquote(c->reader, &piece))
            return false;
        if (!piece.length)
            return lab_wrong(c->reader, piece.at, "expected a label: best(LABEL | LABEL)");
        if (!add_label(c, piece))
            return false;
    }
    return true;
}

bool lab_lines_read(const struct lab_reader *r, struct lab_axis_values *axis, const struct lab_spec *specs)
{
    uint32_t *taken_by = arena_array(r->arena, uint32_t, axis->value_count + 1), turn = 0;
    uint64_t values = 0;
    for (uint32_t i = 0; i < axis->entry_count; i++) {
        struct lab_word lines = specs[i].lines;
        if (!lines.length)
            continue;
        struct choice c = {.reader = r, .axis = axis, .self = &axis->entries[i], .taken_by = taken_by, .turn = ++turn};
        if (turn > MOST_CHOICES)
            return lab_wrong(r, lines.at, "more than %d choices of one axis", MOST_CHOICES);
        if (!read_choice(&c, lines))
            return false;
        values += c.count;
        if (values > MOST_AXIS_VALUES)
            return lab_wrong(r, lines.at, "more than %d values to choose from on one axis", MOST_AXIS_VALUES);
        axis->entries[i].list = c.list;
        axis->entries[i].first = c.list[0];
        axis->entries[i].count = c.count;
    }
    return true;
}
