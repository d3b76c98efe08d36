/* Races as data and as JSON: one entry for each pair of instructions. */
#include "results/races.h"

#include "base/out_of_memory.h"
#include "results/put.h"

#include <stdlib.h>

static const char *const kind_names[RACE_KINDS] = {"write_write", "read_after_write", "write_after_read"};

bool race_earlier_writes(const struct race_pair *p) { return p->kind != RACE_WRITE_AFTER_READ; }
bool race_later_writes(const struct race_pair *p) { return p->kind != RACE_READ_AFTER_WRITE; }

const struct profile_line *race_line(const struct race_pair *p, const struct race_party *party)
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

struct race_list race_list(const struct races *r)
{
    struct race_list l = {.seen = races_dropped(r)};
    const struct race_pair *pairs = races_pairs(r, &l.count);
    l.pairs = calloc(l.count + 1, sizeof *l.pairs);
    if (!l.pairs)
        out_of_memory();
    for (uint32_t i = 0; i < l.count; i++) {
        l.pairs[i] = &pairs[i];
        l.seen += pairs[i].count;
    }
    qsort(l.pairs, l.count, sizeof *l.pairs, more_often);
    return l;
}

static json_t *party(const struct race_pair *p, const struct race_party *who, bool writes)
{
    const struct profile_line *line = race_line(p, who);
    json_t *o = json_object();
    put(o, "access", json_string(writes ? "write" : "read"));
    put_count(o, "line", line->line);
    put(o, "source", line->source ? json_string(line->source) : NULL);
    put(o, "function", line->function ? json_string(line->function) : NULL);
    put(o, "text", json_string(line->text));
    put(o, "block", triple_json(who->block));
    put(o, "thread", triple_json(who->thread));
    return o;
}

json_t *races_json(const struct gpu *g)
{
    struct race_list list = race_list(g->races);
    json_t *o = json_object(), *pairs = json_array();
    for (uint32_t i = 0; i < list.count; i++) {
        const struct race_pair *p = list.pairs[i];
        json_t *pair = json_object();
        put(pair, "kernel", json_string(p->kernel));
        put(pair, "space", json_string(p->shared ? "shared" : "global"));
        put(pair, "kind", json_string(kind_names[p->kind]));
        put_count(pair, "count", p->count);
        put(pair, "where", json_string(p->where));
        put(pair, "first", party(p, &p->earlier, race_earlier_writes(p)));
        put(pair, "second", party(p, &p->later, race_later_writes(p)));
        json_array_append_new(pairs, pair);
    }
    put_count(o, "launches", races_launches(g->races));
    put_count(o, "count", list.seen);
    put(o, "pairs", pairs);
    free(list.pairs);
    return o;
}
