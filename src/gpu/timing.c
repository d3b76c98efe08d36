/* Time: four clock domains (cores, interconnect, L2, DRAM) with their real ratios, thread-block dispatch, and what sleeps.
 *
 * The n-th tick of a domain is at n / frequency; ticks at the same time run in a fixed order (answers into cores, replies into the interconnect, DRAM, L2, interconnect, cores), as in GPGPU-Sim. A core,
 * channel or network with nothing to do is not visited; when none has anything to do before a known cycle, time jumps there.
 *
 * Launches that run together share the memory system; of cores, each has some to itself. The first to start has all of them; a core that has become empty, and for which its launch has no more blocks, goes to another
 * that has. Blocks of two launches on one core at the same time, which GPUs allow, are left out. What is counted in the memory system while several run is counted with the one that started first. */
#include "gpu/hang.h"
#include "gpu/launch.h"
#include "gpu/profile.h"
#include "gpu/progress.h"
#include "gpu/timeline.h"
#include "gpu/trace.h"
#include "gpu/workers.h"
#include "sm/sm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_CYCLES = 4096, SUSPECT_CYCLES_FIRST = 1 << 16, SUSPECT_CYCLES = 1 << 20, PROGRAMS_KEPT = 16, COPY_LINE_BYTES = 32, CORE_WORDS = 16, PATTERN_MOST = 4096 };
enum domain { DOMAIN_CORE, DOMAIN_ICNT, DOMAIN_L2, DOMAIN_DRAM, DOMAIN_COUNT };

struct kept_program { uint64_t image; const struct exec_function *kernel; struct arena arena; struct sm_program *program; uint64_t used; };

struct timing {
    struct arena arena;
    const struct gpu_options *options;
    uint64_t period[DOMAIN_COUNT];        /* of a domain, in a unit in which all are whole */
    uint64_t ticks[DOMAIN_COUNT];         /* number of the next tick */
    uint8_t *pattern;                     /* which domains tick together, step after step until that repeats; NULL: it is too long, times are compared */
    uint16_t *core_steps;                 /* of each core tick of the pattern: its step */
    uint32_t pattern_steps, pattern_cores, next_step;
    struct address_map map;
    struct crossbar *requests, *replies;
    struct partition **partitions;
    uint32_t channels, slices, ports, slices_per_channel, port_words, slice_words;
    uint64_t slice_bits;                  /* of one channel, at the lowest place */
    struct sm **cores;
    uint32_t *core_blocked;               /* bytes for which it waits for room in the network */
    uint64_t *core_wake;                  /* of each core: the next cycle in which it must be run */
    struct residency **owner;             /* of each core: the launch whose blocks it runs, or NULL */
    uint64_t *owned_since;
    uint32_t core_count, core_words;
    uint64_t awake[CORE_WORDS];           /* cores that must be run in the next cycle, a bit each */
    uint64_t awake_next[CORE_WORDS];      /* and in the one after it: sleeping cores with an answer */
    uint64_t blocked[CORE_WORDS];         /* those with core_blocked */
    uint64_t sleep_until;                 /* none of the others must be run before this cycle */
    struct ring *answers;                 /* a port: packets that wait for their core */
    uint64_t answers_waiting[CROSSBAR_WORDS];
    uint64_t replying[CROSSBAR_WORDS];    /* channels with replies that wait for the network */
    uint32_t channel_words;
    uint32_t last_port;                   /* that was given a block */
    uint32_t *last_core;                  /* of each port */
    struct kept_program programs[PROGRAMS_KEPT];
    struct workers *workers;
    struct partition_counters memory_before;
    struct crossbar_counters requests_before, replies_before;
    struct profile_core *profiles;        /* of each core; NULL: instructions are not counted */
    uint64_t sample_at;                   /* the cycle of the next sample of a launch; UINT64_MAX: none */
    uint64_t now;                         /* core cycle */
    uint64_t blocks_done, blocks_seen;    /* in all; those that the launches know of */
    bool may_place;
    bool serial;                          /* one of the launches does what cores may not do at the same time */
    bool has_new;                         /* one was started and no cycle has passed since */
    uint64_t suspect_at, patience;        /* when it is next looked at for a hang, and how long after that again */
    bool broken;                          /* a launch did not come to its end: what it left in cores and queues belongs to nobody */
};

/* Making */

static void on_atomic(void *context, const struct packet *p)
{
    struct timing *t = context;
    sm_perform_atomic(t->cores[p->core], p);
}

