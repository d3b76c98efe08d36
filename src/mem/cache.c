/* A cache: see cache.h. Follows GPGPU-Sim's data and read-only caches (mechanisms: sections 22 and 23).
 *
 * The state of a line is three sets of 32-byte sectors: valid, reserved (on its way), modified. A cache without sectors is one in which every access needs all sectors of its line.
 * The tags of a set lie together, since every access reads them; the rest of a line lies together, since what is found is then touched.
 *
 * Left out: which bytes of a sector a store wrote. A sector (line, where there are none) that a store takes counts as wholly written, so that a later read of it hits; the original fetches it if the
 * store was partial. A request for several sectors, of which some are on their way already, asks for the rest and waits for the latest only. */
#include "mem/cache.h"
#include "mem/mshr.h"
#include "mem/ring.h"

#include <assert.h>
#include <string.h>

#define NO_TAG UINT64_MAX
#define NO_WAY UINT32_MAX
enum { NO_OWNER = UINT16_MAX, POLICY_WAYS_MOST = 64 };

struct line {
    uint64_t used;                     /* last access, in counts of the cache's clock: the least is the LRU; 0: no line here */
    uint64_t age;                      /* of the warp that brought it, with its slot */
    uint16_t warp;
    uint8_t valid, reserved, modified; /* sectors */
};

enum index_kind { INDEX_MASK, INDEX_MODULO, INDEX_FERMI, INDEX_FOLD };

/* The last access that failed. Nothing having changed since, it fails again, for the same reason. */
struct blocked { bool holds; struct packet request; struct cache_result result; };

struct cache {
    struct cache_head head;            /* first: read from outside */
    uint64_t *tags;                    /* line addresses: ways of a set beside each other */
    struct line *lines;
    uint64_t clock;                    /* counts what changes the order of use */
    uint64_t line_mask;                /* of an address: its line */
    uint32_t ways, sets, line_shift, set_bits;
    uint32_t tag_stride;               /* ways, rounded up to fours */
    enum index_kind index;
    uint8_t all_sectors;               /* of a line */
    uint8_t group;                     /* 32-byte sectors that come and go together */
    bool whole_lines, on_fill, write_allocate, touched;
    enum write_policy global_writes, local_writes;
    enum packet_kind writeback_kind;
    uint32_t miss_reserve, line_bytes, port_bytes;
    uint64_t port_free, fill_port_free; /* from this cycle on */
    cache_index_fn *index_address;
    const void *index_context;
    const struct heddle_l1 *policy;
    void *policy_state;
    const struct heddle_core *core;
    int illegal_victim;
    struct ring misses;
    struct mshr mshr;
    struct blocked blocked;
    uint64_t taken[2][CACHE_FAIL];     /* accesses: reads, writes; by outcome */
    struct cache_counters *counters;   /* what follows from taken is worked out when it is read */
};

/* An access on its way through the functions below. */
struct lookup {
    const struct packet *request;
    uint64_t line, age;
    uint32_t set, way;                 /* way NO_WAY: the line is not there */
    struct line *there;                /* the line, where it is */
    uint8_t need;                      /* sectors */
    bool write;
    struct cache_result *result;
};

/* What leaves with a victim. */
struct leaving { bool modified; struct packet writeback; };

static uint32_t log2_of(uint32_t n)
{
    uint32_t bits = 0;
    while ((2u << bits) <= n)
        bits++;
    return bits;
}

static enum index_kind index_kind(const struct cache_config *config)
{
    bool power = (config->sets & (config->sets - 1)) == 0;
    if (config->index == SET_INDEX_HASHED && (config->sets == 32 || config->sets == 64))
        return INDEX_FERMI;
    if (config->index == SET_INDEX_HASHED && power && config->sets > 1)
        return INDEX_FOLD;
    return power ? INDEX_MASK : INDEX_MODULO;
}

