/* The coalescer of the load/store unit, the rule of CUDA's compute capability 1.3 as GPGPU-Sim 3.x applies it: in each
 * part of a warp, lanes whose bytes lie in the same segment make one access, which then shrinks to the half, quarter or
 * eighth of it that they use, down to a sector. A segment is never longer than a line of the cache that the access goes
 * to, so that an access is about one line. Also the interleaving of local memory. Left out: the alignment that hardware
 * demands (a misaligned access never comes this far). Banks of shared memory: shared_banks.c. */
#include "mem/coalesce.h"

#include "base/likely.h"

#include <assert.h>
#include <string.h>

enum {
    FRAME_BYTES = 128, /* of sectors that four bits name */
    SEGMENT_MOST = 256,
    SECTOR_BYTES = 32,
    LOCAL_WORD_BYTES = 4,
    ROW_BYTES = 32 * LOCAL_WORD_BYTES
};

/* Sets of sectors are bits, numbered within 256 bytes, the longest segment. An access numbers its own within its 128
 * bytes (its frame), unless it has 256. */

/* What the used sectors leave of a frame: a quarter, a half, or all of it. Segments of 32 and 64 bytes use sectors of
 * one half only, so one table serves all sizes. */
#define WHOLE      \
    {              \
        15, 0, 128 \
    }
static const struct {
    uint8_t sectors, offset, bytes;
} shrunk[16] = {
    {0, 0, 0},   {1, 0, 32}, {2, 32, 32}, {3, 0, 64}, {4, 64, 32},  WHOLE, WHOLE, WHOLE,
    {8, 96, 32}, WHOLE,      WHOLE,       WHOLE,      {12, 64, 64}, WHOLE, WHOLE, WHOLE,
};
#undef WHOLE

static uint32_t segment_bytes_of(uint32_t bytes, uint32_t most)
{
    uint32_t segment = bytes <= 1 ? 32 : bytes <= 2 ? 64 : most;
    return segment < most ? segment : most;
}

static uint32_t part_mask(uint32_t parts, uint32_t part)
{
    uint32_t lanes = 32 / parts;
    return (uint32_t)(((1ull << lanes) - 1) << (part * lanes));
}

static inline uint32_t sector_bit(uint64_t address) { return 1u << (address / SECTOR_BYTES & 7); }

/* Those that the bytes first to last lie in; both in the same segment. */
static inline uint32_t sectors_between(uint64_t first, uint64_t last)
{
    return 2 * sector_bit(last) - sector_bit(first);
}

/* address: any of the segment. sectors: those used. */
static inline void emit(struct access *to, uint64_t address, uint32_t lanes, uint32_t sectors)
{
    uint32_t low = sectors & 15, high = sectors >> 4, used = low | high;
    uint64_t base = address & ~(uint64_t)(SEGMENT_MOST - 1);
    if (unlikely(low && high)) {
        *to = (struct access){.address = base, .mask = lanes, .bytes = SEGMENT_MOST, .sectors = 255, .touched = 255};
        return;
    }
    *to = (struct access){.address = base + (high ? FRAME_BYTES : 0) + shrunk[used].offset,
                          .mask = lanes,
                          .bytes = shrunk[used].bytes,
                          .sectors = shrunk[used].sectors,
                          .touched = (uint8_t)used};
}

static inline void emit_line(struct access *to, uint64_t line, uint32_t lanes, uint32_t line_bytes)
{
    uint32_t sectors = sectors_between(line, line + line_bytes - 1);
    if (line_bytes < SEGMENT_MOST)
        sectors = (sectors | sectors >> 4) & 15;
    *to = (struct access){.address = line,
                          .mask = lanes,
                          .bytes = (uint16_t)line_bytes,
                          .sectors = (uint8_t)sectors,
                          .touched = (uint8_t)sectors};
}

/* Do all lanes lie in one segment (line) of this size, each aligned to its bytes? Without this case, a run of
 * stencil takes 1% more host instructions. */