static bool make_cores(struct timing *t, const struct gpu_options *o, struct error *e)
{
    const struct machine *m = &o->machine;
    struct sm_policies policies = { .scheduler = o->scheduler.scheduler, .scheduler_values = o->scheduler.values, .l1 = o->l1.l1, .l1_values = o->l1.values,
                                    .divergence = o->divergence.divergence, .divergence_values = o->divergence.values, .seed = m->seed };
    const struct cache_config *l2 = &m->mem.l2.cache;
    uint32_t answer_bytes = !l2->sets ? 4096 : l2->sector_bytes ? l2->sector_bytes : l2->line_bytes;
    t->cores = arena_array(&t->arena, struct sm *, m->cores);
    t->core_wake = arena_array(&t->arena, uint64_t, m->cores);
    t->core_blocked = arena_array(&t->arena, uint32_t, m->cores);
    t->owner = arena_array(&t->arena, struct residency *, m->cores);
    t->owned_since = arena_array(&t->arena, uint64_t, m->cores);
    t->profiles = o->pcs ? arena_array(&t->arena, struct profile_core, m->cores) : NULL;
    for (t->core_count = 0; t->core_count < m->cores; t->core_count++) {
        struct sm *c = sm_create(&t->arena, &m->sm, t->core_count, m->cores, &policies, t->requests, &t->map, answer_bytes, &t->ticks[DOMAIN_ICNT], e);
        if (!c)
            return false;
        t->cores[t->core_count] = c;
        c->wake_at = &t->core_wake[t->core_count];
        c->blocked_bytes = &t->core_blocked[t->core_count];
        *c->wake_at = UINT64_MAX;
        c->observer = o->timeline ? timeline_observer(o->timeline) : NULL;
        if (t->profiles)
            profile_core_listen(&t->profiles[t->core_count], c);
        if (o->trace)
            trace_listen(o->trace, c);
    }
    return true;
}

static void make_memory(struct timing *t, const struct mem_config *m)
{
    struct partition_hooks hooks = { t, on_atomic };
    t->requests = crossbar_create(&t->arena, &m->crossbar, t->ports, t->slices);
    t->replies = crossbar_create(&t->arena, &m->crossbar, t->slices, t->ports);
    t->partitions = arena_array(&t->arena, struct partition *, t->channels);
    for (uint32_t i = 0; i < t->channels; i++) {
        t->partitions[i] = partition_create(&t->arena, m, &t->map, i, t->requests, t->replies, &hooks);
        partition_set_l2_clock(t->partitions[i], &t->ticks[DOMAIN_L2]);
    }
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The unit is the least common multiple of the frequencies; where that is beyond all measure, a fraction of an attosecond a tick is lost. */
static void set_periods(struct timing *t, const uint64_t khz[DOMAIN_COUNT])
{
    uint64_t common = 1;
    for (enum domain d = 0; d < DOMAIN_COUNT && common < 1ull << 44; d++)
        common = common / greatest_divisor(common, khz[d]) * khz[d];
    for (enum domain d = 0; d < DOMAIN_COUNT; d++)
        t->period[d] = common < 1ull << 44 ? common / khz[d] : 1000000000000000ull / khz[d];
}

/* The pattern of ticks until all domains tick together again. */
static void make_pattern(struct timing *t)
{
    uint64_t length = t->period[DOMAIN_CORE], time[DOMAIN_COUNT] = { 0 }, now = 0, ticks = 0;
    for (enum domain d = 0; d < DOMAIN_COUNT; d++) {
        uint64_t factor = t->period[d] / greatest_divisor(length, t->period[d]);
        if (factor > PATTERN_MOST || length / t->period[DOMAIN_CORE] > PATTERN_MOST)
            return;
        length *= factor;
    }
    for (enum domain d = 0; d < DOMAIN_COUNT; d++)
        ticks += length / t->period[d];
    if (ticks > PATTERN_MOST)
        return;
    t->pattern_cores = (uint32_t)(length / t->period[DOMAIN_CORE]);
    t->pattern = arena_array(&t->arena, uint8_t, PATTERN_MOST);
    t->core_steps = arena_array(&t->arena, uint16_t, t->pattern_cores);
    for (uint32_t core = 0; now < length; t->pattern_steps++) {
        uint64_t next = UINT64_MAX;
        for (enum domain d = 0; d < DOMAIN_COUNT; d++) {
            t->pattern[t->pattern_steps] |= (uint8_t)((time[d] == now) << d);
            time[d] += time[d] == now ? t->period[d] : 0;
            next = time[d] < next ? time[d] : next;
        }
        if (t->pattern[t->pattern_steps] & 1u << DOMAIN_CORE)
            t->core_steps[core++] = (uint16_t)t->pattern_steps;
        now = next;
    }
}

struct timing *timing_create(const struct gpu_options *options, struct error *e)
{
    const struct machine *m = &options->machine;
    struct timing *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->options = options;
    set_periods(t, (const uint64_t[DOMAIN_COUNT]){ m->mem.core_khz, m->mem.icnt_khz, m->mem.l2_khz, m->mem.dram_khz });
    t->channels = m->mem.dram.channels;
    t->slices = t->channels * m->mem.l2.slices_per_channel;
    t->ports = m->mem.core_count;
    t->slices_per_channel = m->mem.l2.slices_per_channel;
    t->slice_bits = t->slices_per_channel < 64 ? (1ull << t->slices_per_channel) - 1 : ~0ull;
    t->port_words = (t->ports + 63) / 64;
    t->slice_words = (t->slices + 63) / 64;
    t->channel_words = (t->channels + 63) / 64;
    t->core_words = (m->cores + 63) / 64;
    make_pattern(t);
    if (!address_map_init(&t->map, &m->mem.dram, m->mem.l2.slices_per_channel, e)) {
        timing_destroy(t);
        return NULL;
    }
    make_memory(t, &m->mem);
    t->answers = arena_array(&t->arena, struct ring, t->ports);
    t->last_core = arena_array(&t->arena, uint32_t, t->ports);
    for (uint32_t i = 0; i < t->ports; i++)
        ring_init(&t->answers[i], &t->arena, m->sm.response_queue ? m->sm.response_queue : 8);
    if (!make_cores(t, options, e)) {
        timing_destroy(t);
        return NULL;
    }
    t->workers = options->threads > 1 ? workers_create(options->threads) : NULL;
    return t;
}

void timing_destroy(struct timing *t)
{
    if (!t)
        return;
    workers_destroy(t->workers);
    for (uint32_t i = 0; i < t->core_count; i++)
        sm_destroy(t->cores[i]);
    for (uint32_t i = 0; i < PROGRAMS_KEPT; i++)
        arena_free(&t->programs[i].arena);
    arena_free(&t->arena);
    free(t);
}

static bool is_in_use(const struct gpu *g, const struct sm_program *p)
{
    for (const struct residency *r = g->started; p && r; r = r->next)
        if (!r->ended && r->program == p)
            return true;
    return false;
}

static const struct sm_program *program_of(struct timing *t, const struct residency *r)
{
    const struct exec_function *kernel = r->launch.kernel;
    struct kept_program *oldest = NULL;
    for (uint32_t i = 0; i < PROGRAMS_KEPT; i++) {
        struct kept_program *k = &t->programs[i];
        if (k->program && k->image == kernel->image->id && k->kernel == kernel) {
            k->used = r->launch.grid_id;
            return k->program;
        }
        if ((!oldest || k->used < oldest->used) && !is_in_use(r->gpu, k->program))
            oldest = k;
    }
    assert(oldest); /* fewer launches than programs run together */
    const struct sm_program *gone = oldest->program;
    arena_free(&oldest->arena);
    *oldest = (struct kept_program){ .image = kernel->image->id, .kernel = kernel, .used = r->launch.grid_id };
    oldest->program = sm_program_create(&oldest->arena, kernel, &t->options->machine.sm);
    for (uint32_t i = 0; gone && i < t->core_count; i++) /* cores that nobody has at present */
        if (t->cores[i]->program == gone) {
            t->cores[i]->program = oldest->program;
            t->cores[i]->view.program = &oldest->program->view;
        }
    return oldest->program;
}

/* Sets of cores and channels, as words of 64 bits. */

static inline void add(uint64_t *words, uint32_t i) { words[i / 64] |= 1ull << i % 64; }
static inline uint64_t with(uint64_t word, uint64_t bit, bool in) { return in ? word | bit : word & ~bit; }

static inline uint64_t any_of(const uint64_t *words, uint32_t count)
{
    uint64_t any = words[0];
    for (uint32_t i = 1; i < count; i++)
        any |= words[i];
    return any;
}

/* Cores and launches */

static void add_core(struct sm *core, struct gpu_counters *c)
{
    uint64_t *sums[3] = { c->scheduler_counters, c->l1_counters, c->divergence_counters };
    const struct exec_counters *x = &core->launch.counters;
    sm_add_counters(core, &c->sm);
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < core->policy_counter_count[i] && k < POLICY_COUNTERS_MOST; k++)
            sums[i][k] += core->policy_counters[i][k];
    for (int lanes = 0; lanes <= WARP_LANES; lanes++)
        c->exec.lanes[lanes] += x->lanes[lanes];
    c->exec.branches += x->branches;
    c->exec.divergent_branches += x->divergent_branches;
    c->exec.load_requests += x->load_requests;
}

