/* Policies from shared objects: where their code lies, and which of their hooks a stack shows. Nothing here allocates
 * once they are found: it is for handlers of signals. */
#ifndef HEDDLE_CUDA_POLICY_SUSPECTS_H
#define HEDDLE_CUDA_POLICY_SUSPECTS_H

#include "gpu/gpu.h"

enum { SUSPECT_FRAMES = 512 };

/* A hook on a stack. */
struct suspect_call {
    uintptr_t code;   /* inside the hook; 0: there is none on the stack */
    uintptr_t caller; /* of ours, where it returns to; 0: not seen */
    int outer;        /* frames beyond the hook's */
};

/* Finds the policies that come from shared objects. Returns how many they are. */
uint32_t suspects_find(const struct gpu_options *o);
/* What backtrace gave to a handler of a signal, and the context that the handler got. */
struct suspect_call suspects_call(void *const *frames, int count, const void *context);
/* "scheduler mine", "pick" and the file, of a hook's code. False: it is none of theirs. */
struct suspect_name {
    const char *kind, *policy, *hook, *path;
};
bool suspects_name(uintptr_t code, struct suspect_name *out);

#endif
