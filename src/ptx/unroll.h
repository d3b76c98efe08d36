/* Loops that count, unrolled as ptxas does it for sm_90: four rounds one after the other in the place of one, so that
 * loads of all of them can be under way together (ptx_reorder puts them there). Results are the same, bit for bit, for
 * programs without races. Machines of the papers do without it; docs/h200-assembler.md says which loops. */
#ifndef HEDDLE_PTX_UNROLL_H
#define HEDDLE_PTX_UNROLL_H

#include "base/arena.h"
#include "ptx/ptx.h"

/* Copies keep the lines of what they are copies of. The function as it was is f->written, where anything changed. */
void ptx_unroll(struct arena *a, struct ptx_function *f);

#endif