static void take_core(struct timing *t, uint32_t i, struct residency *r)
{
    if (t->profiles) {
        r->parts[r->part_count] = arena_array(&r->arena, struct profile_pc, r->listing->count + 1);
        profile_core_begin(&t->profiles[i], r->parts[r->part_count++]);
    }
    sm_begin(t->cores[i], &r->arena, r->program, &r->launch, r->block_limit, r->block_warps, t->now);
    t->owner[i] = r;
    t->owned_since[i] = t->now;
}

/* What it counted goes to its launch. */
static void leave_core(struct timing *t, uint32_t i)
{
    struct residency *r = t->owner[i];
    struct sm *core = t->cores[i];
    sm_end(core, t->now);
    if (t->profiles)
        profile_core_end(&t->profiles[i], t->now);
    add_core(core, &r->counters);
    sm_reset_counters(core);
    r->core_cycles += t->now - t->owned_since[i];
    t->owner[i] = NULL;
}

/* May the launch have the core? *soon: not yet, but when what is left in its pipelines has gone. */
static bool may_take(const struct timing *t, const struct sm *c, const struct residency *r, bool *soon)
{
    const struct residency *owner = t->owner[c->id];
    if (owner == r || c->blocks_used || (owner && owner->next_block < owner->block_count))
        return owner == r;
    if (sm_idle(c))
        return true;
    *soon = true;
    return false;
}

static struct exec_cta *block_room(struct residency *r, struct sm *c, struct error *e)
{
    uint32_t slot = c->id * c->block_limit + (uint32_t)__builtin_ctzll(~c->blocks_used);
    if (!r->blocks[slot])
        r->blocks[slot] = launch_make_room(r, &c->launch, c->id, e);
    if (r->blocks[slot])
        r->blocks[slot]->slot = slot;
    return r->blocks[slot];
}

