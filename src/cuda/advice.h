/* Advice and prefetches, remembered for cuMemRangeGetAttribute. */
#ifndef HEDDLE_CUDA_ADVICE_H
#define HEDDLE_CUDA_ADVICE_H

#include "cuda/internal.h"

enum advice_kind { ADVICE_READ_MOSTLY, ADVICE_PREFERRED, ADVICE_ACCESSED_BY, ADVICE_PREFETCHED };

/* A place of type INVALID takes the advice back. False: out of memory. */
bool advice_set(uint64_t base, uint64_t size_bytes, enum advice_kind kind, CUmemLocation place);
/* Of all of a range; type INVALID where nothing was said, or not the same of all of it. */
CUmemLocation advice_get(uint64_t base, uint64_t size_bytes, enum advice_kind kind);
/* The memory is gone. */
void advice_forget(uint64_t base, uint64_t size_bytes);

#endif
