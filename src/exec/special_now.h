/* Special registers whose value changes while a warp runs (those from %clock on in ptx/specials.def). PTX ISA 10. */
#ifndef HEDDLE_EXEC_SPECIAL_NOW_H
#define HEDDLE_EXEC_SPECIAL_NOW_H

#include "exec/exec.h"

static inline bool special_is_dynamic(enum ptx_special s) { return s >= PTX_SREG_CLOCK; }
uint64_t special_now(const struct exec_warp *w, enum ptx_special s);

#endif