static bool place_on_port(struct timing *t, struct residency *r, uint32_t port, bool *placed, bool *soon, struct error *e)
{
    uint32_t per_port = t->core_count / t->ports;
    for (uint32_t i = 0; i < per_port; i++) {
        uint32_t k = (t->last_core[port] + 1 + i) % per_port;
        struct sm *c = t->cores[port * per_port + k];
        if (!may_take(t, c, r, soon))
            continue;
        if (t->owner[c->id] != r) {
            if (t->owner[c->id])
                leave_core(t, c->id);
            take_core(t, c->id, r);
        }
        if (!sm_has_room(c))
            continue;
        uint32_t id[3];
        struct exec_cta *cta = block_room(r, c, e);
        if (!cta)
            return false;
        launch_block_id(r, r->next_block++, id);
        exec_cta_start(cta, id);
        sm_place(c, cta, t->now);
        add(t->awake, c->id);
        t->last_core[port] = k;
        *placed = true;
        return true;
    }
    return true;
}

/* One block a port and a cycle, of one launch a cycle: the first that can place any. */
static bool place_blocks(struct timing *t, struct residency *first, struct error *e)
{
    bool any = false, soon = false, more = false;
    for (struct residency *r = first; r && !any; r = r->next) {
        uint32_t next = t->last_port + 1;
        for (uint32_t i = 0; i < t->ports && r->next_block < r->block_count && !r->ended; i++) {
            uint32_t port = (next + i) % t->ports;
            bool placed = false;
            if (!place_on_port(t, r, port, &placed, &soon, e))
                return false;
            if (placed)
                t->last_port = port;
            any |= placed;
        }
    }
    for (struct residency *r = first; r; r = r->next)
        more |= r->next_block < r->block_count && !r->ended;
    t->may_place = (any || soon) && more;
    return true;
}

/* Ticks */

/* Returns whether there are more. */
static bool take_answer(struct timing *t, uint32_t port)
{
    struct ring *q = &t->answers[port];
    if (q->count) {
        struct packet *p = ring_front(q);
        if (sm_accept(t->cores[p->core], p, t->now)) {
            add(t->core_wake[p->core] <= t->now ? t->awake : t->awake_next, p->core);
            ring_pop(q);
        }
    }
    struct packet *p = ring_full(q) ? NULL : crossbar_front(t->replies, port);
    if (p) {
        ring_push(q, p);
        crossbar_pop(t->replies, port);
    }
    return q->count != 0;
}

static inline void take_answers(struct timing *t)
{
    for (uint32_t word = 0; word < t->port_words; word++)
        for (uint64_t left = crossbar_look(t->replies)->waiting[word] | t->answers_waiting[word]; left; left &= left - 1)
            t->answers_waiting[word] = with(t->answers_waiting[word], left & -left, take_answer(t, word * 64 + (uint32_t)__builtin_ctzll(left)));
}

/* Is there a request at the slices of a channel that may be taken? They lie in one word: their number is a power of two. */
static inline bool partition_has_requests(const struct timing *t, uint32_t channel)
{
    uint32_t first = channel * t->slices_per_channel;
    return crossbar_look(t->requests)->waiting[first / 64] >> (first % 64) & t->slice_bits & ~partition_head(t->partitions[channel])->refusing;
}

static void l2_tick(struct timing *t)
{
    for (uint32_t i = 0; i < t->channels; i++) {
        struct partition *p = t->partitions[i];
        if (partition_head(p)->l2_at > t->now && !partition_has_requests(t, i))
            continue;
        partition_l2_cycle(p, t->ticks[DOMAIN_L2], t->now);
        if (partition_head(p)->replies) /* those that have none any more are taken out by send_replies */
            add(t->replying, i);
    }
}

static inline void send_replies(struct timing *t)
{
    for (uint32_t word = 0; word < t->channel_words; word++)
        for (uint64_t left = t->replying[word]; left; left &= left - 1) {
            struct partition *p = t->partitions[word * 64 + (uint32_t)__builtin_ctzll(left)];
            partition_send_replies(p, t->ticks[DOMAIN_ICNT]);
            t->replying[word] = with(t->replying[word], left & -left, partition_head(p)->replies);
        }
}

/* Cores that sleep because the network had no room. */
static inline void wake_blocked(struct timing *t)
{
    for (uint32_t word = 0; word < t->core_words; word++)
        for (uint64_t left = t->blocked[word] & ~t->awake[word]; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!crossbar_has_room(t->requests, t->cores[i]->port, t->core_blocked[i]))
                continue;
            t->core_wake[i] = t->now;
            add(t->awake, i);
        }
}

static void core_step(void *context, uint32_t port)
{
    struct timing *t = context;
    uint32_t per_port = t->core_count / t->ports;
    for (uint32_t i = port * per_port; i < (port + 1) * per_port; i++)
        if (t->core_wake[i] <= t->now)
            sm_cycle(t->cores[i], t->now);
}

/* After a core's part of a cycle: what waits for its turn, and whether a block has ended. */
static inline void core_done(struct timing *t, struct sm *c)
{
    if (c->deferred_count)
        sm_perform(c);
    if (c->blocks_ended) {
        t->blocks_done += c->blocks_ended;
        c->blocks_ended = 0;
        t->may_place = true;
    }
}

