/* Extended-precision integer arithmetic. PTX ISA 9.7.2. */
#ifndef HEDDLE_EXEC_INT_CARRY_H
#define HEDDLE_EXEC_INT_CARRY_H

#include "exec/decode.h"

bool decode_int_carry(struct decoder *d);

#endif
