/* From the lines of an experiment's axes to values, points and what figures show. Between the files of the experiment
 * reader; others see experiment.h. */
#ifndef HEDDLE_EXPERIMENT_EXPAND_H
#define HEDDLE_EXPERIMENT_EXPAND_H

#include "experiment/reader.h"

enum { MOST_RANGE_VALUES = 10000, MOST_AXIS_VALUES = 100000, MOST_POINTS = 1000000 };

/* What one line of an axis says: a value, or one for each item of its range. */
struct lab_spec {
    bool best;
    struct lab_word lines; /* best(a | b): what is in the brackets, and then nothing else is set; else of length 0 */
    const char *name;      /* of the policy; NULL for other axes */
    const char *parameter; /* what the range runs over; NULL: no range, one value */
    uint32_t count;
    const char **texts;    /* lab_value.text */
    const char **items;    /* the range's item, as text; NULL: no range */
    double *numbers;       /* NAN where the item is no number */
    const char ***words;   /* programs: the command's words; variants: section.key=value; NULL after the last */
    const char ***options; /* lab_value.options; NULL: the values are no options */
};
/* expand_spec.c. text: what stands on the line after the label. */
bool lab_spec_read(const struct lab_reader *r, enum lab_axis axis, struct lab_word text, struct lab_spec *out);
void lab_spec_allocate(const struct lab_reader *r, struct lab_spec *out, uint32_t count);
/* expand_options.c: -s SPEC --l1 SPEC. are: whether that is what stands there. read: all but `best`, which is set. */
bool lab_options_are(struct lab_word text);
bool lab_options_read(const struct lab_reader *r, struct lab_word text, struct lab_spec *out);
/* expand_range.c: 1..32, 1..32..4, {1,2,4}. is: whether a value is a range at all. */
struct lab_range {
    const char **items;
    double *numbers;
    uint32_t count, room;
};
bool lab_range_is(struct lab_word value);
bool lab_range_read(const struct lab_reader *r, struct lab_word value, struct lab_range *out);

/* expand_lines.c: best(a | b | ...). are: whether that stands in the brackets. read: gives the choices of an axis their
 * values; those of the other lines are there already. */
bool lab_lines_are(struct lab_word inside);
bool lab_lines_read(const struct lab_reader *r, struct lab_axis_values *axis,
                    const struct lab_spec *specs /* by entry */);

/* expand.c: the entries and values of all axes. words: by axis and value, as in lab_spec. */
bool lab_expand_axes(const struct lab_reader *r, struct experiment *x, const char ***words[AXIS_COUNT]);
/* expand_points.c: the product of the values, less what [exclude] says. */
bool lab_expand_points(const struct lab_reader *r, struct experiment *x, const char ***words[AXIS_COUNT]);

/* Points found by the values of their axes. Values with the same text are one: they have the same rank. */
struct lab_grid {
    uint32_t *rank[AXIS_COUNT];  /* by value */
    uint32_t *value[AXIS_COUNT]; /* by rank: the first value with that text */
    uint32_t count[AXIS_COUNT];  /* ranks */
    uint32_t *point;             /* by the place of the ranks in the product: number of the point + 1; 0: excluded */
};
/* Ranks alone; the size of the product, or more than MOST_POINTS. */
uint64_t lab_grid_rank(struct lab_grid *g, struct arena *a, const struct experiment *x);
void lab_grid_make(struct lab_grid *g, struct arena *a, const struct experiment *x);
static inline uint32_t lab_grid_place(const struct lab_grid *g, const uint32_t value[AXIS_COUNT])
{
    uint32_t place = 0;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        place = place * g->count[axis] + g->rank[axis][value[axis]];
    return place;
}

/* A filter by ranks: what a line of [exclude] or [probes] names. */
struct lab_match {
    bool *named[AXIS_COUNT]; /* by rank; NULL: it does not speak of the axis */
};
bool lab_match_read(const struct lab_reader *r, const struct experiment *x, const struct lab_grid *g,
                    struct lab_word text, struct lab_match *out);
bool lab_match_is(const struct lab_match *m, const uint32_t rank[AXIS_COUNT]);

/* probes.c: which probes run at which points. `at` is the same list for all points with the same ones. */
struct lab_probing;
struct lab_probing *lab_probes_read(const struct lab_reader *r, struct experiment *x, const struct lab_grid *g);
const char **lab_probes_at(struct lab_probing *p, const uint32_t rank[AXIS_COUNT]);
/* A policy's spec without ranges, as one text; NULL with an error. */
const char *lab_plain_spec(const struct lab_reader *r, struct lab_word text, const char *what);
/* The words of a command or of options; NULL with an error. */
const char **lab_words_read(const struct lab_reader *r, struct lab_word text, uint32_t *count);

/* inputs.c: the sections [input NAME], and that what refers to them may do so. */
bool lab_read_inputs(const struct lab_reader *r, struct experiment *x);

/* What a figure shows of an axis: a line's value, each value of a range, the best of one. */
struct lab_item {
    const char *label;
    uint32_t entry, first, count; /* values; count 1 where it is not the best of several */
    bool best;
    const uint32_t *list; /* as in lab_entry */
};
static inline uint32_t lab_item_value(const struct lab_item *i, uint32_t n)
{
    return i->list ? i->list[n] : i->first + n;
}
struct lab_items {
    struct lab_item *items;
    uint32_t count;
};
/* expand_filter.c. In the order of the file; a label may come twice where two lines have the same values. */
struct lab_items lab_items_of(struct arena *a, const struct lab_axis_values *axis);
/* What all figures of an experiment look into. */
struct lab_space {
    struct lab_grid grid;
    struct lab_items items[AXIS_COUNT];
};
static inline void lab_space_make(struct lab_space *s, struct arena *a, const struct experiment *x)
{
    lab_grid_make(&s->grid, a, x);
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        s->items[axis] = lab_items_of(a, &x->axes[axis]);
}
/* labels: of a filter; NULL: any. */
bool lab_item_matches(const struct lab_axis_values *axis, const struct lab_item *item, const char *labels);
bool lab_label_in(const char *label, const char *labels);
/* axis=label|label axis=label ... */
bool lab_filter_read(const struct lab_reader *r, const struct experiment *x, struct lab_word text,
                     struct lab_filter *out);
/* The labels of an axis that a filter may name: of lines and of values. */
uint32_t lab_labels(struct arena *a, const struct lab_axis_values *axis, const char ***labels);
int lab_axis_by_name(const char *name, size_t length); /* -1: none */

#endif