/* Some core may have slept long enough. */
static void end_sleep(struct timing *t)
{
    t->sleep_until = UINT64_MAX;
    for (uint32_t i = 0; i < t->core_count; i++) {
        if (t->core_wake[i] <= t->now)
            add(t->awake, i);
        else if (t->core_wake[i] < t->sleep_until)
            t->sleep_until = t->core_wake[i];
    }
}

static bool is_worth_sharing(const struct timing *t)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < t->core_words; word++)
        count += (uint32_t)__builtin_popcountll(t->awake[word]);
    return count > 2 && !t->serial;
}

static void core_tick(struct timing *t)
{
    if (t->now >= t->sleep_until)
        end_sleep(t);
    bool shared = t->workers && is_worth_sharing(t);
    if (shared)
        workers_run(t->workers, core_step, t, t->ports);
    for (uint32_t word = 0; word < t->core_words; word++) {
        uint64_t awake = t->awake[word], blocked = t->blocked[word] & ~awake;
        for (uint64_t left = awake; left; left &= left - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!shared)
                sm_cycle(t->cores[i], t->now);
            core_done(t, t->cores[i]);
            blocked |= t->core_blocked[i] ? left & -left : 0;
            if (t->core_wake[i] <= t->now + 1)
                continue;
            awake &= ~(left & -left);
            t->sleep_until = t->core_wake[i] < t->sleep_until ? t->core_wake[i] : t->sleep_until;
        }
        t->awake[word] = awake | t->awake_next[word];
        t->awake_next[word] = 0;
        t->blocked[word] = blocked;
    }
}

/* Of a domain's next tick. */
static uint64_t time_of(const struct timing *t, enum domain d) { return t->ticks[d] * t->period[d]; }

/* Which domains tick next. */
static inline uint32_t next_ticks(struct timing *t)
{
    if (t->pattern) {
        uint32_t step = t->next_step;
        t->next_step = step + 1 == t->pattern_steps ? 0 : step + 1;
        return t->pattern[step];
    }
    uint64_t first = time_of(t, DOMAIN_CORE);
    uint32_t mask = 0;
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        first = time_of(t, d) < first ? time_of(t, d) : first;
    for (enum domain d = DOMAIN_CORE; d < DOMAIN_COUNT; d++)
        mask |= (uint32_t)(time_of(t, d) == first) << d;
    return mask;
}

static inline bool packets_wait(const struct timing *t)
{
    return (any_of(crossbar_look(t->replies)->waiting, t->port_words) | any_of(t->answers_waiting, t->port_words) | any_of(crossbar_look(t->requests)->waiting, t->slice_words)) != 0;
}

/* The first cycle from t->now on in which anything can happen; UINT64_MAX: never again. */
static uint64_t next_cycle(const struct timing *t)
{
    uint64_t next = t->sleep_until;
    if (t->may_place || any_of(t->awake, t->core_words) || !crossbar_idle(t->requests) || !crossbar_idle(t->replies) || packets_wait(t))
        return t->now;
    for (uint32_t i = 0; i < t->channels && next > t->now; i++) {
        uint64_t at = partition_next_event(t->partitions[i], t->now ? t->now - 1 : 0);
        next = at < next ? at : next;
    }
    return next < t->now ? t->now : next;
}

static void jump(struct timing *t, uint64_t cycle)
{
    t->now = t->ticks[DOMAIN_CORE] = cycle;
    uint64_t time = time_of(t, DOMAIN_CORE);
    for (enum domain d = DOMAIN_ICNT; d < DOMAIN_COUNT; d++)
        if (time_of(t, d) < time)
            t->ticks[d] = (time + t->period[d] - 1) / t->period[d];
    if (t->pattern)
        t->next_step = t->core_steps[cycle % t->pattern_cores];
}

/* Up to the end of one core cycle. */
static bool step(struct timing *t, struct residency *first, struct error *e)
{
    for (;;) {
        uint32_t mask = next_ticks(t);
        bool core = mask & 1u << DOMAIN_CORE;
        if (core)
            take_answers(t);
        if (mask & 1u << DOMAIN_ICNT)
            send_replies(t);
        if (mask & 1u << DOMAIN_DRAM) {
            for (uint32_t i = 0; i < t->channels; i++)
                partition_dram_cycle(t->partitions[i], t->ticks[DOMAIN_DRAM], t->now);
            t->ticks[DOMAIN_DRAM]++;
        }
        if (mask & 1u << DOMAIN_L2) {
            l2_tick(t);
            t->ticks[DOMAIN_L2]++;
        }
        if (mask & 1u << DOMAIN_ICNT) {
            if (!crossbar_idle(t->requests)) {
                crossbar_cycle(t->requests, t->ticks[DOMAIN_ICNT]);
                wake_blocked(t);
            }
            if (!crossbar_idle(t->replies))
                crossbar_cycle(t->replies, t->ticks[DOMAIN_ICNT]);
            t->ticks[DOMAIN_ICNT]++;
        }
        if (!core)
            continue;
        core_tick(t);
        t->now = ++t->ticks[DOMAIN_CORE];
        return !t->may_place || place_blocks(t, first, e);
    }
}

