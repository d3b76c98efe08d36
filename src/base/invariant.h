/* Invariants on paths that are taken for every access: they are checked in builds with HEDDLE_CHECKED (debug and
 * sanitizer builds), and cost nothing in others. All other invariants are ordinary asserts. */
#ifndef HEDDLE_BASE_INVARIANT_H
#define HEDDLE_BASE_INVARIANT_H

#include <assert.h>

#ifdef HEDDLE_CHECKED
#define invariant(holds) assert(holds)
#else
#define invariant(holds) ((void)sizeof(holds))
#endif

#endif
