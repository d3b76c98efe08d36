/* What asynchronous copies do to an mbarrier object. */
#ifndef HEDDLE_EXEC_MBARRIER_H
#define HEDDLE_EXEC_MBARRIER_H

#include "exec/lanes.h"

/* word: the object's eight bytes in host memory. All raise a fault and return false where the object cannot take it. */
bool mbarrier_arrive(struct exec_warp *w, uint32_t lane, uint8_t *word, uint32_t count);
bool mbarrier_complete_tx(struct exec_warp *w, uint32_t lane, uint8_t *word, uint32_t bytes);

#endif
