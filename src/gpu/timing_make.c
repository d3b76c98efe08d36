/* The timing model's parts: cores, networks, channels, and the pattern of ticks of their clocks. */
#include "gpu/timing.h"

#include "base/out_of_memory.h"
#include "gpu/held.h"
#include "gpu/issue_order.h"
#include "gpu/l2_policy.h"
#include "gpu/timeline.h"
#include "gpu/trace.h"
#include "gpu/workers.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_LINE_BYTES = 32 };

static void on_atomic(void *context, const struct packet *p)
{
    struct timing *t = context;
    sm_perform_atomic(t->cores[p->core], p);
}

static bool make_cores(struct timing *t, const struct gpu_options *o, struct error *e)
{
    const struct machine *m = &o->machine;
    struct sm_policies policies = {.scheduler = o->policies.scheduler.scheduler,
                                   .scheduler_values = o->policies.scheduler.values,
                                   .l1 = o->policies.l1.l1,
                                   .l1_values = o->policies.l1.values,
                                   .divergence = o->policies.divergence.divergence,
                                   .divergence_values = o->policies.divergence.values,
                                   .seed = m->seed,
                                   .probe_count = o->policies.probe_count};
    for (uint32_t i = 0; i < o->policies.probe_count; i++) {
        policies.probes[i] = o->policies.probes[i].probe;
        policies.probe_values[i] = o->policies.probes[i].values;
    }
    const struct cache_config *l2 = &m->mem.l2.cache;
    t->cores = arena_array(&t->arena, struct sm *, m->cores);
    t->turns.list = arena_lines(&t->arena, struct core_turn, m->cores);
    t->blocks.owner = arena_array(&t->arena, struct residency *, m->cores);
    t->held = arena_array(&t->arena, struct held_core, m->cores);
    t->blocks.owned_since = arena_array(&t->arena, uint64_t, m->cores);
    t->observed.profiles = o->pcs ? arena_array(&t->arena, struct profile_core, m->cores) : NULL;
    t->observed.warp_logs = o->observers.warps ? arena_array(&t->arena, struct warp_log, m->cores) : NULL;
    for (t->core_count = 0; t->core_count < m->cores; t->core_count++) {
        struct sm_wires wires = {.requests = t->memory.requests,
                                 .expected = &t->memory.expected[t->core_count],
                                 .map = &t->map,
                                 .clock = {.owner_period = t->clock.period[DOMAIN_CORE],
                                           .period = t->clock.period[DOMAIN_ICNT],
                                           .whole = t->clock.period[DOMAIN_CORE] % t->clock.period[DOMAIN_ICNT]
                                                        ? 0
                                                        : t->clock.period[DOMAIN_CORE] / t->clock.period[DOMAIN_ICNT]},
                                 .cut = pieces_of(&m->mem.l2),
                                 .answer_cycles = t->memory.least_delay + t->memory.answer_cycles - 1,
                                 .half_slices = m->mem.l2.link_cycles ? t->memory.slices / 2 : 0,
                                 .tells_written = l2->partial_writes || m->sm.l1d.partial_writes,
                                 .wake_at = &t->turns.list[t->core_count].wake,
                                 .blocked_bytes = &t->turns.list[t->core_count].blocked,
                                 .observer = o->observers.timeline      ? timeline_observer(o->observers.timeline)
                                             : o->observers.issue_order ? issue_order_observer(o->observers.issue_order)
                                                                        : NULL};
        struct sm *c = sm_create(&t->arena, &m->sm, t->core_count, m->cores, &policies, &wires, e);
        if (!c)
            return false;
        t->cores[t->core_count] = c;
        if (t->observed.profiles)
            profile_core_listen(&t->observed.profiles[t->core_count], c);
        if (o->observers.trace)
            trace_listen(o->observers.trace, c);
        if (t->observed.warp_logs)
            warp_log_listen(&t->observed.warp_logs[t->core_count], c);
    }
    return true;
}

/* An answer leaves its slice in a tick of the L2 after this core cycle, the interconnect takes it in one after that; it
 * waits for a core cycle to be taken out, and for the next one to be given to its core. */
static uint32_t answer_cycles(const struct timing *t, uint32_t network_cycles)
{
    bool whole = t->clock.period[DOMAIN_L2] % t->clock.period[DOMAIN_CORE] ==
                 0; /* the L2's next tick is not before the core's */
    return (uint32_t)(network_cycles * t->clock.period[DOMAIN_ICNT] / t->clock.period[DOMAIN_CORE]) + (whole ? 3 : 2);
}

