/* Accounting: see account.h. */
#include "sm/core_kind.h"

const char *const stall_names[STALL_COUNT] = {
#define STALL(id, name, sample, help, nsight) [STALL_##id] = &name[sizeof "stalls." - 1],
#include "heddle/metrics.def"
};

void account_begin(struct sm_account *a, uint64_t now)
{
    a->seen = (struct sm_seen){0};
    a->seen_cycles = a->unasked = 0;
    a->until = now;
}

static const uint64_t ALL_DECODE = PIPELINE_PARTS(PIPELINE_DECODE, PIPELINE_DECODE, PIPELINE_DECODE);

static inline uint64_t *pipeline_counter(struct sm_counters *n, uint64_t parts, uint32_t unit)
{
    return &n->pipeline_sp + (parts >> 4 * unit & 15);
}

static __attribute__((noinline, cold)) void count_units(struct sm_counters *n, const uint64_t needs[SM_UNITS],
                                                        uint64_t parts, uint64_t warps, uint64_t cycles, uint64_t sum)
{
    for (uint32_t unit = 0; unit < SM_UNITS; unit++)
        if (unit != SM_MEM && (warps & needs[unit])) {
            uint64_t of_unit = cycles * (uint64_t)__builtin_popcountll(warps & needs[unit]);
            *pipeline_counter(n, parts, unit) += of_unit;
            sum -= of_unit;
        }
    *pipeline_counter(n, parts, SM_MEM) += sum;
}

/* Warps that wait for a pipeline; mostly it is the load/store unit's. */
static inline void count_pipeline(struct sm_counters *n, const uint64_t needs[SM_UNITS], uint64_t parts, uint64_t warps,
                                  uint64_t cycles)
{
    uint64_t sum = cycles * (uint64_t)__builtin_popcountll(warps);
    n->stalls[STALL_PIPELINE] += sum;
    if (parts == ALL_DECODE)
        n->pipeline_decode += sum;
    else if (!(warps & ~needs[SM_MEM]))
        *pipeline_counter(n, parts, SM_MEM) += sum;
    else if (!(warps & ~needs[SM_SP]))
        *pipeline_counter(n, parts, SM_SP) += sum;
    else
        count_units(n, needs, parts, warps, cycles, sum);
}

static void log_reason(struct sm_account *a, enum stall reason, uint64_t slots, uint64_t cycles)
{
    if (a->warp_log)
        warp_log_add(a->warp_log, reason, slots, cycles);
    if (a->stall_log)
        stall_log_set(a->stall_log, reason, slots);
    a->reasons[reason] = slots;
}

/* With `logs` the cycles are counted for each warp as well. */
static inline __attribute__((always_inline)) void count_stalls(struct sm *c, const struct sm_seen *v,
                                                               const uint64_t needs[SM_UNITS], uint64_t parts,
                                                               uint64_t cycles, bool logs)
{
    uint64_t left = v->resident;
    uint64_t *stalls = c->account.counters.stalls;
    if (!left)
        return;
        /* A set is counted without asking whether it is empty: mostly it is not, or hosts cannot foresee it. */
#define TAKE(reason, set)                                                  \
    do {                                                                   \
        uint64_t taken_ = left & (set);                                    \
        left ^= taken_;                                                    \
        stalls[reason] += cycles * (uint64_t)__builtin_popcountll(taken_); \
        if (logs)                                                          \
            log_reason(&c->account, reason, taken_, cycles);               \
    } while (0)
    c->account.counters.active_cycles += cycles;
    TAKE(STALL_ISSUED, v->issued);
    if (logs || unlikely(left & (v->ended | v->fenced | v->atomic_wait | v->at_barrier))) {
        TAKE(STALL_DRAIN, v->ended);
        TAKE(STALL_FENCE, v->fenced & ~v->at_barrier);
        TAKE(STALL_ATOMIC, v->atomic_wait & ~v->at_barrier);
        TAKE(STALL_BARRIER, v->at_barrier);
    }
    TAKE(STALL_FETCH, v->no_instruction);
    if (logs || (left & v->long_wait))
        TAKE(STALL_MEMORY, ~v->clear & v->long_wait);
    TAKE(STALL_SCOREBOARD, ~v->clear);
    if (logs || unlikely(left & v->held))
        TAKE(STALL_HELD, v->held);
    uint64_t unit_busy = left & ~v->unit_free;
    left ^= unit_busy;
    if (unit_busy)
        count_pipeline(&c->account.counters, needs, parts, unit_busy, cycles);
    if (logs)
        log_reason(&c->account, STALL_PIPELINE, unit_busy, cycles);
    TAKE(STALL_NOT_PICKED, ~0ull);
#undef TAKE
    if (logs && c->account.stall_log)
        stall_log_pass(c->account.stall_log, cycles);
}

