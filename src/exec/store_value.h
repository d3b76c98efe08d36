/* What a store is about to write, for whoever looks at it before it is executed. */
#ifndef HEDDLE_EXEC_STORE_VALUE_H
#define HEDDLE_EXEC_STORE_VALUE_H

#include "exec/exec.h"

enum { STORE_VALUE_BYTES = 32 };

/* Of an st that is not asynchronous: the bytes of each lane of mask. (ld_st.c) */
void store_values(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                  uint8_t out[WARP_LANES][STORE_VALUE_BYTES]);

#endif