static bool meet_in_one(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t size, uint32_t *used)
{
    uint64_t first = address[__builtin_ctz(mask)], any = 0, sectors = 0; /* sector numbers modulo 64 */
    for (; mask; mask &= mask - 1) {
        uint64_t a = address[__builtin_ctz(mask)];
        if ((a ^ first) >= size)
            return false;
        any |= a;
        sectors |= 1ull << (a / SECTOR_BYTES % 64);
    }
    sectors |= sectors >> 32;
    sectors |= sectors >> 16;
    *used = (uint32_t)(sectors | sectors >> 8) & 255;
    return (bytes & (bytes - 1)) == 0 && (any & (bytes - 1)) == 0;
}

/* The segments that one part of a warp touches, in the order of their addresses. Addresses mostly rise with the lanes:
 * a lane's segment is looked for from the end. */
struct segment {
    uint64_t address;
    uint32_t lanes, sectors;
};
struct segments {
    uint32_t count;
    struct segment list[COALESCE_MOST];
};

static void segments_put(struct segments *s, struct segment next)
{
    uint32_t at = s->count;
    while (at > 0 && s->list[at - 1].address > next.address)
        at--;
    if (at > 0 && s->list[at - 1].address == next.address) {
        s->list[at - 1].lanes |= next.lanes;
        s->list[at - 1].sectors |= next.sectors;
        return;
    }
    for (uint32_t i = s->count++; i > at; i--)
        s->list[i] = s->list[i - 1];
    s->list[at] = next;
}

/* A lane mostly touches the segment of the lane before it, which the caller has at hand. It is put into the list when
 * another comes. */
static inline void segments_add(struct segments *s, struct segment *hand, uint64_t address, uint32_t lane,
                                uint32_t sectors)
{
    if (hand->address != address) {
        if (hand->lanes)
            segments_put(s, *hand);
        *hand = (struct segment){.address = address};
    }
    hand->lanes |= 1u << lane;
    hand->sectors |= sectors;
}

/* At most 16 bytes: they lie in one segment or in two neighbours. */
static inline void segments_add_bytes(struct segments *s, struct segment *hand, uint64_t address, uint32_t bytes,
                                      uint32_t segment_bytes, uint32_t lane)
{
    uint64_t segment = address & ~(uint64_t)(segment_bytes - 1), next = segment + segment_bytes,
             last = address + bytes - 1;
    if (likely(last < next)) {
        segments_add(s, hand, segment, lane, sectors_between(address, last));
    } else {
        segments_add(s, hand, segment, lane, sectors_between(address, next - 1));
        segments_add(s, hand, next, lane, sectors_between(next, last));
    }
}

/* The segments leave, highest first. Returns how many. */
static uint32_t segments_emit(struct segments *s, struct segment hand, struct access *to)
{
    segments_put(s, hand);
    for (uint32_t i = s->count; i-- > 0; to++)
        emit(to, s->list[i].address, s->list[i].lanes, s->list[i].sectors);
    return s->count;
}

/* Two addresses at a time. */
typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair pair_at(const uint64_t *address)
{
    pair p;
    memcpy(&p, address, sizeof p);
    return p;
}

bool coalesce_consecutive(const uint64_t *address, uint32_t lanes, uint32_t bytes)
{
    if (address[lanes - 1] != address[0] + (uint64_t)(lanes - 1) * bytes)
        return false;
    pair difference = {0, 0}, at = {address[0], address[0] + bytes}, step = {2 * (uint64_t)bytes, 2 * (uint64_t)bytes};
    pair step_2 = step + step, step_3 = step_2 + step;
    for (uint32_t i = 0; i < lanes; i += 8, at += step_2 + step_2) { /* 16 or 32 */
        difference |= (pair_at(&address[i]) ^ at) | (pair_at(&address[i + 2]) ^ (at + step));
        difference |= (pair_at(&address[i + 4]) ^ (at + step_2)) | (pair_at(&address[i + 6]) ^ (at + step_3));
    }
    return (difference[0] | difference[1]) == 0;
}