/* Does a warp that waits for a pipeline need another one than when the last cycles were counted? */
static inline bool pipes_differ(const struct sm *c, uint64_t unit_busy)
{
    const struct sm_seen_pipes *p = &c->account.seen_pipes;
    uint64_t changed = p->needs[SM_MEM] ^ c->issue.needs[SM_MEM];
    if (c->account.parts == ALL_DECODE)
        return p->parts != ALL_DECODE;
    if (unit_busy & ~c->issue.needs[SM_MEM])
        changed |= (p->needs[SM_SP] ^ c->issue.needs[SM_SP]) | (p->needs[SM_SFU] ^ c->issue.needs[SM_SFU]) |
                   (p->needs[SM_DP] ^ c->issue.needs[SM_DP]);
    return (p->parts ^ c->account.parts) | (changed & unit_busy);
}

static inline void keep_pipes(struct sm *c)
{
    for (uint32_t i = 0; i < c->kind->units; i++)
        c->account.seen_pipes.needs[i] = c->issue.needs[i];
    c->account.seen_pipes.parts = c->account.parts;
}

static inline __attribute__((always_inline)) struct sm_seen look(const struct sm *c)
{
    struct sm_seen v;
    v.resident = sm_occupied(c);
    v.issued = c->issue.issued;
    v.ended = c->issue.ended;
    v.at_barrier = c->view.at_barrier;
    v.fenced = c->issue.fenced;
    v.atomic_wait = c->issue.atomic_wait;
    v.no_instruction = ~c->issue.valid | c->issue.stale | c->issue.asleep;
    v.clear = c->issue.clear;
    v.long_wait = c->issue.long_wait;
    v.held = c->issue.held;
    v.unit_free = c->issue.unit_free;
    return v;
}

/* Counts the cycles for each warp as well. This stands apart, so that runs without a log can keep the sets in
 * registers. */
static void log_cycles(struct sm *c, const struct sm_seen *v, const uint64_t needs[SM_UNITS], uint64_t parts,
                       uint64_t from, uint64_t cycles)
{
    if (!v->resident || !cycles)
        return;
    count_stalls(c, v, needs, parts, cycles, true);
    if (c->observer && c->observer->reasons)
        c->observer->reasons(c->observer->context, c->head.id, from, from + cycles, c->account.reasons);
}

static __attribute__((noinline, cold)) void log_seen(struct sm *c)
{
    log_cycles(c, &c->account.seen, c->account.seen_pipes.needs, c->account.seen_pipes.parts, c->account.seen_from,
               c->account.seen_cycles);
    c->account.seen_from += c->account.seen_cycles;
    c->account.seen_cycles = 0;
}

/* A log takes cycles in their order, so this one is counted at once. */
static __attribute__((noinline, cold)) void log_cycle(struct sm *c)
{
    struct sm_seen now = look(c);
    log_seen(c);
    log_cycles(c, &now, c->issue.needs, c->account.parts, c->now, 1);
    c->account.seen_from = c->now + 1;
}

/* Counts the cycles in which the schedulers were not asked; they were like the last cycle that was counted. */
void account_unasked(struct sm *c)
{
    struct sm_account *a = &c->account;
    uint64_t unheld = a->unasked * (c->config->schedulers - c->issue.held_schedulers);
    if (a->seen.resident)
        a->counters.no_ready += unheld;
    else
        a->counters.idle += unheld;
    a->counters.descheduled += a->unasked * c->issue.held_schedulers;
    a->unasked = 0;
}

static void count_seen(struct sm *c)
{
    account_unasked(c);
    if (unlikely(c->account.logs))
        log_seen(c);
    else
        count_stalls(c, &c->account.seen, c->account.seen_pipes.needs, c->account.seen_pipes.parts,
                     c->account.seen_cycles, false);
    c->account.seen_cycles = 0;
}

void account_log(struct sm *c) { count_seen(c); }

/* All cycles before `now` have been counted, so the row of a warp that has ended is complete. */
void account_complete_warps(struct sm *c, uint64_t now, bool cut)
{
    count_seen(c);
    warp_log_collect(c->account.warp_log, now, cut);
}

/* Counts the cycle at hand, in which a warp issued: such a cycle is hardly ever like the one before. */
static __attribute__((noinline)) void count_issuing(struct sm *c)
{
    struct sm_seen now = look(c);
    count_stalls(c, &now, c->issue.needs, c->account.parts, 1, false);
}

