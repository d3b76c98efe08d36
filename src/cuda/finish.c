/* What happens when the process ends, in whatever way: files are completed, results written. */
#include "cuda/policy_hang.h"
#include "cuda/race_report.h"

#include "gpu/files.h"
#include "gpu/launch_filter.h"
#include "gpu/progress.h"
#include "gpu/timeline.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* What a kernel did wrong, or the program, says more than that a file could not be written. */
static void report_file(void *driver, const struct error *e)
{
    struct driver *d = driver;
    d->file_failed = true;
    if (d->outcome.kind == ERROR_NONE)
        driver_report(e);
    else if (strcmp(d->outcome.text, e->text))
        driver_say("%s", e->text);
}

static void finish_files(struct driver *d)
{
    const struct timeline *t = d->gpu->options.observers.timeline;
    gpu_files_close(&d->gpu->options, report_file, d);
    if (t && !d->file_failed && timeline_dropped_from(t) != UINT64_MAX && !d->options.quiet)
        driver_say("the timeline is cut off at cycle %llu: the file has reached its size limit; --timeline-cycles A:B "
                   "chooses a part of the run",
                   (unsigned long long)timeline_dropped_from(t));
    else if (t && !d->file_failed && timeline_is_part(t) && !d->options.quiet)
        driver_say("the timeline shows cycles %llu to %llu of %llu; --timeline-cycles A:B chooses others",
                   (unsigned long long)d->options.timeline_first, (unsigned long long)d->options.timeline_end,
                   (unsigned long long)d->gpu->clock_cycles);
}

static void write_probes(struct driver *d)
{
    struct error e = {0};
    policy_hang_begin(d->gpu);
    bool written = gpu_write_probes(d->gpu, &e);
    policy_hang_end();
    if (written)
        return;
    d->probe_failed = true;
    if (d->outcome.kind == ERROR_NONE)
        driver_report(&e);
    else
        driver_say("%s", e.text);
}

static void say_strays(const struct driver *d)
{
    const struct memory *m = d->gpu->memory;
    if (m->strays && !d->options.quiet)
        driver_say("%llu accesses outside of allocations, next to one, were allowed, as a GPU allows them "
                   "(--exact-bounds makes them errors). The first: %s",
                   (unsigned long long)m->strays, m->first_stray);
}

/* Which launches the results are of. A program that failed may have had no chance to launch what was asked for. */
static void say_filter(struct driver *d)
{
    struct error e = {0};
    const struct launch_filter *f = d->gpu->options.filter;
    if (!f || !f->functional)
        return;
    if (!f->timed && d->outcome.kind == ERROR_NONE) {
        d->nothing_timed = true;
        launch_filter_explain(f, &e);
        driver_say("%s", e.text);
    } else if (!d->options.quiet) {
        driver_say("%llu of %llu launches ran functionally, without time; the results are of the others",
                   (unsigned long long)f->functional, (unsigned long long)(f->functional + f->timed));
    }
}

void driver_finish(struct driver *d, int exit_status)
{
    if (!d->gpu)
        return;
    progress_done(d->gpu->options.observers.progress);
    if (!d->files_finished) {
        d->files_finished = true;
        finish_files(d);
    }
    write_probes(d);
    say_strays(d);
    say_filter(d);
    if (!d->options.quiet)
        race_report_say(d->gpu);
    stats_write(d, exit_status);
}

void driver_finish_stuck(struct driver *d, const struct error *e, int exit_status)
{
    driver_claim_end(d); /* if it was claimed, then by the thread that cannot go on */
    driver_keep(e);
    if (d->gpu) {
        d->gpu->probes_have_written = true;
        driver_finish(d, exit_status);
        _exit(exit_status);
    }
    sigset_t term; /* there can be no results: whoever started the process hears of it by its end */
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &term, NULL);
    raise(SIGTERM);
    _exit(exit_status);
}
