/* One line about the kernel that runs, on a terminal rewritten in place. */
#ifndef HEDDLE_GPU_PROGRESS_H
#define HEDDLE_GPU_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress;

/* NULL when not enabled; all functions take NULL and do nothing then. Off a terminal each line is printed whole, one
 * below the other. */
struct progress *progress_create(FILE *to, bool enabled);
/* Cheap enough for every few thousand cycles: it looks at the clock, and prints at most four times per second. */
void progress_update(struct progress *p, const char *kernel, uint64_t cycles, uint64_t warp_instructions,
                     uint64_t blocks_started, uint64_t blocks_done, uint64_t blocks_all);
void progress_done(struct progress *p); /* the launch is over: the line goes */
void progress_destroy(struct progress *p);

/* What a kernel has done since it was first seen, `seconds` ago. */
struct progress_state {
    const char *kernel;
    uint64_t cycles, warp_instructions, blocks_started, blocks_done, blocks_all;
    double kwips, seconds;
};
/* The text of the line, no newline; out has room for most characters. */
void progress_line(char *out, size_t most, const struct progress_state *s);

#endif
