/* The rows of causes.def as data. */
#ifndef HEDDLE_COMPARE_CAUSES_H
#define HEDDLE_COMPARE_CAUSES_H

#include "compare/compare.h"

struct compare_cause {
    const char *group, *name, *carries;
    double least; /* of the difference */
    const char *when, *sentence;
};
extern const struct compare_cause compare_causes[];
extern const uint32_t compare_cause_count;

struct compare_text {
    const char *name, *sentence;
};
extern const struct compare_text compare_texts[];
extern const uint32_t compare_text_count;

/* No cause is named for a difference that is less than this share of the slower run's cycles. */
extern const double compare_least_difference;

/* A row of TEXT with its places filled. */
const char *compare_text(struct arena *a, const struct comparison *c, const char *name);

/* For tests: what is wrong with a row's expressions, or NULL. */
const char *compare_check_cause(struct arena *a, const struct compare_cause *c);

#endif
