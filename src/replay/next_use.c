/* The backward pass for Belady's policy: windows are read from the last to the first, and in each the accesses of a
 * core from the last to the first. What is kept is where each line of a core was used last on the way, which is its
 * next use for those before. Distances, 0: no next use, are numbers of 16 bits, or MORE and four of them: which of the
 * two is easy to guess, other than with bytes. A task puts them down from the end of its own memory, so that they stand
 * in the order in which the forward pass wants them; then they go to their place in the buffer. Each window has its
 * room there, as long as there is any; what found none, or needs more, goes into a temporary file. Where a block is
 * does not depend on who was first.
 *
 * A use is any reference, as in the simulator that the authors of CCWS published, or, for belady-reads, a read that
 * finds the line unless it was evicted for want of room. A store that drops the line, or puts it there itself, ends the
 * use of what was there before. Marks of launches need no care: whatever comes after one is farther away than all
 * before it. */
#include "base/temporary.h"
#include "replay/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NUMBER_PARTS: of 16 bits, the longest. LOOK_AHEAD: accesses, so that the table's slots are there when they are
 * needed. BLOCK: accesses between two looks at its size. */
enum { NUMBER_PARTS = 5, MORE = 0xffff, LOOK_AHEAD = 16, BLOCK = 64 };

struct pass {
    struct replay_next *next;
    struct replay_pass_core {
        struct line_map lines; /* position of the next use, counted from the end */
        uint64_t position;     /* accesses after the one at hand */
    } * cores;
    uint64_t *places; /* of each task of the window: in the buffer */
    bool has_room;    /* the window, there */
    uint32_t line_shift;
    struct replay_store stores[2];
    bool reads_only;
};

