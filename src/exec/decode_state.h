/* What decode.c, decode_function.c and image.c share; decoders see decode.h only. */
#ifndef HEDDLE_EXEC_DECODE_STATE_H
#define HEDDLE_EXEC_DECODE_STATE_H

#include "exec/decode.h"

struct decode_constant {
    uint64_t value;
    uint32_t lane_bytes;
    exec_ref ref;
};

struct decode_state {
    struct decode_constant *constants; /* open addressing; lane_bytes 0: free */
    uint32_t constant_slots, constant_count, constant_bytes;
    exec_ref scratch, scratch_pred;
};

void decode_grow_constants(struct decode_state *s);

/* Where an address counts from: absolute in its space, or the function's frame in local memory. */
enum decode_place { PLACE_ABSOLUTE, PLACE_FRAME };
bool decode_variable_address(struct decoder *d, const struct ptx_variable *v, uint64_t *address,
                             enum decode_place *place);
/* The definition behind a declaration, searched in its own module first; NULL: none. */
const struct exec_function *decode_find_function(const struct decoder *d, const struct ptx_function *f);

/* Decodes f->ptx into f->code. Registers, variables and all other functions' addresses are laid out already. */
bool decode_function(struct exec_image *image, struct exec_function *f, struct error *e);

#endif
