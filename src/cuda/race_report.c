/* What is said of races when the process ends: one entry for each pair of instructions, the most frequent first. */
#include "cuda/race_report.h"

#include "base/out_of_memory.h"
#include "cuda/internal.h"
#include "exec/race.h"
#include "gpu/profile.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SAID = 20 };

static const char *const kind_words[RACE_KINDS] = {"two writes", "a read after a write", "a write after a read"};
static const char *const kind_names[RACE_KINDS] = {"write_write", "read_after_write", "write_after_read"};

static bool earlier_writes(enum race_kind kind) { return kind != RACE_WRITE_AFTER_READ; }
static bool later_writes(enum race_kind kind) { return kind != RACE_READ_AFTER_WRITE; }

static const struct profile_line *line_of(const struct race_pair *p, const struct race_party *party)
{
    const struct profile_listing *listing = p->program;
    return &listing->lines[party->instruction];
}

/* By count; those that are equal, in the order in which they were found. */
static int more_often(const void *a, const void *b)
{
    const struct race_pair *const *x = a, *const *y = b;
    if ((*x)->count != (*y)->count)
        return (*x)->count > (*y)->count ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* All pairs, in the order in which they are reported; to be freed. */
static const struct race_pair **sorted(const struct races *r, uint32_t *count)
{
    const struct race_pair *pairs = races_pairs(r, count), **list = calloc(*count + 1, sizeof *list);
    if (!list)
        out_of_memory();
    for (uint32_t i = 0; i < *count; i++)
        list[i] = &pairs[i];
    qsort(list, *count, sizeof *list, more_often);
    return list;
}

static uint64_t sum(const struct race_pair *const *list, uint32_t count)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += list[i]->count;
    return n;
}

static void say_party(const struct race_pair *p, const struct race_party *who, bool writes)
{
    const struct profile_line *line = line_of(p, who);
    const uint32_t *b = who->block, *t = who->thread;
    driver_say("    %s PTX line %u%s%s%s%s%s: %s; block (%u,%u,%u) thread (%u,%u,%u)", writes ? "write," : "read, ",
               line->line, line->source ? " (" : "", line->source ? line->source : "", line->source ? ")" : "",
               line->function ? " in " : "", line->function ? line->function : "", line->text, b[0], b[1], b[2], t[0],
               t[1], t[2]);
}

static void say_pair(const struct race_pair *p)
{
    driver_say("  kernel %s, %s memory: %s, seen %llu time%s, first at 0x%llx, %s", p->kernel,
               p->shared ? "shared" : "global", kind_words[p->kind], (unsigned long long)p->count,
               p->count == 1 ? "" : "s", (unsigned long long)p->address, p->where);
    say_party(p, &p->earlier, earlier_writes(p->kind));
    say_party(p, &p->later, later_writes(p->kind));
}

void race_report_say(const struct gpu *g)
{
    uint32_t count;
    if (!g->races)
        return;
    const struct race_pair **list = sorted(g->races, &count);
    if (!count)
        driver_say("races: none was seen in %llu launch%s", (unsigned long long)races_launches(g->races),
                   races_launches(g->races) == 1 ? "" : "es");
    else
        driver_say("races: %u pair%s of instructions accessed the same memory from different threads, with nothing to "
                   "put them in order (%llu times). What the "
                   "program computes may depend on which comes first: it may differ here, with time, and on a GPU. "
                   "docs/races.md has the rules",
                   count, count == 1 ? "" : "s", (unsigned long long)(sum(list, count) + races_dropped(g->races)));
    for (uint32_t i = 0; i < count && i < MOST_SAID; i++)
        say_pair(list[i]);
    if (count > MOST_SAID)
        driver_say("  and %u more pairs; --stats FILE has them all", count - MOST_SAID);
    free(list);
}

static void put(json_t *o, const char *key, json_t *value) { json_object_set_new(o, key, value ? value : json_null()); }
static void put_count(json_t *o, const char *key, uint64_t n) { put(o, key, json_integer((json_int_t)n)); }

static json_t *triple(const uint32_t v[3])
{
    return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *party(const struct race_pair *p, const struct race_party *who, bool writes)
{
    const struct profile_line *line = line_of(p, who);
    json_t *o = json_object();
    put(o, "access", json_string(writes ? "write" : "read"));
    put_count(o, "line", line->line);
    put(o, "source", line->source ? json_string(line->source) : NULL);
    put(o, "function", line->function ? json_string(line->function) : NULL);
    put(o, "text", json_string(line->text));
    put(o, "block", triple(who->block));
    put(o, "thread", triple(who->thread));
    return o;
}

json_t *race_report_json(const struct gpu *g)
{
    uint32_t count;
    const struct race_pair **list = sorted(g->races, &count);
    json_t *o = json_object(), *pairs = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct race_pair *p = list[i];
        json_t *pair = json_object();
        put(pair, "kernel", json_string(p->kernel));
        put(pair, "space", json_string(p->shared ? "shared" : "global"));
        put(pair, "kind", json_string(kind_names[p->kind]));
        put_count(pair, "count", p->count);
        put(pair, "where", json_string(p->where));
        put(pair, "first", party(p, &p->earlier, earlier_writes(p->kind)));
        put(pair, "second", party(p, &p->later, later_writes(p->kind)));
        json_array_append_new(pairs, pair);
    }
    put_count(o, "launches", races_launches(g->races));
    put_count(o, "count", sum(list, count) + races_dropped(g->races));
    put(o, "pairs", pairs);
    free(list);
    return o;
}
