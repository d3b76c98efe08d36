/* The functions of the driver API that Heddle does not have. They exist, so that every program links; called, they say
 * so once, by name. cuda.h is not included here: what they are called with does not matter. */
#include "cuda/unsupported.h"

#define UNSUPPORTED(name)                                  \
    __attribute__((visibility("default"))) int name(void); \
    int name(void)                                         \
    {                                                      \
        static atomic_flag said = ATOMIC_FLAG_INIT;        \
        return unsupported_call(#name, &said);             \
    }
#include "cuda/unsupported.def"
