/* The region of interest: which launches stand in the results. All run alike; those outside are left out of the list of
 * kernels and of the total.
 *
 * The first of the two calls tells what was meant before it: nothing before a start, everything before a stop. A
 * program without them is counted whole. */
#include "cuda/internal.h"

#include "gpu/warps.h"

static void region(struct driver *d, bool report)
{
    if (!d->has_region && report && d->gpu->options.observers.warps)
        warps_forget(d->gpu->options.observers.warps);
    if (!d->has_region && report)
        for (uint32_t i = 0; i < d->gpu->kernel_count; i++)
            d->gpu->kernels[i].unreported = true;
    d->has_region = true;
    d->gpu->unreported = !report;
}

/* A context that has failed still marks the region: the results of what ran before are worth having. */
static CUresult mark(bool report)
{
    struct driver *d = driver_get();
    CUresult r = api_enter(NULL, API_CONTEXT);
    if (d->initialised && context_current())
        region(d, report);
    return api_leave(r);
}

CUAPI CUresult cuProfilerStart(void) { return mark(true); }
CUAPI CUresult cuProfilerStop(void) { return mark(false); }

/* Before CUDA 12: what to collect, and where to. Results go where --stats says. */
CUAPI CUresult cuProfilerInitialize(const char *config, const char *output, int format);
CUAPI CUresult cuProfilerInitialize(const char *config, const char *output, int format)
{
    (void)config, (void)output, (void)format;
    return api_leave(api_enter(NULL, API_CONTEXT));
}
