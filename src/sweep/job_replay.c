/* What an experiment's `replay` asks of a run: its L1D accesses, which it wrote down as a trace, through caches of the
 * same shape under other policies. The counts join those of the run. */
#include "sweep/job_record.h"

#include "replay/replay.h"

static json_t *counts_json(const struct replay_counts *n)
{
    return json_pack("{s:I, s:I}", "misses", (json_int_t)(n->read_misses + n->store_misses), "read_misses",
                     (json_int_t)n->read_misses);
}

static json_t *replay_all(struct trace_reader *trace, uint32_t policies, struct error *e)
{
    const struct trace_header *h = &trace->header;
    struct replay_geometry g = {.sets = h->sets, .ways = h->ways, .line_bytes = h->line_bytes, .index = h->index};
    json_t *all = json_object();
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++) {
        struct replay_result result;
        if (!(policies >> i & 1))
            continue;
        if (!replay_run(trace, &g, (enum replay_policy)i, &(struct replay_how){.threads = 1}, &result, e)) {
            json_decref(all);
            return NULL;
        }
        json_object_set_new(all, replay_metric_names[i], counts_json(&result.total));
        replay_result_free(&result);
    }
    return all;
}

bool job_replay(const char *path, uint32_t policies, json_t *stats, struct error *e)
{
    json_t *l1d = json_object_get(json_object_get(stats, "total"), "l1d");
    struct trace_reader trace;
    if (!l1d)
        return error_set(e, ERROR_INVALID, "the run counted nothing of an L1D");
    if (!trace_reader_open(&trace, path, e))
        return false;
    json_t *counts = trace.truncated ? NULL : replay_all(&trace, policies, e);
    if (trace.truncated)
        error_set(e, ERROR_IO, "the trace is cut off: is there room on the disk?");
    trace_reader_close(&trace);
    return counts && json_object_set_new(l1d, "replay", counts) == 0;
}
