/* Launches of silicon and ours that are the same: by kernel, grid and block, in order. Those of one kernel that have
 * the same grid and block are one point: a kernel that is launched eighty times would else count eighty times. */
#include "correlate/correlate.h"

#include "base/demangle.h"

#include <stdarg.h>
#include <string.h>

static void *grow(struct arena *a, void *list, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room ? 2 * *room : 32;
    void *larger = arena_alloc(a, *room * bytes);
    if (count)
        memcpy(larger, list, count * bytes);
    return larger;
}

void correlate_note(struct correlation *c, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->notes = grow(c->arena, c->notes, c->note_count, &c->note_room, sizeof *c->notes);
    c->notes[c->note_count++] = arena_strndup(c->arena, text, strlen(text));
}

static bool same_shape(const struct correlate_launch *x, const struct correlate_launch *y)
{
    return !memcmp(x->grid, y->grid, sizeof x->grid) && !memcmp(x->block, y->block, sizeof x->block);
}

/* Nsight writes names of C++ without their parameters; ours are as in the PTX. */
static bool same_kernel(const char *ours, const char *silicon)
{
    return !strcmp(ours, silicon) || (!strncmp(ours, "_Z", 2) && demangled_is(ours, silicon));
}

static struct correlate_launch *partner(const struct correlate_launch *of, struct correlate_launches *ours)
{
    for (uint32_t i = 0; i < ours->count; i++) {
        struct correlate_launch *o = &ours->list[i];
        if (!o->used && same_shape(o, of) && same_kernel(o->kernel, of->kernel))
            return o;
    }
    return NULL;
}

static struct correlate_point *point_of(struct correlation *c, const char *program, const char *size,
                                        const struct correlate_launch *l)
{
    for (uint32_t i = 0; i < c->point_count; i++) {
        struct correlate_point *p = &c->points[i];
        if (!strcmp(p->program, program) && !strcmp(p->size, size) && !strcmp(p->kernel, l->kernel) &&
            !memcmp(p->grid, l->grid, sizeof p->grid) && !memcmp(p->block, l->block, sizeof p->block))
            return p;
    }
    c->points = grow(c->arena, c->points, c->point_count, &c->room, sizeof *c->points);
    struct correlate_point *p = &c->points[c->point_count++];
    *p = (struct correlate_point){
        .program = program, .size = size, .kernel = l->kernel, .half = correlate_half_of(l->kernel), .cause = ""};
    memcpy(p->grid, l->grid, sizeof p->grid);
    memcpy(p->block, l->block, sizeof p->block);
    return p;
}

/* Launches of the list that were not matched, kernel by kernel. */
static void note_rest(struct correlation *c, struct correlate_launches *l, const char *size, const char *what)
{
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t same = 0;
        const struct correlate_launch *first = &l->list[i];
        if (first->used)
            continue;
        for (uint32_t j = i; j < l->count; j++)
            if (!l->list[j].used && same_shape(&l->list[j], first) && !strcmp(l->list[j].kernel, first->kernel)) {
                l->list[j].used = true;
                same++;
            }
        correlate_note(c, "%s%s%s: %u launch%s of %s, grid %ux%ux%u, block %ux%ux%u, %s", l->program, *size ? " " : "",
                       size, same, same == 1 ? "" : "es", first->kernel, first->grid[0], first->grid[1], first->grid[2],
                       first->block[0], first->block[1], first->block[2], what);
    }
}

/* Kernels of ours that the recording has none of, because they are not wanted, are no news. */
static void forget_others(const struct correlate_launches *silicon, struct correlate_launches *ours)
{
    for (uint32_t i = 0; i < ours->count; i++) {
        bool known = false;
        for (uint32_t j = 0; j < silicon->count && !known; j++)
            known = same_kernel(ours->list[i].kernel, silicon->list[j].kernel);
        ours->list[i].used |= !known;
    }
}

void correlate_match(struct correlation *c, struct correlate_launches *silicon, const char *size,
                     struct correlate_launches *ours)
{
    size = size ? size : "";
    for (uint32_t i = 0; i < silicon->count; i++) {
        struct correlate_launch *s = &silicon->list[i], *o = partner(s, ours);
        if (!o)
            continue;
        struct correlate_point *p = point_of(c, silicon->program, size, s);
        s->used = o->used = true;
        p->launches++;
        for (int n = 0; n < CORRELATE_COUNTS; n++) {
            p->silicon[n] += s->counts[n];
            p->ours[n] += o->counts[n];
        }
    }
    note_rest(c, silicon, size, "on silicon only");
    forget_others(silicon, ours);
    if (silicon->recorded < CORRELATE_RECORDED)
        note_rest(c, ours, size, "in our run only");
}
