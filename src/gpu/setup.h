/* From the words of a command line to a machine with its policies. */
#ifndef HEDDLE_GPU_SETUP_H
#define HEDDLE_GPU_SETUP_H

#include "gpu/gpu.h"

struct gpu_setup {
    const char *machine;
    const char *const *sets; /* --set section.key=value, in order */
    uint32_t set_count;
    const char *scheduler, *l1, *divergence; /* specs; NULL or empty means the machine file's */
    const char *const *probes;               /* specs */
    uint32_t probe_count;
    bool functional; /* probes must work without time; otherwise, with time */
};

/* Fills in the machine and the policies of options; on failure options hold no policy. */
bool gpu_setup(struct gpu_options *options, const struct gpu_setup *s, struct error *e);
void gpu_setup_release(struct gpu_options *options); /* frees the policies, where no GPU took them over */

#endif
