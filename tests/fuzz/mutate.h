/* Changes PTX text by its words, so that much of what comes out can still be loaded: instructions become others,
 * suffixes and types change, registers and labels are swapped, numbers become those at which things go wrong,
 * statements move, and calls, allocations on the stack and barriers appear where none were. */
#ifndef HEDDLE_TESTS_FUZZ_MUTATE_H
#define HEDDLE_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Both write at most room bytes to out, which the texts do not overlap, and return how many. */
size_t mutate_text(const char *text, size_t size, char *out, size_t room, uint32_t seed);
size_t mutate_cross(const char *text, size_t size, const char *other, size_t other_size, char *out, size_t room,
                    uint32_t seed);

#endif
