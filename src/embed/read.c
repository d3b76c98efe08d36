/* heddle.h: what was counted. */
#include "embed/embed.h"

#include "base/whole_file.h"
#include "results/metrics.h"
#include "results/results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t heddle_launches(const struct heddle *h) { return h->gpu->kernel_count; }

double heddle_metric(const struct heddle *h, int64_t launch, const char *name)
{
    double value;
    return results_number(h->gpu, launch, name, &value) ? value : NAN;
}

static json_t *results(const struct heddle *h)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct results_run run = {.command = h->program,
                              .command_bytes = *h->program ? strlen(h->program) + 1 : 0,
                              .wall_seconds = (double)(now.tv_sec - h->start.tv_sec) +
                                              1e-9 * (double)(now.tv_nsec - h->start.tv_nsec),
                              .exit_status = h->outcome.kind != ERROR_NONE,
                              .outcome = &h->outcome,
                              .launch_refused = h->launch_refused,
                              .probe_failed = h->probe_failed,
                              .file_failed = h->file_failed};
    return results_json(h->gpu, &run);
}

char *heddle_json(const struct heddle *h)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    json_t *root = to ? results(h) : NULL;
    bool written = root && results_write(root, to);
    json_decref(root);
    if (to && fclose(to) == 0 && written)
        return text;
    free(text);
    return NULL;
}

bool heddle_save(const struct heddle *h, const char *path, struct heddle_error *error)
{
    struct error e = {0};
    struct whole_file whole;
    bool written = whole_file_open(&whole, path);
    if (written) {
        json_t *root = results(h);
        written = results_write(root, whole.file);
        int why = errno;
        json_decref(root);
        errno = why;
        written &= whole_file_close(&whole);
    }
    if (!written)
        error_set(&e, ERROR_IO, "the results could not be written to %s: %s", path, strerror(errno));
    return embed_report(&e, error);
}

bool heddle_metric_info(uint32_t index, struct heddle_metric_info *out)
{
    if (index >= result_metric_count)
        return false;
    const struct result_metric *m = &result_metrics[index];
    *out = (struct heddle_metric_info){m->name, m->unit, m->help, m->nsight};
    return true;
}

const char *heddle_version(void) { return HEDDLE_VERSION; }
