/* What is changed of a machine, and how far: sizes and bandwidth by two, latencies by one and a half, warps by a
 * quarter less and a half more. Far enough to be another machine, near enough to be one of its time. */
#include "robust/robust.h"

#include <stdio.h>

const char *const robust_factor_names[ROBUST_FACTORS] = {
    [FACTOR_L1_SIZE] = "L1 size",           [FACTOR_L1_WAYS] = "L1 ways",
    [FACTOR_L1_LATENCY] = "L1 latency",     [FACTOR_L2_LATENCY] = "L2 latency",
    [FACTOR_DRAM_LATENCY] = "DRAM latency", [FACTOR_DRAM_BANDWIDTH] = "DRAM bandwidth",
    [FACTOR_WARPS] = "warps per core",      [FACTOR_ADDRESS_HASH] = "address hash",
    [FACTOR_BLOCK_ORDER] = "block order",
};

enum { MOST_SETS = 32, FIRST_LATENCY = 10 /* cycles of an L1 that had none */ };

/* A number times low, 1 or high, each over `over`; rounded. */
static uint64_t scaled(uint64_t number, int level, uint64_t low, uint64_t high, uint64_t over)
{
    uint64_t by = level < 0 ? low : level > 0 ? high : over;
    return (number * by + over / 2) / over;
}
static uint64_t halved_or_doubled(uint64_t number, int level) { return scaled(number, level, 1, 4, 2); }
static uint32_t latency(uint32_t cycles, int level) { return (uint32_t)scaled(cycles, level, 4, 9, 6); }

/* The keys of a machine while they are collected. */
struct sets {
    struct arena *arena;
    const char **words;
    uint32_t count;
};

static void put(struct sets *s, uint64_t before, uint64_t now, const char *key)
{
    if (before != now && s->count < MOST_SETS)
        s->words[s->count++] = arena_printf(s->arena, "%s=%llu", key, (unsigned long long)now);
}

/* Sets and ways; where a number of sets would not be whole the ways stay as they are. */
static void l1_shape(const struct cache_config *c, int size, int associativity, uint32_t *sets, uint32_t *ways)
{
    uint64_t lines = halved_or_doubled((uint64_t)c->sets * c->ways, size),
             wanted = associativity < 0 && c->ways % 2 ? c->ways : halved_or_doubled(c->ways, associativity);
    bool whole = wanted && lines >= wanted && lines % wanted == 0;
    *ways = whole ? (uint32_t)wanted : c->ways;
    *sets = (uint32_t)(lines / (*ways ? *ways : 1));
    if (c->sets && !*sets)
        *sets = c->sets;
}

static uint32_t l1_latency(const struct machine *m, int level)
{
    uint32_t own = m->sm.l1d.latency_cycles;
    return own || level <= 0 ? latency(own, level) : FIRST_LATENCY;
}

/* Warp slots: as many for each scheduler. */
static uint32_t warps(const struct machine *m, int level)
{
    uint64_t wanted = scaled(m->sm.warps, level, 3, 6, 4);
    if (wanted > CORE_WARPS_MOST)
        wanted = CORE_WARPS_MOST;
    wanted -= level ? wanted % m->sm.schedulers : 0;
    return wanted ? (uint32_t)wanted : m->sm.warps;
}

static const char *address_hash(const struct machine *m, int level)
{
    static const char *const names[] = {"linear", "hashed", "multiplied"};
    return names[((unsigned)m->sm.l1d.index + (level < 0 ? 1u : level > 0 ? 2u : 0u)) % 3];
}

/* More warps need registers and places for blocks. */
static void put_warps(struct sets *s, const struct machine *m, int level)
{
    uint32_t now = warps(m, level), before = m->sm.warps;
    put(s, before, now, "core.warps");
    put(s, m->sm.registers, (uint64_t)m->sm.registers * now / before, "core.registers");
    put(s, m->sm.blocks, ((uint64_t)m->sm.blocks * now + before - 1) / before, "core.blocks");
}