/* Ends */

static bool check_cores(const struct timing *t, struct error *e)
{
    for (uint32_t i = 0; i < t->core_count; i++) {
        const struct sm *c = t->cores[i];
        if (c->launch.faulted) {
            exec_fault_describe(&c->launch, e);
            return false;
        }
        if (c->trouble[0])
            return error_set(e, ERROR_INVALID, "%s", c->trouble);
        if (c->l1d && cache_illegal_victim(c->l1d) >= 0)
            return error_set(e, ERROR_INVALID, "L1 policy %s chose way %d, which is not among those it may take (core %u)", c->l1_policy->policy.name, cache_illegal_victim(c->l1d), c->id);
    }
    return true;
}

static uint64_t executed(const struct timing *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        sum += t->cores[i]->counters.stalls[STALL_ISSUED];
    return sum;
}

/* limit: the cycle that --max-cycles ends in. */
static bool check_limits(struct timing *t, struct residency *r, uint64_t limit, struct error *e)
{
    const struct gpu_options *o = t->options;
    if (o->interrupt && *o->interrupt)
        return error_set(e, ERROR_INTERRUPTED, "kernel %s was interrupted after %llu cycles", r->launch.kernel->name, (unsigned long long)(t->now - r->start));
    if (t->now >= limit)
        return error_set(e, ERROR_LIMIT, "kernel %s ran past the limit of %llu cycles (--max-cycles)", r->launch.kernel->name, (unsigned long long)o->max_cycles);
    if (o->progress)
        progress_update(o->progress, r->launch.kernel->name, t->now - r->start, executed(t), t->blocks_done, r->block_count);
    return true;
}

void timing_describe_hang(struct residency *r)
{
    struct timing *t = r->gpu->timing;
    exec_describe_hang(&r->launch, r->blocks, r->slot_count, &r->error);
    for (const struct residency *other = r->gpu->started; other; other = other->next)
        if (!other->ended && !other->next_block)
            error_note(&r->error, "  kernel %s waits for a core: kernels that run together do not share one where time is modelled; --functional has no such limit", other->launch.kernel->name);
    for (uint32_t i = 0; i < t->channels; i++)
        if (!partition_idle(t->partitions[i])) {
            char text[400];
            partition_describe(t->partitions[i], text, sizeof text);
            error_note(&r->error, "  memory channel %u: %s", i, text);
        }
}

static bool pending_atomic(void *context, const struct exec_warp *w, struct exec_pending *out)
{
    struct timing *t = context;
    sm_pending(t->cores[w->cta->sm], w, out);
    return true;
}

/* Counters */

static void subtract(void *out, const void *now, const void *before, size_t bytes)
{
    uint64_t *o = out;
    const uint64_t *a = now, *b = before;
    for (size_t i = 0; i < bytes / sizeof *o; i++)
        o[i] = a[i] - b[i];
}

static void read_memory(const struct timing *t, struct gpu_counters *c, struct partition_counters *now)
{
    *now = (struct partition_counters){ 0 };
    for (uint32_t i = 0; i < t->channels; i++)
        partition_read_counters(t->partitions[i], now);
    subtract(&c->memory, now, &t->memory_before, sizeof *now);
    subtract(&c->requests, crossbar_counters(t->requests), &t->requests_before, sizeof c->requests);
    subtract(&c->replies, crossbar_counters(t->replies), &t->replies_before, sizeof c->replies);
}

static void add_words(void *to, const void *from, size_t bytes)
{
    uint64_t *sum = to;
    const uint64_t *more = from;
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += more[i];
}

/* Of those that run: who is counted what the memory system counts. */
static struct residency *eldest(struct gpu *g)
{
    struct residency *found = NULL;
    for (struct residency *r = g->started; r; r = r->next)
        if (!r->ended && (!found || r->launch.grid_id < found->launch.grid_id))
            found = r;
    return found;
}

/* What the memory system has counted since this was last called goes to the launch. */
static void settle_memory(struct timing *t, struct residency *r)
{
    struct gpu_counters c;
    struct partition_counters now;
    read_memory(t, &c, &now);
    add_words(&r->counters.memory, &c.memory, sizeof c.memory);
    add_words(&r->counters.requests, &c.requests, sizeof c.requests);
    add_words(&r->counters.replies, &c.replies, sizeof c.replies);
    t->memory_before = now;
    t->requests_before = *crossbar_counters(t->requests);
    t->replies_before = *crossbar_counters(t->replies);
}

/* Up to a cycle before which nothing happens. Cores that sleep until then have their cycles counted up to it. */
static void sample(struct timing *t, struct residency *r)
{
    struct gpu_counters c = r->counters;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] == r) {
            sm_account_until(t->cores[i], r->sample_at);
            add_core(t->cores[i], &c);
        }
    if (eldest(r->gpu) == r) {
        struct gpu_counters recent;
        struct partition_counters now;
        read_memory(t, &recent, &now);
        add_words(&c.memory, &recent.memory, sizeof c.memory);
        add_words(&c.requests, &recent.requests, sizeof c.requests);
        add_words(&c.replies, &recent.replies, sizeof c.replies);
    }
    c.timed = true;
    profile_series_take(r->series, r->sample_at - r->start, &c);
    r->sample_at = r->start + profile_series_next(r->series);
}

