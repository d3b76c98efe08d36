/* Between the files of the control-flow analysis. */
#ifndef HEDDLE_PTX_CFG_INTERNAL_H
#define HEDDLE_PTX_CFG_INTERNAL_H

#include "ptx/cfg.h"
#include "ptx/dominators.h"

/* Fills loops, loop_count, reducible and each block's loop. g has the blocks as its first nodes; cfg->idom is known. */
void ptx_cfg_find_loops(struct arena *a, struct ptx_cfg *cfg, const struct flow_graph *g);

#endif
