/* What the handles of heddle.h stand for. */
#ifndef HEDDLE_EMBED_EMBED_H
#define HEDDLE_EMBED_EMBED_H

#include "gpu/gpu.h"
#include "heddle/heddle.h"

#include <time.h>

struct heddle {
    struct gpu *gpu;
    struct heddle_module *modules;
    struct timespec start;
    uint64_t max_cycles;    /* of all launches; 0: no limit */
    struct error outcome;   /* what went wrong last in a module or a launch */
    struct error unwritten; /* of the files: the first that could not be written */
    bool finished, launch_refused, probe_failed, file_failed;
    char program[256];
};
struct heddle_module {
    struct heddle_module *next;
    struct exec_image *image;
};

/* The error as the caller sees it. Returns false where there is one. */
bool embed_report(const struct error *e, struct heddle_error *to);

#endif