static void take_samples(struct timing *t, struct gpu *g, uint64_t until)
{
    t->sample_at = UINT64_MAX;
    for (struct residency *r = g->started; r; r = r->next) {
        while (!r->ended && r->sample_at <= until)
            sample(t, r);
        t->sample_at = !r->ended && r->sample_at < t->sample_at ? r->sample_at : t->sample_at;
    }
}

static void gather(struct timing *t, struct residency *r)
{
    struct gpu_counters *c = &r->counters;
    const struct machine *m = &t->options->machine;
    c->timed = true;
    c->cycles = t->now - r->start;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] == r)
            leave_core(t, i);
    settle_memory(t, eldest(r->gpu));
    c->resident_warps_most = r->core_cycles * m->sm.warps;
    c->scheduler_cycles = r->core_cycles * m->sm.schedulers;
    c->launches = 1;
    c->phases = r->program->phase_count;
    c->phase_latencies = r->program->phase_latencies;
}

static uint64_t core_clock(struct exec_launch *l, const struct exec_warp *w)
{
    (void)w;
    const struct timing *t = l->user;
    return t->now;
}

/* What is asked for beyond the counters of the launch (gpu/profile.h). */

static void begin_profile(struct timing *t, struct residency *r)
{
    const struct gpu_options *o = t->options;
    r->series = o->interval ? profile_series_create(o->interval, SERIES_MOST, (const struct heddle_policy *const[]){ o->scheduler.policy, o->l1.policy, o->divergence.policy }) : NULL;
    r->sample_at = r->series ? t->now + profile_series_next(r->series) : UINT64_MAX;
    t->sample_at = r->sample_at < t->sample_at ? r->sample_at : t->sample_at;
    if (!t->profiles)
        return;
    r->listing = profile_listing(&r->gpu->listings, r->launch.kernel);
    assert(r->listing->count == r->program->count);
    r->parts = arena_array(&r->arena, struct profile_pc *, t->core_count);
}

static void end_profile(struct timing *t, struct residency *r)
{
    if (r->series)
        profile_series_end(r->series, r->counters.cycles, &r->counters);
    if (t->profiles)
        r->pcs = profile_pcs_sum(r->listing, (const struct profile_pc *const *)r->parts, r->part_count);
}

static bool begin_trace(struct timing *t, struct residency *r)
{
    struct trace *trace = t->options->trace;
    return !trace || trace_kernel(trace, profile_listing(&r->gpu->listings, r->launch.kernel), &r->program->view, &r->error);
}

static bool end_trace(struct timing *t, struct residency *r, bool ok)
{
    struct trace_kernel_end end = trace_end_of(&r->counters, !ok);
    return trace_kernel_end(t->options->trace, &end, &r->error) && ok;
}

/* Beginnings and ends */

static void end(struct timing *t, struct residency *r, bool ok)
{
    gather(t, r);
    if (t->options->trace)
        ok = end_trace(t, r, ok);
    end_profile(t, r);
    if (t->options->timeline)
        timeline_kernel(t->options->timeline, r->launch.kernel->name, r->start, t->now);
    progress_done(t->options->progress);
    arena_free(&r->arena);
    r->ended = true;
    r->ok = ok;
    t->broken |= !ok;
    t->serial = false;
    for (struct residency *other = r->gpu->started; other; other = other->next)
        t->serial |= !other->ended && other->program->serial;
    t->may_place = true;
}

void timing_give_up(struct gpu *g)
{
    for (struct residency *r = g->started; r; r = r->next)
        if (!r->ended)
            end(g->timing, r, false);
}

/* The machine is empty: all cores are the launch's. */
static void begin_alone(struct timing *t, struct residency *r)
{
    t->blocks_done = t->blocks_seen = 0;
    t->last_port = t->ports - 1;
    t->sleep_until = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        take_core(t, i, r);
}

static bool is_alone(const struct residency *r)
{
    for (const struct residency *other = r->gpu->started; other; other = other->next)
        if (other != r && !other->ended)
            return false;
    return true;
}

void timing_start(struct residency *r)
{
    struct timing *t = r->gpu->timing;
    bool alone = is_alone(r);
    if (r->cluster_blocks > 1) {
        error_set(&r->error, ERROR_UNSUPPORTED, "kernel %s: clusters of thread blocks have no timing model; run with --functional", r->launch.kernel->name);
        r->ended = true;
        return;
    }
    if (!alone)
        settle_memory(t, eldest(r->gpu)); /* it is not the new one */
    r->program = program_of(t, r);
    r->launch.user = t;
    r->launch.clock = core_clock;
    r->block_limit = r->slot_count / t->options->machine.cores;
    r->block_warps = (r->launch.block[0] * r->launch.block[1] * r->launch.block[2] + WARP_LANES - 1) / WARP_LANES;
    r->start = t->now;
    t->sample_at = alone ? UINT64_MAX : t->sample_at;
    begin_profile(t, r);
    if (alone)
        begin_alone(t, r);
    t->serial = r->program->serial || (!alone && t->serial);
    t->may_place = t->has_new = true;
    t->patience = SUSPECT_CYCLES_FIRST;
    t->suspect_at = t->now + t->patience;
    if (!begin_trace(t, r))
        end(t, r, false);
}