/* With another bandwidth the clock is another, and what a row takes stays as long in nanoseconds. */
static void put_dram(struct sets *s, const struct machine *m, int slower, int bandwidth)
{
    const struct dram_config *d = &m->mem.dram;
    const struct {
        const char *key;
        uint32_t cycles;
        bool is_latency;
    } timing[] = {
        {"dram.t_rrd", d->t_rrd, false}, {"dram.t_rcd", d->t_rcd, true},    {"dram.t_ras", d->t_ras, true},
        {"dram.t_rp", d->t_rp, true},    {"dram.t_rc", d->t_rc, true},      {"dram.t_cl", d->t_cl, true},
        {"dram.t_wl", d->t_wl, true},    {"dram.t_cdlr", d->t_cdlr, false}, {"dram.t_wr", d->t_wr, false},
    };
    uint64_t khz = halved_or_doubled(m->mem.dram_khz, bandwidth);
    put(s, d->latency_cycles, latency(d->latency_cycles, slower), "dram.latency_cycles");
    for (size_t i = 0; i < sizeof timing / sizeof *timing; i++) {
        uint64_t cycles = timing[i].is_latency ? latency(timing[i].cycles, slower) : timing[i].cycles;
        put(s, timing[i].cycles, halved_or_doubled(cycles, bandwidth), timing[i].key);
    }
    if (khz != m->mem.dram_khz)
        s->words[s->count++] = arena_printf(s->arena, "clock.dram_mhz=%.10g", (double)khz / 1000);
}

const char **robust_sets(struct arena *a, const struct machine *m, const int8_t level[ROBUST_FACTORS])
{
    struct sets s = {a, arena_array(a, const char *, MOST_SETS + 1), 0};
    const struct cache_config *l1 = &m->sm.l1d;
    uint32_t sets, ways;
    l1_shape(l1, level[FACTOR_L1_SIZE], level[FACTOR_L1_WAYS], &sets, &ways);
    put(&s, l1->sets, sets, "l1d.sets");
    put(&s, l1->ways, ways, "l1d.ways");
    put(&s, l1->latency_cycles, l1_latency(m, level[FACTOR_L1_LATENCY]), "l1d.latency_cycles");
    put(&s, m->mem.l2.rop_cycles, latency(m->mem.l2.rop_cycles, level[FACTOR_L2_LATENCY]), "l2.rop_cycles");
    put_dram(&s, m, level[FACTOR_DRAM_LATENCY], level[FACTOR_DRAM_BANDWIDTH]);
    put_warps(&s, m, level[FACTOR_WARPS]);
    if (level[FACTOR_ADDRESS_HASH] && l1->sets)
        s.words[s.count++] = arena_printf(a, "rules.l1d_index=%s", address_hash(m, level[FACTOR_ADDRESS_HASH]));
    if (level[FACTOR_BLOCK_ORDER] > 0)
        s.words[s.count++] = arena_printf(a, "rules.last_block_first=%s", m->last_block_first ? "false" : "true");
    return s.words;
}

const char *robust_value(struct arena *a, const struct machine *m, enum robust_factor factor, int level)
{
    uint32_t sets, ways;
    switch (factor) {
    case FACTOR_L1_SIZE:
        l1_shape(&m->sm.l1d, level, 0, &sets, &ways);
        return arena_printf(a, "%g KB", (double)sets * ways * m->sm.l1d.line_bytes / 1024);
    case FACTOR_L1_WAYS: l1_shape(&m->sm.l1d, 0, level, &sets, &ways); return arena_printf(a, "%u", ways);
    case FACTOR_L1_LATENCY: return arena_printf(a, "%u cycles", l1_latency(m, level));
    case FACTOR_L2_LATENCY: return arena_printf(a, "%u cycles", latency(m->mem.l2.rop_cycles, level));
    case FACTOR_DRAM_LATENCY: return level < 0 ? "x 2/3" : level > 0 ? "x 3/2" : "x 1";
    case FACTOR_DRAM_BANDWIDTH: return level < 0 ? "x 1/2" : level > 0 ? "x 2" : "x 1";
    case FACTOR_WARPS: return arena_printf(a, "%u", warps(m, level));
    case FACTOR_ADDRESS_HASH: return address_hash(m, level);
    default: return (level > 0) != m->last_block_first ? "last first" : "first first";
    }
}