/* Counts cycles in which no warp issued; `from` is the first of them. */
static void account(struct sm *c, uint64_t cycles, uint64_t from)
{
    struct sm_seen *v = &c->account.seen;
    struct sm_seen now = look(c);
    uint64_t changed = (v->resident ^ now.resident) | (v->ended ^ c->issue.ended) | (v->at_barrier ^ now.at_barrier) |
                       (v->fenced ^ c->issue.fenced) | (v->atomic_wait ^ c->issue.atomic_wait) |
                       (v->no_instruction ^ now.no_instruction) | (v->clear ^ c->issue.clear) |
                       (v->long_wait ^ now.long_wait) | (v->held ^ c->issue.held) |
                       ((v->unit_free ^ c->issue.unit_free) & c->issue.clear);
    uint64_t unit_busy = now.clear & ~now.unit_free;
    if (changed || (unit_busy && pipes_differ(c, unit_busy))) {
        if (c->account.seen_cycles)
            count_seen(c);
        *v = now;
        if (unit_busy)
            keep_pipes(c);
        c->account.seen_from = from;
    }
    c->account.seen_cycles += cycles;
}

void account_cycle(struct sm *c, bool asked)
{
    if (!asked)
        c->account.unasked++;
    if (c->issue.clear & ~c->issue.unit_free)
        c->account.parts = kind_parts(c);
    if (!c->issue.issued)
        account(c, 1, c->now);
    else if (unlikely(c->account.logs))
        log_cycle(c);
    else
        count_issuing(c);
    c->account.until = c->now + 1;
}

void account_changed(struct sm *c, uint64_t now)
{
    uint64_t cycles = now - c->account.until;
    c->account.until = now;
    if (!cycles)
        return;
    if (!sm_occupied(c)) {
        c->account.counters.idle += cycles * c->config->schedulers;
        return;
    }
    if (c->issue.issued)
        due_now(&c->due, PART_ISSUE);
    c->issue.issued = 0;
    c->account.counters.descheduled += cycles * c->issue.held_schedulers;
    c->account.counters.no_ready += cycles * (c->config->schedulers - c->issue.held_schedulers);
    account(c, cycles, now - cycles);
}

void sm_account_until(struct sm *c, uint64_t now)
{
    sm_lsu_count_refusals(c, now);
    sm_account_passed(c, now);
}

static void add_cache(struct cache_counters *sum, const struct cache_counters *x)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)x;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void sm_add_counters(struct sm *c, struct sm_counters *sum)
{
    count_seen(c);
    c->account.counters.warp_cycles = 0; /* each cycle of a warp has one reason */
    for (int i = 0; i < STALL_COUNT; i++)
        c->account.counters.warp_cycles += c->account.counters.stalls[i];
    const struct cache *caches[4] = {c->lsu.l1d, c->lsu.l1c, c->lsu.l1t, c->front.l1i};
    struct cache_counters *sums[4] = {&sum->l1d, &sum->l1c, &sum->l1t, &sum->l1i};
    for (int i = 0; i < 4; i++)
        if (caches[i])
            add_cache(sums[i], cache_counters(caches[i]));
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)&c->account.counters;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

void sm_reset_counters(struct sm *c)
{
    struct cache *caches[4] = {c->lsu.l1d, c->lsu.l1c, c->lsu.l1t, c->front.l1i};
    for (int i = 0; i < 4; i++)
        if (caches[i])
            cache_counters_reset(caches[i]);
    policy_host_reset_counters(&c->host);
    c->account.counters = (struct sm_counters){0};
}

const struct sm_counters *sm_counters(const struct sm *c) { return &c->account.counters; }

uint64_t sm_l1_fails(const struct sm *c)
{
    const uint64_t *core = c->account.counters.l1d.fails,
                   *cache = c->lsu.l1d ? cache_counters(c->lsu.l1d)->fails : NULL;
    uint64_t sum = 0;
    for (int i = 0; i < CACHE_FAIL_COUNT; i++)
        sum += core[i] + (cache ? cache[i] : 0);
    return sum;
}

void sm_log_warps(struct sm *c, struct warp_log *log)
{
    c->account.warp_log = log;
    c->account.logs = true;
}

void sm_log_stalls(struct sm *c, struct stall_log *log)
{
    c->account.stall_log = log;
    c->account.logs = true;
}

void sm_settle_stalls(struct sm *c) { log_seen(c); }
