/* --stats: the results, with what only the driver knows of the process, written when that ends. */
#include "cuda/internal.h"

#include "base/whole_file.h"
#include "results/results.h"

#include <errno.h>
#include <string.h>

/* Room is not asked for: the process may be ending for want of memory. */
static json_t *results(const struct driver *d, int exit_status)
{
    static char command[1 << 16];
    FILE *f = fopen("/proc/self/cmdline", "rb");
    size_t n = f ? fread(command, 1, sizeof command - 1, f) : 0;
    if (f)
        fclose(f);
    command[n] = '\0';
    struct results_run run = {.command = command,
                              .command_bytes = n,
                              .wall_seconds = seconds_now(),
                              .exit_status = exit_status,
                              .outcome = &d->outcome,
                              .launch_refused = d->launch_refused,
                              .probe_failed = d->probe_failed,
                              .file_failed = d->file_failed,
                              .nothing_timed = d->nothing_timed};
    return results_json(d->gpu, &run);
}

void stats_write(const struct driver *d, int exit_status)
{
    if (!d->options.stats[0] || !d->gpu)
        return;
    bool to_stdout = !strcmp(d->options.stats, "-");
    struct whole_file whole = {.file = stdout};
    if (!to_stdout && !whole_file_open(&whole, d->options.stats)) {
        driver_say("the results could not be written to %s: %s", d->options.stats, strerror(errno));
        return;
    }
    json_t *root = results(d, exit_status);
    bool written = results_write(root, whole.file);
    int why = errno;
    json_decref(root);
    errno = why;
    if ((to_stdout ? fflush(stdout) == 0 : whole_file_close(&whole)) && written)
        return;
    driver_say("the results could not be written to %s: %s", to_stdout ? "standard output" : d->options.stats,
               strerror(errno));
    if (!to_stdout)
        whole_file_remove_empty(d->options.stats); /* `heddle run` made it */
}
