#include "gpu/files.h"

#include "gpu/issue_order.h"
#include "gpu/timeline.h"
#include "gpu/trace.h"
#include "gpu/warps.h"

static bool is_asked_for(const char *path, const struct gpu_options *o) { return path && *path && !o->functional; }

static bool open_all(struct gpu_options *o, const struct gpu_files *f, struct error *e)
{
    if (is_asked_for(f->timeline, o) &&
        !(o->observers.timeline = timeline_open(f->timeline, f->timeline_first, f->timeline_end, e)))
        return false;
    if (is_asked_for(f->trace, o)) {
        struct trace_header header = trace_header_of(&o->machine, f->program);
        if (!(o->observers.trace = trace_open(f->trace, &header, e)))
            return false;
    }
    if (is_asked_for(f->issue_order, o)) {
        struct issue_order_run run = {f->program, o->policies.scheduler.spec, o->policies.l1.spec,
                                      o->policies.divergence.spec};
        if (!(o->observers.issue_order = issue_order_open(f->issue_order, &o->machine, &run, e)))
            return false;
    }
    return !is_asked_for(f->warps, o) || (o->observers.warps = warps_open(f->warps, e));
}

bool gpu_files_open(struct gpu_options *options, const struct gpu_files *f, struct error *e)
{
    if (open_all(options, f, e))
        return true;
    gpu_files_destroy(options);
    return false;
}

void gpu_files_close(struct gpu_options *o, void (*reported)(void *user, const struct error *e), void *user)
{
    struct error e[4] = {{0}};
    if (o->observers.timeline && !timeline_close(o->observers.timeline, &e[0]))
        reported(user, &e[0]);
    if (o->observers.trace && !trace_close(o->observers.trace, &e[1]))
        reported(user, &e[1]);
    if (o->observers.warps && !warps_close(o->observers.warps, &e[2]))
        reported(user, &e[2]);
    if (o->observers.issue_order && !issue_order_close(o->observers.issue_order, &e[3]))
        reported(user, &e[3]);
}

void gpu_files_destroy(struct gpu_options *o)
{
    timeline_destroy(o->observers.timeline);
    trace_destroy(o->observers.trace);
    warps_destroy(o->observers.warps);
    issue_order_destroy(o->observers.issue_order);
    o->observers.timeline = NULL;
    o->observers.trace = NULL;
    o->observers.warps = NULL;
    o->observers.issue_order = NULL;
}
