/* Cycles by what they were spent on: issue slots, divided by the slots of a cycle. */
#include "compare/compare.h"

#include <math.h>

#define PART(name, kind, metric, less, title) {name, metric, less, title, COMPARE_##kind},
const struct compare_part compare_parts[COMPARE_PARTS] = {
#include "compare/parts.def"
};

static double count_of(const struct compare_run *r, const char *metric)
{
    double value = compare_value(r, metric);
    return isnan(value) ? 0 : value;
}

static double own_count(const struct compare_run *r, const struct compare_part *p)
{
    return count_of(r, p->metric) - count_of(r, p->less);
}

void compare_spend(struct compare_run *r)
{
    double cycles = count_of(r, "cycles"), slots = count_of(r, "issue.slots"), waited = 0, left = cycles;
    double per_slot = slots > 0 ? cycles / slots : 0;
    for (int i = 0; i < COMPARE_PARTS; i++)
        if (compare_parts[i].kind == COMPARE_WAIT)
            waited += own_count(r, &compare_parts[i]);
    double per_wait = waited > 0 ? count_of(r, "issue.no_ready") * per_slot / waited : 0;
    for (int i = 0; i < COMPARE_PARTS; i++) {
        const struct compare_part *p = &compare_parts[i];
        r->spent[i] = p->kind == COMPARE_SLOTS  ? own_count(r, p) * per_slot
                      : p->kind == COMPARE_WAIT ? own_count(r, p) * per_wait
                                                : 0;
        left -= r->spent[i];
    }
    for (int i = 0; i < COMPARE_PARTS; i++)
        if (compare_parts[i].kind == COMPARE_REST && fabs(left) > 1e-6 * cycles) /* else it is rounding */
            r->spent[i] = left;
}
