/* One line about the kernel that runs, on a terminal rewritten in place. */
#ifndef HEDDLE_GPU_PROGRESS_H
#define HEDDLE_GPU_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress;

/* NULL when not enabled: all functions take NULL, and do nothing then. Off a terminal each line is printed below the
 * last one. */
struct progress *progress_create(FILE *to, bool enabled);
/* What a kernel has done since its launch was first seen, `seconds` ago. */
struct progress_state {
    uint64_t launch; /* a number that no other launch has */
    const char *kernel;
    uint64_t cycles; /* 0 means that no time is modelled */
    uint64_t warp_instructions, blocks_started, blocks_done, blocks_all;
    double kwips, seconds; /* set by progress_update */
};

/* Cheap enough for every few thousand cycles: it looks at the clock, and prints at most four times per second. */
void progress_update(struct progress *p, const struct progress_state *s);
void progress_end(struct progress *p, uint64_t launch); /* the launch is over: erases the line */
void progress_done(struct progress *p);                 /* erases the line */
void progress_destroy(struct progress *p);

/* Writes the text of the line, without a newline; out has room for most characters. */
void progress_line(char *out, size_t most, const struct progress_state *s);

#endif
