/* Do the keys of a machine fit together? These are the conditions that no range of a single key can state. Only real
 * contradictions are refused; an odd machine is allowed. */
#include "base/numbers.h"
#include "gpu/machine_key.h"
#include "mem/network.h"
#include "mem/write_rule.h"
#include "sm/program.h"

#include <stdarg.h>
#include <string.h>

enum { FIELDS_MOST = 4 };

static int key_of(const struct machine_checker *c, const void *field)
{
    size_t offset = (size_t)((const char *)field - (const char *)c->machine);
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (offset >= machine_keys[i].offset && offset < machine_keys[i].offset + machine_keys[i].bytes)
            return (int)i;
    return -1;
}

/* Where a key was given; for a rule that was not given, where the rulebook was. */
static const struct machine_place *place_of(const struct machine_checker *c, int key)
{
    return &c->places[machine_keys[key].read && !c->places[key].line ? MACHINE_RULEBOOK : key];
}

/* The column of the n-th number of a list. */
static int list_column(const struct machine_place *place, unsigned n)
{
    const char *line = place->source->text, *end = line + place->source->size_bytes;
    for (int i = 1; i < place->line; i++)
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    const char *at = line + place->column - 1;
    while (n--)
        at = (const char *)memchr(at, ',', (size_t)(end - at)) + 1;
    while (at < end && *at == ' ')
        at++;
    return (int)(at - line) + 1;
}

/* Reports that fields (up to a NULL) do not fit together. The message points at the field that was given last: the
 * others were there before, or are defaults. */