static uint32_t emit_range(uint64_t address, uint32_t first_lane, uint32_t lanes, uint32_t bytes,
                           uint32_t segment_bytes, struct access *to)
{
    uint64_t end = address + (uint64_t)lanes * bytes, low = end; /* bytes from low on are done */
    uint32_t count = 0;
    while (low > address) {
        uint64_t segment = (low - 1) & ~(uint64_t)(segment_bytes - 1), last = low - 1;
        low = segment > address ? segment : address;
        uint32_t from = (uint32_t)(low - address) / bytes, until = (uint32_t)(last - address) / bytes;
        emit(&to[count++], segment, (uint32_t)((2ull << until) - (1ull << from)) << first_lane,
             sectors_between(low, last));
    }
    return count;
}

static uint32_t coalesce_part(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t segment_bytes,
                              struct access *to)
{
    uint32_t sectors;
    if (meet_in_one(address, mask, bytes, segment_bytes, &sectors)) {
        emit(to, address[__builtin_ctz(mask)], mask, sectors);
        return 1;
    }
    struct segments s;
    struct segment hand = {0};
    s.count = 0;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        segments_add_bytes(&s, &hand, address[lane], bytes, segment_bytes, lane);
    }
    return segments_emit(&s, hand, to);
}

uint32_t coalesce_global(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t most, uint32_t parts,
                         struct access out[COALESCE_MOST])
{
    uint32_t segment_bytes = segment_bytes_of(bytes, most), lanes = 32 / parts, count = 0;
    for (uint32_t part = parts; part-- > 0;) {
        uint32_t whole = part_mask(parts, part), first = part * lanes;
        if ((mask & whole) == whole && coalesce_consecutive(&address[first], lanes, bytes))
            count += emit_range(address[first], first, lanes, bytes, segment_bytes, &out[count]);
        else if (mask & whole)
            count += coalesce_part(address, mask & whole, bytes, segment_bytes, &out[count]);
    }
    return count;
}

/* Atomics. Several accesses of one segment may be needed; each holds the bytes it touches, so that a lane joins the
 * first of them that it does not collide with. */
struct atomic_access {
    uint64_t segment, bytes[2];
    uint32_t lanes;
};
struct atomics {
    uint32_t count;
    uint32_t last;                            /* access that was joined last, */
    uint64_t low, high;                       /* and with which bytes */
    struct atomic_access list[COALESCE_MOST]; /* ascending segments; within one, in order of need */
};

/* The first access that may have room for these bytes. Those up to the one that the same bytes joined last have
 * none. */
static inline uint32_t atomics_begin(const struct atomics *s, uint64_t segment, uint64_t low, uint64_t high)
{
    uint32_t at = s->count;
    if (at && s->list[s->last].segment == segment && s->low == low && s->high == high)
        return s->last + 1;
    while (at > 0 && s->list[at - 1].segment >= segment)
        at--;
    return at;
}

static void atomics_add(struct atomics *s, uint64_t segment, uint64_t first, uint64_t last, uint32_t lane)
{
    unsigned __int128 bytes = (((unsigned __int128)1 << (last - first + 1)) - 1) << (first % FRAME_BYTES);
    uint64_t low = (uint64_t)bytes, high = (uint64_t)(bytes >> 64);
    uint32_t at = atomics_begin(s, segment, low, high);
    while (at < s->count && s->list[at].segment == segment &&
           ((s->list[at].bytes[0] & low) | (s->list[at].bytes[1] & high)))
        at++;
    struct atomic_access *found = &s->list[at];
    s->last = at;
    s->low = low;
    s->high = high;
    if (at == s->count || found->segment != segment) {
        for (uint32_t i = s->count; i > at; i--)
            s->list[i] = s->list[i - 1];
        s->count++;
        *found = (struct atomic_access){.segment = segment};
    }
    found->bytes[0] |= low;
    found->bytes[1] |= high;
    found->lanes |= 1u << lane;
}

