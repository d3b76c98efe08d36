/* The accesses of a trace's chunk (trace_reader.h), core after core. Every number is checked against the header, the
 * listing and the bytes there are. */
#include "replay/trace_reader.h"

#include "heddle/policy.h"

/* Ten bytes at most; there are that many after every place of a chunk. */
static inline uint64_t take_number(const uint8_t **at)
{
    const uint8_t *p = *at;
    uint64_t value = *p & 0x7f;
    for (uint32_t shift = 7; *p++ & 0x80 && shift < 70; shift += 7)
        value |= (uint64_t)(*p & 0x7f) << (shift & 63);
    *at = p;
    return value;
}

static inline uint64_t unzigzag(uint64_t n) { return n >> 1 ^ -(n & 1); }

static inline void skip_number(const uint8_t **at)
{
    const uint8_t *p = *at;
    for (uint32_t i = 1; *p++ & 0x80 && i < 10; i++)
        ;
    *at = p;
}

int trace_reader_part(const struct trace_reader *r, struct trace_cursor *c, struct trace_part *p, struct error *e)
{
    if (c->at == c->end)
        return 0;
    uint64_t core = take_number(&c->at), count = take_number(&c->at), bytes = take_number(&c->at);
    if (c->at > c->end || core >= r->header.cores || core < c->next_core || bytes > (uint64_t)(c->end - c->at) ||
        count > bytes) {
        trace_reader_damaged(r, r->chunks[c->chunk].offset, "a core's part makes no sense", e);
        return -1;
    }
    *p = (struct trace_part){.core = (uint32_t)core,
                             .chunk = c->chunk,
                             .accesses = count,
                             .start = c->start,
                             .at = c->at,
                             .end = c->at + bytes};
    c->at += bytes;
    c->next_core = (uint32_t)core + 1;
    return 1;
}

void trace_reader_start(const struct trace_reader *r, const struct trace_part *p, struct trace_section *s)
{
    *s = (struct trace_section){.left = p->accesses,
                                .start = p->start,
                                .at = p->at,
                                .end = p->end,
                                .pc_count = r->listings[r->kernels[r->chunks[p->chunk].kernel].listing].pc_count};
}

static uint32_t senseless(const struct trace_reader *r, const struct trace_section *s, struct error *e)
{
    trace_reader_damaged(r, (uint64_t)(s->end - s->start), "an access makes no sense, in the chunk unpacked to here",
                         e);
    return 0;
}

uint32_t trace_reader_take(const struct trace_reader *r, struct trace_section *s, struct trace_access *out,
                           uint32_t most, struct error *e)
{
    uint32_t n = most < s->left ? most : (uint32_t)s->left, bad = 0;
    struct trace_access a = s->last;
    const uint8_t *at = s->at, *end = s->end; /* copies, as out might be anywhere */
    uint64_t known = s->known;
    uint32_t pc_count = s->pc_count;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t head = *at++;
        a.what = head & TRACE_WHAT;
        if (head & TRACE_NEW_WARP) {
            a.warp = (uint16_t)take_number(&at);
            bad |= a.warp >= TRACE_WARPS;
            a.warp &= TRACE_WARPS - 1;
        }
        if (head & TRACE_NEW_AGE) {
            s->ages[a.warp] = take_number(&at);
            known |= (uint64_t)1 << a.warp;
        }
        a.age = s->ages[a.warp];
        if (head & TRACE_NEW_PC)
            a.pc += (uint32_t)unzigzag(take_number(&at));
        a.line += head & TRACE_NEXT_LINE ? 1 : unzigzag(take_number(&at));
        bad |= (uint32_t)(a.pc >= pc_count) | (uint32_t)(~known >> a.warp & 1) |
               (uint32_t)((head & TRACE_OUTCOME) == HEDDLE_FAIL) | (uint32_t)(a.line >> TRACE_LINE_BITS != 0) |
               (uint32_t)(at > end);
        if (bad)
            break;
        /* one by one: as a whole it would be put together in memory, and loading what was stored in parts is slow */
        out[i].line = a.line;
        out[i].age = a.age;
        out[i].pc = a.pc;
        out[i].warp = a.warp;
        out[i].what = a.what;
    }
    s->last = a;
    s->known = known;
    s->at = at;
    s->left -= n;
    if (!bad && (s->left || at == s->end))
        return n;
    return senseless(r, s, e);
}

uint32_t trace_reader_take_lines(const struct trace_reader *r, struct trace_section *s, uint64_t *out, uint32_t most,
                                 struct error *e)
{
    uint32_t n = most < s->left ? most : (uint32_t)s->left;
    uint64_t line = s->last.line, bad = 0;
    const uint8_t *at = s->at, *end = s->end;
    for (uint32_t i = 0; i < n && !bad; i++) {
        uint8_t head = *at++;
        if (head & TRACE_NEW_WARP)
            skip_number(&at);
        if (head & TRACE_NEW_AGE)
            skip_number(&at);
        if (head & TRACE_NEW_PC)
            skip_number(&at);
        line += head & TRACE_NEXT_LINE ? 1 : unzigzag(take_number(&at));
        bad = line >> TRACE_LINE_BITS | (at > end);
        out[i] = line << TRACE_WHAT_BITS | (head & TRACE_WHAT);
    }
    s->last.line = line;
    s->at = at;
    s->left -= n;
    return !bad && (s->left || at == s->end) ? n : senseless(r, s, e);
}
