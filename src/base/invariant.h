/* What must hold on paths that are taken for every access: looked at where HEDDLE_CHECKED says so (debug and sanitizer
 * builds), and free elsewhere. All other invariants are plain asserts. */
#ifndef HEDDLE_BASE_INVARIANT_H
#define HEDDLE_BASE_INVARIANT_H

#include <assert.h>

#ifdef HEDDLE_CHECKED
#define invariant(holds) assert(holds)
#else
#define invariant(holds) ((void)sizeof(holds))
#endif

#endif