static uint32_t sectors_of_bytes(uint64_t segment, const uint64_t bytes[2])
{
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < 4; i++)
        sectors |= (uint32_t)((uint32_t)(bytes[i / 2] >> i % 2 * 32) != 0) << i;
    return segment & FRAME_BYTES ? sectors << 4 : sectors;
}

bool coalesce_are_same(const uint64_t address[32], uint32_t mask)
{
    uint64_t first = address[__builtin_ctz(mask)], difference = 0;
    for (; mask; mask &= mask - 1)
        difference |= address[__builtin_ctz(mask)] ^ first;
    return difference == 0;
}

/* All lanes want the same bytes, which is how they contend: an access for each. */
static uint32_t emit_same(uint64_t address, uint32_t mask, uint32_t bytes, uint64_t segment, struct access *to)
{
    uint32_t sectors = sectors_between(address, address + bytes - 1), count = 0;
    for (; mask; mask &= ~(1u << (31 - __builtin_clz(mask)))) /* as below, the later lane first */
        emit(&to[count++], segment, 1u << (31 - __builtin_clz(mask)), sectors);
    return count;
}

static uint32_t atomic_part(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t segment_bytes,
                            struct access *to)
{
    uint64_t any = address[__builtin_ctz(mask)], segment_of_any = any & ~(uint64_t)(segment_bytes - 1);
    if (any + bytes <= segment_of_any + segment_bytes && coalesce_are_same(address, mask))
        return emit_same(any, mask, bytes, segment_of_any, to);
    struct atomics s;
    s.count = 0;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        uint64_t first = address[lane], last = first + bytes - 1, segment = first & ~(uint64_t)(segment_bytes - 1),
                 next = segment + segment_bytes;
        atomics_add(&s, segment, first, last < next ? last : next - 1, lane);
        if (last >= next)
            atomics_add(&s, next, next, last, lane);
    }
    for (uint32_t i = 0; i < s.count; i++) {
        const struct atomic_access *from = &s.list[s.count - 1 - i];
        emit(&to[i], from->segment, from->lanes, sectors_of_bytes(from->segment, from->bytes));
    }
    return s.count;
}

uint32_t coalesce_atomic(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t most, uint32_t parts,
                         struct access out[COALESCE_MOST])
{
    uint32_t segment_bytes = segment_bytes_of(bytes, most), count = 0;
    for (uint32_t part = parts; part-- > 0;)
        if (mask & part_mask(parts, part))
            count += atomic_part(address, mask & part_mask(parts, part), bytes, segment_bytes, &out[count]);
    return count;
}

uint32_t coalesce_uniform_atomic(uint64_t address, uint32_t mask, uint32_t bytes, uint32_t most, struct access *out)
{
    uint64_t segment = address & ~(uint64_t)(segment_bytes_of(bytes, most) - 1);
    emit(out, segment, mask, sectors_between(address, address + bytes - 1));
    return 1;
}

void coalesce_from_first_byte(const uint64_t address[32], struct access *list, uint32_t count)
{
    for (struct access *a = list; a < list + count; a++) {
        uint64_t first = a->address + a->bytes;
        for (uint32_t left = a->mask; left; left &= left - 1) {
            uint64_t lane = address[__builtin_ctz(left)];
            first = lane < first ? lane : first;
        }
        if (first > a->address) { /* else a lane begins in the access before */
            a->bytes = (uint16_t)(a->bytes - (first - a->address));
            a->address = first;
        }
    }
}

uint32_t coalesce_written(const uint64_t address[32], uint32_t bytes, const struct access *a)
{
    uint32_t shift = (uint32_t)__builtin_ctz(a->bytes) - 5, written = 0;
    for (uint32_t left = a->mask; left; left &= left - 1) {
        uint64_t first = address[__builtin_ctz(left)], last = first + bytes - 1, end = a->address + a->bytes - 1;
        uint32_t from = (uint32_t)((first > a->address ? first - a->address : 0) >> shift),
                 to = (uint32_t)(((last < end ? last : end) - a->address) >> shift);
        written |= (uint32_t)((2ull << to) - (1ull << from));
    }
    return written;
}

