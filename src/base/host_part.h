/* Where the host's time goes: a byte says what is being simulated just now, and another thread looks at it from time to
 * time (gpu/host_watch.h). Writing it costs one instruction. */
#ifndef HEDDLE_BASE_HOST_PART_H
#define HEDDLE_BASE_HOST_PART_H

#include <stdint.h>

/* PART(identifier, name in results) */
#define HOST_PARTS(PART)           \
    PART(EXECUTE, "execute")       \
    PART(ISSUE, "issue")           \
    PART(LOAD_STORE, "load_store") \
    PART(NETWORK, "network")       \
    PART(L2, "l2")                 \
    PART(DRAM, "dram")             \
    PART(POLICIES, "policies")

enum host_part {
    HOST_NOTHING, /* a core is not being run, or is at a part that counts as issue */
#define PART(identifier, name) HOST_##identifier,
    HOST_PARTS(PART)
#undef PART
        HOST_PART_COUNT
};

static inline void host_part_set(uint8_t *at, enum host_part part)
{
    __atomic_store_n(at, (uint8_t)part, __ATOMIC_RELAXED);
}

static inline enum host_part host_part_of(const uint8_t *at)
{
    return (enum host_part)__atomic_load_n(at, __ATOMIC_RELAXED);
}

#endif