static int open_temporary(struct error *e)
{
    char path[PATH_MAX];
    int fd = temporary_file(path, "next", "", e);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Numbers */

/* In front of `to`. Returns where it begins. */
static inline uint16_t *put_number(uint16_t *to, uint64_t value)
{
    if (__builtin_expect(value >= MORE, 0)) {
        to -= 4;
        memcpy(to, &value, sizeof value);
        value = MORE;
    }
    *--to = (uint16_t)value;
    return to;
}

static inline uint64_t take_number(const uint16_t **at)
{
    uint64_t value = *(*at)++;
    if (__builtin_expect(value == MORE, 0)) {
        memcpy(&value, *at, sizeof value);
        *at += 4;
    }
    return value;
}

/* Blocks */

/* Of a task: one and a half of what most need. */
static uint64_t reserved(const struct trace_task *t) { return t->accesses + t->accesses / 2; }

/* Room in the buffer for every task of the window, or for none. */
static void reserve(struct pass *p, const struct trace_windows *w)
{
    uint64_t at = p->next->used;
    for (uint32_t i = 0; i < w->task_count; i++) {
        p->places[i] = at;
        at += reserved(&w->tasks[i]);
    }
    p->has_room = at <= p->next->capacity;
    p->next->used = p->has_room ? at : p->next->used;
}

/* A place in the file, which is made for the first. */
static bool take_place(struct replay_next *n, uint64_t bytes, uint64_t *offset, struct error *e)
{
    pthread_mutex_lock(&n->lock);
    if (n->fd < 0)
        n->fd = open_temporary(e);
    bool ok = n->fd >= 0;
    *offset = n->file_bytes;
    n->file_bytes += bytes;
    pthread_mutex_unlock(&n->lock);
    return ok;
}

static bool write_block(struct replay_next *n, const uint16_t *numbers, const struct replay_block *b, struct error *e)
{
    for (size_t done = 0; done < b->bytes;) {
        ssize_t w = pwrite(n->fd, (const char *)numbers + done, b->bytes - done, (off_t)(b->offset + done));
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return error_set(e, ERROR_IO, "the temporary file in %s could not be written: %s",
                             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(w ? errno : ENOSPC));
        done += (size_t)w;
    }
    return true;
}

static bool put_block(struct pass *p, const struct trace_windows *w, const struct trace_task *t,
                      const uint16_t *numbers, uint64_t count, struct error *e)
{
    struct replay_next *n = p->next;
    uint32_t task = (uint32_t)(t - w->tasks);
    struct replay_block *b = &n->blocks[w->number][task];
    *b = (struct replay_block){
        .offset = p->places[task], .bytes = count * sizeof *numbers, .in_file = !p->has_room || count > reserved(t)};
    if (b->in_file)
        return take_place(n, b->bytes, &b->offset, e) && write_block(n, numbers, b, e);
    memcpy(n->buffer + b->offset, numbers, b->bytes);
    return true;
}

static bool make_room(struct replay_next_slot *s, uint64_t numbers, uint64_t list, struct error *e)
{
    if (s->number_capacity < numbers) {
        free(s->numbers);
        s->numbers = malloc(numbers * sizeof *s->numbers);
        s->number_capacity = numbers;
    }
    if (s->list_capacity < list) {
        free(s->list);
        s->list = calloc(list + LOOK_AHEAD, sizeof *s->list);
        s->list_capacity = list;
    }
    if (s->numbers && (!list || s->list))
        return true;
    s->number_capacity = s->list_capacity = 0;
    return error_set(e, ERROR_NO_MEMORY, "out of memory for a part of a trace with %llu accesses",
                     (unsigned long long)numbers / NUMBER_PARTS);
}

/* The pass */

/* A store counts as a use of the line for those before it, or else it may end the line's time there. */
static inline uint64_t use(const struct pass *p, uint64_t what, uint64_t position, uint64_t next, bool reads_only)
{
    if (!reads_only || !(what & TRACE_STORE))
        return position;
    struct replay_store does = p->stores[(what & TRACE_LOCAL) != 0];
    return does.drops || does.takes ? REPLAY_NEVER : next;
}

/* The accesses from first to end - 1, from the last to the first. */
static inline __attribute__((always_inline)) uint16_t *look_back_block(const struct pass *p, struct line_map *lines,
                                                                       uint64_t position, const uint64_t *first,
                                                                       const uint64_t *end, uint16_t *to,
                                                                       bool reads_only)
{
    const struct line_map table = *lines; /* a copy that nothing else points to stays in registers */
    uint64_t fresh = 0;
    uint32_t shift = TRACE_WHAT_BITS + p->line_shift;
    while (end-- > first) {
        line_map_prefetch(&table, end[-LOOK_AHEAD] >> shift);
        uint64_t line = *end >> shift;
        struct line_map_slot *s = line_map_place(&table, line);
        uint64_t next = s->value, distance = next == REPLAY_NEVER ? 0 : position - next;
        __asm__(""
                : "+r"(distance)); /* or else a compiler takes the lines without a next use another way, with a branch
                                      that nobody can guess */
        to = put_number(to, distance);
        fresh += s->line != line;
        s->line = line;
        s->value = use(p, *end, position, next, reads_only);
        position++;
    }
    lines->count += fresh;
    return to;
}

static inline __attribute__((always_inline)) uint16_t *look_back(const struct pass *p, struct replay_pass_core *core,
                                                                 const uint64_t *first, uint64_t count, uint16_t *to,
                                                                 bool reads_only)
{
    while (count) {
        uint64_t n = count < BLOCK ? count : BLOCK;
        line_map_reserve(&core->lines, n);
        to = look_back_block(p, &core->lines, core->position, first + count - n, first + count, to, reads_only);
        core->position += n;
        count -= n;
    }
    return to;
}

static uint64_t longest_part(const struct trace_windows *w, const struct trace_task *t)
{
    uint64_t longest = 0;
    for (uint32_t i = t->first; i != TRACE_NO_PART; i = w->parts[i].behind)
        longest = w->parts[i].part.accesses > longest ? w->parts[i].part.accesses : longest;
    return longest;
}

static bool pass_task(void *context, const struct trace_windows *w, const struct trace_task *t, uint32_t slot,
                      uint32_t *chunk, struct error *e)
{
    struct pass *p = context;
    struct replay_next_slot *s = &p->next->slots[slot];
    struct replay_pass_core *core = &p->cores[t->core];
    if (!make_room(s, t->accesses * NUMBER_PARTS, longest_part(w, t), e))
        return false;
    uint16_t *end = s->numbers + s->number_capacity, *to = end;
    for (uint32_t i = t->last; i != TRACE_NO_PART; i = w->parts[i].before) {
        const struct trace_part *part = &w->parts[i].part;
        struct trace_section section;
        *chunk = part->chunk;
        trace_reader_start(w->trace, part, &section);
        uint64_t *list = s->list + LOOK_AHEAD;
        if (!trace_reader_take_lines(w->trace, &section, list, (uint32_t)part->accesses, e))
            return false;
        to = p->reads_only ? look_back(p, core, list, part->accesses, to, true)
                           : look_back(p, core, list, part->accesses, to, false);
    }
    return put_block(p, w, t, to, (uint64_t)(end - to), e);
}

static bool pass_all(struct pass *p, struct trace_windows *w, struct error *e)
{
    for (uint32_t i = w->count; i-- > 0;) {
        if (!trace_windows_load(w, i, e))
            return false;
        p->next->blocks[i] = calloc(w->task_count + 1, sizeof **p->next->blocks);
        if (!p->next->blocks[i])
            return error_set(e, ERROR_NO_MEMORY, "out of memory for a part of a trace");
        reserve(p, w);
        if (!trace_windows_each(w, pass_task, p, e))
            return false;
    }
    return true;
}

static bool make_buffer(struct replay_next *n, uint64_t accesses, size_t most_bytes)
{
    uint64_t wanted = accesses + accesses / 2, most = most_bytes / sizeof *n->buffer;
    n->capacity = wanted < most ? wanted : most;
    n->buffer = n->capacity ? malloc(n->capacity * sizeof *n->buffer) : NULL;
    return n->buffer || !n->capacity;
}

bool replay_next_make(struct replay_next *n, struct trace_windows *w, const struct replay_geometry *g,
                      enum replay_policy policy, size_t buffer_bytes, struct error *e)
{
    const struct trace_header *h = &w->trace->header;
    struct pass p = {.next = n,
                     .cores = calloc(h->cores, sizeof *p.cores),
                     .places = calloc(h->cores, sizeof *p.places),
                     .stores = {replay_store_of(h->global_stores), replay_store_of(h->local_stores)},
                     .line_shift = (uint32_t)(__builtin_ctz(g->line_bytes) - __builtin_ctz(h->line_bytes)),
                     .reads_only = policy == REPLAY_BELADY_READS};
    *n = (struct replay_next){.fd = -1,
                              .blocks = calloc(w->count + 1, sizeof *n->blocks),
                              .window_count = w->count,
                              .slots = calloc(w->threads, sizeof *n->slots),
                              .slot_count = w->threads};
    pthread_mutex_init(&n->lock, NULL);
    bool ok = p.cores && p.places && n->blocks && n->slots && make_buffer(n, w->trace->accesses, buffer_bytes);
    if (!ok)
        error_set(e, ERROR_NO_MEMORY, "out of memory for looking ahead in a trace");
    ok = ok && pass_all(&p, w, e);
    for (uint32_t i = 0; p.cores && i < h->cores; i++)
        line_map_free(&p.cores[i].lines);
    free(p.cores);
    free(p.places);
    return ok;
}

bool replay_next_load(struct replay_next *n, const struct trace_windows *w, const struct trace_task *task,
                      uint32_t slot, struct error *e)
{
    const struct replay_block *b = &n->blocks[w->number][task - w->tasks];
    struct replay_next_slot *s = &n->slots[slot];
    if (b->in_file && !make_room(s, task->accesses * NUMBER_PARTS, 0, e))
        return false;
    for (size_t done = 0; b->in_file && done < b->bytes;) {
        ssize_t got = pread(n->fd, (char *)s->numbers + done, b->bytes - done, (off_t)(b->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return error_set(e, ERROR_IO, "the temporary file cannot be read: %s",
                             got ? strerror(errno) : "it became shorter");
        done += (size_t)got;
    }
    s->at = b->in_file ? s->numbers : n->buffer + b->offset;
    s->end = s->at + b->bytes / sizeof *s->at;
    return true;
}

void replay_next_take(struct replay_next_slot *s, uint64_t *out, uint32_t count)
{
    const uint16_t *at = s->at;
    for (uint32_t i = 0; i < count && at < s->end; i++)
        out[i] = take_number(&at);
    s->at = at;
}

void replay_next_free(struct replay_next *n)
{
    if (n->fd >= 0)
        close(n->fd);
    for (uint32_t i = 0; n->blocks && i < n->window_count; i++)
        free(n->blocks[i]);
    for (uint32_t i = 0; n->slots && i < n->slot_count; i++) {
        free(n->slots[i].numbers);
        free(n->slots[i].list);
    }
    free(n->blocks);
    free(n->slots);
    free(n->buffer);
    pthread_mutex_destroy(&n->lock);
    *n = (struct replay_next){.fd = -1};
}
