/* A call of a function that Heddle does not have. */
#ifndef HEDDLE_CUDA_UNSUPPORTED_H
#define HEDDLE_CUDA_UNSUPPORTED_H

#include <stdatomic.h>

/* Says so unless it was said; returns CUDA_ERROR_NOT_SUPPORTED (errors.c). */
int unsupported_call(const char *name, atomic_flag *said);

#endif
