/* The points of an experiment: the product of all values of all axes, less what [exclude] names, each with the words of
 * its program, the overrides of its variant and the probes that run there. */
#include "experiment/expand.h"

#include <string.h>

uint64_t lab_grid_rank(struct lab_grid *g, struct arena *a, const struct experiment *x)
{
    uint64_t product = 1;
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        const struct lab_axis_values *v = &x->axes[axis];
        struct strmap texts = {0};
        g->count[axis] = 0;
        g->rank[axis] = arena_array(a, uint32_t, v->value_count);
        g->value[axis] = arena_array(a, uint32_t, v->value_count);
        for (uint32_t i = 0; i < v->value_count; i++) {
            const char *text = v->values[i].text;
            uintptr_t known = (uintptr_t)strmap_get(&texts, text, strlen(text));
            if (!known) {
                g->value[axis][g->count[axis]++] = i;
                known = g->count[axis];
                strmap_put(&texts, text, strlen(text), (void *)known);
            }
            g->rank[axis][i] = (uint32_t)known - 1;
        }
        strmap_free(&texts);
        product = product > MOST_POINTS ? product : product * g->count[axis];
    }
    return product;
}

void lab_grid_make(struct lab_grid *g, struct arena *a, const struct experiment *x)
{
    g->point = arena_array(a, uint32_t, lab_grid_rank(g, a, x));
    for (uint32_t i = 0; i < x->point_count; i++)
        g->point[lab_grid_place(g, x->points[i].value)] = i + 1;
}

static bool *mark_named(const struct lab_reader *r, const struct lab_axis_values *v, const uint32_t *rank,
                        const char *labels)
{
    bool *named = arena_array(r->arena, bool, v->value_count);
    for (uint32_t i = 0; i < v->value_count; i++)
        named[rank[i]] |= lab_label_in(v->values[i].label, labels);
    for (uint32_t i = 0; i < v->entry_count; i++)
        for (uint32_t n = 0; n < v->entries[i].count && lab_label_in(v->entries[i].label, labels); n++)
            named[rank[lab_entry_value(&v->entries[i], n)]] = true;
    return named;
}

bool lab_match_read(const struct lab_reader *r, const struct experiment *x, const struct lab_grid *g,
                    struct lab_word text, struct lab_match *out)
{
    struct lab_filter filter;
    *out = (struct lab_match){0};
    if (!lab_filter_read(r, x, text, &filter))
        return false;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (filter.labels[axis])
            out->named[axis] = mark_named(r, &x->axes[axis], g->rank[axis], filter.labels[axis]);
    return true;
}

bool lab_match_is(const struct lab_match *m, const uint32_t rank[AXIS_COUNT])
{
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (m->named[axis] && !m->named[axis][rank[axis]])
            return false;
    return true;
}

static bool read_exclusions(const struct lab_reader *r, const struct experiment *x, const struct lab_grid *g,
                            struct lab_match **out, uint32_t *count)
{
    const struct lab_section *s = lab_find_section(r, SECTION_EXCLUDE);
    *count = s ? s->line_count : 0;
    *out = arena_array(r->arena, struct lab_match, *count);
    for (uint32_t i = 0; i < *count; i++)
        if (!lab_match_read(r, x, g, s->lines[i].value, &(*out)[i]))
            return false;
    return true;
}

static bool is_excluded(const struct lab_match *list, uint32_t count, const uint32_t rank[AXIS_COUNT])
{
    for (uint32_t i = 0; i < count; i++)
        if (lab_match_is(&list[i], rank))
            return true;
    return false;
}

/* A workload's command with its size, unless it has one. */
static const char **sized(const struct lab_reader *r, const char **words, const char *size)
{
    uint32_t count = 0;
    bool has = strchr(words[0], '/') != NULL;
    for (; words[count]; count++)
        has |= count && (strcmp(words[count], "--size") == 0 || strncmp(words[count], "--size=", 7) == 0);
    if (has)
        return words;
    const char **longer = arena_array(r->arena, const char *, count + 3);
    memcpy(longer, words, count * sizeof *words);
    longer[count] = "--size";
    longer[count + 1] = size;
    return longer;
}

/* The next ranks, the last axis first. False after the last. */
static bool step(const struct lab_grid *g, uint32_t rank[AXIS_COUNT])
{
    for (int axis = AXIS_COUNT - 1; axis >= 0; axis--) {
        if (++rank[axis] < g->count[axis])
            return true;
        rank[axis] = 0;
    }
    return false;
}

bool lab_expand_points(const struct lab_reader *r, struct experiment *x, const char ***words[AXIS_COUNT])
{
    struct lab_grid g;
    struct lab_match *exclusions;
    uint32_t exclusion_count, rank[AXIS_COUNT] = {0};
    uint64_t product = lab_grid_rank(&g, r->arena, x);
    if (product > MOST_POINTS)
        return lab_wrong(r, lab_find_section(r, SECTION_EXPERIMENT + 1)->title.at,
                         "more than %d points: programs x machines x schedulers x l1 x divergence x variants",
                         MOST_POINTS);
    if (!read_exclusions(r, x, &g, &exclusions, &exclusion_count))
        return false;
    struct lab_probing *probing = lab_probes_read(r, x, &g);
    if (!probing)
        return false;
    const char ***commands = arena_array(r->arena, const char **, x->axes[AXIS_PROGRAM].value_count);
    for (uint32_t i = 0; i < x->axes[AXIS_PROGRAM].value_count; i++)
        commands[i] = sized(r, words[AXIS_PROGRAM][i], x->size);
    x->points = arena_array(r->arena, struct lab_point, product);
    do {
        if (is_excluded(exclusions, exclusion_count, rank))
            continue;
        struct lab_point *p = &x->points[x->point_count++];
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            p->value[axis] = g.value[axis][rank[axis]];
        p->words = commands[p->value[AXIS_PROGRAM]];
        p->sets = words[AXIS_VARIANT][p->value[AXIS_VARIANT]];
        p->probes = lab_probes_at(probing, rank);
    } while (step(&g, rank));
    return x->point_count ||
           lab_wrong(r, lab_find_section(r, SECTION_EXCLUDE)->title.at, "an empty experiment: every point is excluded");
}
