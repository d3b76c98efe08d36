/* Where threads of a warp meet before all of their paths do, as ptxas has it. */
#ifndef HEDDLE_PTX_MEETING_H
#define HEDDLE_PTX_MEETING_H

#include "ptx/ptx.h"

/* Marks the branches that lead to such a place (ptx_inst.meets). */
void ptx_find_meetings(struct ptx_function *f);

#endif