static bool clash(const struct machine_checker *c, const void *const *fields, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool clash(const struct machine_checker *c, const void *const *fields, const char *format, ...)
{
    const struct machine_place *last = NULL;
    int last_key = -1;
    const void *last_field = NULL;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (unsigned i = 0; i < FIELDS_MOST && fields[i]; i++) {
        int key = key_of(c, fields[i]);
        const struct machine_place *place = key >= 0 ? place_of(c, key) : NULL;
        if (place && place->line && (!last || place->order > last->order)) {
            last = place;
            last_key = key;
            last_field = fields[i];
        }
    }
    if (!last)
        return error_set(c->error, ERROR_INVALID, "machine %s: %s", c->machine->name, message);
    const struct machine_key *key = &machine_keys[last_key];
    int column = last->column;
    if (key->type == MACHINE_LIST)
        column = list_column(
            last, (unsigned)(((const char *)last_field - (const char *)c->machine - key->offset) / sizeof(uint32_t)));
    return error_at(c->error, ERROR_SYNTAX, last->source, last->line, column, "%s", message);
}
#define CLASH(c, fields, ...) clash(c, (const void *const[FIELDS_MOST]){fields}, __VA_ARGS__)
#define FIELDS(...)           __VA_ARGS__

static bool check_shared(const struct machine_checker *c)
{
    const struct sm_config *s = &c->machine->sm;
    if (s->shared_block_bytes > s->shared_bytes)
        return CLASH(c, FIELDS(&s->shared_block_bytes, &s->shared_bytes),
                     "core.shared_block_bytes = %u is more than all shared memory (core.shared_bytes = %u)",
                     s->shared_block_bytes, s->shared_bytes);
    if (s->unified_bytes && (uint64_t)s->shared_bytes + s->unified_kept_bytes >= s->unified_bytes)
        return CLASH(c, FIELDS(&s->unified_bytes, &s->shared_bytes, &s->unified_kept_bytes),
                     "core.unified_bytes = %u leaves no L1 data cache beside shared memory of %u bytes and the %u that "
                     "are kept",
                     s->unified_bytes, s->shared_bytes, s->unified_kept_bytes);
    if (s->unified_bytes && s->launch_empties == LAUNCH_EMPTIES_NOTHING)
        return CLASH(c, FIELDS(&s->unified_bytes, &s->launch_empties),
                     "core.unified_bytes = %u: launches divide it anew, and need rules.launch_empties = l1d or caches",
                     s->unified_bytes);
    return true;
}

static bool check_core(const struct machine_checker *c)
{
    const struct machine *m = c->machine;
    const struct sm_config *s = &m->sm;
    uint32_t collectors = s->sp_collectors + s->sfu_collectors + s->mem_collectors;
    if (m->cores % s->cores_per_cluster)
        return CLASH(c, FIELDS(&m->cores, &s->cores_per_cluster),
                     "%u cores cannot be divided into clusters of %u (machine.cores_per_cluster)", m->cores,
                     s->cores_per_cluster);
    if (s->schedulers > s->warps)
        return CLASH(c, FIELDS(&s->schedulers, &s->warps),
                     "%u schedulers (issue.schedulers) have only %u warps (core.warps): expected at least a warp each",
                     s->schedulers, s->warps);
    if (s->fetch_bytes % 8)
        return CLASH(c, FIELDS(&s->fetch_bytes),
                     "issue.fetch_bytes = %u: expected a multiple of 8, the bytes of an instruction", s->fetch_bytes);
    if (collectors > 64)
        return CLASH(c, FIELDS(&s->sp_collectors, &s->sfu_collectors, &s->mem_collectors),
                     "%u operand collectors in all: expected at most 64", collectors);
    if (!is_power_of_two(s->past_l1_segment))
        return CLASH(c, FIELDS(&s->past_l1_segment), "lsu.past_l1_segment_bytes = %u: expected 32, 64 or 128",
                     s->past_l1_segment);
    if (!is_power_of_two(s->shared_banks))
        return CLASH(c, FIELDS(&s->shared_banks), "lsu.shared_banks = %u: expected a power of two", s->shared_banks);
    return true;
}

static bool check_row(const struct machine_checker *c, const struct latency_row *row, const char *name)
{
    static const char *const classes[] = {"add", "max", "mul", "mad", "div"};
    for (unsigned i = 0; i < MACHINE_LIST_LENGTH; i++)
        if (row->initiation[i] > row->latency[i])
            return CLASH(c, FIELDS(&row->initiation[i], &row->latency[i]),
                         "latency.%s: %s has an initiation interval of %u cycles but a latency of %u: expected an "
                         "interval that is not longer",
                         name, classes[i], row->initiation[i], row->latency[i]);
    return true;
}

static bool check_pair(const struct machine_checker *c, const uint32_t *latency, const uint32_t *initiation,
                       const char *name)
{
    if (*initiation <= *latency)
        return true;
    return CLASH(
        c, FIELDS(initiation, latency),
        "latency.%s: an initiation interval of %u cycles but a latency of %u: expected an interval that is not longer",
        name, *initiation, *latency);
}

static bool check_latencies(const struct machine_checker *c)
{
    const struct sm_config *s = &c->machine->sm;
    return check_row(c, &s->integer, "integer") && check_row(c, &s->single_precision, "single_precision") &&
           check_row(c, &s->double_precision, "double_precision") &&
           check_pair(c, &s->sfu_latency, &s->sfu_initiation, "sfu") &&
           check_pair(c, &s->shuffle_latency, &s->shuffle_initiation, "shuffle");
}

static bool check_cache(const struct machine_checker *c, const struct cache_config *cache, const char *name)
{
    const struct dram_config *d = &c->machine->mem.dram;
    if (!is_power_of_two(cache->line_bytes))
        return CLASH(c, FIELDS(&cache->line_bytes), "%s.line_bytes = %u: expected a power of two", name,
                     cache->line_bytes);
    if (cache->sector_bytes &&
        (cache->sector_bytes < 32 || !is_power_of_two(cache->sector_bytes) || cache->line_bytes % cache->sector_bytes))
        return CLASH(
            c, FIELDS(&cache->sector_bytes, &cache->line_bytes),
            "%s.sector_bytes = %u does not divide a line of %u bytes: expected 0 or a power of two from 32 to %u", name,
            cache->sector_bytes, cache->line_bytes, cache->line_bytes);
    if (cache->index != SET_INDEX_LINEAR && cache->sets && !is_power_of_two(cache->sets))
        return CLASH(c, FIELDS(&cache->index, &cache->sets), "%s: a %s index needs a power of two of sets, not %u",
                     name, cache->index == SET_INDEX_HASHED ? "hashed" : "multiplied", cache->sets);
    if (d->channel_bit < exponent_of(cache->line_bytes))
        return CLASH(
            c, FIELDS(&d->channel_bit, &cache->line_bytes),
            "dram.channel_bit = %u divides a line of %u bytes (%s.line_bytes) between channels: expected at least %u",
            d->channel_bit, cache->line_bytes, name, exponent_of(cache->line_bytes));
    return true;
}

static bool check_halves(const struct machine_checker *c)
{
    const struct l2_config *l2 = &c->machine->mem.l2;
    if (l2->link_cycles && c->machine->mem.dram.channels % 2)
        return CLASH(c, FIELDS(&l2->link_cycles, &c->machine->mem.dram.channels),
                     "l2.link_cycles = %u: an L2 in two halves needs an even number of channels, not %u",
                     l2->link_cycles, c->machine->mem.dram.channels);
    const struct write_rule *stores = write_rule_of(&l2->cache, false);
    if (l2->link_cycles && (stores->miss == WRITE_MISS_FETCH || stores->hit != WRITE_HIT_MARK))
        return CLASH(c, FIELDS(&l2->link_cycles, &l2->cache.stores_fetch, &l2->cache.global_writes),
                     "l2.link_cycles = %u: an L2 in two halves needs rules.l2_global_writes = back and "
                     "rules.l2_stores_fetch = false",
                     l2->link_cycles);
    return true;
}

static bool check_caches(const struct machine_checker *c)
{
    const struct sm_config *s = &c->machine->sm;
    const struct l2_config *l2 = &c->machine->mem.l2;
    const struct {
        const struct cache_config *cache;
        const char *name;
    } all[] = {{&s->l1d, "l1d"}, {&s->l1c, "l1c"}, {&s->l1t, "l1t"}, {&s->l1i, "l1i"}, {&l2->cache, "l2"}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        const uint32_t *line = &all[i].cache->line_bytes;
        if (!check_cache(c, all[i].cache, all[i].name))
            return false;
        if (*line > l2->cache.line_bytes)
            return CLASH(c, FIELDS(line, &l2->cache.line_bytes),
                         "%s.line_bytes = %u is larger than a line of the L2 (l2.line_bytes = %u), which is to fill it",
                         all[i].name, *line, l2->cache.line_bytes);
    }
    if (!s->l1i.sets)
        return CLASH(c, FIELDS(&s->l1i.sets), "l1i.sets = 0: a core needs an instruction cache");
    uint64_t l2_bytes = (uint64_t)c->machine->mem.dram.channels * l2->slices_per_channel * l2->cache.sets *
                        l2->cache.ways * l2->cache.line_bytes;
    if (l2_bytes >> 32)
        return CLASH(c,
                     FIELDS(&l2->cache.sets, &l2->cache.ways, &l2->slices_per_channel, &c->machine->mem.dram.channels),
                     "an L2 of %llu GiB in all: expected less than 4", (unsigned long long)(l2_bytes >> 30));
    if (l2->cache.stores_fetch && !l2->cache.write_allocate)
        return CLASH(c, FIELDS(&l2->cache.stores_fetch, &l2->cache.write_allocate),
                     "rules.l2_stores_fetch: a store has its line fetched where rules.l2_write_allocate = true, and it "
                     "is false");
    if (!l2->cache.sets)
        return CLASH(c, FIELDS(&l2->cache.sets), "l2.sets = 0: a memory channel needs its L2");
    return true;
}

/* Stores that have their lines fetched. */
static bool check_fetches(const struct machine_checker *c)
{
    const struct cache_config *l1d = &c->machine->sm.l1d, *l2 = &c->machine->mem.l2.cache;
    if (write_rule_misses(l1d, WRITE_MISS_FETCH))
        return CLASH(c, FIELDS(&l1d->global_writes, &l1d->local_writes),
                     "rules.l1d_global_writes, l1d_local_writes: only stores to the L2 can have their lines fetched");
    if (!write_rule_misses(l2, WRITE_MISS_FETCH))
        return true;
    if (l2->sector_bytes)
        return CLASH(c, FIELDS(&l2->stores_fetch, &l2->global_writes, &l2->local_writes, &l2->sector_bytes),
                     "rules.l2_stores_fetch: a store has its line fetched whole, and l2.sector_bytes = %u divides "
                     "lines: expected 0",
                     l2->sector_bytes);
    if (l2->miss_queue < STORE_FETCH_ROOM)
        return CLASH(
            c, FIELDS(&l2->stores_fetch, &l2->global_writes, &l2->local_writes, &l2->miss_queue),
            "rules.l2_stores_fetch: a store that misses needs %d places of the miss queue, and l2.miss_queue = %u",
            STORE_FETCH_ROOM, l2->miss_queue);
    return true;
}

static bool check_core_kind(const struct machine_checker *c)
{
    const struct sm_config *s = &c->machine->sm;
    const struct core_code *core = core_code_of(s);
    const char *kind = machine_choices(MACHINE_CORE_KIND)[s->kind];
    if (!core)
        return CLASH(c, FIELDS(&s->kind), "rules.core_kind = %s: the model (--model) has no such core", kind);
    if (s->lowers && !core->lowers)
        return CLASH(c, FIELDS(&s->lowers, &s->kind),
                     "rules.lowers = true: cores with rules.core_kind = %s fetch PTX instructions as they are", kind);
    if (s->issue_per_warp > 1 && !core->issues_twice)
        return CLASH(c, FIELDS(&s->kind, &s->issue_per_warp),
                     "issue.instructions_per_warp = %u: with rules.core_kind = %s a warp issues one instruction in a "
                     "cycle",
                     s->issue_per_warp, kind);
    return true;
}

static bool check_network(const struct machine_checker *c)
{
    struct network_misfit why = {0};
    if (network_fits(&c->machine->mem.network, &why))
        return true;
    return CLASH(c, FIELDS(why.fields[0], why.fields[1]), "%s", why.text);
}

static bool check_dram_shape(const struct machine_checker *c)
{
    const struct dram_config *d = &c->machine->mem.dram;
    const struct l2_config *l2 = &c->machine->mem.l2;
    if (!is_power_of_two(l2->slices_per_channel))
        return CLASH(c, FIELDS(&l2->slices_per_channel), "l2.slices_per_channel = %u: expected a power of two",
                     l2->slices_per_channel);
    if (l2->slices_per_channel * d->channels > 256)
        return CLASH(c, FIELDS(&l2->slices_per_channel, &d->channels),
                     "%u channels of %u slices: expected at most 256 slices in all", d->channels,
                     l2->slices_per_channel);
    if (d->banks % d->bank_groups)
        return CLASH(c, FIELDS(&d->banks, &d->bank_groups),
                     "%u banks (dram.banks) cannot be divided into %u groups (dram.bank_groups)", d->banks,
                     d->bank_groups);
    if (d->burst_length % d->data_rate)
        return CLASH(c, FIELDS(&d->burst_length, &d->data_rate),
                     "a burst of %u transfers (dram.burst_length) does not fill whole cycles of %u (dram.data_rate)",
                     d->burst_length, d->data_rate);
    return true;
}

static const uint32_t *longer(const uint32_t *a, const uint32_t *b) { return *a > *b ? a : b; }

static bool check_dram_timing(const struct machine_checker *c)
{
    const struct dram_config *d = &c->machine->mem.dram;
    uint32_t burst_cycles = d->burst_length / d->data_rate;
    const uint32_t *opening = longer(&d->t_rfc, longer(&d->t_rc, &d->t_rrd));
    if (d->t_rc < d->t_ras)
        return CLASH(c, FIELDS(&d->t_rc, &d->t_ras),
                     "dram.t_rc = %u is shorter than dram.t_ras = %u: a row is activated again before it may be closed",
                     d->t_rc, d->t_ras);
    if (d->t_rc < d->t_rcd)
        return CLASH(c, FIELDS(&d->t_rc, &d->t_rcd),
                     "dram.t_rc = %u is shorter than dram.t_rcd = %u: a row is activated again before it can be read",
                     d->t_rc, d->t_rcd);
    if (d->t_ras < d->t_rcd)
        return CLASH(c, FIELDS(&d->t_ras, &d->t_rcd),
                     "dram.t_ras = %u is shorter than dram.t_rcd = %u: a row may be closed before it can be read",
                     d->t_ras, d->t_rcd);
    if (d->t_ccd < burst_cycles)
        return CLASH(c, FIELDS(&d->t_ccd, &d->burst_length, &d->data_rate),
                     "dram.t_ccd = %u is shorter than a burst of %u cycles (burst_length / data_rate): bursts would "
                     "overlap on the bus",
                     d->t_ccd, burst_cycles);
    if (d->bank_groups > 1 && d->t_ccdl < d->t_ccd)
        return CLASH(c, FIELDS(&d->t_ccdl, &d->t_ccd, &d->bank_groups),
                     "dram.t_ccdl = %u is shorter than dram.t_ccd = %u: inside a bank group it cannot be faster",
                     d->t_ccdl, d->t_ccd);
    if (d->t_refi && d->t_rfc >= d->t_refi)
        return CLASH(c, FIELDS(&d->t_rfc, &d->t_refi),
                     "dram.t_rfc = %u leaves nothing of the %u cycles from refresh to refresh (dram.t_refi)", d->t_rfc,
                     d->t_refi);
    if (d->t_refi && d->t_refi <= (uint64_t)*opening + d->t_rcd)
        return CLASH(c, FIELDS(&d->t_refi, opening, &d->t_rcd),
                     "dram.t_refi = %u: from one refresh to the next a row cannot always be opened (the longest of "
                     "dram.t_rfc, t_rc and t_rrd: %u cycles) and read (dram.t_rcd = %u)",
                     d->t_refi, *opening, d->t_rcd);
    if (d->refresh_banks && d->banks % d->refresh_banks)
        return CLASH(c, FIELDS(&d->refresh_banks, &d->banks),
                     "dram.refresh_banks = %u does not divide the %u banks of a channel (dram.banks)", d->refresh_banks,
                     d->banks);
    if (d->t_refi && d->refresh_banks && d->t_refi < d->banks / d->refresh_banks)
        return CLASH(c, FIELDS(&d->t_refi, &d->refresh_banks, &d->banks),
                     "dram.t_refi = %u is shorter than the %u turns of a refresh (dram.banks / dram.refresh_banks)",
                     d->t_refi, d->banks / d->refresh_banks);
    if (d->t_wl > d->t_cl + burst_cycles + 2)
        return CLASH(c, FIELDS(&d->t_wl, &d->t_cl),
                     "dram.t_wl = %u: the turn from read to write, t_cl + burst + 2 - t_wl, would be negative",
                     d->t_wl);
    return true;
}

/* How many bits of the map have a letter, and the lowest of them. */
struct map_bits {
    uint32_t count, lowest;
};

static bool check_map_letters(const struct machine_checker *c, struct map_bits bits[4])
{
    static const char letters[] = "RBCS";
    static const char *const meaning[] = {"R (row)", "B (bank)", "C (column)", "S (within a burst)"};
    const char *map = c->machine->mem.dram.map;
    uint32_t position = 0;
    for (size_t i = strlen(map); i--;) {
        if (map[i] == '.')
            continue;
        const char *letter = strchr(letters, map[i]);
        if (!letter)
            return CLASH(c, FIELDS(map), "dram.map has a '%c': expected the letters R, B, C, S and dots%s", map[i],
                         strchr(map, '@') ? " (the channel's bit is dram.channel_bit)" : "");
        struct map_bits *b = &bits[letter - letters];
        if (!b->count++)
            b->lowest = position;
        position++;
    }
    for (unsigned i = 0; i < 4; i++)
        if (!bits[i].count)
            return CLASH(c, FIELDS(map), "dram.map has no %s bits", meaning[i]);
    if (bits[3].lowest != 0)
        return CLASH(c, FIELDS(map), "dram.map does not end in S: the lowest bits are the bytes of a burst");
    return true;
}

static bool check_map(const struct machine_checker *c)
{
    const struct dram_config *d = &c->machine->mem.dram;
    const struct l2_config *l2 = &c->machine->mem.l2;
    struct map_bits bits[4] = {{0, 0}};
    if (!check_map_letters(c, bits))
        return false;
    const struct map_bits *bank = &bits[1];
    if (bank->count > 16 || (1u << bank->count) > d->banks)
        return CLASH(c, FIELDS(d->map, &d->banks),
                     "dram.map has %u bank bits, for more than the %u banks there are (dram.banks)", bank->count,
                     d->banks);
    if (l2->slices_per_channel > 1u << bank->count)
        return CLASH(c, FIELDS(&l2->slices_per_channel, d->map),
                     "%u slices (l2.slices_per_channel) are chosen by the bank, but dram.map has %u bank bits",
                     l2->slices_per_channel, bank->count);
    if (l2->slices_per_channel > 1 && bank->lowest < exponent_of(l2->cache.line_bytes))
        return CLASH(c, FIELDS(d->map, &l2->slices_per_channel, &l2->cache.line_bytes),
                     "the lowest bank bit of dram.map, which chooses the slice, divides a line of %u bytes",
                     l2->cache.line_bytes);
    return true;
}

bool machine_check(const struct machine_checker *c)
{
    return check_core(c) && check_core_kind(c) && check_shared(c) && check_latencies(c) && check_caches(c) &&
           check_fetches(c) && check_halves(c) && check_network(c) && check_dram_shape(c) && check_dram_timing(c) &&
           check_map(c);
}
