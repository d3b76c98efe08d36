/* For code that runs once per cycle: says which way a question mostly goes, so that the compiler lays that way out
 * straight. */
#ifndef HEDDLE_BASE_LIKELY_H
#define HEDDLE_BASE_LIKELY_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