uint64_t coalesce_local_address(uint64_t offset, uint64_t thread, uint64_t threads)
{
    return (offset / LOCAL_WORD_BYTES * threads + thread) * LOCAL_WORD_BYTES + offset % LOCAL_WORD_BYTES;
}

/* All lanes of a part ask for the same variable: each of its words is a row of neighbours. */
static uint32_t local_rows(uint64_t offset, uint64_t thread, uint64_t threads, uint32_t first_lane, uint32_t lanes,
                           uint32_t words, uint32_t segment_bytes, struct access *to)
{
    uint32_t count = 0;
    for (uint32_t word = words; word-- > 0;) {
        uint64_t address = coalesce_local_address(offset + word * LOCAL_WORD_BYTES, thread, threads);
        count += emit_range(address, first_lane, lanes, LOCAL_WORD_BYTES, segment_bytes, &to[count]);
    }
    return count;
}

static uint32_t local_part(const uint64_t offset[32], uint32_t mask, uint32_t bytes, uint64_t first_thread,
                           uint64_t threads, uint32_t segment_bytes, struct access *to)
{
    uint32_t words = bytes / LOCAL_WORD_BYTES, piece_bytes = bytes < LOCAL_WORD_BYTES ? bytes : LOCAL_WORD_BYTES;
    struct segments s;
    struct segment hand = {0};
    s.count = 0;
    /* The same word of neighbouring threads is what meets in a segment. */
    for (uint32_t word = 0; word == 0 || word < words; word++)
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            uint64_t address =
                coalesce_local_address(offset[lane] + word * LOCAL_WORD_BYTES, first_thread + lane, threads);
            segments_add_bytes(&s, &hand, address, piece_bytes, segment_bytes, lane);
        }
    return segments_emit(&s, hand, to);
}

uint32_t coalesce_local(const uint64_t offset[32], uint32_t mask, uint32_t bytes, uint64_t first_thread,
                        uint64_t threads, uint32_t most, uint32_t parts, struct access out[COALESCE_MOST])
{
    uint32_t lanes = 32 / parts, segment_bytes = segment_bytes_of(bytes, most), count = 0;
    bool rows_apart =
        threads * LOCAL_WORD_BYTES >= segment_bytes + ROW_BYTES; /* else two rows might meet in a segment */
    for (uint32_t part = parts; part-- > 0;) {
        uint32_t whole = part_mask(parts, part), first = part * lanes;
        bool in_rows =
            rows_apart && (mask & whole) == whole && bytes >= LOCAL_WORD_BYTES && offset[first] % LOCAL_WORD_BYTES == 0;
        if (in_rows && coalesce_consecutive(&offset[first], lanes, 0))
            count += local_rows(offset[first], first_thread + first, threads, first, lanes, bytes / LOCAL_WORD_BYTES,
                                segment_bytes, &out[count]);
        else if (mask & whole)
            count += local_part(offset, mask & whole, bytes, first_thread, threads, segment_bytes, &out[count]);
    }
    return count;
}

uint32_t coalesce_lines(const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                        struct access out[COALESCE_MOST])
{
    assert(line_bytes >= SECTOR_BYTES && (line_bytes & (line_bytes - 1)) == 0);
    uint32_t sectors;
    if (!mask)
        return 0;
    if (meet_in_one(address, mask, bytes, line_bytes, &sectors)) {
        emit_line(out, address[__builtin_ctz(mask)] & ~(uint64_t)(line_bytes - 1), mask, line_bytes);
        return 1;
    }
    struct segments s;
    struct segment hand = {0};
    s.count = 0;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        uint64_t line = address[lane] & ~(uint64_t)(line_bytes - 1);
        segments_add(&s, &hand, line, lane, 0);
        if (address[lane] + bytes - 1 >= line + line_bytes)
            segments_add(&s, &hand, line + line_bytes, lane, 0);
    }
    segments_put(&s, hand);
    for (uint32_t i = s.count; i-- > 0; out++)
        emit_line(out, s.list[i].address, s.list[i].lanes, line_bytes);
    return s.count;
}
