/* Gaps around what a guest can reach. In a sanitizer build a touch of one ends the process with a report; in any other
 * build there are none between the lanes of a warp or its registers, and these calls are nothing. */
#ifndef HEDDLE_BASE_GUARD_H
#define HEDDLE_BASE_GUARD_H

#include <stdint.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GUARD_GAP_BYTES = 128 };
static inline void guard_close(uint64_t at, uint64_t bytes) { ASAN_POISON_MEMORY_REGION((void *)(uintptr_t)at, bytes); }
static inline void guard_open(uint64_t at, uint64_t bytes)
{
    ASAN_UNPOISON_MEMORY_REGION((void *)(uintptr_t)at, bytes);
}
#else
enum { GUARD_GAP_BYTES = 0 };
static inline void guard_close(uint64_t at, uint64_t bytes) { (void)at, (void)bytes; }
static inline void guard_open(uint64_t at, uint64_t bytes) { (void)at, (void)bytes; }
#endif

#endif
