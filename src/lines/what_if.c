/* What lines would have missed under the best possible replacement: the accesses of the run through caches of the same
 * shape. */
#include "lines/lines.h"

#include "base/processors.h"
#include "replay/replay.h"

static void add_listing(struct code_lines *l, const struct trace_listing *g, const struct replay_counts *pcs)
{
    for (uint32_t i = 0; i < g->line_count; i++) {
        const struct trace_line *line = &g->lines[i];
        struct code_counter misses = {"belady_misses", pcs[line->pc].read_misses};
        struct code_instruction in = {.kernel = g->kernel,
                                      .function = line->function,
                                      .source = line->source,
                                      .text = line->text,
                                      .line = line->line,
                                      .counters = &misses,
                                      .counter_count = 1};
        if (misses.value)
            code_lines_add(l, &in);
    }
}

bool code_lines_replay(struct code_lines *l, const char *trace, struct error *e)
{
    struct trace_reader r;
    struct replay_result result;
    if (!trace_reader_open(&r, trace, e))
        return false;
    const struct trace_header *h = &r.header;
    struct replay_geometry g = {.sets = h->sets, .ways = h->ways, .line_bytes = h->line_bytes, .index = h->index};
    bool ok = replay_run(&r, &g, REPLAY_BELADY_READS, &(struct replay_how){.threads = processors_usable()}, &result, e);
    for (uint32_t i = 0; ok && i < r.listing_count; i++)
        add_listing(l, &r.listings[i], result.pcs[i]);
    if (ok)
        replay_result_free(&result);
    trace_reader_close(&r);
    return ok;
}
