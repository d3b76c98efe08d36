/* stub */
#include "ptx/lowering_internal.h"
void lower_control(struct lowering_work *w) { (void)w; }
