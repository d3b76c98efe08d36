/* Which registers of a function hold addresses, or become part of one. */
#ifndef HEDDLE_PTX_ADDRESSES_H
#define HEDDLE_PTX_ADDRESSES_H

#include "ptx/ptx.h"

/* is_address: by register index, false at the start. Only registers of 64 bits are looked at. */
void ptx_find_addresses(const struct ptx_function *f, bool *is_address);

#endif