/* Running */

static uint32_t resident_blocks(const struct timing *t, const struct residency *r)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] == r)
            sum += (uint32_t)__builtin_popcountll(t->cores[i]->blocks_used);
    return sum;
}

static bool is_over(const struct timing *t, const struct residency *r) { return !r->ended && r->next_block == r->block_count && !resident_blocks(t, r); }

/* Only when none of those that run together can go on is it certain that nothing will happen. Those without a block wait for the others. */
static bool is_stuck(struct timing *t, struct gpu *g)
{
    bool any = false;
    for (struct residency *r = g->started; r; r = r->next) {
        if (r->ended || !resident_blocks(t, r))
            continue;
        if (!hang_is_certain(r->blocks, r->slot_count, r->next_block < r->block_count && t->may_place, pending_atomic, t))
            return false;
        any = true;
    }
    return any;
}

static bool look_around(struct timing *t, struct residency *r, uint64_t limit, struct error *e)
{
    return check_cores(t, e) && check_limits(t, r, limit, e) && (!t->options->trace || trace_gather(t->options->trace, e));
}

static bool end_those_over(struct timing *t, struct gpu *g)
{
    bool any = false;
    for (struct residency *r = g->started; r; r = r->next)
        if (is_over(t, r)) {
            end(t, r, true);
            any = true;
        }
    return any;
}

/* Until a launch has ended, or the cycle `until`. *ok: false, the machine cannot go on. limit: the cycle that --max-cycles ends in. */
static enum gpu_pause run(struct timing *t, struct gpu *g, uint64_t until, uint64_t limit, bool *ok, struct error *e)
{
    uint64_t check = t->now + CHECK_CYCLES;
    struct residency *first = eldest(g);
    while (*ok && t->now < until) {
        uint64_t next = next_cycle(t);
        if (next == UINT64_MAX) {
            *ok = check_cores(t, e);
            return GPU_STUCK;
        }
        if (next > limit)
            next = limit;
        if (next >= t->sample_at)
            take_samples(t, g, next);
        if (next > t->now)
            jump(t, next);
        *ok = step(t, g->started, e);
        if (*ok && (t->now >= check || t->now >= limit)) {
            check = t->now + CHECK_CYCLES;
            *ok = look_around(t, first, limit, e);
            if (*ok && t->now >= t->suspect_at) {
                bool stuck = is_stuck(t, g);
                t->patience = stuck ? SUSPECT_CYCLES_FIRST : t->patience < SUSPECT_CYCLES ? t->patience * 2 : SUSPECT_CYCLES;
                t->suspect_at = t->now + t->patience;
                if (stuck)
                    return GPU_STUCK;
            }
        }
        if (*ok && t->blocks_done != t->blocks_seen) {
            t->blocks_seen = t->blocks_done;
            for (struct residency *r = g->started; *ok && r; r = r->next)
                *ok = !is_over(t, r) || check_cores(t, e);
            if (*ok && end_those_over(t, g))
                return GPU_ENDED;
        }
    }
    return GPU_TIRED;
}

/* Whose core is it that found something wrong? */
static struct residency *culprit(const struct timing *t, struct gpu *g)
{
    for (uint32_t i = 0; i < t->core_count; i++)
        if (t->owner[i] && t->cores[i]->launch.faulted)
            return t->owner[i];
    return eldest(g);
}

enum gpu_pause timing_run(struct gpu *g, uint64_t budget)
{
    struct timing *t = g->timing;
    struct error e = { 0 };
    uint64_t start = t->now, limit = t->options->max_cycles ? start + (t->options->max_cycles - g->clock_cycles) : UINT64_MAX;
    bool ok = !eldest(g) || !t->has_new || place_blocks(t, g->started, &e);
    enum gpu_pause pause = GPU_ENDED;
    t->has_new = false;
    if (ok && eldest(g))
        pause = run(t, g, budget < UINT64_MAX - start ? start + budget : UINT64_MAX, limit, &ok, &e);
    g->clock_cycles += t->now - start;
    if (ok)
        return pause;
    culprit(t, g)->error = e;
    timing_give_up(g);
    return GPU_ENDED;
}

bool timing_is_broken(const struct timing *t) { return t->broken; }

void timing_note_copy(struct timing *t, const struct memory *m, uint64_t address, uint64_t bytes)
{
    const struct l2_config *l2 = &t->options->machine.mem.l2;
    uint64_t most = (uint64_t)l2->cache.sets * l2->cache.ways * l2->cache.line_bytes * t->slices * 2;
    struct memory_range near = { 0 };
    if (!l2->filled_by_copies || !l2->cache.sets)
        return;
    uint64_t at = bytes > most ? address + bytes - most : address;
    for (at &= ~(uint64_t)(COPY_LINE_BYTES - 1); at < address + bytes; at += COPY_LINE_BYTES) {
        uint64_t physical = memory_physical(m, at < address ? address : at, &near);
        partition_touch(t->partitions[address_map_place(&t->map, physical).channel], physical, t->now);
    }
}
