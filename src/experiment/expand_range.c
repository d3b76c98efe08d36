/* Ranges: "1..32" (every whole step), "1..32..4" (steps of 4), "{1,2,4,8}" (a list, whose items may be words or ranges
 * again). */
#include "experiment/expand.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *find_dots(struct lab_word w) { return w.length ? memmem(w.at, w.length, "..", 2) : NULL; }

bool lab_range_is(struct lab_word value)
{
    if (!value.length)
        return false;
    bool numeric = isdigit((unsigned char)*value.at) || ((*value.at == '-' || *value.at == '+' || *value.at == '.') &&
                                                         value.length > 1 && isdigit((unsigned char)value.at[1]));
    return *value.at == '{' || (numeric && find_dots(value)); /* "../file" is none */
}

static bool add(const struct lab_reader *r, const char *at, struct lab_range *out, const char *text, double number)
{
    if (out->count == MOST_RANGE_VALUES)
        return lab_wrong(r, at, "this range has more than %d values", MOST_RANGE_VALUES);
    uint32_t room = out->room;
    out->items = lab_grow(r->arena, out->items, out->count, &room, sizeof *out->items);
    out->numbers = lab_grow(r->arena, out->numbers, out->count, &out->room, sizeof *out->numbers);
    out->items[out->count] = text;
    out->numbers[out->count++] = number;
    return true;
}

/* "16K" in lists, as machine files have it; what is no number at all is a word. */
static double number_of(struct lab_word w)
{
    static const char suffixes[] = "KMG";
    double number, unit = 1;
    const char *suffix = w.length > 1 ? strchr(suffixes, w.at[w.length - 1]) : NULL;
    if (suffix) {
        unit = pow(1024, (double)(suffix - suffixes) + 1);
        w.length--;
    }
    return lab_number(w, &number) ? number * unit : NAN;
}

static bool bound(const struct lab_reader *r, struct lab_word w, double *number)
{
    return lab_number(w, number) || lab_wrong(r, w.at, "expected a number: FIRST..LAST or FIRST..LAST..STEP");
}

static bool read_steps(const struct lab_reader *r, struct lab_word value, struct lab_range *out)
{
    const char *dots = find_dots(value), *end = lab_end(value);
    struct lab_word last = lab_trim(dots + 2, end), step_word = {NULL, 0};
    const char *more = find_dots(last);
    double first_number, last_number, step = 1;
    if (more) {
        step_word = lab_trim(more + 2, end);
        last = lab_trim(last.at, more);
    }
    if (!bound(r, lab_trim(value.at, dots), &first_number) || !bound(r, last, &last_number) ||
        (more && !bound(r, step_word, &step)))
        return false;
    if (step <= 0)
        return lab_wrong(r, step_word.at, "expected a step greater than 0");
    if (last_number < first_number)
        return lab_wrong(r, value.at, "a range with no values: %.*s is below its start", (int)last.length, last.at);
    double steps = floor((last_number - first_number) / step + 1e-9); /* 0.1..0.9..0.1 ends with 0.9 */
    if (!(steps < MOST_RANGE_VALUES))
        return lab_wrong(r, value.at, "this range has more than %d values", MOST_RANGE_VALUES);
    for (uint32_t i = 0; i <= (uint32_t)steps; i++) {
        double number = first_number + i * step;
        if (fabs(number) < step * 1e-9)
            number = 0;
        if (!add(r, value.at, out,
                 arena_printf(r->arena, fabs(number) < 1e15 && number == floor(number) ? "%.0f" : "%.12g", number),
                 number))
            return false;
    }
    return true;
}

static bool read_list(const struct lab_reader *r, struct lab_word value, struct lab_range *out)
{
    if (value.at[value.length - 1] != '}')
        return lab_wrong(r, lab_end(value), "expected '}' at the end of the list");
    struct lab_word inside = lab_trim(value.at + 1, lab_end(value) - 1), item;
    if (!inside.length)
        return lab_wrong(r, value.at, "a range with no values");
    while (lab_next_piece(&inside, ',', &item)) {
        if (!item.length || memchr(item.at, '{', item.length) || memchr(item.at, '}', item.length))
            return lab_wrong(r, item.at, "expected a value: {1,2,4}");
        bool good =
            lab_range_is(item) ? read_steps(r, item, out) : add(r, item.at, out, lab_copy(r, item), number_of(item));
        if (!good)
            return false;
    }
    return true;
}

bool lab_range_read(const struct lab_reader *r, struct lab_word value, struct lab_range *out)
{
    *out = (struct lab_range){0};
    return *value.at == '{' ? read_list(r, value, out) : read_steps(r, value, out);
}