static void make_memory(struct timing *t, const struct mem_config *m)
{
    struct partition_hooks hooks = {t, on_atomic};
    t->memory.requests = network_create(&t->arena, &m->network, NETWORK_REQUESTS, t->ports, t->memory.slices);
    t->memory.replies = network_create(&t->arena, &m->network, NETWORK_REPLIES, t->memory.slices, t->ports);
    t->memory.partitions = arena_array(&t->arena, struct partition *, t->memory.channels);
    t->memory.expected = arena_lines(&t->arena, struct expected_answers, t->options->machine.cores);
    t->memory.answer_cycles = answer_cycles(t, t->memory.replies->least_cycles);
    t->memory.least_delay = m->l2.rop_cycles;
    for (uint32_t i = 0; i < t->memory.channels; i++) {
        t->memory.partitions[i] =
            partition_create(&t->arena, m, &t->map, i, t->memory.requests, t->memory.replies, &hooks);
        partition_set_l2_clock(t->memory.partitions[i], &t->clock.ticks[DOMAIN_L2]);
        partition_share_calendar(t->memory.partitions[i], &t->memory.calendar);
        partition_count_answers(t->memory.partitions[i], t->memory.expected);
    }
    for (uint32_t i = 0; m->l2.link_cycles && i < t->memory.channels / 2; i++)
        partition_link(t->memory.partitions[i], t->memory.partitions[i + t->memory.channels / 2], &t->arena);
}

struct timing *timing_create(const struct gpu_options *options, struct error *e)
{
    const struct machine *m = &options->machine;
    struct timing *t = aligned_alloc(_Alignof(struct timing), sizeof *t);
    if (!t)
        out_of_memory();
    memset(t, 0, sizeof *t);
    t->options = options;
    clocks_init(&t->clock, &t->arena,
                (const uint64_t[DOMAIN_COUNT]){m->mem.core_khz, m->mem.icnt_khz, m->mem.l2_khz, m->mem.dram_khz});
    t->memory.channels = m->mem.dram.channels;
    t->memory.slices = t->memory.channels * m->mem.l2.slices_per_channel;
    t->ports = m->mem.core_count;
    t->blocks.last_port = t->ports - 1;
    t->memory.slices_per_channel = m->mem.l2.slices_per_channel;
    t->memory.port_words = (t->ports + 63) / 64;
    t->memory.slice_words = (t->memory.slices + 63) / 64;
    t->memory.channel_words = (t->memory.channels + 63) / 64;
    t->core_words = (m->cores + 63) / 64;
    if (!address_map_init(&t->map, &m->mem.dram, m->mem.l2.slices_per_channel, e)) {
        timing_destroy(t);
        return NULL;
    }
    make_memory(t, &m->mem);
    if (!l2_policies_create(&t->l2_policies, &t->arena, &options->policies.l2, &m->mem, m->seed, t->memory.partitions,
                            e)) {
        timing_destroy(t);
        return NULL;
    }
    t->memory.answers = arena_lines(&t->arena, struct answer_queue, t->ports);
    t->blocks.last_core = arena_array(&t->arena, uint32_t, t->ports);
    t->threads.to_run = arena_array(&t->arena, uint16_t, t->ports);
    for (uint32_t i = 0; i < t->ports; i++)
        answers_init(&t->memory.answers[i], &t->arena, m->sm.response_queue ? m->sm.response_queue : 8);
    if (!make_cores(t, options, e)) {
        timing_destroy(t);
        return NULL;
    }
    /* An observer is told of one core after another. */
    t->threads.workers = options->threads > 1 && !options->observers.timeline && !options->observers.issue_order
                             ? workers_create(options->threads)
                             : NULL;
    meetings_init(&t->threads.meetings, t->core_count, options->threads);
    t->threads.sharing.always = getenv("HEDDLE_ALWAYS_THREADS") != NULL;
    return t;
}

void timing_destroy(struct timing *t)
{
    if (!t)
        return;
    workers_destroy(t->threads.workers);
    l2_policies_finish(t->l2_policies);
    for (uint32_t i = 0; i < t->core_count; i++)
        sm_destroy(t->cores[i]);
    for (uint32_t i = 0; t->observed.warp_logs && i < t->core_count; i++)
        warp_log_free(&t->observed.warp_logs[i]);
    for (uint32_t i = 0; i < TIMING_PROGRAMS; i++)
        arena_free(&t->programs[i].arena);
    arena_free(&t->arena);
    free(t);
}

struct timing *timing_replace(struct timing *broken, const struct gpu_options *options, struct error *e)
{
    uint64_t now = broken ? broken->now : 0;
    timing_destroy(broken);
    struct timing *t = timing_create(options, e);
    if (t)
        timing_jump(t, now);
    return t;
}

bool timing_is_broken(const struct timing *t) { return t->broken; }

void timing_note_copy(struct timing *t, const struct memory *m, uint64_t address, uint64_t bytes)
{
    const struct l2_config *l2 = &t->options->machine.mem.l2;
    uint64_t most = (uint64_t)l2->cache.sets * l2->cache.ways * l2->cache.line_bytes * t->memory.slices * 2;
    struct memory_range near = {0};
    if (!l2->filled_by_copies || !l2->cache.sets)
        return;
    uint64_t at = bytes > most ? address + bytes - most : address;
    for (at &= ~(uint64_t)(COPY_LINE_BYTES - 1); at < address + bytes; at += COPY_LINE_BYTES) {
        uint64_t physical = memory_physical(m, at < address ? address : at, &near);
        partition_touch(t->memory.partitions[address_map_place(&t->map, physical).channel], physical);
    }
}
