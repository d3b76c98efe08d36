/* What the files of cvt share. */
#ifndef HEDDLE_EXEC_CVT_HANDLERS_H
#define HEDDLE_EXEC_CVT_HANDLERS_H

#include "exec/cvt_ops.h"
#include "exec/decode.h"

/* Integer to integer, from a register of from_bits into one of to_bits. */
exec_handler *cvt_int_handler(const struct cvt_form *f, int to_bits, int from_bits);

struct cvt_end cvt_end_of(enum ptx_type type); /* of one element of a packed type */
/* cvt into and out of pairs: f16x2, bf16x2, e4m3x2, e5m2x2. */
bool decode_cvt_packed(struct decoder *d, struct cvt_form *f, enum ptx_type to, enum ptx_type from);
/* cvt.pack.sat */
bool decode_cvt_pack(struct decoder *d);

#endif
