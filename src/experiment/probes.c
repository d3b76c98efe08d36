/* Probes of an experiment: `probes = SPEC SPEC` in [experiment] for every run, and the section [probes] with a line
 * SPEC = axis=label ... for each that runs at a part of the points only. A point has each spec once. */
#include "experiment/expand.h"

#include <string.h>

enum { MOST_PROBES = 64 };

struct probe_list {
    uint64_t probes;
    const char **specs;
};

struct lab_probing {
    struct arena *arena;
    const struct experiment *experiment;
    struct {
        bool everywhere;
        struct lab_match match;
    } where[MOST_PROBES];     /* by number of the probe */
    struct probe_list *lists; /* those that points have so far */
    uint32_t list_count, list_room;
};

static bool add_probe(const struct lab_reader *r, struct experiment *x, struct lab_word text)
{
    const char *spec = lab_plain_spec(r, text, "a probe");
    int line, column;
    if (!spec)
        return false;
    if (!*spec)
        return lab_wrong(r, text.at, "expected a probe: NAME[:key=value,...]");
    if (x->probe_count == MOST_PROBES)
        return lab_wrong(r, text.at, "more than %d probes", MOST_PROBES);
    lab_place(r, text.at, &line, &column);
    x->probes[x->probe_count++] = (struct lab_probe){spec, line};
    return true;
}

static bool read_of_all(const struct lab_reader *r, struct experiment *x, struct lab_probing *p)
{
    const struct lab_line *line = lab_find_line(lab_find_section(r, SECTION_EXPERIMENT), "probes");
    struct lab_word rest = line ? line->value : (struct lab_word){"", 0}, word;
    while (line && lab_next_word(r, &rest, &word)) {
        if (!add_probe(r, x, word))
            return false;
        p->where[x->probe_count - 1].everywhere = true;
    }
    return !r->error->kind;
}

static bool read_of_some(const struct lab_reader *r, struct experiment *x, const struct lab_grid *g,
                         struct lab_probing *p)
{
    const struct lab_section *s = lab_find_section(r, SECTION_PROBES);
    for (uint32_t i = 0; s && i < s->line_count; i++) {
        const struct lab_line *line = &s->lines[i];
        if (!add_probe(r, x, line->has_name ? line->name : line->value))
            return false;
        uint32_t number = x->probe_count - 1;
        p->where[number].everywhere = !line->has_name || !line->value.length;
        if (!p->where[number].everywhere && !lab_match_read(r, x, g, line->value, &p->where[number].match))
            return false;
    }
    return true;
}

struct lab_probing *lab_probes_read(const struct lab_reader *r, struct experiment *x, const struct lab_grid *g)
{
    struct lab_probing *p = arena_new(r->arena, struct lab_probing);
    p->arena = r->arena;
    p->experiment = x;
    x->probes = arena_array(r->arena, struct lab_probe, MOST_PROBES);
    return read_of_all(r, x, p) && read_of_some(r, x, g, p) ? p : NULL;
}

static bool has_spec(const char *const *specs, uint32_t count, const char *spec)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(specs[i], spec) == 0)
            return true;
    return false;
}

static const char **make_list(struct lab_probing *p, uint64_t probes)
{
    const struct experiment *x = p->experiment;
    const char **specs = arena_array(p->arena, const char *, x->probe_count + 1);
    for (uint32_t i = 0, count = 0; i < x->probe_count; i++)
        if (probes >> i & 1 && !has_spec(specs, count, x->probes[i].spec))
            specs[count++] = x->probes[i].spec;
    p->lists = lab_grow(p->arena, p->lists, p->list_count, &p->list_room, sizeof *p->lists);
    p->lists[p->list_count++] = (struct probe_list){probes, specs};
    return specs;
}

const char **lab_probes_at(struct lab_probing *p, const uint32_t rank[AXIS_COUNT])
{
    uint64_t probes = 0;
    for (uint32_t i = 0; i < p->experiment->probe_count; i++)
        if (p->where[i].everywhere || lab_match_is(&p->where[i].match, rank))
            probes |= UINT64_C(1) << i;
    for (uint32_t i = 0; i < p->list_count; i++)
        if (p->lists[i].probes == probes)
            return p->lists[i].specs;
    return make_list(p, probes);
}
