/* Which contexts a host thread has, one above the other. */
#ifndef HEDDLE_CUDA_CONTEXT_STACK_H
#define HEDDLE_CUDA_CONTEXT_STACK_H

#include "cuda/internal.h"

struct context_stack {
    struct context **entries;
    uint32_t depth, capacity;
};

/* The calling thread's stack; NULL if there is none yet and make is false, or out of memory. */
struct context_stack *context_stack_of_thread(bool make);
struct context *context_new(unsigned int flags); /* NULL: no memory */

#endif