static void forget_lines(struct cache *c)
{
    memset(c->tags, 0xff, (size_t)c->sets * c->tag_stride * sizeof *c->tags); /* NO_TAG */
    memset(c->lines, 0, (size_t)c->sets * c->ways * sizeof *c->lines);
}

struct cache *cache_create(struct arena *a, const struct cache_config *config, cache_index_fn *index_address, const void *context)
{
    if (config->sets == 0)
        return NULL;
    assert(config->ways && config->line_bytes && config->line_bytes <= 8 * SECTOR_BYTES && (config->line_bytes & (config->line_bytes - 1)) == 0);
    struct cache *c = arena_new(a, struct cache);
    uint32_t sectors = (config->line_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    size_t lines = (size_t)config->sets * config->ways;
    uint32_t tag_stride = (config->ways + 3) & ~3u;
    *c = (struct cache){
        .tags = arena_array(a, uint64_t, (size_t)config->sets * tag_stride), .lines = arena_array(a, struct line, lines),
        .line_mask = ~(uint64_t)(config->line_bytes - 1), .ways = config->ways, .sets = config->sets, .tag_stride = tag_stride,
        .line_shift = log2_of(config->line_bytes), .set_bits = log2_of(config->sets), .index = index_kind(config),
        .all_sectors = (uint8_t)((1u << sectors) - 1), .group = (uint8_t)(config->sector_bytes > SECTOR_BYTES ? config->sector_bytes / SECTOR_BYTES : 1),
        .whole_lines = config->sector_bytes == 0 || config->sector_bytes >= config->line_bytes, .on_fill = config->allocate == ALLOCATE_ON_FILL,
        .write_allocate = config->write_allocate, .global_writes = config->global_writes, .local_writes = config->local_writes,
        .writeback_kind = PACKET_L1_WRITEBACK, .line_bytes = config->line_bytes, .port_bytes = config->port_bytes,
        .index_address = index_address, .index_context = context, .illegal_victim = -1, .counters = arena_new(a, struct cache_counters),
    };
    mshr_init(&c->mshr, a, config->mshr_entries, config->mshr_merge);
    /* A line that is taken when data comes may push out a modified one when the miss queue is full: room for one write-back an entry. */
    ring_init(&c->misses, a, config->miss_queue + (c->on_fill ? config->mshr_entries : 0));
    c->misses.limit = config->miss_queue;
    forget_lines(c);
    return c;
}

bool cache_set_policy(struct cache *c, const struct heddle_l1 *policy, void *state, const struct heddle_core *core)
{
    if (policy && c->ways > POLICY_WAYS_MOST)
        return false;
    c->policy = policy;
    c->policy_state = state;
    c->core = core;
    return true;
}

int cache_illegal_victim(const struct cache *c) { return c->illegal_victim; }

void cache_set_writeback(struct cache *c, enum packet_kind kind, uint32_t miss_reserve)
{
    c->writeback_kind = kind;
    c->miss_reserve = miss_reserve;
}

/* Sets of 32 and 64: the hash that was measured on Fermi's L1. */
static uint32_t fermi_index(uint64_t address, uint32_t line_shift, uint32_t sets)
{
    uint32_t low = (uint32_t)(address >> line_shift) & 31;
    uint32_t high = (uint32_t)(address >> 13 & 7) | (uint32_t)(address >> 17 & 1) << 3 | (uint32_t)(address >> 19 & 1) << 4;
    return (low ^ high) | (sets == 64 ? (uint32_t)(address >> 12 & 1) << 5 : 0);
}

static uint32_t fold_index(uint64_t number, uint32_t bits)
{
    uint64_t folded = 0;
    for (; number; number >>= bits)
        folded ^= number;
    return (uint32_t)folded & ((1u << bits) - 1);
}

static inline uint32_t set_of(const struct cache *c, uint64_t line)
{
    uint64_t address = c->index_address ? c->index_address(c->index_context, line) : line;
    switch (c->index) {
    case INDEX_MASK: return (uint32_t)(address >> c->line_shift) & (c->sets - 1);
    case INDEX_FERMI: return fermi_index(address, c->line_shift, c->sets);
    case INDEX_FOLD: return fold_index(address >> c->line_shift, c->set_bits);
    case INDEX_MODULO: break;
    }
    return (uint32_t)((address >> c->line_shift) % c->sets);
}

/* Four tags at a time without a branch between them: which way it is cannot be predicted. Tags behind the last way match nothing. */
static inline uint32_t find_way(const struct cache *c, uint32_t set, uint64_t line)
{
    const uint64_t *tags = c->tags + (size_t)set * c->tag_stride;
    for (uint32_t way = 0; way < c->ways; way += 4) {
        uint32_t match = (uint32_t)(tags[way] == line) | (uint32_t)(tags[way + 1] == line) << 1 | (uint32_t)(tags[way + 2] == line) << 2 | (uint32_t)(tags[way + 3] == line) << 3;
        if (match)
            return way + (uint32_t)__builtin_ctz(match);
    }
    return NO_WAY;
}

static inline uint64_t *tag_at(const struct cache *c, uint32_t set, uint32_t way) { return &c->tags[(size_t)set * c->tag_stride + way]; }
static inline struct line *line_at(const struct cache *c, uint32_t set, uint32_t way) { return &c->lines[(size_t)set * c->ways + way]; }

static uint8_t widen(const struct cache *c, uint32_t sectors)
{
    uint32_t group = (1u << c->group) - 1, wide = 0;
    for (; group & c->all_sectors; group <<= c->group)
        if (sectors & group)
            wide |= group;
    return (uint8_t)wide & c->all_sectors;
}

static inline uint8_t sectors_of(const struct cache *c, uint64_t address, uint32_t bytes, uint8_t named)
{
    if (c->whole_lines)
        return c->all_sectors;
    uint32_t offset = (uint32_t)(address & ~c->line_mask);
    uint32_t last = offset + (bytes ? bytes - 1 : 0);
    if (last >= c->line_bytes)
        last = c->line_bytes - 1;
    uint32_t sectors = (2u << last / SECTOR_BYTES) - (1u << offset / SECTOR_BYTES);
    if (sectors & named)
        sectors &= named;
    return c->group > 1 ? widen(c, sectors) : (uint8_t)sectors;
}

static inline uint32_t queue_room(const struct cache *c) { return c->misses.count < c->misses.limit ? c->misses.limit - c->misses.count : 0; }

static inline void push_miss(struct cache *c, const struct packet *p)
{
    ring_push(&c->misses, p);
    c->head.misses_queued = c->misses.count;
}

/* Policies. */

static struct heddle_l1_access describe(const struct cache *c, const struct lookup *l, enum heddle_outcome outcome, uint32_t way)
{
    const struct packet *p = l->request;
    struct heddle_l1_access e = { .address = l->line, .warp = p->warp, .pc = p->pc, .outcome = outcome, .store = l->write,
                                  .local = p->kind == PACKET_LOCAL_LOAD || p->kind == PACKET_LOCAL_STORE, .owner = -1, .set = l->set, .way = way };
    if (way != NO_WAY && outcome != HEDDLE_MISS) {
        const struct line *line = line_at(c, l->set, way);
        e.owner = line->warp == NO_OWNER ? -1 : line->warp;
        e.owner_age = line->age;
    }
    return e;
}

static void tell_inserted(struct cache *c, const struct lookup *l, uint32_t way)
{
    if (!c->policy->inserted)
        return;
    struct heddle_l1_access e = describe(c, l, HEDDLE_MISS, way);
    c->policy->inserted(c->policy_state, c->core, l->set, way, &e);
}

static void tell_touched(struct cache *c, const struct lookup *l, enum heddle_outcome outcome)
{
    if (!c->policy->touched)
        return;
    struct heddle_l1_access e = describe(c, l, outcome, l->way);
    c->policy->touched(c->policy_state, c->core, l->set, l->way, &e);
}

static void tell_removed(struct cache *c, uint32_t set, uint32_t way)
{
    if (c->policy->removed)
        c->policy->removed(c->policy_state, c->core, set, way);
}

static bool policy_bypasses(struct cache *c, const struct lookup *l)
{
    if (!c->policy || !c->policy->bypass)
        return false;
    struct heddle_l1_access e = describe(c, l, HEDDLE_MISS, NO_WAY);
    return c->policy->bypass(c->policy_state, c->core, &e);
}

static uint32_t policy_victim(struct cache *c, const struct lookup *l)
{
    uint64_t ways = 0, empty = 0;
    for (uint32_t way = 0; way < c->ways; way++) {
        if (*tag_at(c, l->set, way) == NO_TAG)
            empty |= (uint64_t)1 << way;
        else if (!line_at(c, l->set, way)->reserved)
            ways |= (uint64_t)1 << way;
    }
    if (!(ways | empty))
        return NO_WAY;
    struct heddle_l1_access e = describe(c, l, HEDDLE_MISS, NO_WAY);
    int way = c->policy->victim(c->policy_state, c->core, l->set, ways, empty, &e);
    if (way >= 0 && way < (int)c->ways && ((ways | empty) >> way & 1))
        return (uint32_t)way;
    if (way != -1)
        c->illegal_victim = way < 0 ? 0 : way;
    return NO_WAY;
}

/* Taking and losing lines. */

/* Ways without a line have the least use, 0; reserved ones cannot be taken. No branches: the order of use cannot be predicted. */
static uint32_t lru_victim(const struct cache *c, uint32_t set)
{
    const struct line *lines = line_at(c, set, 0);
    uint32_t victim = NO_WAY;
    uint64_t least = UINT64_MAX;
    for (uint32_t way = 0; way < c->ways; way++) {
        uint64_t used = lines[way].used | -(uint64_t)(lines[way].reserved != 0);
        bool less = used < least;
        victim = less ? way : victim;
        least = less ? used : least;
    }
    return victim;
}

static uint32_t choose_victim(struct cache *c, const struct lookup *l)
{
    return c->policy && c->policy->victim ? policy_victim(c, l) : lru_victim(c, l->set);
}

static inline void touch_line(struct cache *c, struct line *line) { line->used = ++c->clock; }

static struct packet writeback_of(const struct cache *c, uint64_t address, const struct line *line, const struct packet *cause)
{
    uint32_t bytes = c->whole_lines ? c->line_bytes : (uint32_t)__builtin_popcount(line->modified) * SECTOR_BYTES;
    return (struct packet){ .address = address, .pc = cause->pc, .bytes = (uint16_t)bytes, .core = cause->core, .warp = line->warp, .kind = (uint8_t)c->writeback_kind,
                            .slice = cause->slice, .sectors = line->modified };
}

static void evict(struct cache *c, const struct lookup *l, uint32_t way, struct leaving *leaving)
{
    uint64_t address = *tag_at(c, l->set, way);
    const struct line *line = line_at(c, l->set, way);
    leaving->modified = false;
    if (address == NO_TAG)
        return;
    l->result->evicted = true;
    l->result->evicted_address = address;
    l->result->evicted_warp = line->warp;
    l->result->evicted_age = line->age;
    c->counters->evictions++;
    if (line->modified) {
        leaving->modified = true;
        leaving->writeback = writeback_of(c, address, line, l->request);
        l->result->writeback_bytes = leaving->writeback.bytes;
        c->counters->writebacks++;
    }
    if (c->policy)
        tell_removed(c, l->set, way);
}

/* Puts the line of the access where the victim was; nothing of it is valid yet. */
static struct line *take_way(struct cache *c, struct lookup *l, uint32_t way, struct leaving *leaving)
{
    evict(c, l, way, leaving);
    struct line *line = line_at(c, l->set, way);
    *tag_at(c, l->set, way) = l->line;
    *line = (struct line){ .age = l->age, .warp = l->request->warp };
    touch_line(c, line);
    c->touched = true;
    l->way = way;
    l->there = line;
    if (c->policy)
        tell_inserted(c, l, way);
    return line;
}

static void drop_sectors(struct cache *c, const struct lookup *l)
{
    struct line *line = l->there;
    line->valid &= (uint8_t)~l->need;
    line->modified &= (uint8_t)~l->need;
    if (line->valid || line->reserved)
        return;
    *tag_at(c, l->set, l->way) = NO_TAG;
    line->used = 0;
    if (c->policy)
        tell_removed(c, l->set, l->way);
}

/* Outcomes. */

static enum cache_outcome fail(struct cache *c, const struct lookup *l, enum cache_fail why)
{
    l->result->fail = why;
    c->counters->fails[why]++;
    /* A policy may answer differently when it is asked again. */
    c->blocked.holds = !(c->policy && why == CACHE_FAIL_WAYS);
    c->blocked.request = *l->request;
    c->blocked.result = *l->result;
    return CACHE_FAIL;
}

static inline bool fails_again(const struct cache *c, const struct packet *request)
{
    const struct packet *p = &c->blocked.request;
    return c->blocked.holds && p->address == request->address && p->bytes == request->bytes && p->kind == request->kind && p->sectors == request->sectors;
}

static inline void found(const struct lookup *l)
{
    l->result->line_warp = l->there->warp;
    l->result->line_age = l->there->age;
}

static inline enum cache_outcome done(struct cache *c, const struct lookup *l, enum cache_outcome outcome)
{
    l->result->way = l->way;
    c->blocked.holds = false;
    c->taken[l->write][outcome]++;
    return outcome;
}

/* Reads. */

static enum cache_outcome read_hit(struct cache *c, const struct lookup *l)
{
    struct line *line = l->there;
    c->counters->intra_warp_hits += line->warp == l->request->warp && line->age == l->age;
    touch_line(c, line);
    if (l->request->kind == PACKET_ATOMIC)
        line->modified |= l->need;
    found(l);
    if (c->policy)
        tell_touched(c, l, HEDDLE_HIT);
    return done(c, l, CACHE_HIT);
}

static enum cache_outcome read_pending(struct cache *c, const struct lookup *l, uint32_t entry)
{
    if (!mshr_can_merge(&c->mshr, entry))
        return fail(c, l, CACHE_FAIL_MERGE);
    mshr_merge(&c->mshr, entry, l->request);
    if (l->way == NO_WAY) {
        l->result->line_warp = c->mshr.entries[entry].warp;
        l->result->line_age = c->mshr.entries[entry].age;
    } else {
        touch_line(c, l->there);
        found(l);
        if (c->policy)
            tell_touched(c, l, HEDDLE_PENDING);
    }
    return done(c, l, CACHE_PENDING);
}

static void send_read(struct cache *c, const struct lookup *l, uint32_t entry, uint8_t asked)
{
    struct packet p = *l->request;
    p.address = c->whole_lines ? l->line : l->line + (uint64_t)__builtin_ctz(asked) * SECTOR_BYTES;
    p.bytes = (uint16_t)(c->whole_lines ? c->line_bytes : (uint32_t)__builtin_popcount(asked) * SECTOR_BYTES);
    p.sectors = asked;
    p.token = entry;
    p.reply = 0;
    push_miss(c, &p);
    c->counters->misses_sent++;
}

/* A place for the answer, where lines are taken at the miss. False: there is none; why says what for. */
static bool reserve_line(struct cache *c, struct lookup *l, uint8_t asked, struct leaving *leaving, enum cache_fail *why)
{
    struct line *line;
    if (l->way == NO_WAY) {
        uint32_t way = choose_victim(c, l);
        *why = CACHE_FAIL_WAYS;
        if (way == NO_WAY)
            return false;
        *why = CACHE_FAIL_QUEUE;
        if (line_at(c, l->set, way)->modified && queue_room(c) < 2)
            return false;
        line = take_way(c, l, way, leaving);
    } else {
        line = l->there;
        touch_line(c, line);
    }
    line->reserved |= asked;
    return true;
}

static enum cache_outcome read_miss(struct cache *c, struct lookup *l, uint8_t asked)
{
    if (mshr_full(&c->mshr))
        return fail(c, l, CACHE_FAIL_MSHR);
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    bool bypass = l->way == NO_WAY && policy_bypasses(c, l);
    struct leaving leaving = { .modified = false };
    enum cache_fail why;
    if (!bypass && !c->on_fill && !reserve_line(c, l, asked, &leaving, &why))
        return fail(c, l, why);
    uint32_t entry = mshr_open(&c->mshr, l->line, asked, l->request);
    struct mshr_entry *e = &c->mshr.entries[entry];
    c->head.outstanding = c->mshr.used;
    e->age = l->age;
    e->bypass = bypass;
    if (!bypass && !c->on_fill)
        e->place = l->set * c->ways + l->way;
    send_read(c, l, entry, asked);
    if (leaving.modified)
        push_miss(c, &leaving.writeback);
    return done(c, l, CACHE_MISS);
}

static enum cache_outcome read_not_there(struct cache *c, struct lookup *l)
{
    uint8_t missing = l->need, covered;
    if (l->way != NO_WAY)
        missing &= (uint8_t)~l->there->valid;
    if (queue_room(c) < c->miss_reserve)
        return fail(c, l, CACHE_FAIL_QUEUE);
    uint32_t entry = mshr_find(&c->mshr, l->line, missing, &covered);
    uint8_t asked = missing & (uint8_t)~covered;
    enum cache_outcome outcome = asked ? read_miss(c, l, asked) : read_pending(c, l, entry);
    if (outcome != CACHE_FAIL && l->request->kind == PACKET_ATOMIC)
        mshr_mark_modified(&c->mshr, l->line, l->need);
    return outcome;
}

/* Writes. */

static enum cache_outcome write_down(struct cache *c, const struct lookup *l, enum write_policy policy, enum cache_outcome outcome)
{
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    push_miss(c, l->request);
    l->result->sends_write = true;
    if (l->way != NO_WAY) {
        found(l);
        if (policy == WRITE_THROUGH_EVICT && (l->there->valid & l->need)) {
            drop_sectors(c, l);
        } else if (outcome == CACHE_HIT) {
            touch_line(c, l->there);
            if (c->policy)
                tell_touched(c, l, HEDDLE_HIT);
        }
    }
    return done(c, l, outcome);
}

static enum cache_outcome write_back_hit(struct cache *c, const struct lookup *l)
{
    struct line *line = l->there;
    line->modified |= l->need & line->valid;
    touch_line(c, line);
    found(l);
    if (c->policy)
        tell_touched(c, l, HEDDLE_HIT);
    return done(c, l, CACHE_HIT);
}

/* A store takes what it misses without fetching it; sectors on their way become modified when they come. */
static enum cache_outcome write_allocate(struct cache *c, struct lookup *l)
{
    if (queue_room(c) < 1)
        return fail(c, l, CACHE_FAIL_QUEUE);
    struct leaving leaving = { .modified = false };
    struct line *line;
    uint8_t coming = 0;
    if (l->way == NO_WAY) {
        uint32_t way = choose_victim(c, l);
        if (way == NO_WAY)
            return fail(c, l, CACHE_FAIL_WAYS);
        line = take_way(c, l, way, &leaving);
    } else {
        line = l->there;
        coming = line->reserved & l->need;
        if (coming)
            mshr_mark_modified(&c->mshr, l->line, coming);
        if (((line->valid | coming) & l->need) == l->need)
            return write_back_hit(c, l);
        touch_line(c, line);
    }
    uint8_t taken = l->need & (uint8_t)~coming;
    line->valid |= taken;
    line->modified |= taken;
    if (leaving.modified)
        push_miss(c, &leaving.writeback);
    return done(c, l, CACHE_MISS);
}

static enum cache_outcome access_write(struct cache *c, struct lookup *l, bool there)
{
    enum write_policy policy = l->request->kind == PACKET_LOCAL_STORE ? c->local_writes : c->global_writes;
    if (policy == WRITE_BACK && there)
        return write_back_hit(c, l);
    if (policy == WRITE_BACK && c->write_allocate)
        return write_allocate(c, l);
    return write_down(c, l, policy, there ? CACHE_HIT : CACHE_MISS);
}

enum cache_outcome cache_access(struct cache *c, const struct packet *request, uint64_t age, uint64_t now, struct cache_result *result)
{
    (void)now; /* the order of use needs no time */
    if (fails_again(c, request)) {
        *result = c->blocked.result;
        c->counters->fails[result->fail]++;
        return CACHE_FAIL;
    }
    uint64_t line = request->address & c->line_mask;
    uint32_t set = set_of(c, line), way = find_way(c, set, line);
    struct lookup l = { .request = request, .line = line, .age = age, .set = set, .way = way, .there = way == NO_WAY ? NULL : line_at(c, set, way), .result = result,
                        .need = sectors_of(c, request->address, request->bytes, request->sectors), .write = packet_is_write(request) };
    *result = (struct cache_result){ .set = set, .way = NO_WAY };
    bool there = l.there && (l.there->valid & l.need) == l.need;
    if (l.write)
        return access_write(c, &l, there);
    return there ? read_hit(c, &l) : read_not_there(c, &l);
}

bool cache_probe(const struct cache *c, uint64_t address)
{
    uint64_t line = address & c->line_mask;
    uint32_t set = set_of(c, line), way = find_way(c, set, line);
    uint8_t need = sectors_of(c, address, 1, 0);
    return way != NO_WAY && (line_at(c, set, way)->valid & need) == need;
}

struct packet *cache_miss_front(struct cache *c) { return c->misses.count ? ring_front(&c->misses) : NULL; }

void cache_miss_pop(struct cache *c)
{
    ring_pop(&c->misses);
    c->head.misses_queued = c->misses.count;
    c->blocked.holds = false;
}

/* Data has come for a line that was not reserved. */
static void store_unreserved(struct cache *c, uint32_t entry)
{
    const struct mshr_entry *e = &c->mshr.entries[entry];
    struct cache_result result = { .evicted = false };
    const struct packet *request = mshr_request(&c->mshr, entry, 0);
    uint32_t set = set_of(c, e->line), way = find_way(c, set, e->line);
    struct lookup l = { .request = request, .line = e->line, .age = e->age, .set = set, .way = way, .there = way == NO_WAY ? NULL : line_at(c, set, way),
                        .need = e->asked, .result = &result };
    if (l.way == NO_WAY) {
        struct leaving leaving = { .modified = false };
        way = choose_victim(c, &l);
        if (way == NO_WAY)
            return;
        take_way(c, &l, way, &leaving);
        if (leaving.modified)
            push_miss(c, &leaving.writeback);
    }
    l.there->valid |= e->asked;
    l.there->modified |= e->modified;
}

bool cache_fill(struct cache *c, const struct packet *answer, uint64_t now)
{
    (void)now;
    c->counters->fills++;
    if (!mshr_answer(&c->mshr, answer->token, answer->sectors ? answer->sectors : c->all_sectors))
        return false;
    c->blocked.holds = false;
    const struct mshr_entry *e = &c->mshr.entries[answer->token];
    c->head.ready_requests += e->count;
    if (e->place != MSHR_NONE) {
        struct line *line = &c->lines[e->place];
        line->reserved &= (uint8_t)~e->asked;
        line->valid |= e->asked;
        line->modified |= e->modified;
    } else if (!e->bypass) {
        store_unreserved(c, answer->token);
    }
    return true;
}

struct packet *cache_ready_front(struct cache *c) { return mshr_ready_front(&c->mshr); }

void cache_ready_pop(struct cache *c)
{
    mshr_ready_pop(&c->mshr);
    c->head.ready_requests--;
    c->head.outstanding = c->mshr.used;
    c->blocked.holds = false;
}

bool cache_waits_for(const struct cache *c, uint32_t entry) { return entry < c->mshr.limit && c->mshr.entries[entry].count; }

void cache_touch(struct cache *c, uint64_t address, uint64_t now)
{
    (void)now;
    uint64_t tag = address & c->line_mask;
    uint32_t set = set_of(c, tag), way = find_way(c, set, tag);
    uint8_t need = sectors_of(c, address, 1, 0);
    c->blocked.holds = false;
    if (way == NO_WAY) {
        struct packet nobody = { .address = address, .warp = NO_OWNER };
        struct lookup l = { .request = &nobody, .line = tag, .set = set, .way = NO_WAY, .need = need };
        way = lru_victim(c, set);
        if (way == NO_WAY)
            return;
        if (c->policy && *tag_at(c, set, way) != NO_TAG)
            tell_removed(c, set, way);
        *tag_at(c, set, way) = tag;
        *line_at(c, set, way) = (struct line){ .warp = NO_OWNER };
        c->touched = true;
        if (c->policy)
            tell_inserted(c, &l, way);
    }
    struct line *line = line_at(c, set, way);
    need &= (uint8_t)~(line->valid | line->reserved);
    if (!need)
        return;
    line->valid |= need;
    touch_line(c, line);
}

void cache_invalidate(struct cache *c)
{
    assert(c->mshr.used == 0);
    if (!c->touched)
        return;
    for (uint32_t set = 0; c->policy && set < c->sets; set++)
        for (uint32_t way = 0; way < c->ways; way++)
            if (*tag_at(c, set, way) != NO_TAG)
                tell_removed(c, set, way);
    forget_lines(c);
    c->touched = false;
    c->blocked.holds = false;
}

/* Ports. */

static void use_port(const struct cache *c, uint64_t *free, uint32_t bytes, uint64_t now)
{
    if (c->port_bytes)
        *free = (*free > now ? *free : now) + (bytes + c->port_bytes - 1) / c->port_bytes;
}

bool cache_port_free(const struct cache *c, uint64_t now) { return now >= c->port_free; }
void cache_use_port(struct cache *c, uint32_t bytes, uint64_t now) { use_port(c, &c->port_free, bytes, now); }
bool cache_fill_port_free(const struct cache *c, uint64_t now) { return now >= c->fill_port_free; }
void cache_use_fill_port(struct cache *c, uint32_t bytes, uint64_t now) { use_port(c, &c->fill_port_free, bytes, now); }

const struct cache_counters *cache_counters(const struct cache *c)
{
    struct cache_counters *n = c->counters;
    n->reads = c->taken[0][CACHE_HIT] + c->taken[0][CACHE_MISS] + c->taken[0][CACHE_PENDING];
    n->write_hits = c->taken[1][CACHE_HIT];
    n->write_misses = c->taken[1][CACHE_MISS];
    n->writes = n->write_hits + n->write_misses;
    n->accesses = n->reads + n->writes;
    n->hits = c->taken[0][CACHE_HIT] + n->write_hits;
    n->misses = c->taken[0][CACHE_MISS] + n->write_misses;
    n->pending_hits = c->taken[0][CACHE_PENDING];
    n->inter_warp_hits = c->taken[0][CACHE_HIT] - n->intra_warp_hits;
    return n;
}

void cache_counters_reset(struct cache *c)
{
    memset(c->taken, 0, sizeof c->taken);
    *c->counters = (struct cache_counters){ .accesses = 0 };
}
